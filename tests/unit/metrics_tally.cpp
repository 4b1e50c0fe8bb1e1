// Tally: its definitions on rounds made by hand, merging, and its rates on simulated rounds (fixed seeds).
#include <specsample/core/tally.hpp>
#include <specsample/metrics.hpp>
#include <specsample/theory/expected_tokens.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "support/catch.hpp"
#include "support/uniforms.hpp"

using specsample::Cause;
using specsample::Index;
using specsample::LastToken;
using specsample::RoundCounts;
using specsample::Tally;
using specsample::metrics::Estimate;
using specsample::metrics::PositionCounts;

namespace {

RoundCounts simulate_round(Index lookahead, double alpha, Uniforms& uniform) {
    Index accepted = 0;
    while (accepted < lookahead && uniform() < alpha) ++accepted;
    const bool rejected = accepted < lookahead;
    return {.proposed = lookahead,
            .evaluated = accepted + rejected,
            .accepted = accepted,
            .tokens = accepted + 1,
            .last = rejected ? LastToken::recovered : LastToken::bonus};
}

// One round of each ending, at lookahead 4.
constexpr RoundCounts rejected_third{
    .proposed = 4, .evaluated = 3, .accepted = 2, .tokens = 3, .last = LastToken::recovered};
constexpr RoundCounts all_accepted{.proposed = 4, .evaluated = 4, .accepted = 4, .tokens = 5, .last = LastToken::bonus};
constexpr RoundCounts left_at_once{
    .proposed = 4, .evaluated = 1, .accepted = 0, .tokens = 1, .last = LastToken::matched};
constexpr RoundCounts stop_token_second{
    .proposed = 4, .evaluated = 2, .accepted = 2, .tokens = 2, .last = LastToken::stopped};
// A caller cut the text after a rejection, before the recovered token.
constexpr RoundCounts cut_after_rejection{
    .proposed = 4, .evaluated = 2, .accepted = 1, .tokens = 1, .last = LastToken::stopped};
// A callback ended the text within the accepted tokens: two of them and the bonus token are lost.
constexpr RoundCounts callback_third{
    .proposed = 4, .evaluated = 2, .accepted = 2, .tokens = 2, .last = LastToken::stopped, .discarded = 3};
// A tree of 6 nodes and 3 positions, cut by a budget after its first token.
constexpr RoundCounts tree_cut{
    .proposed = 6, .evaluated = 1, .accepted = 1, .tokens = 1, .last = LastToken::stopped, .depth = 3};
constexpr RoundCounts bad_target_row{.proposed = 4, .fault = Cause::not_finite};
constexpr RoundCounts nothing_drafted{
    .proposed = 0, .evaluated = 0, .accepted = 0, .tokens = 1, .last = LastToken::bonus};

Tally tally_of(const std::vector<RoundCounts>& rounds) {
    Tally tally;
    for (const RoundCounts& round : rounds) tally.record(round);
    return tally;
}

}  // namespace

TEST_CASE("Tally counts rounds made by hand as its definitions say", "[analysis]") {
    const Tally tally = tally_of({rejected_third, all_accepted, left_at_once, stop_token_second, cut_after_rejection});
    CHECK(tally.rounds == 5);
    CHECK(tally.proposed == 20);
    CHECK(tally.evaluated == 12);
    CHECK(tally.accepted == 9);
    CHECK(tally.recovered == 1);
    CHECK(tally.bonus == 1);
    CHECK(tally.matched == 1);
    CHECK(tally.stopped == 2);
    CHECK(tally.tokens == 12);
    CHECK(tally.positions == std::vector<PositionCounts>{{5, 4, 0}, {4, 3, 0}, {2, 1, 1}, {1, 1, 1}});
    CHECK(tally.discarded == 0);
    CHECK(tally.faulty_rounds() == 0);
    CHECK(tally.acceptance().value == .75);
    CHECK(tally.tokens_per_round() == Approx(2.4).epsilon(1e-14));
}

