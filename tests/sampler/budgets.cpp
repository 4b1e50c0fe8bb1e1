// The rest of a budget bounds the draft of a round, and nothing else; absurd lengths are refused by name.
#include <algorithm>
#include <functional>

#include <specsample/beam.hpp>
#include <specsample/drafters.hpp>
#include <specsample/length.hpp>
#include <specsample/sampler/staged.hpp>
#include <specsample/specsample.hpp>
#include <specsample/testing.hpp>
#include <specsample/theory.hpp>
#include <specsample/tree.hpp>
#include <specsample/verify.hpp>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::beam;
using namespace specsample::heads;
using namespace specsample::theory;
using namespace specsample::testing;

namespace {

constexpr Index vocab = 4;
const ContextModel draft(vocab, 71), target(vocab, 72);
const std::vector<Token> prompt{1, 2, 3, 1, 2};

/// Heads that are independent of each other.
struct Heads {
    std::vector<Eigen::VectorXd> operator()(std::span<const Token> prefix) const {
        return {draft(prefix), target(prefix), draft(prefix.first(1))};
    }
};

/// The texts of all budgets are beginnings of one another.
void check_texts(const std::function<std::vector<Token>(Index budget, std::uint64_t request)>& text_of) {
    for (std::uint64_t request = 0; request < 20; ++request) {
        const auto whole = text_of(12, request);
        for (Index budget = 0; budget <= 12; ++budget)
            REQUIRE(text_of(budget, request) == std::vector(whole.begin(), whole.begin() + budget));
    }
}

template <class Drafts, class Rule>
void check_prefixes(const Drafts& drafts, const Rule& rule) {
    Sampler sampler(drafts, target, {.lookahead = 3, .seed = 6}, rule);
    check_texts([&](Index budget, std::uint64_t request) {
        return sampler.generate(prompt, {.max_new_tokens = budget, .request = request}).tokens;
    });
}

template <class Rule>
void check_drafters(const Rule& rule) {
    check_prefixes(draft, rule);
    check_prefixes(ChainDrafter(draft, ConfidenceStop(.3)), rule);
    check_prefixes(HeadsDrafter(Heads{}, 3), rule);
    check_prefixes(FirstOf(LookupDrafter{}, draft), rule);
    check_prefixes(TreeDrafter(draft, {2, 2, 1}), rule);
    check_prefixes(United(LookupDrafter{}, draft), rule);
    check_prefixes(DynamicTreeDrafter(draft, {.width = 2, .nodes = 6}), rule);
}

/// The largest lookahead that a drafter was given under a budget.
template <class Rule>
Index drafted(const Rule& rule, Index budget) {
    Index longest = 0;
    const auto counted = [&](std::span<const Token> prefix) {
        longest = std::max(longest, std::ssize(prefix) - std::ssize(prompt) + 1);
        return draft(prefix);
    };
    (void)Sampler(counted, target, {.lookahead = 6, .seed = 6}, rule).step(prompt, {.max_new_tokens = budget});
    return longest;
}

}  // namespace

TEST_CASE("under every rule a smaller budget gives the beginning of the text", "[sampler]") {
    check_drafters(TokenVerification{});
    check_drafters(BlockVerification{});
    check_drafters(SampleMatch{});
}

TEST_CASE("and where drafts cannot be drawn with the target's noise, or are of one row", "[sampler]") {
    check_prefixes(draft, GumbelMatch{});
    check_prefixes(TreeDrafter(draft, {2, 2, 1}), GumbelMatch{});
    check_prefixes(draft, GreedyMatch{});
    check_prefixes(draft, KSeq{});
    check_prefixes(StagedDrafter(draft, ContextModel(vocab, 73), 2), TokenVerification{});
    check_prefixes(StagedDrafter(draft, ContextModel(vocab, 73), 2), BlockVerification{});
}

TEST_CASE("no token is drafted that a budget has no room for, where no rule looks at it", "[sampler]") {
    for (Index budget = 1; budget <= 9; ++budget) {
        const Index bounded = std::min<Index>(budget, 6);
        CHECK(drafted(TokenVerification{}, budget) == bounded);
        CHECK(drafted(KSeq{}, budget) == bounded);
        CHECK(drafted(SampleMatch{}, budget) == bounded);
        CHECK(drafted(GumbelMatch{}, budget) == bounded);
        CHECK(drafted(BlockVerification{}, budget) == 6);  // it judges a draft as a whole
    }
}

TEST_CASE("the longest lookahead costs a small budget nothing", "[sampler]") {
    Index calls = 0;
    const auto counted = [&](std::span<const Token> prefix) {
        ++calls;
        return target(prefix);
    };
    Sampler sampler(counted, target, {.lookahead = most_drafted});
    CHECK(sampler.generate(prompt, {.max_new_tokens = 3}).tokens.size() == 3);
    CHECK(calls == 3);
}

