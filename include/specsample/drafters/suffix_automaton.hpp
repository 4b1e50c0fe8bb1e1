// The suffix automaton of several texts; the last text is still growing.
//
// Blumer, Blumer, Haussler, Ehrenfeucht, Chen, Seiferas: "The smallest automaton recognizing the subwords of a text",
// Theoretical Computer Science 40 (1985).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <specsample/core/contract.hpp>
#include <specsample/core/types.hpp>
#include <specsample/drafters/path_counts.hpp>
#include <specsample/drafters/transitions.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

/// The suffix automaton of several texts. The last text is open: tokens are appended to it and removed from its end.
/// The texts before it are closed for good. No string runs from one text into the next.
///
///     SuffixAutomaton automaton;
///     for (const Token token : text) automaton.push_back(token);
///     const auto match = automaton.continued(automaton.last());
///     automaton.for_next(match, [&](Token token, SuffixAutomaton::State after) { automaton.occurrences(after); });
///
/// A state is a set of strings that end at the same places. Each string is a suffix of the longest string, which has
/// length(state) tokens. The link of a state is the state of the longest suffix of its strings that also ends at other
/// places.
///
/// The changes that a token makes are logged, and undone when the token is removed.
///
/// Occurrences are counted when they are asked for. Each place of a text is counted in its own state and in all states
/// along the links from there. There are about log(length) of these, but length / period where the text repeats itself,
/// so PathCounts adds to all of them at once.
///
/// @cost   O(1) per token written or removed, amortised over all written tokens, and O(log length) per token counted. A
///         token with an expensive change costs as much each time it is removed and written again. Memory: linear, at
///         most 2 states and 3 transitions per token: 90 to 300 bytes
class SuffixAutomaton {
  public:
    using State = std::int32_t;
    static constexpr State root = 0;   ///< the state of the empty string
    static constexpr State none = -1;  ///< no state

    SuffixAutomaton() { add_state({.length = 0, .link = none}, 0); }

    /// Append a token to the open text. If memory runs out, everything stays as it was.
    /// @throws   std::invalid_argument if all texts together would exceed 2^29 tokens
    void push_back(Token token) {
        detail::require(ends() < most_tokens, "SuffixAutomaton", "the number of tokens", ends() + 1, "at most 2^29");
        Unfinished change{this};
        const State before = last();
        log_.push_back({token, none, none, states_.size(), edges_.size(), redirected_.size()});
        change.started = true;
        log_.back().end = extended(before, token);
        change.started = false;
    }

    /// Make room for as many more tokens: until then push_back allocates nothing, unless a token redirects more
    /// transitions than most do.
    void make_room(std::size_t tokens) {
        states_.reserve(states_.size() + 2 * tokens);
        counts_.make_room(2 * tokens);
        edges_.make_room(3 * tokens, 2 * tokens);
        log_.reserve(log_.size() + tokens);
        redirected_.reserve(redirected_.size() + 3 * tokens);
    }

    /// Keep the first `length` tokens of the open text.
    /// @throws std::invalid_argument unless length is 0 to size()
    void truncate(Index length) {
        if (length < 0 || length > size())
            detail::invalid("SuffixAutomaton", "length", length,
                            "0 to the " + detail::to_text(size()) + " tokens there are");
        for (; size() > length; undo())
            if (counted_ == ends()) counts_.add(end(--counted_), -1);
    }

    /// Close the open text, which is kept, and begin a new one.
    void close() {
        const std::size_t closed = closed_.size();
        closed_.resize(closed + log_.size());
        for (std::size_t i = 0; i < log_.size(); ++i) closed_[closed + i] = log_[i].end;
        log_.clear();
        redirected_.clear();
    }

    Index size() const { return std::ssize(log_); }                                 ///< tokens of the open text
    Token token(Index i) const { return log_[static_cast<std::size_t>(i)].token; }  ///< token i of the open text
    Index state_count() const { return std::ssize(states_); }                       ///< the root included
    Index transition_count() const { return edges_.size(); }
    State last() const { return log_.empty() ? root : log_.back().end; }  ///< the state of the whole open text
    Index length(State state) const { return at(state).length; }          ///< tokens of the state's longest string
    State link(State state) const { return at(state).link; }              ///< none for the root

    /// Return the state of a state's strings followed by one more token; `none` if they do not occur.
    State next(State state, Token token) const {
        const Edge edge = edges_.find(state, token);
        return edge == none ? none : edges_.target(edge);
    }

