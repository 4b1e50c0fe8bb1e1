// Drafts from the target's own past rows keep the target's distribution, however many texts the table has seen.
#include <specsample/drafters/recycling.hpp>

#include <functional>

#include <specsample/drafters/beam.hpp>
#include <specsample/drafters/tree.hpp>

#include "exactness/trees.hpp"
#include "support/catch.hpp"

using namespace cases;
using namespace specsample::walks;
using namespace specsample::children;
using recycling::Recorded;
using recycling::Table;

namespace {

/// Rows of some model after every text of at most two tokens, but one.
Table table_of(const ContextModel& model, Index vocab, recycling::TableOptions options) {
    Table table(options);
    const auto texts = all_texts(vocab, 2);
    for (std::size_t i = 0; i < texts.size(); ++i)
        if (i != texts.size() / 2) table.learn(texts[i], model(texts[i]));
    return table;
}

}  // namespace

TEST_CASE("drafts from past rows have the target's joint distribution, as chains and trees of every kind") {
    long cases_seen = 0, drafted = 0;
    for (const Index vocab : {2, 3})
        for (std::uint64_t seed = 0; seed < 3; ++seed)
            for (const Index top : {1, 2, 3}) {
                const Remembered target = ContextModel(vocab, 40 + seed);
                // Rows of the target itself, and of another model, as if the target had changed since.
                for (const std::uint64_t learnt : {40 + seed, 50 + seed}) {
                    Table table = table_of(ContextModel(vocab, learnt), vocab, {.context = 2, .top = top});
                    const auto check = [&](const auto& rule, const auto& drafter) {
                        INFO("vocab " << vocab << ", seed " << seed << ", top " << top << ", rows of " << learnt);
                        CHECK(distance_from_target(rule, drafter, target, 3, {{0}, {1, 0}, {}}) < 1e-12);
                        ++cases_seen;
                        for_rounds(rule, drafter, target, 3,
                                   [&](const Round& round, const Enumerator&) { drafted += round.proposed; }, {0});
                    };
                    check(TokenVerification{}, ChainDrafter(std::ref(table)));
                    check(BlockVerification{}, ChainDrafter(std::ref(table)));
                    check(TraversalVerification{}, TreeDrafter(std::ref(table), {2, 1}));
                    check(RecursiveRejection{}, TreeDrafter(std::ref(table), {2, 1}, TopChildren{}));
                    check(TraversalVerification{}, DynamicTreeDrafter(std::ref(table), {.width = 2, .nodes = 4}));
                    check(SampleMatch{}, TreeDrafter(std::ref(table), {2, 1}));
                }
            }
    CHECK(cases_seen == 2 * 3 * 3 * 2 * 6);
    CHECK(drafted > 1000);
}

// Fixed seeds; every statistic has a false-alarm probability of 1e-9, and there are ten.
TEMPLATE_TEST_CASE("texts that learn from each other's rows each have the target's distribution", "", TokenVerification,
                   BlockVerification, TraversalVerification, GumbelMatch) {
    constexpr int samples = 20000;
    constexpr Index length = 4;
    const ContextModel model(3, 61);
    const TextDistribution expected = joint_distribution(model, length);
    const auto check = [&](auto target, auto make_drafter) {
        Table table({.context = 1, .top = 2});
        Sampler sampler(make_drafter(table), Recorded(target, table), {.lookahead = 3, .seed = 7}, TestType{});
        TextDistribution observed;
        for (int request = 0; request < samples; ++request)
            ++observed[sampler.generate(std::vector<Token>{},
                                        {.max_new_tokens = length, .request = static_cast<std::uint64_t>(request)})];
        CHECK(chi_square(observed, expected, samples).holds());
        CHECK(sampler.tally().tokens_per_round() > 1.2);
    };
    const auto chain = [](Table& table) { return ChainDrafter(std::ref(table)); };
    check(model, chain);
    // Rows that come one at a time are learnt while the draft of the round is judged.
    check([&](std::span<const Token> prefix) { return model(prefix); }, chain);
    if constexpr (!std::is_same_v<TestType, TokenVerification> && !std::is_same_v<TestType, BlockVerification>)
        check(model, [](Table& table) { return TreeDrafter(std::ref(table), {2, 1, 1}); });
}
