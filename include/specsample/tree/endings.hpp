// Endings: where the nodes of a draft end the text.
#pragma once

#include <span>
#include <vector>

#include <specsample/core/stop_predicate.hpp>
#include <specsample/tree/links.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

/// A draft, and what ends the text.
struct DraftedText {
    const Links& links;
    std::span<const Token> tokens;
    std::span<const Token> stop_tokens;
    const StopPredicate& until;

    bool is_stop(Index node) const { return is_among(stop_tokens, tokens[static_cast<std::size_t>(node)]); }
};

/// What a predicate has answered about the nodes of a draft. It is asked about each node at most once, after the node's
/// parent, and never about a node after the end of the text.
class Endings {
  public:
    /// Begin with a new draft: forget all answers.
    void clear() { known_.clear(); }

    /// Allocate now what a draft of `count` nodes needs.
    void reserve(std::size_t count) {
        known_.reserve(count);
        nodes_.reserve(count);
        path_.reserve(count);
    }

    /// Take over all that is known about another draft of the same nodes.
    void take(const Endings& from) {
        known_.resize(from.known_.size());
        for (std::size_t i = 0; i < known_.size(); ++i) known_[i] = from.known_[i];
    }

    /// Take over what is known about a node of another draft.
    void take(Index node, const Endings& from, Index there) {
        if (from.known_.size() <= static_cast<std::size_t>(there)) return;
        if (known_.size() <= static_cast<std::size_t>(node)) known_.resize(static_cast<std::size_t>(node) + 1);
        known(node) = from.known_[static_cast<std::size_t>(there)];
    }

    /// Tell whether the text ends with a node, or just before it: its token is a stop token, or the predicate says so.
    /// Nothing follows such a node, and the row after it is never asked for.
    bool ends(const DraftedText& draft, Index node) {
        if (node == root_node) return false;
        return draft.is_stop(node) || (draft.until && answer(draft, node) != go_on);
    }

    /// Return the predicate's decision about the tokens on the path to a node.
    /// @pre   no node above ends the text
    StopDecision decision(const DraftedText& draft, Index node) {
        return draft.until ? static_cast<StopDecision>(answer(draft, node) - 1) : StopDecision::go_on;
    }

  private:
    // An answer is `unknown`, `past_the_end`, or 1 more than the predicate's decision. Answers are stored as tokens,
    // because another type of vector would cost every program 150 symbols.
    static constexpr Token unknown = 0, past_the_end = -1, go_on = 1 + static_cast<Token>(StopDecision::go_on);

    Token& known(Index node) { return known_[static_cast<std::size_t>(node)]; }

    Token answer(const DraftedText& draft, Index node) {
        if (known_.size() < draft.tokens.size()) known_.resize(draft.tokens.size());
        if (known(node) == unknown) ask_along_path(draft, node);
        return known(node);
    }

    /// Ask about the nodes on the path to a node, from the root down, where nothing is known yet.
    void ask_along_path(const DraftedText& draft, Index node) {
        nodes_.clear();
        for (; node != root_node; node = draft.links.parent(node)) nodes_.push_back(node);
        path_.clear();
        bool is_past = false;
        for (std::size_t i = nodes_.size(); i-- > 0;) {
            const Index at = nodes_[i];
            path_.push_back(draft.tokens[static_cast<std::size_t>(at)]);
            if (known(at) == unknown) known(at) = is_past ? past_the_end : 1 + static_cast<Token>(draft.until(path_));
            is_past = is_past || known(at) != go_on || draft.is_stop(at);
        }
    }

    std::vector<Token> known_;  ///< the answer about each node
    std::vector<Index> nodes_;  ///< the nodes on a path, the last first
    std::vector<Token> path_;
};

}}}  // namespace specsample::detail
