// Any drafter behind one type: the drafts and texts of the drafter inside, and what that is told.
#include <specsample/drafters/any_drafter.hpp>

#include <functional>
#include <stdexcept>
#include <vector>

#include <specsample/drafters.hpp>
#include <specsample/sampler.hpp>
#include <specsample/sampler_values.hpp>
#include <specsample/shaping.hpp>
#include <specsample/testing/models.hpp>

#include "support/catch.hpp"
#include "support/value_model.hpp"

using namespace specsample;
using specsample::testing::ContextModel;
using value_model::Values;

namespace {

using Prefix = std::span<const Token>;
constexpr Index vocab = 6;
const ContextModel draft(vocab, 51), target(vocab, 52);
using Any = choosing::AnyDrafter<TreeDrafter<ContextModel>::Distribution>;

template <class Draft, class Rule = TokenVerification>
std::vector<Token> text_of(Draft drafter, const Rule& rule = {}) {
    return Sampler(std::move(drafter), target, {.lookahead = 4, .seed = 2}, rule)
        .generate({1, 2}, {.max_new_tokens = 60});
}

/// A drafter that remembers what it is told, and drafts nothing.
struct Told {
    using Distribution = PointMass;
    std::vector<Index>* rollbacks;
    std::vector<Index>* begins;

    template <class L>
    void propose(Prefix, const RoundRng&, DraftTree<L>&) {}
    void rollback(Index length) { rollbacks->push_back(length); }
    void begin_text(Index prompt_size) { begins->push_back(prompt_size); }
};

/// A drafter without an overload for the target's noise.
struct Alone {
    using Distribution = PointMass;
    static constexpr Index depth() { return 3; }
    void propose(Prefix, const RoundRng&, DraftTree<Any::Distribution>& tree) { tree.add(root_node, 1, PointMass{}); }
    void propose(Prefix, const RoundRng&, DraftTree<PointMass>& tree) { tree.add(root_node, 1, PointMass{}); }
};

struct Cached : ContextModel {
    using ContextModel::ContextModel;
    void rollback(Index) {}
};

}  // namespace

TEMPLATE_TEST_CASE("any drafter drafts what the drafter inside drafts", "[draft]", Any::Distribution, SharedNoise) {
    const std::vector<Token> prefix{1, 2, 3, 1, 2};
    const auto drafted = [&](auto drafter) {
        DraftTree<TestType> tree;
        tree.open(4, {}, vocab);
        drafter.propose(prefix, RoundRng(3, 0, std::ssize(prefix)), tree);
        std::vector<std::pair<Index, Token>> nodes;
        for (Index node = 0; node < tree.size(); ++node) nodes.emplace_back(tree.parent(node), tree.token(node));
        return nodes;
    };
    const auto check = [&](const auto& drafter) {
        const auto expected = drafted(drafter);
        CHECK(expected.size() > 1);
        CHECK((drafted(Any(drafter)) == expected));
    };
    check(ChainDrafter(draft));
    check(TreeDrafter(draft, {2, 2}));
    check(LookupDrafter());
    check(United(LookupDrafter(), draft));
    CHECK((drafted(Any(draft)) == drafted(ChainDrafter(draft))));  // a model becomes a drafter of chains
    Any chosen = LookupDrafter();
    chosen = TreeDrafter(draft, {2, 1});
    CHECK((drafted(std::move(chosen)) == drafted(TreeDrafter(draft, {2, 1}))));
}

TEST_CASE("any drafter holds drafters of rows that are values", "[draft]") {
    const Values values{draft};
    const auto text = [&](choosing::AnyDrafter<> drafter) {
        return Sampler(std::move(drafter), Values{target}, {.lookahead = 4, .seed = 2})
            .generate({1, 2}, {.max_new_tokens = 60})
            .tokens;
    };
    CHECK(text(values) == text_of(Any(draft)));
    CHECK(text(TreeDrafter(values, {2, 2})) == text_of(Any(TreeDrafter(draft, {2, 2}))));
    CHECK(text(LookupDrafter()) == text_of(Any(LookupDrafter())));
}

TEST_CASE("the drafter inside is told of rollbacks and of texts that begin", "[draft]") {
    using Calls = std::vector<Index>;
    const auto told = [](const auto& held) {
        Calls rollbacks, begins;
        Sampler sampler(held(Told{&rollbacks, &begins}), target, {.lookahead = 2});
        (void)sampler.generate({1, 2, 3}, {.max_new_tokens = 4});
        (void)sampler.generate({1, 2}, {.max_new_tokens = 4});
        return std::pair(rollbacks, begins);
    };
    const auto inside = told([](Told drafter) { return Any(drafter); });
    CHECK((inside == told([](Told drafter) { return drafter; })));
    CHECK(inside.first.back() == 2);
    CHECK(inside.second == Calls{3, 2});
    // A model with a cache that two drafters share is found inside.
    Cached cached(vocab, 3);
    CHECK_THROWS_AS(Sampler(Any(std::ref(cached)), std::ref(cached), {.lookahead = 2}), std::invalid_argument);
    CHECK_NOTHROW(Sampler(Any(std::ref(cached)), target, {.lookahead = 2}));
    // And so is a penalty of the answer alone.
    const SamplingParams params{.presence_penalty = 2};
    const auto penalised = shaped(draft, params);
    using OfShaped = choosing::AnyDrafter<ChainDrafter<decltype(shaped(draft, params))>::Distribution>;
    CHECK(text_of(OfShaped(penalised)) == text_of(penalised));
}

TEST_CASE("a chain in any drafter does not end at a budget, and gives the same text", "[draft]") {
    const auto made = [](auto drafter, Index budget) {
        Sampler sampler(std::move(drafter), target, {.lookahead = 4, .seed = 2});
        const std::vector<Token> tokens = sampler.generate({1, 2}, {.max_new_tokens = budget});
        return std::pair(tokens, sampler.tally().proposed);
    };
    for (const Index budget : {1, 2, 3, 4, 20}) {
        const auto chain = made(draft, budget), any = made(Any(draft), budget);
        CHECK(any.first == chain.first);
        CHECK(any.second > chain.second);
    }
}

TEST_CASE("any drafter says where the drafter inside cannot draft as a rule asks", "[draft]") {
    CHECK(Any(Alone{}).depth() == 3);
    CHECK(Any(draft).depth() == 0);
    CHECK_THROWS_WITH(
        text_of(Any(Alone{}), GumbelMatch{}),
        "specsample::AnyDrafter: the drafter is one that draws with its own random numbers alone, but must "
        "be one that can draw with the target's noise, which the rule shares");
}
