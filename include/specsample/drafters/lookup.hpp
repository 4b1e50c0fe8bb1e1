// Prompt lookup: what followed the end of the text where it occurred before.
//
// Yang et al.: "Inference with reference" (arXiv:2304.04487), with the text itself as the reference; Saxena: "Prompt
// lookup decoding", 2023.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <span>

#include <specsample/drafters/drafter.hpp>
#include <specsample/drafters/ngram_index.hpp>

namespace specsample {

/// How much of the end of a text must have occurred before: the longest that did counts, where it did so last.
struct LookupOptions {
    Index min_match = 1;  ///< tokens, at least 1
    Index max_match = 3;  ///< tokens, min_match .. most_drafted
};

/// Drafts without a model, for texts that repeat their prompt or themselves: summaries, edits, code, dialogue.
///
///     Sampler sampler(LookupDrafter{}, target, {.lookahead = 8});
///
/// It proposes the tokens that followed the longest end of the text where that occurred last, as deep as it may, and
/// nothing where no end of it occurred before. A copy that runs into the end of the text goes on with what it has
/// proposed itself: the period that the text has begun is repeated.
///
/// It keeps an index of the text, and reads only what a prefix adds to the one before. Where a prefix does not extend
/// that, rollback must come first, as for any model; a prefix that is shorter, or has another token where the last one
/// ended, is seen, and read from its beginning. What it remembers decides how much is accepted, and never the
/// distribution: all it proposes are point masses.
///
/// @draws none. Cost: a search per token that is new and length of a match, and O(1) per token proposed.
class LookupDrafter {
  public:
    using Distribution = PointMass;
    static constexpr bool branches = false;
    static constexpr bool cut_is_prefix = true;

    /// @throws std::invalid_argument unless 1 <= options.min_match <= options.max_match <= most_drafted
    explicit LookupDrafter(LookupOptions options = {}) : index_(options.min_match, options.max_match) {}

    template <class Source, class L>
        requires std::convertible_to<PointMass, L>
    void propose(std::span<const Token> prefix, const Source&, DraftTree<L>& draft_tree) {
        read(prefix);
        const detail::NgramMatch match = index_.longest_match();
        if (match.length == 0) return;
        const Index first = draft_tree.size();
        Index from = match.end;
        for (Index node = root_node; draft_tree.grows(node); ++from) {
            const Index beyond = from - index_.size();
            const Token token = beyond < 0 ? prefix[static_cast<std::size_t>(from)] : draft_tree.token(first + beyond);
            node = draft_tree.add(node, token, PointMass{});
        }
    }

    /// Forget what it has read behind the first `length` tokens, if it has read so far: where several drafters take
    /// turns, it may not have.
    /// @throws std::invalid_argument if length is negative
    /// @cost   a search per token forgotten and length of a match
    void rollback(Index length) { index_.truncate(std::min(length, index_.size())); }

  private:
    void read(std::span<const Token> prefix) {
        const std::span<const Token> known = index_.text();
        if (known.size() > prefix.size() || (!known.empty() && prefix[known.size() - 1] != known.back()))
            index_.truncate(0);
        for (const Token token : prefix.subspan(static_cast<std::size_t>(index_.size()))) index_.push_back(token);
    }

    detail::NgramIndex index_;
};

}  // namespace specsample
