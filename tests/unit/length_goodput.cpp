// GoodputLength: by hand, by brute force, and on simulated texts whose acceptance changes.
#include <specsample/length/goodput.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include <specsample/random/rng.hpp>
#include <specsample/theory/speedup.hpp>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::theory;

namespace {

static_assert(Length<GoodputLength<>>);

/// cost(n) = 1 + slope (n - 1)
struct Line {
    double slope;
    double operator()(Index positions) const { return 1 + slope * static_cast<double>(positions - 1); }
};

RoundCounts accepted_of(Index accepted, Index proposed) {
    const bool all = accepted == proposed;
    return {.proposed = proposed,
            .evaluated = all ? proposed : accepted + 1,
            .accepted = accepted,
            .tokens = accepted + 1,
            .last = all ? LastToken::bonus : LastToken::recovered};
}

constexpr Index most = 16;
constexpr double draft_costs[] = {.05, .2, .5}, slopes[] = {.05, .4};

/// The number of drafted tokens that each round of a text would accept: acceptance(round) by the keyed RNG.
template <class Acceptance>
std::vector<Index> text(std::uint64_t seed, Index rounds, const Acceptance& acceptance) {
    std::vector<Index> accepted;
    for (Index round = 0; round < rounds; ++round) {
        Index run = 0;
        while (run < most && Rng({.seed = seed, .position = round, .node = run}).uniform() < acceptance(round)) ++run;
        accepted.push_back(run);
    }
    return accepted;
}

/// Tokens per cost of a policy on a text.
template <class Policy>
double goodput(const std::vector<Index>& text, Policy policy, double draft_cost, double slope) {
    double tokens = 0, cost = 0;
    for (const Index run : text) {
        const Index lookahead = policy.next(most), accepted = std::min(run, lookahead);
        tokens += static_cast<double>(accepted + 1);
        cost += static_cast<double>(lookahead) * draft_cost + Line{slope}(lookahead + 1);
        policy.record(accepted_of(accepted, lookahead));
    }
    return tokens / cost;
}

struct Always {
    Index lookahead;
    Index next(Index) const { return lookahead; }
    void record(const RoundCounts&) {}
};

double best_fixed(const std::vector<Index>& text, double draft_cost, double slope) {
    double best = 0;
    for (Index lookahead = 0; lookahead <= most; ++lookahead)
        best = std::max(best, goodput(text, Always{lookahead}, draft_cost, slope));
    return best;
}

/// The worst and the best ratio of goodput to the figure of `against`, over 20 texts and all costs.
template <class Acceptance, class Against>
std::pair<double, double> extremes(Index rounds, const Acceptance& acceptance, const Against& against) {
    double worst = std::numeric_limits<double>::max(), best = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const auto accepted = text(seed, rounds, acceptance);
        for (const double draft_cost : draft_costs)
            for (const double slope : slopes) {
                const double ratio = goodput(accepted, GoodputLength(draft_cost, Line{slope}), draft_cost, slope) /
                                     against(accepted, draft_cost, slope);
                CAPTURE(seed, draft_cost, slope, ratio);
                CHECK(ratio >= .97);
                worst = std::min(worst, ratio);
                best = std::max(best, ratio);
            }
    }
    return {worst, best};
}

const auto plain = [](const auto&, double, double) { return 1.; };

/// The number of rounds without a draft until the next one, which accepts all or nothing.
template <class Policy>
Index wait(Policy& policy, bool accepts) {
    Index rounds = 0;
    for (; policy.next(most) == 0 && rounds < 1000; ++rounds) policy.record(accepted_of(0, 0));
    const Index lookahead = policy.next(most);
    policy.record(accepted_of(accepts ? lookahead : 0, lookahead));
    return rounds;
}

/// A policy that has found drafts to be useless.
template <class Policy>
Policy discouraged(Policy policy) {
    while (policy.next(most) > 0) policy.record(accepted_of(0, policy.next(most)));
    return policy;
}

}  // namespace

