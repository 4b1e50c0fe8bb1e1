// Heads: their drafts, and their place after another model's chain.
#include <specsample/drafters/heads.hpp>

#include <string>
#include <vector>

#include <specsample/drafters/heads_tree.hpp>
#include <specsample/rows/sparse.hpp>
#include <specsample/sampler/sampler.hpp>
#include <specsample/shaping/from_logits.hpp>
#include <specsample/testing/models.hpp>
#include <specsample/theory.hpp>
#include <specsample/verify/match.hpp>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::heads;
using namespace specsample::kernels;
using namespace specsample::theory;
using specsample::testing::ContextModel;

namespace {

using Matrix = RowMajorMatrix<double>;
constexpr Index vocab = 5;

/// Row i after a prefix: that of a model where i zeros were written in between.
struct Heads {
    ContextModel model{vocab, 7};
    Index count = 3;
    int* asked = nullptr;

    Matrix operator()(std::span<const Token> prefix) const {
        if (asked != nullptr) ++*asked;
        Matrix rows(count, vocab);
        std::vector<Token> text(prefix.begin(), prefix.end());
        for (Index i = 0; i < count; ++i, text.push_back(0)) rows.row(i) = model(text).transpose();
        return rows;
    }
};

template <class Draft>
auto propose(Draft& draft, const std::vector<Token>& prefix, Index depth) {
    DraftTree<typename Draft::Distribution> draft_tree;
    draft_tree.open(depth, {}, vocab);
    draft.propose(prefix, RoundRng(3, 0, std::ssize(prefix)), draft_tree);
    return draft_tree;
}

}  // namespace

TEST_CASE("each head's token comes from its row and has its distribution", "[draft]") {
    HeadsDrafter draft(Heads{}, 3);
    const std::vector<Token> prefix{1, 4};
    const RoundRng rng(3, 0, 2);
    const Matrix rows = Heads{}(prefix);
    for (const Index depth : {1, 2, 3, 8}) {
        const auto draft_tree = propose(draft, prefix, depth);
        REQUIRE(draft_tree.size() == std::min<Index>(depth, 3));
        for (Index i = 0; i < draft_tree.size(); ++i) {
            CHECK(draft_tree.parent(i) == i - 1);
            CHECK(draft_tree.token(i) ==
                  draw(rng.at(Purpose::draft, i), RowWeights(detail::as_row(rows.row(i)))).index);
            for (Index id = 0; id < vocab; ++id)
                CHECK(draft_tree.distributions()[static_cast<std::size_t>(i)].weight(id) == rows(i, id));
        }
    }
}

TEST_CASE("heads may return what targets may", "[draft]") {
    const ContextModel target(vocab, 1);
    const auto text = [&](auto heads) {
        return Sampler(HeadsDrafter(heads, 3), target, {.lookahead = 3, .seed = 5})
            .generate({2}, {.max_new_tokens = 60})
            .tokens;
    };
    const Matrix fixed = Heads{}({});
    const auto expected = text([=](std::span<const Token>) { return fixed; });
    CHECK(text([=](std::span<const Token>) {
              std::vector<Eigen::VectorXd> rows;
              for (Index i = 0; i < 3; ++i) rows.push_back(fixed.row(i).transpose());
              return rows;
          }) == expected);
    CHECK(text([&](std::span<const Token>) -> const Matrix& { return fixed; }) == expected);
    CHECK(text([&](std::span<const Token>) { return Eigen::Map<const Matrix>(fixed.data(), 3, vocab); }) == expected);
}

TEST_CASE("without a lookahead heads are not asked, and the text is that of plain decoding", "[draft]") {
    int asked = 0;
    const ContextModel target(vocab, 1), other(vocab, 2);
    Heads heads;
    heads.asked = &asked;
    Sampler with_heads(HeadsDrafter(heads, 3), target, {.lookahead = 0, .seed = 5});
    Sampler plain(other, target, {.lookahead = 0, .seed = 5});
    CHECK(with_heads.generate({2}, {.max_new_tokens = 50}).tokens ==
          plain.generate({2}, {.max_new_tokens = 50}).tokens);
    CHECK(asked == 0);
}

TEST_CASE("heads race with the target's noise", "[draft]") {
    const ContextModel target(vocab, 1);
    Sampler sampler(HeadsDrafter(Heads{}, 3), target, {.lookahead = 3, .seed = 5}, GumbelMatch{});
    Sampler plain(ContextModel(vocab, 9), target, {.lookahead = 0, .seed = 5}, GumbelMatch{});
    const auto text = sampler.generate({2}, {.max_new_tokens = 200});
    CHECK(text.tokens == plain.generate({2}, {.max_new_tokens = 200}).tokens);
    CHECK(text.tally.accepted > 0);
    Sampler hybrid(HybridDrafter(ContextModel(vocab, 9), Heads{}, {2, 1, 0}), target, {.lookahead = 3, .seed = 5},
                   GumbelMatch{});
    CHECK(hybrid.generate({2}, {.max_new_tokens = 200}).tokens == text.tokens);
}