TEST_CASE("Tally: tokens per target pass count every pass of a round", "[analysis]") {
    RoundCounts by_paths = rejected_third, by_rows = all_accepted;
    by_paths.passes = 4;
    by_rows.passes = 5;
    Tally tally = tally_of({by_paths, by_rows, left_at_once, bad_target_row});
    CHECK(tally.passes == 10);
    CHECK(tally.tokens_per_pass() == Approx(.9).epsilon(1e-14));
    CHECK(tally.tokens_per_round() == Approx(3).epsilon(1e-14));
    tally += tally_of({all_accepted});
    CHECK(tally.passes == 11);
    CHECK(Tally{}.tokens_per_pass() == 0.);
}

TEST_CASE("Tally: positions past a stop are neither evaluated nor rejected", "[analysis]") {
    const Tally tally = tally_of({stop_token_second});
    CHECK(tally.evaluated == 2);
    CHECK(tally.acceptance().value == 1.);
    CHECK(tally.positions == std::vector<PositionCounts>{{1, 1, 0}, {1, 1, 0}, {0, 0, 1}, {0, 0, 1}});
    CHECK(tally.stopped == 1);
    CHECK(tally.recovered + tally.bonus + tally.matched == 0);
}

TEST_CASE("Tally: positions after a rejection are not censored, whatever cut the text there", "[analysis]") {
    const Tally tally = tally_of({rejected_third, left_at_once, cut_after_rejection});
    for (const PositionCounts& at : tally.positions) CHECK(at.censored == 0);
}

TEST_CASE("Tally: a tree has as many positions as its longest path", "[analysis]") {
    const Tally tally = tally_of({tree_cut});
    CHECK(tally.proposed == 6);
    CHECK(tally.positions == std::vector<PositionCounts>{{1, 1, 0}, {0, 0, 1}, {0, 0, 1}});
    RoundCounts whole = tree_cut;
    whole.depth = -1;
    CHECK(tally_of({whole}).positions.size() == 6);
    CHECK(tree_cut.positions() == 3);
    CHECK(all_accepted.positions() == 4);
}

TEST_CASE("Tally: discarded tokens are neither emitted nor evaluated", "[analysis]") {
    const Tally tally = tally_of({callback_third, all_accepted, callback_third});
    CHECK(tally.discarded == 6);
    CHECK(tally.tokens == 2 + 5 + 2);
    CHECK(tally.evaluated == 2 + 4 + 2);
    CHECK(tally.positions == std::vector<PositionCounts>{{3, 3, 0}, {3, 3, 0}, {1, 1, 2}, {1, 1, 2}});
}

TEST_CASE("Tally: a round with bad data counts in no rate", "[analysis]") {
    const Tally without = tally_of({rejected_third, all_accepted});
    Tally with = without;
    with.record(bad_target_row);
    with.record({.proposed = 9, .fault = Cause::all_masked});
    with.record(bad_target_row);
    CHECK(with.faults_of(Cause::not_finite) == 2);
    CHECK(with.faults_of(Cause::all_masked) == 1);
    CHECK(with.faults_of(Cause::empty) == 0);
    CHECK(with.faulty_rounds() == 3);
    CHECK_FALSE(with == without);
    with.faults = {};
    CHECK(with == without);
}

TEST_CASE("every cause and every ending has a name of its own", "[analysis]") {
    using specsample::metrics::cause_count;
    using specsample::metrics::name_of;
    static_assert(name_of(Cause::not_finite) == "not_finite" && name_of(LastToken::bonus) == "bonus");
    CHECK(cause_count == 22);
    std::set<std::string_view> names;
    for (std::size_t i = 0; i < cause_count; ++i) names.insert(name_of(static_cast<Cause>(i)));
    for (const LastToken last : {LastToken::recovered, LastToken::bonus, LastToken::matched, LastToken::stopped})
        names.insert(name_of(last));
    CHECK(names.size() == cause_count + 4);
    CHECK(names.count("unknown") == 0);
    for (const std::string_view name : names)
        CHECK(std::ranges::all_of(name, [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; }));
    CHECK(name_of(static_cast<Cause>(cause_count)) == "unknown");
}