TEST_CASE("where acceptance changes, goodput is within 3 percent of the best fixed lookahead in hindsight",
          "[length]") {
    const auto acceptance = [](Index round) {
        return std::array{.9, .2, .7, 0.}[static_cast<std::size_t>(round / 500)];
    };
    const auto [worst, best] = extremes(2000, acceptance, best_fixed);
    WARN("of the best fixed lookahead: " << worst << " to " << best);
}

TEST_CASE("useless drafts make no text more than 3 percent slower than plain decoding", "[length]") {
    for (const double acceptance : {0., .02})
        for (const Index rounds : {500, 2000}) {
            const auto [worst, best] = extremes(
                rounds, [&](Index) { return acceptance; }, plain);
            WARN("acceptance " << acceptance << ", " << rounds << " rounds: " << worst);
        }
}

TEST_CASE("where acceptance is steady, not much is lost to watching it", "[length]") {
    for (const double acceptance : {.2, .5, .7, .9}) {
        double worst = 1;
        for (std::uint64_t seed = 1; seed <= 10; ++seed) {
            const auto accepted = text(seed, 2000, [&](Index) { return acceptance; });
            for (const double draft_cost : draft_costs)
                for (const double slope : slopes)
                    worst =
                        std::min(worst, goodput(accepted, GoodputLength(draft_cost, Line{slope}), draft_cost, slope) /
                                            best_fixed(accepted, draft_cost, slope));
        }
        CHECK(worst > .94);
        WARN("steady acceptance " << acceptance << ": " << worst << " of the best fixed lookahead");
    }
}

TEST_CASE("with overlaps of a steady acceptance the choice is the best lookahead", "[length]") {
    for (const double alpha : {.05, .31, .56, .7, .85, .95})
        for (const double draft_cost : {0., .02, .1, .25})
            for (const double slope : {0., .07, .3}) {
                GoodputLength policy(draft_cost, Line{slope});
                for (int i = 0; i < 1500; ++i) {
                    for (Index j = 0; j < 12; ++j) policy.observe_overlap(j, alpha);
                    policy.record(accepted_of(i % 13, 12));
                }
                for (Index room = 0; room <= 12; ++room) {
                    CAPTURE(alpha, draft_cost, slope, room);
                    CHECK(policy.next(room) == best_lookahead(alpha, draft_cost, Line{slope}, room));
                }
            }
}

TEST_CASE("on ties the lookahead is the shortest", "[length]") {
    CHECK(GoodputLength(detail::AcceptanceMemory::expected).next(1) == 0);  // (1 + a) / (1 + c) = 1
    CHECK(GoodputLength(detail::AcceptanceMemory::expected - 1e-9).next(1) == 1);
}

TEST_CASE("acceptance is conditional on the position, and the choice obeys it", "[length]") {
    // .9, .9, .2, .9, ..: by hand for c = .1, flat: rates 1, 1.727, 2.258, 2.209, 2.173, ..
    GoodputLength policy(.1);
    const auto acceptance = [](Index j) { return j == 2 ? .2 : .9; };
    for (int i = 0; i < 1500; ++i) {
        for (Index j = 0; j < 8; ++j) policy.observe_overlap(j, acceptance(j));
        policy.record(accepted_of(8, 8));
    }
    Index best = 0;
    double fastest = 0, tokens = 1, survival = 1;
    for (Index k = 0; k <= 8; ++k) {
        if (tokens / (1 + .1 * static_cast<double>(k)) > fastest) {
            fastest = tokens / (1 + .1 * static_cast<double>(k));
            best = k;
        }
        survival *= acceptance(k);
        tokens += survival;
    }
    CHECK(best == 2);
    std::array<double, 5> estimates{};
    policy.estimate(estimates);
    for (Index j = 0; j < 5; ++j) CHECK(estimates[static_cast<std::size_t>(j)] == Approx(acceptance(j)).margin(.05));
    CHECK(policy.next(8) == 2);
}

