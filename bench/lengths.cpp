// The lengths that a target pass verifies of the drafts of 256 requests, beside a sort of all drafted tokens and a
// plain read of the confidences.
//
// No row is read: the vocabulary plays no part, and nothing is read from the pool.
#include "kernels.hpp"

#include <algorithm>
#include <memory>
#include <random>
#include <span>
#include <tuple>
#include <vector>

#include <specsample/length/verify_lengths.hpp>

namespace bench {
namespace {

constexpr Index requests = 256, most = 8;

/// The cost of a pass over n positions: reading the weights, and a little for each position.
double cost_of_pass(Index n) { return 1 + .002 * static_cast<double>(n); }

/// One round: a confidence for each drafted token of each request, easy requests beside hard ones.
struct Drafts {
    explicit Drafts(std::mt19937_64& generator) {
        std::uniform_real_distribution<double> uniform;
        for (Index request = 0; request < requests; ++request) {
            const double easy = uniform(generator);
            for (Index i = 0; i < most; ++i) confidence.push_back(easy + (1 - easy) * uniform(generator));
        }
    }

    std::vector<double> confidence{};  ///< [requests][most]
};

/// Folds the lengths into one number, by which they are compared.
double digest(std::span<const Index> lengths) {
    double sum = 0;
    for (const Index length : lengths) sum = .999 * sum + static_cast<double>(length);
    return sum;
}

/// The usual form: sort all drafted tokens by the probability that they are emitted, and take them while the expected
/// tokens per cost rise.
double by_sorting(const Drafts& drafts) {
    std::vector<std::tuple<double, Index, Index>> tokens;  // its survival, negated; its request and its place
    for (Index request = 0; request < requests; ++request) {
        double survival = 1;
        for (Index i = 0; i < most; ++i) {
            survival *= drafts.confidence[static_cast<std::size_t>(request * most + i)];
            tokens.emplace_back(-survival, request, i);
        }
    }
    std::ranges::sort(tokens);
    std::vector<Index> lengths(std::size_t{requests});
    double emitted = requests;
    double speed = emitted / cost_of_pass(requests);
    Index positions = requests;
    for (const auto& [negated, request, i] : tokens) {
        emitted -= negated;
        const double next = emitted / cost_of_pass(++positions);
        if (!(next > speed)) break;
        speed = next;
        ++lengths[static_cast<std::size_t>(request)];
    }
    return digest(lengths);
}

Race lengths(const Setting& setting) {
    std::mt19937_64 generator(42);
    std::vector<Drafts> rounds;
    for (int i = 0; i < 16; ++i) rounds.emplace_back(generator);
    const auto lengths = std::make_shared<std::vector<Index>>(std::size_t{requests});
    const auto numbers = std::make_shared<Eigen::ArrayXf>(Eigen::ArrayXf::Zero(2 * requests * most));  // as many bytes
    Race race = make_race(
        setting, 1, std::move(rounds),
        [=](const Drafts& drafts, Index) {
            specsample::theory::verify_lengths(drafts.confidence, most, cost_of_pass, *lengths);
            return digest(*lengths);
        },
        [](const Drafts& drafts, Index) { return by_sorting(drafts); },
        [=](const auto& read, const Drafts&, Index) { return read(Row(numbers->data(), numbers->size())); });
    for (std::size_t one = 0; one < race.cases; ++one)
        if (race.ours(one, 0) != race.textbook(one, 0)) race.refused = "a sort of all tokens chose other lengths";
    return race;
}

}  // namespace

void add_lengths(Kernels& kernels) { kernels.push_back({"lengths/256_requests", {}, lengths, {}}); }

}  // namespace bench