TEST_CASE("a lookahead that no draft can have is refused by name", "[sampler]") {
    const auto too_long = ContainsSubstring("is 1000000000, but must be at most 65536");
    constexpr Index length = 1000000000;
    CHECK_THROWS_WITH(Sampler(draft, target, {.lookahead = length}),
                      "specsample::Sampler: options.lookahead is 1000000000, but must be at most 65536");
    CHECK_THROWS_WITH(Sampler(draft, target, {.lookahead = most_drafted + 1}), ContainsSubstring("65537"));
    CHECK_THROWS_WITH(StagedDrafter(draft, target, length), too_long);
    CHECK_THROWS_WITH(BeamSearch(draft, target, {.lookahead = length}), too_long);
    CHECK_THROWS_WITH(BeamSearch(draft, target, {.width = length}), too_long);
    CHECK_THROWS_WITH(BeamSearch(draft, target, {.draft_width = length}), too_long);
    CHECK_THROWS_WITH(expansion_tree({length}), too_long);
    CHECK_THROWS_WITH(expansion_tree({256, 256, 2}), ContainsSubstring("the number of nodes"));
    CHECK_THROWS_WITH(TreeDrafter(draft, {length}), too_long);
    CHECK_THROWS_WITH(TreeShape({-1}, {length}), too_long);
    CHECK_THROWS_WITH(sparse_tree(std::vector<double>{1, 1}, length), too_long);
    CHECK_THROWS_WITH(sparse_tree_tokens(std::vector<double>{1}, length, 1), too_long);
    CHECK_THROWS_WITH(sparse_tree_tokens(std::vector<double>{1}, 1, length), too_long);
    CHECK_THROWS_WITH(sparse_tree_tokens(std::vector<double>{1}, most_drafted, most_drafted),
                      ContainsSubstring("the number of entries is"));
    CHECK_THROWS_WITH(BeamDrafter(draft, length), too_long);
    CHECK_THROWS_WITH(DynamicTreeDrafter(draft, {.width = length}), too_long);
    CHECK_THROWS_WITH(DynamicTreeDrafter(draft, {.nodes = length}), too_long);
    CHECK_THROWS_WITH(HybridDrafter(draft, Heads{}, {1, length}), too_long);
    CHECK_THROWS_WITH(LookupDrafter({.max_match = length}), too_long);
    CHECK_THROWS_WITH(SuffixLookupDrafter({.nodes = length}), too_long);
    CHECK_THROWS_WITH(SuffixLookupDrafter({.width = length}), too_long);
    CHECK_THROWS_WITH(NgramPool(length, 1), too_long);
    CHECK_THROWS_WITH(NgramPool(2, length), too_long);
    CHECK_THROWS_WITH(Tally{}.reserve(length), too_long);
    CHECK_THROWS_WITH(GoodputLength(.1).observe_overlap(length, .5), too_long);
}

TEST_CASE("a tree that is deeper than the lookahead is refused, and not cut", "[sampler]") {
    const auto cut = [](const std::string& where, Index lookahead) {
        return "specsample::" + where + "lookahead is 2, but must be " +
               (where == "Sampler: options." ? "0, or " : "") + "at least the depth of the drafter's trees, " +
               std::to_string(lookahead);
    };
    const auto refused = [&](const auto& drafts) {
        CHECK_THROWS_WITH(Sampler(drafts, target, {.lookahead = 2}), cut("Sampler: options.", 3));
        CHECK_THROWS_WITH(StagedDrafter(drafts, target, 2), cut("StagedDrafter: ", 3));
        CHECK_NOTHROW(Sampler(drafts, target, {.lookahead = 3}));
        CHECK(Sampler(drafts, target, {.lookahead = 0}).generate({1}, {.max_new_tokens = 3}).tally.rounds == 3);
    };
    TreeDrafter tree(draft, {2, 1, 1});
    refused(tree);
    refused(std::ref(tree));
    refused(TreeDrafter(draft, expansion_tree({1, 1, 1})));
    refused(HeadsTreeDrafter(Heads{}, expansion_tree({1, 2, 1})));
    refused(HybridDrafter(draft, Heads{}, {1, 1, 1}));
    refused(United(draft, tree));
    refused(FirstOf(LookupDrafter{}, tree));
    CHECK_NOTHROW(Sampler(HeadsDrafter(Heads{}, 3), target, {.lookahead = 2}));  // a chain, which says so
    CHECK_NOTHROW(Sampler(BeamDrafter(draft, 2), target, {.lookahead = 2}));     // as deep as it may be
}
