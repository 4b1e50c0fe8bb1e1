// AcceptanceMemory against explicit sums.
#include <specsample/length/acceptance_memory.hpp>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include <specsample/metrics/overlap_estimate.hpp>
#include <specsample/theory.hpp>

#include "support/catch.hpp"
#include "support/uniforms.hpp"

using namespace specsample;
using namespace specsample::kernels;
using namespace specsample::metrics;
using namespace specsample::theory;

namespace {

constexpr double decay = detail::AcceptanceMemory::decay, pooling = detail::AcceptanceMemory::pooling;

std::vector<double> estimates(const detail::AcceptanceMemory& memory, Index count) {
    std::vector<double> all;
    memory.for_estimates(count, [&](double estimate) { all.push_back(estimate); });
    return all;
}

RoundCounts accepted_of(Index accepted, Index proposed) {
    const bool all = accepted == proposed;
    return {.proposed = proposed,
            .evaluated = all ? proposed : accepted + 1,
            .accepted = accepted,
            .tokens = accepted + 1,
            .last = all ? LastToken::bonus : LastToken::recovered};
}

/// Rounds with drafts, and the number of rounds without one before each.
struct History {
    std::vector<RoundCounts> rounds;
    std::vector<Index> waits;

    /// Estimates from all decisions at once: each is weighted by decay to the power of the rounds since.
    std::vector<double> estimates(Index count) const {
        std::vector<double> all;
        double before = detail::AcceptanceMemory::expected;
        for (Index j = 0; j < count; ++j) {
            double weight = 0, sum = 0, age = 0;
            for (std::size_t i = rounds.size(); i-- > 0; age += static_cast<double>(1 + waits[i])) {
                if (rounds[i].evaluated <= j) continue;
                weight += std::pow(decay, age);
                sum += std::pow(decay, age) * (j < rounds[i].accepted ? 1. : 0.);
            }
            if (j == 0) {  // what was expected weighs `pooling` in the first round, and as little as that round now
                const double prior = pooling * std::pow(decay, age - static_cast<double>(1 + waits[0]));
                before = (sum + prior * before) / (weight + prior);
            } else {
                before = (sum + pooling * before) / (weight + pooling);
            }
            all.push_back(before);
        }
        return all;
    }
};

}  // namespace

TEST_CASE("the memory of acceptance is decayed counts, pooled with the position before", "[length]") {
    Uniforms uniform{7};
    History history;
    detail::AcceptanceMemory memory;
    CHECK(estimates(memory, 3) == std::vector<double>(3, detail::AcceptanceMemory::expected));
    for (int round = 0; round < 60; ++round) {
        const auto proposed = static_cast<Index>(1 + uniform() * 5);
        Index accepted = 0;
        while (accepted < proposed && uniform() < .8) ++accepted;
        history.rounds.push_back(accepted_of(accepted, proposed));
        const Index waited = uniform() < .1 ? 3 : 0;
        history.waits.push_back(waited);
        memory.record(history.rounds.back(), waited);

        const auto expected = history.estimates(8), seen = estimates(memory, 8);
        for (std::size_t j = 0; j < 8; ++j) {
            CAPTURE(round, j);
            REQUIRE(seen[j] == Approx(expected[j]).epsilon(1e-12));
        }
    }
}

TEST_CASE("a long wait makes the memory unsure, and not hopeful", "[length]") {
    detail::AcceptanceMemory memory;
    for (int i = 0; i < 200; ++i) memory.record(accepted_of(0, 1));
    CHECK(estimates(memory, 1)[0] < .02);
    detail::AcceptanceMemory soon = memory, late = memory;
    soon.record(accepted_of(1, 1));
    late.record(accepted_of(1, 1), 1000);
    CHECK(estimates(soon, 1)[0] < .05);
    CHECK(estimates(late, 1)[0] == Approx(1 / (pooling + 1)).margin(.01));
    memory.record(accepted_of(0, 1), 1000);
    CHECK(estimates(memory, 1)[0] < .02);
}

