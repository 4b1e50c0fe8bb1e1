// Random pairs of distributions from named families, on which rules are ranked.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

#include <specsample/specsample.hpp>

/// A target's and a draft's probabilities, the same after every prefix.
struct Pair {
    Eigen::VectorXf target, draft;
};

/// A stream of random numbers.
class Noise {
  public:
    explicit Noise(std::uint64_t seed) : rng_({.seed = seed, .purpose = specsample::Purpose::policy}) {}

    double uniform() { return rng_.open_uniform(next_++); }
    double exponential() { return -std::log(uniform()); }
    double normal() {  // Box and Muller
        const double radius = std::sqrt(2 * exponential());
        return radius * std::cos(2 * std::numbers::pi * uniform());
    }
    Eigen::VectorXd normals(Eigen::Index size, double deviation) {
        return Eigen::VectorXd::NullaryExpr(size, [&] { return deviation * normal(); });
    }

  private:
    specsample::Rng rng_;
    std::uint32_t next_ = 0;
};

/// A family: a name, and a function that draws a pair.
struct Family {
    std::string name;
    std::function<Pair(Noise&)> draw;
};

inline Eigen::VectorXf softmax_of(const Eigen::VectorXd& logits) {
    const Eigen::VectorXd weights = (logits.array() - logits.maxCoeff()).exp();
    return (weights / weights.sum()).cast<float>();
}

/// Normal target logits of one deviation; the draft's are the same plus noise of another deviation.
inline Family noisy(const std::string& name, Eigen::Index vocab, double deviation, double noise) {
    return {name, [=](Noise& random) {
                const Eigen::VectorXd logits = random.normals(vocab, deviation);
                return Pair{softmax_of(logits), softmax_of(logits + random.normals(vocab, noise))};
            }};
}

/// A draft with the target's probabilities to a power: sharper above 1, flatter below.
inline Family powered(const std::string& name, Eigen::Index vocab, double power) {
    return {name, [=](Noise& random) {
                const Eigen::VectorXd logits = random.normals(vocab, 1.5);
                return Pair{softmax_of(logits), softmax_of(power * logits)};
            }};
}

/// Two independent flat random distributions.
inline Family unrelated(Eigen::Index vocab) {
    return {"unrelated", [=](Noise& random) {
                const auto logits = [&] {
                    return Eigen::VectorXd::NullaryExpr(vocab, [&] { return std::log(random.exponential()); }).eval();
                };
                const Eigen::VectorXd target = logits();
                return Pair{softmax_of(target), softmax_of(logits())};
            }};
}

/// Probabilities that fall like a power of their rank, as those of words do.
inline Family zipf(const std::string& name, Eigen::Index vocab, double power, double noise) {
    return {name, [=](Noise& random) {
                Eigen::VectorXd logits = random.normals(vocab, .5);
                for (Eigen::Index i = 0; i < vocab; ++i) logits[i] -= power * std::log(static_cast<double>(i + 1));
                return Pair{softmax_of(logits), softmax_of(logits + random.normals(vocab, noise))};
            }};
}

inline std::vector<Family> small_families() {
    return {noisy("sharp, good draft", 8, 3, .5),
            noisy("sharp, medium", 8, 3, 1.5),
            noisy("flat, good draft", 8, 1, .5),
            noisy("flat, medium", 8, 1, 1.5),
            unrelated(8),
            powered("draft = target squared", 8, 2),
            powered("draft = root of target", 8, .5)};
}

inline std::vector<Family> large_families() {
    return {zipf("peaked, close draft", 5000, 2, .3), zipf("peaked, far", 5000, 2, 1),
            zipf("zipf, close draft", 5000, 1.2, .3), zipf("zipf, far", 5000, 1.2, 1), zipf("flat", 5000, .7, .5)};
}
