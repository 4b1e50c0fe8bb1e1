// Candidates: a filter sees the row as the ones before left it, not a maximum, a total or weights of before.
#include <specsample/shaping/candidates.hpp>

#include <algorithm>
#include <cmath>

#include <specsample/shaping/logit_bias.hpp>
#include <specsample/shaping/pipeline.hpp>
#include <specsample/shaping/temperature.hpp>
#include <specsample/shaping/truncation.hpp>

#include "support/any_shaper.hpp"
#include "support/catch.hpp"
#include "unit/shaping_rows.hpp"

using namespace shaping_rows;
using namespace specsample::filters;

namespace {

/// The likeliest ids up to a mass of p.
Array<double> nucleus(const Array<double>& probs, double p) {
    std::vector<Index> kept;
    double sum = 0;
    for (const Index id : sorted(probs)) {
        if (sum >= p || probs[id] == 0) break;
        sum += probs[id];
        kept.push_back(id);
    }
    return only(probs, kept);
}

/// The ids whose surprise is nearest to the entropy, up to a mass of p.
Array<double> typical(const Array<double>& probs, double p) {
    std::vector<Index> ids = possible(probs), kept;
    double entropy = 0, sum = 0;
    for (const Index id : ids) entropy -= probs[id] * std::log(probs[id]);
    std::ranges::stable_sort(ids, {}, [&](Index id) { return std::abs(-std::log(probs[id]) - entropy); });
    for (const Index id : ids) {
        if (sum >= p) break;
        sum += probs[id];
        kept.push_back(id);
    }
    return only(probs, kept);
}

Array<double> at_least(const Array<double>& probs, double share) {
    std::vector<Index> kept;
    for (const Index id : possible(probs))
        if (probs[id] >= share * probs.maxCoeff()) kept.push_back(id);
    return only(probs, kept);
}

/// A likely token that is not typical, and many that are.
Array<double> one_above(Index size, double z) {
    Array<double> logits = random_logits(size, 3) / 4;
    logits[size / 2] = z;
    return logits;
}

Array<double> probs_through(const any::Shaper& shaper, const Array<double>& row) { return through(shaper, row); }
Array<double> logits_through(const any::Shaper& shaper, const Array<double>& row) {
    return through(shaper, Logits(row));
}

/// The row through a shaper as logits, and as probabilities.
void check(const any::Shaper& shaper, const Array<double>& logits, const Array<double>& expected) {
    CHECK(distance(logits_through(shaper, logits), expected) < 1e-12);
    CHECK(distance(probs_through(shaper, softmax_of(logits)), expected) < 1e-12);
}

}  // namespace

TEST_CASE("the largest number is that of what a filter left", "[shaping]") {
    const Array<double> logits = one_above(300, 5);
    const Array<double> some = typical(softmax_of(logits), .3);
    REQUIRE(some[150] == 0);
    REQUIRE(possible(some).size() > possible(at_least(some, .7)).size());
    check(TypicalP{.3}, logits, some);
    check(Pipeline{TypicalP{.3}, MinP{.7}}, logits, at_least(some, .7));
}

TEST_CASE("the largest number is that of the changed row", "[shaping]") {
    Array<double> logits = one_above(300, 5);
    const LogitBias down({{150, -6}}), up({{7, 9}});
    logits[150] -= 6;
    check(Pipeline{down, MinP{.5}}, one_above(300, 5), at_least(softmax_of(logits), .5));
    logits[150] += 6;
    logits[7] += 9;
    check(Pipeline{up, MinP{.5}}, one_above(300, 5), at_least(softmax_of(logits), .5));
}

TEST_CASE("numbers that were changed are looked for where they are", "[shaping]") {
    // The changed token lies in a part of the row that had nothing to offer before.
    Array<double> logits = random_logits(2000, 3);
    logits.tail(1000) -= 20;
    const LogitBias up({{1500, 40}});
    Array<double> changed = logits;
    changed[1500] += 40;
    const Array<double> probs = softmax_of(changed);
    for (const Index k : {1, 3, 10, 1999}) {
        std::vector<Index> ids = sorted(probs);
        ids.resize(static_cast<std::size_t>(k));
        const Array<double> row = logits_through(Pipeline{up, TopK{k}}, logits);
        CHECK(distance(row, only(probs, ids)) < 1e-12);
        CHECK(std::ssize(possible(row)) == k);
    }
    CHECK(distance(logits_through(Pipeline{up, MinP{.5}}, logits), at_least(probs, .5)) < 1e-12);
}

TEST_CASE("the total is that of the probabilities once they are normalised", "[shaping]") {
    const Array<double> logits = (Array<double>(5) << 2, 1.5, 1, .5, 0).finished();
    struct Normalising {  // a user's shaper
        void operator()(Candidates<double>& row, std::span<const Token>) const {
            CHECK(std::abs(Eigen::Map<const Array<double>>(row.probabilities().data(), 5).sum() - 1) < 1e-12);
        }
        void operator()(Candidates<float>& row, std::span<const Token>) const { row.probabilities(); }
    };
    check(Pipeline{Normalising{}, TopP{.6}}, logits, nucleus(softmax_of(logits), .6));
}

TEST_CASE("weights are those of the last temperature", "[shaping]") {
    const Array<double> logits = random_logits(200, 5);
    const Array<double> some = nucleus(typical(softmax_of(logits), .9), .9);
    Array<double> cooler = some;
    for (double& p : cooler) p = p > 0 ? std::pow(p, 1 / .3) : 0;
    cooler /= cooler.sum();
    check(Pipeline{TypicalP{.9}, TopP{.9}, Temperature{.3}, TopP{.5}}, logits, nucleus(cooler, .5));
}
