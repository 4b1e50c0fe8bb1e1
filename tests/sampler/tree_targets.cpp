// Targets that score a whole tree in one pass: the same texts as path by path, with one pass per round.
#include <specsample/specsample.hpp>
#include <specsample/testing.hpp>
#include <specsample/theory.hpp>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::theory;
using namespace specsample::testing;

namespace {

constexpr Index vocab = 4;
using TokenTree = Tree<Token, Index>;

/// A model that takes trees, and counts its passes and its rows.
struct OnTrees {
    ContextModel model{vocab, 2};
    Index missing = 0;  ///< number of rows that it leaves out
    int passes = 0;
    Index rows_made = 0;
    std::vector<Token> held{};  ///< the last prefix

    RowMajorMatrix<double> operator()(std::span<const Token> prefix, TokenTree tree) {
        REQUIRE(held.size() < prefix.size() + (prefix.empty() ? 1 : 0));  // the last position is to be computed
        REQUIRE(std::equal(held.begin(), held.end(), prefix.begin()));
        held.assign(prefix.begin(), prefix.end());
        ++passes;
        const Index count = std::ssize(tree.tokens) + 1 - missing;
        RowMajorMatrix<double> rows(count, vocab);
        for (Index i = 0; i < count; ++i) rows.row(i) = model(path(prefix, tree, i - 1)).transpose();
        rows_made += count;
        return rows;
    }
    void rollback(Index length) { held.resize(static_cast<std::size_t>(length)); }

  private:
    static std::vector<Token> path(std::span<const Token> prefix, const TokenTree& tree, Index node) {
        std::vector<Token> tail;
        for (; node != root_node; node = tree.parents[static_cast<std::size_t>(node)])
            tail.push_back(tree.tokens[static_cast<std::size_t>(node)]);
        std::vector<Token> text(prefix.begin(), prefix.end());
        text.insert(text.end(), tail.rbegin(), tail.rend());
        return text;
    }
};

/// The same, and a pass over the last positions of a chain.
struct OnBoth : OnTrees {
    int chains = 0;

    using OnTrees::operator();
    RowMajorMatrix<double> operator()(std::span<const Token> prefix, Index n) {
        held.assign(prefix.begin(), prefix.end());
        ++chains;
        return model(prefix, n);
    }
};

const ContextModel draft(vocab, 1);

template <class Target, class Rule>
std::vector<Token> write(Target& target, const Rule& rule, const std::vector<Index>& branching) {
    Sampler sampler(TreeDrafter(draft, branching), std::ref(target), {.lookahead = 3, .seed = 7}, rule);
    return sampler.generate({1}, {.max_new_tokens = 60, .stop_tokens = {3}}).tokens;
}

}  // namespace

TEST_CASE("a tree in one pass is the same text as path by path", "[sampler]") {
    for (const auto& branching : {std::vector<Index>{2, 2}, {3, 1, 1}, {1, 1, 1}}) {
        OnTrees trees;
        OnBoth both;
        ContextModel paths(vocab, 2);
        const auto text = write(paths, TraversalVerification{}, branching);
        CHECK(write(trees, TraversalVerification{}, branching) == text);
        CHECK(write(both, TraversalVerification{}, branching) == text);
        CHECK(write(trees, SampleMatch{}, branching) == write(paths, SampleMatch{}, branching));
        CHECK(trees.passes > 0);
    }
}

TEST_CASE("one pass a round, for all nodes of its tree", "[sampler]") {
    OnTrees target;
    Sampler sampler(TreeDrafter(draft, {2, 2}), std::ref(target), {.lookahead = 2, .seed = 7});
    (void)sampler.generate({1}, {.max_new_tokens = 50});
    CHECK(target.passes == sampler.tally().rounds);
    CHECK(target.rows_made == sampler.tally().proposed + sampler.tally().rounds);
}

TEST_CASE("chains go to the pass over positions where there is one", "[sampler]") {
    OnBoth target;
    Sampler chains(draft, std::ref(target), {.lookahead = 3, .seed = 7});
    (void)chains.generate({1}, {.max_new_tokens = 50});
    CHECK(target.passes == 0);
    CHECK(target.chains == chains.tally().rounds);
    OnTrees alone;
    Sampler trees(draft, std::ref(alone), {.lookahead = 3, .seed = 7});
    (void)trees.generate({1}, {.max_new_tokens = 50});
    CHECK(alone.passes == trees.tally().rounds);
    Sampler plain(draft, std::ref(alone), {.lookahead = 0, .seed = 7});
    CHECK(plain.generate({1}, {.max_new_tokens = 10}).tokens.size() == 10);
}

TEST_CASE("trees in one pass are exact", "[sampler]") {
    for (const Index lookahead : {1, 2}) {
        OnTrees target;
        const auto branching = lookahead == 1 ? std::vector<Index>{2} : std::vector<Index>{2, 1};
        Sampler sampler(TreeDrafter(draft, branching), std::ref(target), {.lookahead = lookahead},
                        TraversalVerification{});
        TextDistribution distribution;
        const ContextModel model(vocab, 2);
        Enumerator().run([&](Enumerator& paths) {
            const Round round = sampler.step(std::vector<Token>{}, {}, EnumeratedRng(paths));
            std::vector<Token> text(round.tokens.begin(), round.tokens.end());
            complete(paths, model, static_cast<std::size_t>(lookahead) + 1, text);
            distribution[text] += paths.probability();
        });
        CHECK(total_variation(distribution, joint_distribution(model, lookahead + 1)) < 1e-12);
    }
}

TEST_CASE("a row too few after a tree is a fault", "[sampler]") {
    OnTrees target;
    target.missing = 1;
    Sampler sampler(TreeDrafter(draft, {2, 2}), std::ref(target), {.lookahead = 2});
    try {
        (void)sampler.generate({1});
        FAIL("must throw");
    } catch (const Fault& fault) {
        CHECK(fault.fault.cause == Cause::wrong_count);
        CHECK(fault.fault.value == 6);
        CHECK(fault.fault.bound == 7);
    }
    target.missing = 0;
    CHECK(sampler.generate({1}, {.max_new_tokens = 10}).tokens.size() == 10);
}
