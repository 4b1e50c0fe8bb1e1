// The glue on a recorded engine: after any history of chains, trees, rollbacks and failures, every row is that of a
// fresh cache to the bit, and nothing is decoded that the cache has.
#include <algorithm>
#include <array>
#include <random>

#include "llama_cpp/engine.hpp"
#include "llama_cpp/glue.hpp"
#include "support/catch.hpp"

using namespace specsample;

namespace {

using Tokens = std::vector<Token>;

struct DraftShape {
    Tokens tokens;
    std::vector<Index> parents;

    Tree<Token, Index> view() const { return {tokens, parents}; }
    Tokens path(Index node) const {
        Tokens result;
        for (; node >= 0; node = parents[std::size_t(node)]) result.insert(result.begin(), tokens[std::size_t(node)]);
        return result;
    }
    Index leaves() const {
        Index count = 0;
        for (Index node = 0; node < std::ssize(tokens); ++node) count += std::ranges::count(parents, node) == 0;
        return count;
    }
};

Tokens joined(Tokens text, const Tokens& more) {
    text.insert(text.end(), more.begin(), more.end());
    return text;
}

class Dice {
  public:
    explicit Dice(unsigned seed) : engine_(seed) {}

    Index below(Index n) { return Index(engine_() % std::uint64_t(n)); }
    Tokens tokens(Index count) {
        Tokens result;
        while (std::ssize(result) < count) result.push_back(Token(below(3)));  // few, so that branches look alike
        return result;
    }
    DraftShape tree(Index most_nodes, Index most_leaves) {
        DraftShape result;
        const Index nodes = below(most_nodes + 1);
        for (Index node = 0; node < nodes; ++node) {
            result.tokens.push_back(Token(below(2)));
            result.parents.push_back(below(node + 1) - 1);
            if (result.leaves() <= most_leaves) continue;
            result.parents.back() = node - 1;
        }
        return result;
    }

  private:
    std::mt19937_64 engine_;
};

/// A text on an engine, and every string that the engine's cache should have of it.
class Player {
  public:
    Player(llama_context& context, llama_seq_id sequence) : context_(context), model_(&context, sequence) {}

    void play(Dice& dice) {
        const Tokens prefix = next_prefix(dice);
        const Index n = 1 + dice.below(std::min<Index>(5, std::ssize(prefix)));
        const bool branches = dice.below(2) == 0;
        const DraftShape tree = branches ? dice.tree(6, 3) : DraftShape{};
        if (dice.below(10) == 0) {
            fail(dice, prefix, branches ? 1 : n, tree);
        } else if (branches) {
            const Index known = in_cache(prefix, 1);
            check_rows(known, prefix, 1, tree, model_(prefix, tree.view()));
        } else {
            const Index known = in_cache(prefix, n);
            check_rows(known, prefix, n, tree, model_(prefix, n));
        }
    }

    void forget() { model_.keep({}); }
    Index cells() const { return std::ssize(cached_.front()) + nodes_; }

  private:
    /// Something that the cache has a part of: the whole path of a tree, less, more, or nothing.
    Tokens next_prefix(Dice& dice) {
        Tokens prefix = cached_[std::size_t(dice.below(std::ssize(cached_)))];
        if (dice.below(3) == 0) prefix.resize(std::size_t(dice.below(std::ssize(prefix) + 1)));
        if (dice.below(20) == 0 || prefix.size() > 45) prefix.resize(std::size_t(dice.below(3)));
        return joined(prefix, dice.tokens(prefix.empty() ? 1 + dice.below(12) : dice.below(4)));
    }

    /// Leading tokens of a prefix that need not be decoded, if its last n rows are wanted.
    Index in_cache(const Tokens& prefix, Index n) const {
        Index most = 0;
        for (const Tokens& text : cached_)
            most = std::max<Index>(most, std::ranges::mismatch(text, prefix).in1 - text.begin());
        return std::min(most, std::ssize(prefix) - n);
    }