TEST_CASE("0 is reached where drafts are useless, probed with back-off, and left again", "[length]") {
    auto policy = discouraged(GoodputLength(.1, Line{.05}));
    for (const Index rounds : {8, 16, 32, 64, 64, 64}) CHECK(wait(policy, false) == rounds);
    CHECK(wait(policy, true) == 64);
    // The accepted probe is followed by a draft at once, and by longer ones as long as they are accepted.
    Index lookahead = 0;
    for (int i = 0; i < 20; ++i) {
        REQUIRE(policy.next(most) > 0);
        lookahead = policy.next(most);
        policy.record(accepted_of(lookahead, lookahead));
    }
    CHECK(lookahead > 3);
    policy = discouraged(policy);
    CHECK(wait(policy, false) == 8);

    // A probe that is accepted and still does not pay also resets the wait.
    auto costly = discouraged(GoodputLength(.8));
    for (const Index rounds : {8, 16}) CHECK(wait(costly, false) == rounds);
    CHECK(wait(costly, true) == 32);
    CHECK(wait(costly, false) == 8);
    CHECK(wait(costly, false) == 16);
}

TEST_CASE("a probe is the shortest draft that pays if it is accepted, and there is none where none does", "[length]") {
    GoodputLength never(.1, Line{1.});
    for (int i = 0; i < 300; ++i) {
        REQUIRE(never.next(most) == 0);
        never.record(accepted_of(0, 0));
    }
    // Verification by tiles of four: two positions cost as much as four.
    auto tiles = discouraged(GoodputLength(.1, [](Index n) { return n == 1 ? 1. : 2.5; }));
    for (int i = 0; i < 8; ++i) tiles.record(accepted_of(0, 0));
    CHECK(tiles.next(most) == 2);
    CHECK(tiles.next(1) == 0);
    // A draft that was cut short by its own stop is not a probe, even where so short a draft cannot pay.
    GoodputLength shortened(.1, [](Index n) { return n == 1 ? 1. : 2.5; });
    for (int i = 0; i < 100; ++i) shortened.record(accepted_of(6, 6));
    while (shortened.next(most) > 0) shortened.record(accepted_of(0, 1));
    CHECK(wait(shortened, false) == 8);
    auto flat = discouraged(GoodputLength(.1));
    for (int i = 0; i < 8; ++i) flat.record(accepted_of(0, 0));
    CHECK(flat.next(most) == 1);
    CHECK(flat.next(0) == 0);
}

TEST_CASE("what is next depends on records alone: asking changes nothing, and a copy goes its own way", "[length]") {
    GoodputLength policy(.1);
    for (int i = 0; i < 100; ++i) {
        const Index lookahead = policy.next(most);
        for (const Index room : {0, 3, 1000}) (void)policy.next(room);
        CHECK(policy.next(most) == lookahead);
        const GoodputLength copy = policy;
        policy.record(accepted_of(i % 7 == 0 ? 0 : lookahead, lookahead));
        CHECK(copy.next(most) == lookahead);
    }
    CHECK(policy.next(2) <= 2);
}

TEST_CASE("a drafter that often has nothing to propose is judged by what it proposes", "[length]") {
    // One round in 20 has a draft, of acceptance .7: it pays, and so it is nearly always asked for.
    const auto accepted = text(3, 400, [](Index) { return .7; });
    GoodputLength policy(.1), dense(.1);
    Index asked = 0;
    for (const Index run : accepted) {
        for (int i = 0; i < 19; ++i) {
            asked += policy.next(most) > 0;
            policy.record(accepted_of(0, 0));
        }
        const Index lookahead = policy.next(most);
        CHECK(lookahead == dense.next(most));
        policy.record(accepted_of(std::min(run, lookahead), lookahead));
        dense.record(accepted_of(std::min(run, lookahead), lookahead));
    }
    CHECK(asked > 19 * 390);
    // After the change is detected, the first probe comes as soon as any.
    while (policy.next(most) > 0) {
        for (int i = 0; i < 10; ++i) policy.record(accepted_of(0, 0));
        policy.record(accepted_of(0, policy.next(most)));
    }
    CHECK(wait(policy, false) == 8);
}

