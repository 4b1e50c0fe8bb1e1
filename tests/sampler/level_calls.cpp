// Drafters of trees ask a model that scores trees once per level, and draft what they draft node by node.
#include <algorithm>
#include <array>
#include <vector>

#include <specsample/beam.hpp>
#include <specsample/drafters.hpp>
#include <specsample/specsample.hpp>
#include <specsample/testing.hpp>
#include <specsample/tree.hpp>

#include "support/catch.hpp"
#include "support/tree_target.hpp"

using namespace specsample;
using namespace specsample::beam;
using namespace specsample::testing;

namespace {

constexpr Index vocab = 9;
const std::vector<Token> stops{4};

/// A model that counts its calls and rollbacks, and reads its trees when its rows are read.
struct Counted {
    ContextModel model;
    Index calls = 0, rollbacks = 0;
    std::vector<Index> sizes = {};  ///< of the trees that it was asked about

    Eigen::VectorXd operator()(std::span<const Token> prefix) {
        ++calls;
        return model(prefix);
    }
    void rollback(Index) { ++rollbacks; }
};

struct Levels : Counted {
    using Counted::operator();
    auto operator()(std::span<const Token> prefix, Tree<Token, Index> tree) {
        ++calls;
        sizes.push_back(std::ssize(tree.tokens));
        std::vector<Eigen::VectorXd> rows;
        for (Index node = root_node; node < std::ssize(tree.tokens); ++node)
            rows.push_back(model(path_text(prefix, tree, node)));
        return rows;
    }
};

/// Takes trees only, with rows that are computed when they are read.
struct LazyLevels {
    struct Lazy {
        const LazyLevels* model;
        std::vector<Token> prefix;
        Tree<Token, Index> tree;

        std::size_t size() const { return tree.tokens.size() + 1; }
        Eigen::VectorXd operator[](std::size_t i) const {
            return model->model(path_text(prefix, tree, static_cast<Index>(i) - 1));
        }
    };

    ContextModel model;

    Lazy operator()(std::span<const Token> prefix, Tree<Token, Index> tree) const {
        return {this, {prefix.begin(), prefix.end()}, tree};
    }
};

template <class L>
bool same(const DraftTree<L>& a, const DraftTree<L>& b) {
    return std::ranges::equal(a.tokens(), b.tokens()) && std::ranges::equal(a.view().parents, b.view().parents) &&
           a.fault().has_value() == b.fault().has_value();
}

/// Where both trees end, as the predicate that they were given says.
template <class L, class D, class Until>
DraftTree<L> propose(D& drafter, std::span<const Token> text, Index depth, const Until& until, std::uint64_t seed) {
    DraftTree<L> draft_tree;
    draft_tree.open(depth, stops, vocab, until);
    drafter.propose(text, RoundRng(seed, 0, std::ssize(text)), draft_tree);
    return draft_tree;
}

/// Check that drafters made of three forms of a model draft the same trees, with a call per level at most.
/// @param make    make(model) -> drafter
template <class Make>
void check(const Make& make, Index levels, const RowKind rows = RowKind::smooth) {
    const auto until = [](std::span<const Token> path) {
        return path.size() > 1 && path.back() == 2 ? StopDecision::exclude : StopDecision::go_on;
    };
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        const ContextModel model(vocab, 100 + seed, rows);
        const std::vector<Token> text{static_cast<Token>(seed % 7), 1};
        Counted nodes{model};
        Levels trees{{model}};
        auto by_node = make(std::ref(nodes));
        auto by_level = make(std::ref(trees));
        auto lazily = make(LazyLevels{model});
        using L = typename decltype(by_node)::Distribution;
        for (const Index depth : {levels, std::max<Index>(1, levels - 1), Index{0}}) {
            trees.calls = nodes.calls = 0;
            const auto expected = propose<L>(by_node, text, depth, until, seed);
            const auto made = propose<typename decltype(by_level)::Distribution>(by_level, text, depth, until, seed);
            const auto lazy = propose<typename decltype(lazily)::Distribution>(lazily, text, depth, until, seed);
            CHECK(std::ranges::equal(expected.tokens(), made.tokens()));
            CHECK(std::ranges::equal(expected.view().parents, made.view().parents));
            CHECK(std::ranges::equal(expected.tokens(), lazy.tokens()));
            CHECK(trees.calls <= depth);
            CHECK(trees.calls <= nodes.calls);
            CHECK((depth == 0) == (trees.calls == 0));
        }
    }
}

}  // namespace

