// Suffix lookup: drafts a tree of the most frequent continuations of the text's last tokens, here and in past texts.
//
// Hu et al.: "SAM decoding: speculative decoding via suffix automaton", ACL 2025 (arXiv:2411.10666): the automaton.
// Oliaro et al.: "SuffixDecoding", NeurIPS 2025 (arXiv:2411.04975), section 4: trees that grow by frequency.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <span>
#include <vector>

#include <specsample/core/contract.hpp>
#include <specsample/drafters/drafter.hpp>
#include <specsample/drafters/named.hpp>
#include <specsample/drafters/suffix_automaton.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

/// The size of a suffix lookup's tree, and the shortest suffix of a text that counts as a match.
struct SuffixLookupOptions {
    Index nodes = 16;     ///< largest number of tokens in the tree, at least 1
    Index width = 4;      ///< largest number of children of a node, at least 1; 1 gives a chain
    Index min_match = 1;  ///< shortest match in tokens, at least 1
};

/// Drafts without a model, for texts that repeat their prompt, themselves, or texts that it has learned.
///
///     SuffixLookupDrafter lookup({.nodes = 16});
///     Sampler sampler(std::ref(lookup), target, {.lookahead = 8}, TraversalVerification{});
///     lookup.learn(text);   // between two rounds, or requests
///
/// It finds the longest suffix of the text, of any length, that some token followed before, and grows a tree from
/// there. The share of a token is the number of times that it followed its context over the number of times that any
/// token did; the share of a path is the product of its tokens' shares. The tree grows by one token at a time, always
/// by the token whose path has the largest share, until it has `nodes` tokens or none is left. Ties go to the token
/// whose parent was added first, then to the smallest token. A path that reaches the end of all texts continues after
/// its longest suffix that some token followed and that has at least min_match tokens, so a period that a text has
/// begun is repeated.
///
/// It remembers the text as LookupDrafter does, rollback included; texts that it has learned stay. Both affect
/// acceptance but never the output distribution: tokens are chosen by their counts and not drawn, so all are point
/// masses.
///
/// @draws   none
/// @cost    per token read: O(1) amortised, and the counting of SuffixAutomaton; per node of a tree: O(log nodes), and
///          O(1) per token that followed the node. Memory: as SuffixAutomaton, for all texts; after a prompt of 64
///          tokens or more there is room for 8192 tokens, before tables grow
class SuffixLookupDrafter {
  public:
    using Distribution = PointMass;

    /// @throws std::invalid_argument unless nodes and width are in 1 .. most_drafted, and min_match is at least 1
    explicit SuffixLookupDrafter(SuffixLookupOptions options = {}) : options_(options) {
        constexpr auto where = "SuffixLookupDrafter";
        detail::require_length(where, "nodes", options.nodes, 1);
        detail::require_length(where, "width", options.width, 1);
        detail::require(options.min_match >= 1, where, "min_match", options.min_match, "at least 1");
    }

    /// Remember a text for good, such as a past output with its prompt. Tokens of it that were read for drafting are
    /// not read again.
    /// @cost   O(1) amortised per token not yet read; the next propose reads its whole prefix again
    void learn(std::span<const Token> text) {
        detail::require_memory("SuffixLookupDrafter", "text", text);
        Index known = 0;
        while (known < std::min(seen_.size(), std::ssize(text)) && seen_.token(known) == at(text, known)) ++known;
        seen_.truncate(known);
        detail::read_into(seen_, text);
        seen_.close();
    }

    template <class Source, class L>
        requires std::convertible_to<PointMass, L>
    void propose(std::span<const Token> prefix, const Source&, DraftTree<L>& draft_tree) {
        const Index known = seen_.size();
        if (known > std::ssize(prefix) || (known > 0 && seen_.token(known - 1) != at(prefix, known - 1)))
            seen_.truncate(0);
        detail::read_into(seen_, prefix);
        offers_.clear();
        Index left = options_.nodes;
        if (draft_tree.grows(root_node)) offer(root_node, seen_.last(), 1, left);
        while (!offers_.empty()) {
            std::ranges::pop_heap(offers_, later);
            const Offer best = offers_.back();
            offers_.pop_back();
            const Index node = draft_tree.add(best.parent, best.token, PointMass{});
            if (--left == 0 || draft_tree.fault()) return;
            if (draft_tree.grows(node)) offer(node, best.state, best.share, left);
        }
    }

    /// Forget the tokens after the first `length`. There may be fewer, because several drafters may take turns.
    /// @throws   std::invalid_argument if length is negative
    /// @cost     as much as reading the forgotten tokens
    void rollback(Index length) { seen_.truncate(std::min(length, seen_.size())); }

  private:
    using State = detail::SuffixAutomaton::State;

    /// A token that may be added to the tree.
    struct Offer {
        Index parent;
        Token token;
        State state;   ///< the state of the text followed by the path
        double share;  ///< share of the path
    };
    struct Follower {
        Token token;
        State state;
        Index count;
    };

    static Token at(std::span<const Token> text, Index i) { return text[static_cast<std::size_t>(i)]; }

    /// Order the heap of offers: its first offer is the next to be added.
    static bool later(const Offer& a, const Offer& b) {
        if (a.share != b.share) return a.share < b.share;
        return a.parent != b.parent ? a.parent > b.parent : a.token > b.token;
    }

    /// Offer the tokens that followed a node whose path leads to `state`; at most `most`, because no more can be added.
    void offer(Index node, State state, double share, Index most) {
        const State context = seen_.continued(state);
        if (seen_.length(context) < options_.min_match) return;
        followers_.clear();
        double total = 0;
        seen_.for_next(context, [&](Token token, State next) {
            followers_.push_back({token, next, seen_.occurrences(next)});
            total += static_cast<double>(followers_.back().count);
        });
        const Index count = std::min({std::ssize(followers_), options_.width, most});
        std::ranges::partial_sort(followers_, followers_.begin() + count, [](const Follower& a, const Follower& b) {
            return a.count != b.count ? a.count > b.count : a.token < b.token;
        });
        for (const Follower& next : std::span(followers_).first(static_cast<std::size_t>(count))) {
            offers_.push_back({node, next.token, next.state, share * static_cast<double>(next.count) / total});
            std::ranges::push_heap(offers_, later);
        }
    }

    SuffixLookupOptions options_;
    detail::SuffixAutomaton seen_;

    // Reused from round to round.
    std::vector<Offer> offers_;  ///< a heap
    std::vector<Follower> followers_;
};

}}  // namespace specsample