TEST_CASE("a draft that was cut by a stop, or met bad data, is no reason to draft less", "[length]") {
    GoodputLength policy(.1);
    for (int i = 0; i < 50; ++i) policy.record(accepted_of(4, 6));
    const GoodputLength before = policy;
    for (int i = 0; i < 50; ++i) policy.record({.proposed = 6, .fault = Cause::not_finite});
    CHECK(policy.next(most) == before.next(most));
    for (int i = 0; i < 50; ++i) policy.record({.proposed = 6, .evaluated = 0, .accepted = 0, .tokens = 0});
    CHECK(policy.next(most) >= before.next(most));
    policy = discouraged(policy);
    CHECK(policy.next(most) == 0);
    for (int i = 0; i < 50; ++i) policy.record({.fault = Cause::not_finite});
    CHECK(policy.next(most) == 0);  // rounds that met bad data are no wait

    // Costs count positions, not nodes: a table of costs ends at the deepest draft.
    GoodputLength tabled(.1, std::vector<double>{1, 1.1, 1.2});
    CHECK_NOTHROW(tabled.record({.proposed = 9, .fault = Cause::not_finite}));
    CHECK_NOTHROW(tabled.record(
        {.proposed = 9, .evaluated = 2, .accepted = 2, .tokens = 3, .last = LastToken::bonus, .depth = 2}));
}

TEST_CASE("measured times correct the costs that were given", "[length]") {
    // The given draft cost is .05 but the real one .5, and the given verification cost is flat: acceptance .5 does not
    // pay. This is detected by comparison with rounds that draft nothing.
    const auto seconds = [](Index k) { return .02 * (1 + .5 * static_cast<double>(k) + .1 * static_cast<double>(k)); };
    GoodputLength told(.05), measures(.05);
    double told_cost = 0, measured_cost = 0, told_tokens = 0, measured_tokens = 0;
    const auto accepted = text(5, 3000, [](Index) { return .5; });
    for (std::size_t i = 0; i < accepted.size(); ++i) {
        const Index k = told.next(most), m = measures.next(most);
        told.record(accepted_of(std::min(k, accepted[i]), k));
        measures.record(accepted_of(std::min(m, accepted[i]), m));
        const double pause = i % 100 == 50 ? 100 : 1;  // the machine's; and one round in 30 the clock steps back
        CHECK(measures.observe(m, i % 30 == 7 ? -seconds(m) : seconds(m) * pause) == (i % 30 != 7));
        told_tokens += static_cast<double>(1 + std::min(k, accepted[i]));
        told_cost += seconds(k) / .02;
        measured_tokens += static_cast<double>(1 + std::min(m, accepted[i]));
        measured_cost += seconds(m) / .02;
    }
    CHECK(told_tokens / told_cost < .75);
    CHECK(measured_tokens / measured_cost > .96);
    WARN("tokens per cost: told " << told_tokens / told_cost << ", measured " << measured_tokens / measured_cost);
}

TEST_CASE("a draft that is cheaper than given is detected, too", "[length]") {
    GoodputLength policy(.6);
    for (int i = 0; i < 300; ++i) {
        const Index lookahead = policy.next(most);
        policy.record(accepted_of(i % 5 == 0 ? 0 : lookahead, lookahead));
        policy.observe(lookahead, 1 + .02 * static_cast<double>(lookahead));
    }
    CHECK(policy.next(most) >= 4);
}

