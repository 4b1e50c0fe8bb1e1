#include "rows.hpp"

#include <cmath>
#include <memory>
#include <random>

namespace bench {
namespace {

/// Floats in the pool: 320 MB, several times what one core gets to keep of a large server's last cache.
constexpr Index pool_size = 80'000'000;

constexpr double logit_deviation = 3;

Eigen::ArrayXd normal(Index size, double deviation, std::mt19937_64& generator) {
    std::normal_distribution<double> draw(0, deviation);
    return Eigen::ArrayXd::NullaryExpr(size, [&] { return draw(generator); });
}

Eigen::ArrayXd softmax(const Eigen::ArrayXd& logits) {
    const Eigen::ArrayXd weights = (logits - logits.maxCoeff()).exp();
    return weights / weights.sum();
}

/// The target's logits with noise of deviation s, scaled back to the deviation that they had.
Eigen::ArrayXd noisy(const Eigen::ArrayXd& logits, const Eigen::ArrayXd& noise, double s) {
    return (logits + s * noise) * (logit_deviation / std::hypot(logit_deviation, s));
}

/// Probabilities that overlap with those of `logits` by `alpha`: more noise, less overlap.
Eigen::ArrayXd draft_for(const Eigen::ArrayXd& logits, double alpha, std::mt19937_64& generator) {
    const Eigen::ArrayXd target = softmax(logits);
    const Eigen::ArrayXd noise = normal(logits.size(), 1, generator);
    Eigen::ArrayXd draft;
    double overlap = 0;
    for (double low = 0, high = 16; std::abs(overlap - alpha) > 1e-3;) {
        const double s = (low + high) / 2;
        draft = softmax(noisy(logits, noise, s));
        overlap = target.min(draft).sum();
        (overlap > alpha ? low : high) = s;
    }
    return draft;
}

}  // namespace

Pool::Pool(Index vocab, int alpha)
    : vocab_(vocab), alpha_(alpha), positions_(pool_size / (2 * vocab)), memory_(2 * positions_ * vocab) {
    std::mt19937_64 generator(42);
    const Eigen::ArrayXd logits = normal(vocab, logit_deviation, generator);
    memory_.head(vocab) = softmax(logits).cast<float>();
    memory_.segment(vocab, vocab) = draft_for(logits, alpha / 100., generator).cast<float>();
    for (Index position = 1; position < positions_; ++position)
        memory_.segment(2 * position * vocab, 2 * vocab) = memory_.head(2 * vocab);
}

const Pool& pool(const Setting& setting) {
    static std::unique_ptr<Pool> current;
    if (!current || current->vocab() != setting.vocab || current->alpha() != setting.alpha) {
        current.reset();  // never two pools at once
        current = std::make_unique<Pool>(setting.vocab, setting.alpha);
    }
    return *current;
}

}  // namespace bench
