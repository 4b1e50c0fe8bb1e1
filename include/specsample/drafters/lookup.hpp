// Prompt lookup: drafts the tokens that followed the text's last tokens where these occurred before.
//
// Yang et al.: "Inference with reference" (arXiv:2304.04487), with the text itself as the reference; Saxena: "Prompt
// lookup decoding", 2023.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <span>

#include <specsample/drafters/drafter.hpp>
#include <specsample/drafters/named.hpp>
#include <specsample/drafters/ngram_index.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

/// Bounds on the suffix of a text that must have occurred before. The longest suffix that did occur is used, at its
/// latest occurrence.
struct LookupOptions {
    Index min_match = 1;  ///< shortest suffix in tokens, at least 1
    Index max_match = 3;  ///< longest suffix in tokens, min_match .. most_drafted
};

/// Drafts without a model, for texts that repeat their prompt or themselves: summaries, edits, code, dialogue.
///
///     Sampler sampler(LookupDrafter{}, target, {.lookahead = 8});
///
/// It finds the longest suffix of the text that occurred before, and proposes the tokens that followed its latest
/// occurrence, up to the depth limit. If no suffix occurred before, it proposes nothing. A copy that reaches the end of
/// the text continues with its own tokens, so a period that the text has begun is repeated.
///
/// It keeps an index of the text, and reads only the tokens that a prefix adds to the previous prefix. If a prefix does
/// not extend the previous prefix, rollback must be called first, as for any model. Without rollback, a prefix that is
/// shorter, or has another token where the previous prefix ended, is detected and read from its beginning. What the
/// drafter remembers affects acceptance but never the output distribution, because its tokens are point masses.
///
/// @draws   none
/// @cost    one search per new token and match length; O(1) per token proposed. After a prompt of 64 tokens or more
///          there is room for 8192 tokens, before tables grow
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

    /// Forget the tokens after the first `length`. There may be fewer, because several drafters may take turns.
    /// @throws   std::invalid_argument if length is negative
    /// @cost     one search per token forgotten and match length
    void rollback(Index length) { index_.truncate(std::min(length, index_.size())); }

  private:
    void read(std::span<const Token> prefix) {
        const std::span<const Token> known = index_.text();
        if (known.size() > prefix.size() || (!known.empty() && prefix[known.size() - 1] != known.back()))
            index_.truncate(0);
        detail::read_into(index_, prefix);
    }

    detail::NgramIndex index_;
};

}}  // namespace specsample