TEST_CASE("Tally: a round that drafts nothing is a round with a token", "[analysis]") {
    const Tally tally = tally_of({nothing_drafted, nothing_drafted});
    CHECK(tally.rounds == 2);
    CHECK(tally.tokens_per_round() == 1.);
    CHECK(tally.acceptance() == Estimate{0., 0., 1.});
    CHECK(tally.positions.empty());
}

TEST_CASE("Tally: conditional rates have their own denominators", "[analysis]") {
    const Tally tally = tally_of({rejected_third, all_accepted, left_at_once});
    CHECK(tally.acceptance_at(0).value == Approx(2. / 3));
    CHECK(tally.acceptance_at(1).value == 1.);
    CHECK(tally.acceptance_at(2).value == .5);
    CHECK(tally.acceptance_at(3).value == 1.);
    CHECK(tally.acceptance_at(4) == Estimate{0., 0., 1.});
    CHECK(tally.acceptance_at(1).low == specsample::metrics::estimate_acceptance(2, 2).low);
    CHECK(tally.acceptance_at(2, 0.) == Estimate{.5, .5, .5});
    CHECK(tally.acceptance(2.576).low < tally.acceptance().low);
    CHECK_THROWS_WITH(tally.acceptance_at(-1),
                      "specsample::Tally::acceptance_at: position is -1, but must be 0 or more");
}

TEST_CASE("Tally: the overall rate is a ratio of sums, not a mean of ratios", "[analysis]") {
    const Tally tally = tally_of({all_accepted, left_at_once});
    CHECK(tally.acceptance().value == Approx(4. / 5));  // the mean of 4/4 and 0/1 is 1/2
}

TEST_CASE("an empty Tally has defined rates", "[analysis]") {
    const Tally tally;
    CHECK(tally.tokens_per_round() == 0.);
    CHECK(tally.acceptance() == Estimate{0., 0., 1.});
    CHECK(tally.acceptance_at(0) == Estimate{0., 0., 1.});
}

TEST_CASE("Tally holds its invariants over any rounds", "[analysis]") {
    Tally tally;
    Uniforms uniform{7};
    for (int i = 0; i < 500; ++i) tally.record(simulate_round(i % 7, .6, uniform));
    CHECK(tally.rounds == tally.recovered + tally.bonus + tally.matched + tally.stopped);
    CHECK(tally.tokens == tally.accepted + tally.rounds - tally.stopped);
    CHECK(tally.evaluated == tally.accepted + tally.recovered);
    Index evaluated = 0, accepted = 0;
    for (const PositionCounts& at : tally.positions) {
        evaluated += at.evaluated;
        accepted += at.accepted;
    }
    CHECK(evaluated == tally.evaluated);
    CHECK(accepted == tally.accepted);
}

TEST_CASE("Tally merges in any order to the tally of all rounds", "[analysis]") {
    Uniforms uniform{11};
    std::vector<RoundCounts> rounds;
    for (int i = 0; i < 90; ++i) rounds.push_back(simulate_round(i / 10, .7, uniform));
    rounds.insert(rounds.end(), {stop_token_second, cut_after_rejection, left_at_once, nothing_drafted});
    Tally parts[3];
    for (std::size_t i = 0; i < rounds.size(); ++i) parts[i % 7 % 3].record(rounds[i]);

    const Tally whole = tally_of(rounds);
    for (const auto& order : {std::vector{0, 1, 2}, {2, 1, 0}, {1, 0, 2}}) {
        Tally merged;
        for (const int part : order) merged += parts[part];
        CHECK(merged == whole);
    }
    Tally right = parts[1];
    right += parts[2];
    Tally nested = parts[0];
    nested += right;
    CHECK(nested == whole);
    nested += Tally{};
    CHECK(nested == whole);
}

