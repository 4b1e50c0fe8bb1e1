// Several drafters as one: their nodes, the order of them, and the calls that each drafter gets.
#include <specsample/drafters/united.hpp>

#include <concepts>
#include <functional>
#include <stdexcept>
#include <vector>

#include <specsample/drafters/beam.hpp>
#include <specsample/drafters/tree.hpp>
#include <specsample/sampler/sampler.hpp>
#include <specsample/testing/models.hpp>
#include <specsample/verify/match.hpp>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::kernels;
using specsample::testing::ContextModel;

namespace {

constexpr Index vocab = 5;
using View = detail::row_view_t<Eigen::VectorXd>;

/// Drafts the same tokens every time, or none.
struct Fixed {
    using Distribution = PointMass;
    std::vector<Token> tokens;

    template <class Source, class L>
        requires std::convertible_to<PointMass, L>
    void propose(std::span<const Token>, const Source&, DraftTree<L>& draft_tree) {
        Index node = root_node;
        for (const Token token : tokens)
            if (draft_tree.grows(node)) node = draft_tree.add(node, token, PointMass{});
    }
};

/// Records its calls and the draft tree that it is given.
struct Remembers {
    using Distribution = PointMass;
    std::vector<Index> told;
    std::vector<Token> shown;
    int rounds = 0;

    void rollback(Index length) {
        told.push_back(length);
        shown.resize(static_cast<std::size_t>(length));
    }
    template <class Source, class L>
        requires std::convertible_to<PointMass, L>
    void propose(std::span<const Token> prefix, const Source&, DraftTree<L>& draft_tree) {
        ++rounds;
        REQUIRE(shown.size() <= prefix.size());
        REQUIRE(std::ranges::equal(shown, prefix.first(shown.size())));  // the prefix extends what it remembers
        shown.assign(prefix.begin(), prefix.end());
        if (draft_tree.grows(root_node)) draft_tree.add(root_node, 1, PointMass{});
    }
};

/// The same, and fails on demand.
struct Throws : Remembers {
    bool fails = false;
    template <class Source, class L>
        requires std::convertible_to<PointMass, L>
    void propose(std::span<const Token> prefix, const Source& rng, DraftTree<L>& draft_tree) {
        Remembers::propose(prefix, rng, draft_tree);
        if (fails) throw std::runtime_error("no");
    }
};

template <class Draft>
auto propose(Draft& draft, Index depth, std::span<const Token> stops = {}) {
    DraftTree<typename Draft::Distribution> draft_tree;
    draft_tree.open(depth, stops, vocab);
    draft.propose(std::vector<Token>{1, 2}, RoundRng(3, 0, 2), draft_tree);
    return draft_tree;
}

}  // namespace

TEST_CASE("united drafters add their branches one after the other", "[draft]") {
    const ContextModel a(vocab, 1), b(vocab, 2);
    United united(Fixed{{3, 4}}, a, TreeDrafter(b, {2}));
    STATIC_REQUIRE(std::same_as<decltype(united)::Distribution, Mixed<View>>);
    const auto draft_tree = propose(united, 3);
    ChainDrafter chain(a);
    REQUIRE(draft_tree.size() == 2 + 3 + 2);
    const std::vector<Index> parents{-1, 0, -1, 2, 3, -1, -1};
    CHECK(std::ranges::equal(draft_tree.view().parents, parents));
    CHECK(draft_tree.token(0) == 3);
    CHECK(draft_tree.token(1) == 4);
    const std::vector<bool> points{true, true, false, false, false, false, false};
    for (std::size_t i = 0; i < points.size(); ++i) CHECK(draft_tree.distributions()[i].is_point() == points[i]);
    const Eigen::VectorXd row = a(std::vector<Token>{1, 2});
    CHECK(draft_tree.token(2) ==
          draw(RoundRng(3, 0, 2).split(1).at(Purpose::draft, 2), RowWeights(detail::as_row(row))).index);
    for (Index id = 0; id < vocab; ++id) CHECK(draft_tree.distributions()[2].weight(id) == row[id]);
}

TEST_CASE("the common distribution type can hold the distributions of all members", "[draft]") {
    const ContextModel a(vocab, 1);
    STATIC_REQUIRE(std::same_as<decltype(United(Fixed{}, Fixed{}))::Distribution, PointMass>);
    STATIC_REQUIRE(std::same_as<decltype(United(a, a))::Distribution, Sampled<View>>);
    STATIC_REQUIRE(std::same_as<decltype(United(a, Fixed{}))::Distribution, Mixed<View>>);
    STATIC_REQUIRE(std::same_as<decltype(United(Fixed{}, TreeDrafter(a, {2}), a))::Distribution, Mixed<View>>);
    STATIC_REQUIRE(std::same_as<decltype(FirstOf(Fixed{}, BeamDrafter(a, 2)))::Distribution, PointMass>);
    STATIC_REQUIRE(Drafter<decltype(United(United(a, Fixed{}), FirstOf(Fixed{}, a)))>);
}