TEST_CASE("the estimate of a position that is no longer drafted approaches that of the one before", "[length]") {
    detail::AcceptanceMemory memory;
    for (int i = 0; i < 200; ++i) memory.record(accepted_of(1, 3));
    CHECK(estimates(memory, 2)[1] < .05);
    for (int i = 0; i < 400; ++i) memory.record(accepted_of(1, 1));
    const auto now = estimates(memory, 3);
    CHECK(now[0] > .99);
    CHECK(now[1] > .98);
    CHECK(now[2] == now[1]);
}

TEST_CASE("a round that was cut by a stop is no failure, and bad data says nothing", "[length]") {
    detail::AcceptanceMemory memory, same;
    for (int i = 0; i < 10; ++i) {
        memory.record(accepted_of(2, 4));
        same.record(accepted_of(2, 4));
    }
    const auto before = estimates(memory, 4);
    memory.record({.proposed = 4, .fault = Cause::negative});
    memory.record({.tokens = 1, .last = LastToken::bonus});
    CHECK(estimates(memory, 4) == before);

    memory.record({.proposed = 4, .evaluated = 2, .accepted = 2, .tokens = 2});
    same.record({.proposed = 2, .evaluated = 2, .accepted = 2, .tokens = 3, .last = LastToken::bonus});
    CHECK(estimates(memory, 4) == estimates(same, 4));
    CHECK(estimates(memory, 4)[0] > before[0]);
    CHECK(estimates(memory, 4)[1] > before[1]);
}

TEST_CASE("overlaps replace the outcomes of the round that follows, where that round decided", "[length]") {
    detail::AcceptanceMemory told, halves;
    for (int i = 0; i < 400; ++i) {
        for (Index j = 0; j < 5; ++j) told.observe_overlap(j, j < 2 ? .75 : 0.);
        told.record(accepted_of(i % 3, 2));  // 0, 1 or 2 accepted: what was told counts where it was decided
    }
    const auto estimate = estimates(told, 4);
    CHECK(estimate[0] == Approx(.75).margin(1e-3));
    CHECK(estimate[1] == Approx(.75).margin(1e-3));
    CHECK(estimate[2] == estimate[1]);  // never decided: forgotten

    halves.observe_overlap(0, 1);
    halves.record({.proposed = 1, .fault = Cause::negative});
    halves.record(accepted_of(0, 1));  // what was told belonged to the round before
    CHECK(estimates(halves, 1)[0] == Approx(pooling * detail::AcceptanceMemory::expected / (pooling + 1)));

    CHECK_THROWS_WITH(told.observe_overlap(-1, .5),
                      "specsample::AcceptanceMemory::observe_overlap: position is -1, but must be 0 or more");
    CHECK_THROWS_WITH(told.observe_overlap(0, 1.5),
                      "specsample::AcceptanceMemory::observe_overlap: overlap is 1.5, but must be in [0, 1]");
    CHECK_THROWS_AS(told.observe_overlap(0, std::nan("")), std::invalid_argument);
}

TEST_CASE("overlaps tell the same mean with less noise", "[length]") {
    // Rows whose overlap is .4 or .8: drafted tokens are accepted with these probabilities.
    Uniforms uniform{11};
    detail::AcceptanceMemory rng, overlaps;
    Moments of_rng, of_overlaps;
    for (int round = 0; round < 20000; ++round) {
        const double overlap = uniform() < .5 ? .4 : .8;
        const RoundCounts counts = accepted_of(uniform() < overlap ? 1 : 0, 1);
        rng.record(counts);
        overlaps.observe_overlap(0, overlap);
        overlaps.record(counts);
        if (round < 500) continue;
        of_rng.add(estimates(rng, 1)[0]);
        of_overlaps.add(estimates(overlaps, 1)[0]);
    }
    CHECK(of_rng.mean == Approx(.6).margin(.02));
    CHECK(of_overlaps.mean == Approx(.6).margin(.01));
    CHECK(of_overlaps.squares < .3 * of_rng.squares);  // .04 / .24 of it
}