TEST_CASE("Tally: any deal of rounds to threads, merged in any order, is the tally of all", "[analysis]") {
    Uniforms uniform{13};
    const RoundCounts handmade[] = {stop_token_second, cut_after_rejection, left_at_once,
                                    nothing_drafted,   callback_third,      tree_cut,
                                    bad_target_row,    rejected_third};
    for (int context = 0; context < 200; ++context) {
        std::vector<RoundCounts> rounds(static_cast<std::size_t>(60 * uniform()));
        for (RoundCounts& round : rounds)
            round = uniform() < .5 ? simulate_round(static_cast<Index>(9 * uniform()), .6, uniform)
                                   : handmade[static_cast<std::size_t>(8 * uniform())];
        std::vector<Tally> threads(1 + static_cast<std::size_t>(6 * uniform()));
        const auto any = [&] { return static_cast<std::size_t>(static_cast<double>(threads.size()) * uniform()); };
        for (const RoundCounts& round : rounds) threads[any()].record(round);
        while (threads.size() > 1) {  // two of them, whichever, become one
            std::swap(threads[any()], threads.back());
            const Tally last = threads.back();
            threads.pop_back();
            threads[any()] += last;
        }
        REQUIRE(threads.front() == tally_of(rounds));
    }
}

TEST_CASE("Tally merges different lookaheads, and with itself", "[analysis]") {
    const RoundCounts longer{.proposed = 6, .evaluated = 6, .accepted = 5, .tokens = 6, .last = LastToken::recovered};
    Tally low = tally_of({rejected_third}), high = tally_of({longer});
    Tally low_first = low, high_first = high;
    low_first += high;
    high_first += low;
    CHECK(low_first == high_first);
    CHECK(low_first.positions.size() == 6);
    low += low;
    CHECK(low == tally_of({rejected_third, rejected_third}));
}

TEST_CASE("Tallies with different counters differ", "[analysis]") {
    CHECK_FALSE(tally_of({rejected_third}) == tally_of({all_accepted}));
    RoundCounts matched = rejected_third;
    matched.last = LastToken::matched;
    CHECK_FALSE(tally_of({rejected_third}) == tally_of({matched}));
    CHECK_FALSE(rejected_third == matched);
    // Each of the counters that a round may add to alone
    const auto differs = [](auto change) {
        RoundCounts round = callback_third;
        change(round);
        return !(round == callback_third) && !(tally_of({round}) == tally_of({callback_third}));
    };
    CHECK(differs([](auto& r) { r.discarded = 2; }));
    CHECK(differs([](auto& r) { r.passes = 2; }));
    CHECK(differs([](auto& r) {
        r.depth = 3;
        r.discarded = 2;
    }));
    CHECK(differs([](auto& r) { r = bad_target_row; }));
    CHECK_FALSE(tally_of({bad_target_row}) == tally_of({{.fault = Cause::empty}}));
}

TEST_CASE("Tally allocates only when a longer draft tree is seen", "[analysis]") {
    Tally tally;
    tally.record(all_accepted);
    const PositionCounts* const memory = tally.positions.data();
    for (const RoundCounts& round :
         {rejected_third, all_accepted, stop_token_second, nothing_drafted, callback_third, tree_cut, bad_target_row}) {
        tally.record(round);
        REQUIRE(tally.positions.data() == memory);
        REQUIRE(tally.positions.size() == 4);
    }

    Tally reserved;
    reserved.reserve(4);
    CHECK(reserved == Tally{});
    const PositionCounts* const room = reserved.positions.data();
    reserved.record(all_accepted);
    CHECK(reserved.positions.data() == room);
    CHECK_THROWS_WITH(reserved.reserve(-1), "specsample::Tally::reserve: lookahead is -1, but must be 0 or more");
}