    void check_rows(Index known, const Tokens& prefix, Index n, const DraftShape& tree, const LlamaModel::Rows& rows) {
        const Index nodes = std::ssize(tree.tokens);
        bool same = std::ssize(rows) == n + nodes;
        for (Index i = 0; same && i < n + nodes; ++i) {
            const Tokens text =
                i < n ? Tokens(prefix.begin(), prefix.end() - (n - 1 - i)) : joined(prefix, tree.path(i - n));
            same = std::ranges::equal(rows[std::size_t(i)], logits_after(text, context_.model));
        }
        CHECK(same);
        CHECK(context_.decodes == std::vector{std::int32_t(std::ssize(prefix) - known + nodes)});
        context_.decodes.clear();
        cached_ = {prefix};
        for (Index node = 0; node < nodes; ++node) cached_.push_back(joined(prefix, tree.path(node)));
        nodes_ = nodes;
    }

    void fail(Dice& dice, const Tokens& prefix, Index n, const DraftShape& tree) {
        const Index known = in_cache(prefix, n);
        const std::int32_t status = std::array{1, 2, -3}[std::size_t(dice.below(3))];
        context_.trouble = {status, std::int32_t(dice.below(5))};
        const auto ask = [&] { tree.tokens.empty() ? model_(prefix, n) : model_(prefix, tree.view()); };
        if (status == 2) {
            CHECK_THROWS_AS(ask(), Interrupted);
        } else {
            CHECK_THROWS_WITH(ask(), ContainsSubstring(status == 1 ? "the context is full" : "with status -3"));
        }
        CHECK(model_.held() == known);
        cached_ = {{prefix.begin(), prefix.begin() + known}};
        nodes_ = 0;
    }

    llama_context& context_;
    LlamaModel model_;
    std::vector<Tokens> cached_{{}};  ///< the text first
    Index nodes_ = 0;
};

}  // namespace

TEST_CASE("rows are those of a fresh cache, and no token is decoded twice") {
    const bool sees_all = GENERATE(true, false);
    llama_context context{.model = {.window = sees_all ? 0 : 7}};
    Player one(context, 0), other(context, 4);
    Dice dice(sees_all ? 1 : 2);
    for (int round = 0; round < 4000; ++round) {
        (dice.below(2) == 0 ? one : other).play(dice);
        CHECK(std::ssize(context.memory.cells) == one.cells() + other.cells());  // what leaves share is there once
    }
    one.forget();
    other.forget();
    CHECK(context.memory.cells.empty());
}

TEST_CASE("the path of a repeated sibling is found") {
    llama_context context;
    LlamaModel model(&context);
    const DraftShape tree{{5, 5, 6, 7}, {-1, -1, 0, 1}};
    model(Tokens{1}, tree.view());
    const auto rows = model(Tokens{1, 5, 7, 2}, 1);
    CHECK(std::ranges::equal(rows[0], logits_after(Tokens{1, 5, 7, 2}, context.model)));
    CHECK(context.decodes == std::vector{5, 1});
}

TEST_CASE("a text longer than n_batch takes as few decodes as it can") {
    Dice dice(3);
    for (Index size = 1; size <= 60; ++size)
        for (const Index n : {1, 2, 5, 16}) {
            if (n > size) continue;
            llama_context context{.n_batch = 16};
            LlamaModel model(&context);
            const Tokens text = dice.tokens(size);
            const auto rows = model(text, n);
            REQUIRE(std::ssize(rows) == n);
            CHECK(std::ranges::equal(rows[0], logits_after(std::span(text).first(std::size_t(size - n + 1)), {})));
            CHECK(std::ranges::equal(rows[std::size_t(n - 1)], logits_after(text, {})));
            CHECK(std::ssize(context.decodes) == (size + 15) / 16);

            const DraftShape tree{{1, 2, 3}, {-1, -1, 0}};
            model.keep({});
            context.decodes.clear();
            const auto of_tree = model(text, tree.view());
            CHECK(std::ranges::equal(of_tree[3], logits_after(joined(text, {1, 3}), {})));
            CHECK(std::ssize(context.decodes) == (size + 3 + 15) / 16);
        }
}
