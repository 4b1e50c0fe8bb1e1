// The distance of a draw from its distribution by rounding alone: the exact measure of the random numbers that pick an
// id, against long doubles, at the sizes of real vocabularies.
#include <cmath>
#include <vector>

#include <specsample/kernels/residual.hpp>
#include <specsample/random/rng.hpp>
#include <specsample/rows/sparse.hpp>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::kernels;

namespace {

constexpr Index vocabularies[] = {32000, 128256, 262144};
constexpr double bound = 1e-6;

using Distribution = std::vector<double>;

/// The measure of the random numbers that pick each id. A draw walks through sums of blocks, then of pieces, then
/// through entries. If the sum of a level exceeds the sum of its parts, its last part gets the difference; if it is
/// smaller, the last parts lose it.
template <class W>
Distribution distribution_of(const W& weights, Index vocab) {
    Distribution distribution(static_cast<std::size_t>(vocab));
    double total = 0;
    Index last = -1;
    for (Index block = 0; block < weights.size(); block += detail::block_size) {
        const Index block_end = std::min(block + detail::block_size, weights.size());
        double rest = weights.sum(block, block_end - block);
        total += rest;
        for (Index piece = block; piece < block_end; piece += detail::piece_size) {
            const Index end = std::min(piece + detail::piece_size, block_end);
            double left = end == block_end ? rest : std::min(rest, weights.sum(piece, end - piece));
            rest -= left;
            for (Index place = piece; place < end; ++place) {
                const double taken = std::min(weights[place], left);
                distribution[static_cast<std::size_t>(id_of(weights, place))] += taken;
                left -= taken;
                if (weights[place] > 0) last = place;
            }
            if (left > 0) distribution[static_cast<std::size_t>(id_of(weights, last))] += left;
        }
    }
    for (double& p : distribution) p /= total;
    return distribution;
}

double distance(const Distribution& distribution, const std::vector<long double>& weights) {
    long double total = 0, sum = 0;
    for (const long double weight : weights) total += weight;
    for (std::size_t id = 0; id < distribution.size(); ++id)
        sum += std::abs(static_cast<long double>(distribution[id]) - weights[id] / total);
    return static_cast<double>(sum / 2);
}

/// Logits of normal numbers with this deviation; if peaked, a few stand far above all others, at the end.
std::vector<float> logits(Index vocab, std::uint64_t seed, double deviation, bool peaked) {
    const Rng noise({.seed = seed});
    std::vector<float> row;
    for (std::uint32_t i = 0; i < vocab; ++i) {
        const double normal = std::sqrt(-2 * std::log(noise.open_uniform(2 * i))) *
                              std::cos(2 * std::acos(-1.) * noise.uniform(2 * i + 1));
        row.push_back(static_cast<float>(deviation * normal));
    }
    if (peaked)
        for (std::size_t i = 0; i < 9; ++i) row[row.size() - 1 - 40 * i] += static_cast<float>(30 - i % 4);
    return row;
}

std::vector<long double> softmax_of(const std::vector<float>& row, double temperature) {
    std::vector<long double> probs;
    long double largest = -1e30L, total = 0;
    for (const float z : row) largest = std::max(largest, static_cast<long double>(z));
    for (const float z : row)
        total += probs.emplace_back(std::exp((static_cast<long double>(z) - largest) / temperature));
    for (long double& p : probs) p /= total;
    return probs;
}

template <class Scalar>
std::vector<long double> exactly(const std::vector<Scalar>& row) {
    return {row.begin(), row.end()};
}

std::vector<long double> left(std::vector<long double> p, const std::vector<long double>& q) {
    for (std::size_t id = 0; id < p.size(); ++id) p[id] = std::max(p[id] - q[id], 0.L);
    return p;
}

double log_sum(const std::vector<float>& row, double temperature) {
    long double sum = 0;
    for (const float z : row) sum += std::exp((static_cast<long double>(z)) / temperature);
    return static_cast<double>(std::log(sum));
}

/// Call f(logits of the target, logits of the draft, temperature) for rows as models have them.
template <class F>
void for_rows(F&& f) {
    for (const Index vocab : vocabularies)
        for (const bool peaked : {false, true})
            for (const double temperature : {1., .6}) {
                INFO("vocabulary " << vocab << ", peaked " << peaked << ", temperature " << temperature);
                const auto target = logits(vocab, 1, 3, peaked);
                auto draft = logits(vocab, 2, .7, false);
                for (std::size_t id = 0; id < draft.size(); ++id) draft[id] += target[id];
                f(target, draft, temperature);
            }
}

std::vector<float> stored(const std::vector<long double>& probs) {
    std::vector<float> row;
    for (const long double p : probs) row.push_back(static_cast<float>(p));
    return row;
}

}  // namespace