TEST_CASE("Tally refuses counts that no round has, and adds nothing then", "[analysis]") {
    Tally tally = tally_of({all_accepted});
    const Tally before = tally;
    const auto with = [](auto change) {
        RoundCounts round = rejected_third;
        change(round);
        return round;
    };
    CHECK_THROWS_AS(tally.record(with([](auto& r) { r.accepted = -1; })), std::invalid_argument);
    CHECK_THROWS_WITH(tally.record(with([](auto& r) { r.accepted = -1; })),
                      "specsample::Tally::record: accepted is -1, but must be 0 or more");
    const char* const first_rejection = "accepted or accepted + 1: a round ends at its first rejection";
    CHECK_THROWS_WITH(tally.record(with([](auto& r) { r.evaluated = 4; })),
                      std::string("specsample::Tally::record: evaluated is 4, but must be ") + first_rejection);
    CHECK_THROWS_WITH(tally.record(with([](auto& r) { r.evaluated = 1; })),
                      std::string("specsample::Tally::record: evaluated is 1, but must be ") + first_rejection);
    CHECK_THROWS_WITH(tally.record(with([](auto& r) { r.proposed = 2; })),
                      "specsample::Tally::record: evaluated is 3, but must be proposed at most");
    const char* const tokens = "accepted + 1, or accepted in a stopped round";
    CHECK_THROWS_WITH(tally.record(with([](auto& r) { r.tokens = 4; })),
                      std::string("specsample::Tally::record: tokens is 4, but must be ") + tokens);
    CHECK_THROWS_WITH(tally.record(with([](auto& r) { r.last = LastToken::stopped; })),
                      std::string("specsample::Tally::record: tokens is 3, but must be ") + tokens);
    CHECK_THROWS_WITH(tally.record(with([](auto& r) { r.passes = 0; })),
                      "specsample::Tally::record: passes is 0, but must be 1 or more");
    const char* const depth = "specsample::Tally::record: depth is ";
    CHECK_THROWS_WITH(tally.record(with([](auto& r) { r.depth = 2; })),
                      depth + std::string("2, but must be in [evaluated, proposed]"));
    CHECK_THROWS_WITH(tally.record(with([](auto& r) { r.depth = 5; })),
                      depth + std::string("5, but must be in [evaluated, proposed]"));
    const char* const discarded = "specsample::Tally::record: discarded is ";
    CHECK_THROWS_WITH(tally.record(with([](auto& r) { r.discarded = 1; })),
                      ContainsSubstring(discarded + std::string("1")));
    CHECK_THROWS_WITH(tally.record(with([](auto& r) {
        r = callback_third;
        r.discarded = 4;
    })),
                      ContainsSubstring(discarded + std::string("4")));
    CHECK_THROWS_WITH(tally.record(with([](auto& r) {
        r = callback_third;
        r.discarded = -1;
    })),
                      ContainsSubstring(discarded + std::string("-1")));
    CHECK_THROWS_WITH(tally.record(with([](auto& r) { r.fault = Cause::empty; })),
                      "specsample::Tally::record: tokens is 3, but must be 0 in a round that met bad data");
    CHECK_THROWS_WITH(tally.record({.fault = static_cast<Cause>(22)}),
                      "specsample::Tally::record: fault is 22, but must be a Cause");
    CHECK(tally == before);
}

TEST_CASE("Tally reads alpha where accepted over drafted and a mean of ratios do not", "[analysis]") {
    // 100000 rounds, about 277000 decisions: standard deviation .0009, so 5 of them allowed
    Uniforms uniform{1};
    Tally tally;
    double ratios = 0;
    for (int i = 0; i < 100000; ++i) {
        const RoundCounts round = simulate_round(5, .7, uniform);
        tally.record(round);
        ratios += static_cast<double>(round.accepted) / static_cast<double>(round.evaluated);
    }
    CHECK(tally.acceptance().value == Approx(.7).margin(.0045));
    CHECK(static_cast<double>(tally.accepted) / static_cast<double>(tally.proposed) == Approx(.388).margin(.005));
    CHECK(ratios / 100000 == Approx(.506).margin(.01));
    CHECK(tally.tokens_per_round() == Approx(specsample::theory::expected_tokens(.7, 5)).margin(.03));
    for (Index position = 0; position < 5; ++position) {
        const Estimate at = tally.acceptance_at(position, 5.);
        CHECK((at.low < .7 && .7 < at.high));
    }
}

TEST_CASE("Tally's interval covers alpha in 95 of 100 texts", "[analysis]") {
    // 4000 texts of 40 rounds: the coverage has standard deviation .0035, so 4.5 of them allowed
    Uniforms uniform{2};
    int covered = 0;
    for (int text = 0; text < 4000; ++text) {
        Tally tally;
        for (int round = 0; round < 40; ++round) tally.record(simulate_round(4, .8, uniform));
        const Estimate alpha = tally.acceptance();
        covered += alpha.low <= .8 && .8 <= alpha.high;
    }
    CHECK(covered / 4000. == Approx(.95).margin(.0155));
}
