#pragma once

// The tokens that a model was fed: a tree with one slot per token. A text is a tree without branches.

#include <span>
#include <vector>

#include "engine/kernel.hpp"
#include "engine/token.hpp"

namespace engine {

/// The parent of the first token of a text.
inline constexpr Index no_slot = -1;

class History {
  public:
    Index size() const { return static_cast<Index>(entries_.size()); }  ///< slots
    Token token(Index slot) const { return entry(slot).token; }
    Index position(Index slot) const { return entry(slot).position; }  ///< the number of tokens before it in its text

    void reserve(Index slots) {
        if (const auto needed = static_cast<std::size_t>(slots); entries_.capacity() < needed)
            entries_.reserve(2 * needed);
    }

    /// Appends a token behind the one in `parent`, fed to the first `layers` layers.
    void push(Token token, Index parent, Index layers);

    /// The slots of the leading tokens of `text`, as far as they were fed to `layers` layers.
    std::vector<Index> find(std::span<const Token> text, Index layers) const;

    /// The slots visible to a slot: all before `all_before`, and `others`, in ascending order.
    struct Visible {
        Index all_before;
        std::vector<Index> others;
    };
    void see(Index slot, Visible& visible) const;

    /// Keeps the slots of a path alone, as a text.
    void keep(std::span<const Index> path);
    void truncate(Index slots) { entries_.resize(static_cast<std::size_t>(slots)); }

  private:
    struct Entry {
        Token token;
        Index parent;
        Index position;
        Index layers;
    };

    const Entry& entry(Index slot) const { return entries_[static_cast<std::size_t>(slot)]; }

    std::vector<Entry> entries_;
};

}  // namespace engine