TEST_CASE("another number of rows than heads is an error", "[draft]") {
    for (const Index found : {0, 2, 4}) {
        Heads heads;
        heads.count = found;
        HeadsDrafter draft(heads, 3);
        const std::string message = "specsample::HeadsDrafter: the number of rows that heads(prefix) returns is " +
                                    std::to_string(found) + ", but must be 3";
        CHECK_THROWS_WITH(propose(draft, {1}, 3), message);
        std::vector<Token> text{1};
        Sampler sampler(draft, ContextModel(vocab, 1), {.lookahead = 3});
        CHECK_THROWS_WITH(sampler.extend(text), message);
        CHECK(text == std::vector<Token>{1});
    }
    CHECK_THROWS_WITH(HeadsDrafter(Heads{}, 0), ContainsSubstring("HeadsDrafter: count is 0, but must be at least 1"));
}

TEST_CASE("the likeliest of each head stand beside the chain", "[draft]") {
    const ContextModel model(vocab, 2);
    const std::vector<Token> prefix{1, 4};
    const Matrix rows = Heads{}(prefix);
    HybridDrafter hybrid(model, Heads{}, {2, 0, 1});
    ChainDrafter chain(model);
    for (const Index depth : {1, 2, 3, 5}) {
        INFO("depth " << depth);
        const auto alone = propose(chain, prefix, depth);
        const auto draft_tree = propose(hybrid, prefix, depth);
        REQUIRE(draft_tree.size() == depth + 2 + (depth >= 3 ? 1 : 0));
        for (Index i = 0; i < depth; ++i) {
            CHECK(draft_tree.token(i) == alone.token(i));
            CHECK(draft_tree.parent(i) == i - 1);
            CHECK_FALSE(draft_tree.distributions()[static_cast<std::size_t>(i)].is_point());
        }
        std::vector<Token> top(2);
        top_ids(rows.row(0), top);
        CHECK(draft_tree.token(depth) == top[0]);
        CHECK(draft_tree.token(depth + 1) == top[1]);
        CHECK(draft_tree.parent(depth) == root_node);
        CHECK(draft_tree.distributions()[static_cast<std::size_t>(depth)].is_point());
        if (depth < 3) continue;
        CHECK(draft_tree.token(depth + 2) == argmax(rows.row(2)));
        CHECK(draft_tree.parent(depth + 2) == 1);
    }
}

TEST_CASE("heads stand after the last token of a chain that is shorter than they are", "[draft]") {
    const std::vector<Token> prefix{1, 4};
    const Matrix rows = Heads{.count = 4}(prefix);
    for (const Index length : {1, 2, 3}) {
        INFO("a chain of " << length);
        HybridDrafter hybrid(HeadsDrafter(Heads{.count = length}, length), Heads{.count = 4}, {1, 1, 1, 1});
        const auto draft_tree = propose(hybrid, prefix, 8);
        // One beside each token of the chain, and one after the last.
        REQUIRE(draft_tree.size() == 2 * length + 1);
        for (Index i = 0; i <= length; ++i) {
            CHECK(draft_tree.parent(length + i) == i - 1);
            CHECK(draft_tree.token(length + i) == argmax(rows.row(i)));
        }
    }
}

TEST_CASE("a hybrid drafts behind others what it drafts alone", "[draft]") {
    const std::vector<Token> prefix{1, 4};
    HybridDrafter hybrid(ContextModel(vocab, 2), Heads{}, {2, 1, 1});
    CHECK(hybrid.depth() == 3);
    CHECK(HybridDrafter(HeadsTreeDrafter(Heads{.count = 4}, expansion_tree({1, 1, 1, 1})), Heads{}, {1, 1, 1}).depth() == 4);
    const auto alone = propose(hybrid, prefix, 3);
    DraftTree<decltype(hybrid)::Distribution> draft_tree;
    draft_tree.open(3, {}, vocab);
    draft_tree.add(draft_tree.add(root_node, 3, PointMass{}), 2, PointMass{});
    hybrid.propose(prefix, RoundRng(3, 0, 2), draft_tree);
    REQUIRE(draft_tree.size() == 2 + alone.size());
    for (Index i = 0; i < alone.size(); ++i) {
        const Index parent = alone.parent(i);
        CHECK(draft_tree.parent(2 + i) == (parent == root_node ? root_node : 2 + parent));
        if (alone.distributions()[static_cast<std::size_t>(i)].is_point())
            CHECK(draft_tree.token(2 + i) == alone.token(i));
    }
}

TEST_CASE("a hybrid is checked", "[draft]") {
    const ContextModel model(vocab, 2);
    CHECK_THROWS_WITH(HybridDrafter(model, Heads{}, {}), ContainsSubstring("the number of branchings is 0"));
    CHECK_THROWS_WITH(HybridDrafter(model, Heads{}, {1, -1}), ContainsSubstring("a branching is -1"));
    HybridDrafter draft(model, Heads{}, {1, 1});
    CHECK_THROWS_WITH(propose(draft, {1}, 2), ContainsSubstring("HybridDrafter: the number of rows"));
}

TEST_CASE("branches raise acceptance at the price of nodes alone", "[draft]") {
    const ContextModel model(vocab, 2), target(vocab, 1);
    const auto tokens_per_round = [&](auto draft) {
        Sampler sampler(std::move(draft), target, {.lookahead = 3, .seed = 5});
        (void)sampler.generate({2}, {.max_new_tokens = 4000});
        return static_cast<double>(sampler.tally().tokens) / static_cast<double>(sampler.tally().rounds);
    };
    const double chain = tokens_per_round(ChainDrafter(model));
    const double hybrid = tokens_per_round(HybridDrafter(model, Heads{.model = target}, {2, 2, 2}));
    CHECK(hybrid > chain + .2);
}