TEST_CASE("a draw picks what the measure says", "[kernels]") {
    const auto row = logits(32000, 3, 3, true);
    const auto weights = Logits(row).weights();
    const Distribution distribution = distribution_of(weights, 32000);
    double up_to = 0;
    int other = 0;
    for (std::size_t id = 0; id < distribution.size(); ++id) {
        if (distribution[id] > 1e-9) other += weights.pick(up_to + .5 * distribution[id]) != static_cast<Index>(id);
        up_to += distribution[id];
    }
    CHECK(other == 0);
    CHECK(up_to == Approx(1).epsilon(1e-12));
}

TEST_CASE("the draw of a row is as good as exact", "[kernels]") {
    for_rows([](const auto& target, const auto&, double temperature) {
        const auto vocab = static_cast<Index>(target.size());
        const auto probs = softmax_of(target, temperature);
        const auto row = stored(probs);
        CHECK(distance(distribution_of(RowWeights(detail::as_row(row)), vocab), exactly(row)) < bound);
        CHECK(distance(distribution_of(Logits(target, temperature).weights(), vocab), probs) < bound);
        CHECK(distance(distribution_of(RowWeights(detail::as_row(Logits(target, temperature))), vocab), probs) < bound);
        const Logits known(target, temperature, log_sum(target, temperature));
        CHECK(distance(distribution_of(RowWeights(detail::as_row(known)), vocab), probs) < bound);
    });
}

TEST_CASE("the draw of a residual is as good as exact", "[kernels]") {
    for_rows([](const auto& target, const auto& draft, double temperature) {
        const auto vocab = static_cast<Index>(target.size());
        const auto p = softmax_of(target, temperature), q = softmax_of(draft, temperature);
        const auto p_row = stored(p), q_row = stored(q);
        CHECK(distance(distribution_of(ResidualWeights(detail::as_row(p_row), detail::as_row(q_row)), vocab),
                       left(exactly(p_row), exactly(q_row))) < bound);
        const auto p_view = detail::as_row(Logits(target, temperature)),
                   q_view = detail::as_row(Logits(draft, temperature));
        CHECK(distance(distribution_of(ResidualWeights(p_view, q_view), vocab), left(p, q)) < bound);
        CHECK(distance(distribution_of(ResidualWeights(p_view, detail::as_row(q_row)), vocab),
                       left(p, exactly(q_row))) < bound);
    });
}

TEST_CASE("the draw of a sparse row is as good as exact", "[kernels]") {
    for (const Index vocab : vocabularies) {
        const auto all = logits(vocab, 4, 3, true);
        std::vector<float> some;
        std::vector<std::int32_t> ids;
        std::vector<long double> weights(all.size());
        for (std::size_t id = 0; id < all.size(); id += 1 + id % 3) {
            ids.push_back(static_cast<std::int32_t>(id));
            some.push_back(all[id]);
            weights[id] = std::exp(static_cast<long double>(all[id]));
        }
        const Sparse row(ids, Logits(some), vocab);
        CHECK(distance(distribution_of(row.weights(), vocab), weights) < bound);
        CHECK(distance(distribution_of(RowWeights(detail::as_row(row)), vocab), weights) < bound);
    }
}

TEST_CASE("no random number picks a weight of 0, next to any edge between two weights", "[kernels]") {
    auto row = logits(5000, 5, 2, false);
    for (std::size_t id = 0; id < row.size(); ++id)
        if (id % 16 != 5 && id % 512 > 2) row[id] = -1e30f;
    const auto weights = Logits(row).weights();
    const Distribution distribution = distribution_of(weights, 5000);
    double up_to = 0;
    int wrong = 0;
    for (const double p : distribution) {
        up_to += p;
        const auto edge = static_cast<std::int64_t>(up_to * 0x1p53);
        for (std::int64_t k = edge - 4; k <= edge + 4; ++k)
            if (k >= 0 && k < (std::int64_t{1} << 53))
                wrong += !(weights[weights.pick(static_cast<double>(k) * 0x1p-53)] > 0);
    }
    CHECK(wrong == 0);
    CHECK(weights[weights.pick(0)] > 0);
    CHECK(weights[weights.pick(1 - 0x1p-53)] > 0);
}
