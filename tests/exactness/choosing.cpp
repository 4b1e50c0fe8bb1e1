// A choice among drafters by their scores keeps the target's distribution, whatever the scores are and however fast
// they change.
#include <specsample/drafters/choosing.hpp>

#include <functional>

#include <specsample/drafters/lookup.hpp>
#include <specsample/drafters/tree.hpp>

#include "exactness/trees.hpp"
#include "support/catch.hpp"

using namespace cases;
using namespace specsample::walks;
using choosing::BestOf;
using choosing::Overlaps;
using choosing::Watched;

TEST_CASE("drafts of the best of several drafters have the target's joint distribution, whoever is the best") {
    long cases_seen = 0, drafted = 0;
    for (const Index vocab : {2, 3})
        for (std::uint64_t seed = 0; seed < 4; ++seed)
            for (const Index best : {0, 1}) {
                const Remembered target = ContextModel(vocab, 70 + seed);
                const Remembered one = ContextModel(vocab, 80 + seed), other = ContextModel(vocab, 90 + seed);
                Overlaps overlaps;
                overlaps.record(1 - best, .25);
                overlaps.record(best, .5);
                overlaps.record(2, .125);
                const auto check = [&](const auto& rule, const auto& drafter) {
                    INFO("vocab " << vocab << ", seed " << seed << ", the best is " << best);
                    CHECK(distance_from_target(rule, drafter, target, 2, {{0}, {1, 0}, {}}) < 1e-12);
                    ++cases_seen;
                    for_rounds(rule, drafter, target, 2,
                               [&](const Round& round, const Enumerator&) { drafted += round.proposed; }, {0});
                };
                check(TokenVerification{}, BestOf(overlaps, one, other));
                check(BlockVerification{}, BestOf(overlaps, other, one));
                check(TraversalVerification{}, BestOf(overlaps, TreeDrafter(one, {2}), TreeDrafter(other, {1, 1})));
                check(SampleMatch{}, BestOf(overlaps, one, other));
            }
    CHECK(cases_seen == 2 * 4 * 2 * 4);
    CHECK(drafted > 1000);
}

// Fixed seeds; every statistic has a false-alarm probability of 1e-9, and there are nine.
TEMPLATE_TEST_CASE("texts whose rounds choose their drafters each have the target's distribution", "",
                   TokenVerification, BlockVerification, TraversalVerification, GumbelMatch) {
    constexpr int samples = 20000;
    constexpr Index length = 4;
    const ContextModel model(3, 61), near(3, 62), far(3, 63);
    const TextDistribution expected = joint_distribution(model, length);
    const auto check = [&](auto target, auto make_drafter) {
        Overlaps overlaps({.half_life = .5, .lookahead = 3});  // a new best one after nearly every round
        Sampler sampler(make_drafter(overlaps), Watched(target, overlaps), {.lookahead = 3, .seed = 7}, TestType{});
        TextDistribution observed;
        for (int request = 0; request < samples; ++request)
            ++observed[sampler.generate(std::vector<Token>{1},
                                        {.max_new_tokens = length, .request = static_cast<std::uint64_t>(request)})];
        CHECK(chi_square(observed, expected, samples).holds());
        CHECK(sampler.tally().tokens_per_round() > 1.2);
    };
    const auto chains = [&](Overlaps& overlaps) { return BestOf(overlaps, near, far); };
    check([&](std::span<const Token> prefix, Index n) { return model(prefix.subspan(1), n); }, chains);
    check([&](std::span<const Token> prefix) { return model(prefix.subspan(1)); }, chains);
    if constexpr (std::is_same_v<TestType, TraversalVerification>)
        check([&](std::span<const Token> prefix) { return model(prefix.subspan(1)); },
              [&](Overlaps& overlaps) {
                  return BestOf(overlaps, LookupDrafter(), TreeDrafter(near, {2, 1, 1}), TreeDrafter(far, {1, 2, 1}));
              });
}
