#pragma once

// A Llama model for one request: shared weights and a key-value cache of its own.
//
// A position's logits have the same bits however the tokens before it were fed: in one pass or many, freshly or after a
// truncation, as a text or as a path of a tree, into a contiguous cache or into pages, by one thread or by several.

#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "engine/checkpoint.hpp"
#include "engine/kernel.hpp"
#include "engine/layers.hpp"
#include "engine/team.hpp"
#include "engine/token.hpp"
#include "engine/trunk.hpp"

namespace engine {

class Model {
  public:
    /// `pages` null: a contiguous cache; `team` null: one thread. Models that share a team must not run at once.
    explicit Model(std::shared_ptr<const Weights> weights, std::shared_ptr<PagePool> pages = nullptr,
                   std::shared_ptr<Team> team = nullptr);

    static Model load(const std::filesystem::path& path) { return Model(Weights::load(path)); }

    const std::shared_ptr<const Weights>& weights() const { return trunk_.weights(); }
    Index vocab() const { return weights()->config.vocab; }
    Index outputs() const { return weights()->classifier().rows(); }  ///< logits per position: see slice.hpp
    Index context() const { return weights()->config.context; }
    Index layers() const { return weights()->config.layers; }
    Index length() const { return cache_.history.size(); }  ///< slots of the cache in use
    Index parameters() const { return weights()->parameters(); }
    std::size_t weight_bytes() const { return weights()->bytes_per_pass(); }  ///< read by one pass
    const PagePool& pages() const { return cache_.attention.pool(); }
    const std::shared_ptr<Team>& team() const { return trunk_.team(); }

    /// Feeds tokens behind the cached text. Row i holds the logits after tokens[i]; valid until the next call.
    /// Throws std::invalid_argument, changing nothing, for no tokens, a token outside the vocabulary, a full context or
    /// a cache that holds a tree; std::runtime_error, changing nothing, if the pool has too few pages.
    Logits forward(std::span<const Token> tokens);

    /// Forgets the positions from `length` on, in constant time for each page; what comes before must be a text.
    void truncate(Index length);

    /// Drops all cached slots that are not part of `prefix`, and moves the others together. Returns their number.
    Index keep(std::span<const Token> prefix) { return keep(prefix, std::ssize(prefix), layers()); }

    /// Logits of the last n positions of `prefix`, for any `prefix` and any cache. What the cache shares with `prefix`
    /// is kept, up to those n positions; the rest is fed, in a single pass if it has at most `max_pass` tokens.
    Logits score(std::span<const Token> prefix, Index n) { return score(prefix, n, layers()); }

    /// The same by the first `layers` layers alone: a smaller model inside this one. It reads the whole model's cache
    /// of the prefix. The tokens that it feeds itself take the same slots, and the whole model feeds them again.
    Logits score(std::span<const Token> prefix, Index n, Index layers);

    /// Logits after `prefix` (row 0) and after each node of a tree behind it (row i + 1), in a single pass if what is
    /// not cached and the tree are at most `max_pass` tokens. The parent of a node is an earlier one, or -1: `prefix`.
    Logits score_tree(std::span<const Token> prefix, std::span<const Token> tokens, std::span<const Index> parents);

    /// A state after `prefix` (pages.hpp), by default the classifier's input. The prefix is fed only if it is not
    /// cached. Valid until the next call.
    ConstVector state(std::span<const Token> prefix, Index which = states_per_position - 1);

    static constexpr Index max_pass = Trunk::max_pass;  ///< longer inputs take several passes

  private:
    Index keep(std::span<const Token> prefix, Index most, Index layers);
    void check_text(Index length) const;
    void check_tokens(std::span<const Token> tokens) const;
    void check_room(Index behind, Index count) const;
    void reserve(Index slots, Index scored);
    void append(std::span<const Token> tokens, std::span<const Index> parents, Index layers);
    Logits feed(Index first, Index scored, Index layers);
    ConstRows pass(Index first, Index positions, Index layers);

    Trunk trunk_;
    Cache cache_;
    std::vector<float> logits_;
};

}  // namespace engine