TEST_CASE("the first drafter that proposes anything is the last that is asked", "[draft]") {
    const ContextModel a(vocab, 1);
    Remembers last;
    const auto asked = [&](std::vector<Token> first, std::vector<Token> second, Index depth = 2) {
        FirstOf drafter(Fixed{std::move(first)}, Fixed{std::move(second)}, std::ref(last));
        last = {};
        const auto draft_tree = propose(drafter, depth);
        return std::pair(std::vector<Token>(draft_tree.tokens().begin(), draft_tree.tokens().end()), last.rounds);
    };
    CHECK(asked({2}, {3}) == std::pair(std::vector<Token>{2}, 0));
    CHECK(asked({}, {3, 4}) == std::pair(std::vector<Token>{3, 4}, 0));
    CHECK(asked({}, {}) == std::pair(std::vector<Token>{1}, 1));
    CHECK(asked({2}, {3}, 0) == std::pair(std::vector<Token>{}, 1));
    FirstOf bad(Fixed{{vocab}}, Fixed{{1}});
    const auto draft_tree = propose(bad, 2);
    CHECK_FALSE(draft_tree.fault());  // the first has nothing to offer
    CHECK(std::ranges::equal(draft_tree.tokens(), std::vector<Token>{1}));
}

TEST_CASE("the first drafter that proposes anything is chosen behind others as well", "[draft]") {
    United draft(Fixed{{1, 2}}, FirstOf(Fixed{}, Fixed{{3}}, Fixed{{4}}));
    const auto draft_tree = propose(draft, 3);
    CHECK(std::ranges::equal(draft_tree.tokens(), std::vector<Token>{1, 2, 3}));
}

TEST_CASE("united drafters are as deep as the deepest", "[draft]") {
    const ContextModel model(vocab, 1);
    CHECK(United(TreeDrafter(model, {1, 1}), TreeDrafter(model, {1, 1, 1})).depth() == 3);
    CHECK(United(TreeDrafter(model, {2, 1, 1}), Fixed{{1}}).depth() == 3);
    CHECK(FirstOf(Fixed{{1}}, Fixed{}).depth() == 0);
}

TEST_CASE("under shared noise united drafters race, and what is named stands beside", "[draft]") {
    const ContextModel a(vocab, 1), target(vocab, 4);
    STATIC_REQUIRE(detail::SharedNoiseDrafter<decltype(United(Fixed{}, a))>);
    Sampler chain(a, target, {.lookahead = 3, .seed = 5}, GumbelMatch{});
    Sampler both(United(a, Fixed{{1, 2, 3}}), target, {.lookahead = 3, .seed = 5}, GumbelMatch{});
    const auto text = chain.generate({2}, {.max_new_tokens = 300}).tokens;
    CHECK(both.generate({2}, {.max_new_tokens = 300}).tokens == text);
    CHECK(both.tally().rounds < chain.tally().rounds);  // whatever the chain gets, and some more
}

TEST_CASE("a chain races by depth, whatever others have drafted before it", "[draft]") {
    const auto target = [model = ContextModel(vocab, 4)](std::span<const Token> prefix) {
        Eigen::VectorXd row = model(prefix);
        row[0] = 0;
        row /= row.sum();
        return row;
    };
    Sampler sampler(United(Fixed{{0, 0, 0}}, target), target, {.lookahead = 3, .seed = 5}, GumbelMatch{});
    const Generation made = sampler.generate({2}, {.max_new_tokens = 200});
    CHECK(made.tally.rounds == 50);  // the chain is the target: all its three tokens and one more, round by round
}

TEST_CASE("drafters with memory are rolled back", "[draft]") {
    const ContextModel a(vocab, 1), target(vocab, 4);
    Remembers alone, united, first;
    Sampler sampler(United(std::ref(alone), a, FirstOf(Fixed{}, std::ref(first))), target, {.lookahead = 2, .seed = 3});
    Sampler other(std::ref(united), target, {.lookahead = 2, .seed = 3});
    for (const std::vector<Token>& prompt : {std::vector<Token>{1, 2, 3}, {1, 2}, {1, 2, 4, 0}, {}, {2}}) {
        (void)sampler.generate(prompt, {.max_new_tokens = 20});
        (void)other.generate(prompt, {.max_new_tokens = 20});
        (void)sampler.step(prompt);
    }
    CHECK(alone.rounds > 20);
    CHECK(first.told == alone.told);
    // One rollback per text that does not extend the one before, the first included, and one per step after it.
    CHECK(alone.told.front() == 0);
    CHECK(united.told.front() == 0);
    CHECK(united.told.size() == 5);
}

TEST_CASE("a drafter that threw is rolled back", "[draft]") {
    Throws drafter;
    Sampler sampler(std::ref(drafter), ContextModel(vocab, 4), {.lookahead = 2});
    const std::vector<Token> text{1, 2, 3};
    (void)sampler.step(text);
    drafter.fails = true;
    CHECK_THROWS(sampler.step(text));
    drafter.fails = false;
    const auto before = drafter.told.size();
    (void)sampler.step(text);
    CHECK(drafter.told.size() == before + 1);
}