TEST_CASE("a round without a draft is measured first, and then one in 256", "[length]") {
    GoodputLength policy(.1);
    std::vector<Index> plain_rounds;
    for (Index i = 0; i < 600; ++i) {
        const Index lookahead = policy.next(most);
        if (lookahead == 0) plain_rounds.push_back(i);
        policy.record(accepted_of(lookahead, lookahead));
        policy.observe(lookahead, 1 + .1 * static_cast<double>(lookahead));
    }
    CHECK(plain_rounds == std::vector<Index>{1, 258, 515});
    CHECK(policy.next(most) == most);
}

TEST_CASE("goodput refuses impossible parameters, by name", "[length]") {
    const double inf = std::numeric_limits<double>::infinity();
    CHECK_THROWS_WITH(GoodputLength(-.1),
                      "specsample::GoodputLength: draft_cost is -0.1, but must be finite and 0 or more");
    CHECK_THROWS_WITH(GoodputLength(inf),
                      "specsample::GoodputLength: draft_cost is inf, but must be finite and 0 or more");
    CHECK_THROWS_AS(GoodputLength(std::nan("")), std::invalid_argument);
    CHECK_THROWS_WITH(GoodputLength(.1).next(-1), "specsample::GoodputLength::next: most is -1, but must be 0 or more");
    CHECK_THROWS_WITH(GoodputLength(.1, [](Index) { return 0.; }).next(1),
                      "specsample::GoodputLength: verify_cost is 0, but must be finite and above 0");
    CHECK_THROWS_WITH(GoodputLength(.1, [=](Index) { return inf; }).next(1),
                      "specsample::GoodputLength: verify_cost is inf, but must be finite and above 0");
    CHECK_THROWS_WITH(GoodputLength(.1, [](Index) { return -1.; }).next(1),
                      "specsample::GoodputLength: verify_cost is -1, but must be finite and above 0");
    CHECK_THROWS_WITH(GoodputLength(.1, std::vector<double>{1, 1.1}).next(2),
                      "specsample::GoodputLength: size of the verify_cost table is 2, but must be at least lookahead + "
                      "1");
    CHECK_NOTHROW(GoodputLength(.1, std::vector<double>{1, 1.1}).next(1));
    CHECK_THROWS_WITH(GoodputLength(.1).observe(-1, 1),
                      "specsample::GoodputLength::observe: lookahead is -1, but must be 0 or more");
    CHECK_THROWS_AS(GoodputLength(.1).observe_overlap(0, 2), std::invalid_argument);
}

TEST_CASE("the price of a rejection shortens drafts until rounds are timed, which contain it", "[length]") {
    const Replay replay{.restore = .5, .per_token = .3};
    GoodputLength length(.05, Line{.05}, replay), timed = length, without(.05, Line{.05});
    for (Index accepted : {2, 0, 1, 3, 0, 2, 1, 4, 0, 1}) {
        length.record(accepted_of(accepted, 4));
        timed.record(accepted_of(accepted, 4));
        without.record(accepted_of(accepted, 4));
    }
    std::array<double, most> acceptance;
    length.estimate(acceptance);
    double tokens = 1, survival = 1, price = 0, fastest = 1;
    Index best = 0;
    for (Index k = 0; k < most; ++k) {
        const double next = survival * acceptance[static_cast<std::size_t>(k)];
        price += (survival - next) * (.5 + .3 * static_cast<double>(k));
        survival = next;
        tokens += survival;
        const double speed = tokens / (.05 * static_cast<double>(k + 1) + Line{.05}(k + 2) + price);
        if (speed > fastest) fastest = speed, best = k + 1;
    }
    CHECK(length.next(most) == best);
    CHECK(best < without.next(most));
    for (GoodputLength<Line>* each : {&timed, &without})
        for (Index k : {0, 2, 4}) each->observe(k, 1 + .1 * static_cast<double>(k));
    for (GoodputLength<Line>* each : {&timed, &without}) each->record(accepted_of(0, 0));
    CHECK(timed.next(most) == without.next(most));
    CHECK_THROWS_WITH(GoodputLength(.1, FlatCost{}, {.restore = -1}),
                      "specsample::GoodputLength: replay.restore is -1, but must be finite and 0 or more");
}
