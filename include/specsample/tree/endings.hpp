// Endings: where the nodes of a draft end the text.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <specsample/core/stop_predicate.hpp>
#include <specsample/tree/links.hpp>

namespace specsample {
inline namespace SPECSAMPLE_ABI {
namespace detail {

/// A draft, and what ends the text.
struct DraftedText {
    const Links& links;
    std::span<const Token> tokens;
    std::span<const Token> stop_tokens;
    const StopPredicate& until;

    bool is_stop(Index node) const {
        return std::ranges::find(stop_tokens, tokens[static_cast<std::size_t>(node)]) != stop_tokens.end();
    }
};

/// What a predicate has answered about the nodes of a draft. It is asked about a node once at most, after the node's
/// parent, and never about what follows an end.
class Endings {
  public:
    /// Begin with a new draft, about which nothing is known.
    void clear() { known_.clear(); }

    /// Take over what is known about a node of another draft.
    void take(Index node, const Endings& from, Index there) {
        if (from.known_.size() <= static_cast<std::size_t>(there)) return;
        if (known_.size() <= static_cast<std::size_t>(node)) known_.resize(static_cast<std::size_t>(node) + 1);
        known(node) = from.known_[static_cast<std::size_t>(there)];
    }

    /// Whether the text ends with a node, or before it: its token is a stop token, or the predicate says so. Nothing
    /// follows such a node, and the row after it is never asked for.
    bool ends(const DraftedText& draft, Index node) {
        if (node == root_node) return false;
        return draft.is_stop(node) || (draft.until && answer(draft, node) != Answer::go_on);
    }

    /// The predicate's decision about the tokens on the path to a node.
    /// @pre   no node above ends the text
    StopDecision decision(const DraftedText& draft, Index node) {
        if (!draft.until) return StopDecision::go_on;
        const Answer known = answer(draft, node);
        return known == Answer::include   ? StopDecision::include
               : known == Answer::exclude ? StopDecision::exclude
                                          : StopDecision::go_on;
    }

  private:
    enum Answer : Token { unknown, go_on, include, exclude, past_the_end };

    Token& known(Index node) { return known_[static_cast<std::size_t>(node)]; }

    Answer answer(const DraftedText& draft, Index node) {
        if (known_.size() < draft.tokens.size()) known_.resize(draft.tokens.size());
        if (known(node) == Answer::unknown) ask_along_path(draft, node);
        return static_cast<Answer>(known(node));
    }

    /// Ask about the nodes on the path to a node, from the root down, where nothing is known yet.
    void ask_along_path(const DraftedText& draft, Index node) {
        nodes_.clear();
        for (; node != root_node; node = draft.links.parent(node)) nodes_.push_back(node);
        path_.clear();
        bool is_past = false;
        for (; !nodes_.empty(); nodes_.pop_back()) {
            const Index at = nodes_.back();
            path_.push_back(draft.tokens[static_cast<std::size_t>(at)]);
            if (known(at) == Answer::unknown) known(at) = is_past ? Answer::past_the_end : asked(draft.until(path_));
            is_past = is_past || known(at) != Answer::go_on || draft.is_stop(at);
        }
    }

    static Answer asked(StopDecision decision) {
        return decision == StopDecision::include   ? Answer::include
               : decision == StopDecision::exclude ? Answer::exclude
                                                   : Answer::go_on;
    }

    std::vector<Token> known_;  ///< an Answer by node: one more type of vector costs every program 150 symbols
    std::vector<Index> nodes_;   ///< on a path, the last first
    std::vector<Token> path_;
};

}  // namespace detail
}  // inline namespace
}  // namespace specsample