    /// Call f(token, next) for every token that follows a state's strings, in no particular order.
    template <class F>
    void for_next(State state, F&& f) const {
        for (Edge edge = edges_.first(state); edge != none; edge = edges_.after(edge))
            f(edges_.token(edge), edges_.target(edge));
    }

    /// Return the state of the longest suffix of a state's strings that any token followed; the root if there is none.
    State continued(State state) const {
        while (state != root && edges_.first(state) == none) state = at(state).link;
        return state;
    }

    /// Count the places in all texts where the strings of a state end; 0 for the root.
    Index occurrences(State state) {
        for (; counted_ < ends(); ++counted_) counts_.add(end(counted_), 1);
        return state == root ? 0 : counts_.count(state);
    }

  private:
    using Edge = detail::Transitions::Edge;
    static constexpr Index most_tokens = Index{1} << 29;  // 3 transitions per token must have 32-bit numbers

    struct Node {
        std::int32_t length = 0;
        State link = none;
    };
    /// A token of the open text, and the sizes that removing it restores.
    struct Change {
        Token token;
        State end;    ///< the state of the open text up to this token
        State split;  ///< the state whose shorter strings moved to the newest state, none if no state was split
        std::size_t states;
        Index edges;
        std::size_t redirected;
    };
    /// Undoes a change that an exception left unfinished.
    struct Unfinished {
        SuffixAutomaton* automaton;
        bool started = false;
        ~Unfinished() {
            if (started) automaton->undo();
        }
    };

    Node& at(State state) { return states_[static_cast<std::size_t>(state)]; }
    const Node& at(State state) const { return states_[static_cast<std::size_t>(state)]; }

    Index ends() const { return std::ssize(closed_) + std::ssize(log_); }
    State end(Index i) const {
        const Index open = i - std::ssize(closed_);
        return open < 0 ? closed_[static_cast<std::size_t>(i)] : log_[static_cast<std::size_t>(open)].end;
    }

    /// @param count   how often the strings of the state were counted
    State add_state(const Node& node, std::int32_t count) {
        states_.push_back(node);
        counts_.push_back(count);
        return static_cast<State>(states_.size() - 1);
    }
    /// Set the link of a state. The root has no count, so that no state is below it.
    void set_link(State state, State link) {
        at(state).link = link;
        counts_.move(state, link == root ? PathCounts::none : link);
    }

    /// Return the state of the string of `text` followed by a token; make the state if it is missing.
    State extended(State text, Token token) {
        if (const State known = next(text, token); known != none) return exactly(text, token, known);
        const State whole = add_state({.length = at(text).length + 1, .link = root}, 0);
        for (; text != none; text = at(text).link) {
            if (const State known = next(text, token); known != none) {
                set_link(whole, exactly(text, token, known));
                break;
            }
            edges_.add(text, token, whole);
        }
        return whole;
    }

    /// Return the state whose longest string is the longest string of `from` followed by a token. `to` contains that
    /// string: the result is `to` itself, or a new state split from it.
    State exactly(State from, Token token, State to) {
        const Node old = at(to);
        if (old.length == at(from).length + 1) return to;
        const State half = add_state({.length = at(from).length + 1, .link = root}, counts_.count(to));
        log_.back().split = to;
        set_link(half, old.link);
        for_next(to, [&](Token other, State after) { edges_.add(half, other, after); });
        for (; from != none && next(from, token) == to; from = at(from).link) {
            redirected_.push_back(edges_.find(from, token));
            edges_.redirect(redirected_.back(), half);
        }
        set_link(to, half);
        return half;
    }

    void undo() {
        const Change change = log_.back();
        log_.pop_back();
        for (; redirected_.size() > change.redirected; redirected_.pop_back())
            edges_.redirect(redirected_.back(), change.split);
        if (change.split != none) set_link(change.split, states_.back().link);
        while (edges_.size() > change.edges) edges_.pop_back();
        for (auto state = static_cast<State>(change.states); state < counts_.size(); ++state)
            counts_.move(state, PathCounts::none);
        while (counts_.size() > static_cast<Index>(change.states)) counts_.pop_back();
        states_.resize(change.states);
    }

    std::vector<Node> states_;
    PathCounts counts_;  // by state: how often its strings were counted
    detail::Transitions edges_;
    std::vector<State> closed_;     // the end states of the closed texts, one per token
    std::vector<Change> log_;       // the open text
    std::vector<Edge> redirected_;  // transitions that the changes of the log redirected
    Index counted_ = 0;             // how many ends, closed texts first, are in the counts
};

}  // namespace detail

}}  // namespace specsample