TEST_CASE("a model that scores trees is asked once per level by every drafter of trees, for the same tree") {
    for (const RowKind rows : {RowKind::smooth, RowKind::with_zeros, RowKind::point_masses}) {
        check([](auto model) { return BeamDrafter(model, 4); }, 5, rows);
        check([](auto model) { return DynamicTreeDrafter(model, {.width = 8, .nodes = 40}); }, 5, rows);
        check([](auto model) { return TreeDrafter(model, {3, 2, 2}); }, 3, rows);
        check([](auto model) { return TreeDrafter(model, {2, 2, 1}, children::Independent{}); }, 3, rows);
        check([](auto model) { return TreeDrafter(model, {3, 2}, children::GreedyChildren{}); }, 2, rows);
        check([](auto model) { return TreeDrafter(model, {4, 2}, children::TopChildren{}); }, 2, rows);
        check(
            [](auto model) {
                return TreeDrafter(model, sparse_tree(std::vector<double>{.5, .3, .1}, 12));
            },
            sparse_tree(std::vector<double>{.5, .3, .1}, 12).depth(), rows);
    }
}

TEST_CASE("width 8 and depth 5 take 5 calls of a model that scores trees, where one position at a time takes 33") {
    const ContextModel model(vocab, 1);
    const std::vector<Token> text{1, 2};
    Counted nodes{model};
    Levels trees{{model}};
    DynamicTreeDrafter by_node(std::ref(nodes), {.width = 8, .nodes = 60});
    DynamicTreeDrafter by_level(std::ref(trees), {.width = 8, .nodes = 60});
    DraftTree<PointMass> a, b;
    a.open(5, {}, vocab);
    b.open(5, {}, vocab);
    by_node.propose(text, RoundRng(1, 0, 2), a);
    by_level.propose(text, RoundRng(1, 0, 2), b);
    CHECK(same(a, b));
    CHECK(nodes.calls == 33);
    CHECK(trees.calls == 5);
    CHECK(trees.rollbacks <= 5);
    CHECK(trees.sizes == std::vector<Index>{0, 8, 16, 24, 32});  // the paths that are followed, and no others
}

TEST_CASE("under shared noise a tree that is asked for by level is the same, too") {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const ContextModel model(vocab, seed), target(vocab, 200);
        const auto text_of = [&](auto draft, const auto& rule) {
            Sampler sampler(TreeDrafter(draft, {2, 2}), target, {.lookahead = 2, .seed = seed}, rule);
            return sampler.generate({1}, {.max_new_tokens = 30}).tokens;
        };
        CHECK(text_of(LazyLevels{model}, GumbelMatch{}) == text_of(model, GumbelMatch{}));
        CHECK(text_of(LazyLevels{model}, TokenVerification{}) == text_of(model, TokenVerification{}));
        CHECK(text_of(LazyLevels{model}, TraversalVerification{}) == text_of(model, TraversalVerification{}));
    }
}

TEST_CASE("a tree that is asked for by level stands beside the drafts of others as any other") {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const ContextModel model(vocab, seed), target(vocab, 200);
        const auto text_of = [&](auto draft) {
            Sampler sampler(United(LookupDrafter(), TreeDrafter(draft, {2, 2})), target,
                            {.lookahead = 2, .seed = seed});
            return sampler.generate({1, 2, 1}, {.max_new_tokens = 30}).tokens;
        };
        CHECK(text_of(LazyLevels{model}) == text_of(model));
    }
}

TEST_CASE("a beam search asks a draft model that scores trees once per step") {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        const ContextModel model(vocab, seed), target(vocab, 300 + seed);
        Counted nodes{model};
        Levels trees{{model}};
        const BeamOptions options{.width = 3, .draft_width = 5, .lookahead = 4};
        BeamSearch by_node(std::ref(nodes), target, options);
        BeamSearch by_level(std::ref(trees), target, options);
        const Limits limits{.max_new_tokens = 9, .stop_tokens = stops};
        const BeamResult a = by_node.generate({1, 2}, limits), b = by_level.generate({1, 2}, limits);
        REQUIRE(a.beams.size() == b.beams.size());
        for (std::size_t i = 0; i < a.beams.size(); ++i) {
            CHECK(a.beams[i].tokens == b.beams[i].tokens);
            CHECK(a.beams[i].log_prob == b.beams[i].log_prob);
        }
        CHECK(a.drafted == b.drafted);
        CHECK(a.rounds == b.rounds);
        CHECK(trees.calls <= 4 * b.rounds);
        CHECK(trees.calls < nodes.calls);
    }
}

TEST_CASE("a model that returns another number of rows than the tree has is named") {
    const auto short_of_one = [](std::span<const Token>, Tree<Token, Index> tree) {
        return std::vector<Eigen::VectorXd>(tree.tokens.size(), Eigen::VectorXd::Constant(vocab, 1. / vocab));
    };
    const ContextModel target(vocab, 1);
    const std::string sentence = "the number of rows that draft(prefix, tree) returns is 0, but must be 1";
    CHECK_THROWS_WITH(Sampler(BeamDrafter(short_of_one, 2), target, {.lookahead = 2}).step(std::vector<Token>{1}),
                      ContainsSubstring("specsample::BeamDrafter: " + sentence));
    CHECK_THROWS_WITH(Sampler(TreeDrafter(short_of_one, {2}), target, {.lookahead = 2}).step(std::vector<Token>{1}),
                      ContainsSubstring("specsample::TreeDrafter: " + sentence));
}
