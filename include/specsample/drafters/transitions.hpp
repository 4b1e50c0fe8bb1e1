// The transitions of an automaton that grows, and shrinks in the reverse order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <specsample/core/types.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

constexpr std::uint64_t transition_hash(std::int32_t from, Token token) {
    std::uint64_t hash = std::uint64_t{static_cast<std::uint32_t>(from)} << 32 | static_cast<std::uint32_t>(token);
    hash = (hash ^ hash >> 32) * 0x9E37'79B9'7F4A'7C15;  // 2^64 over the golden ratio
    return hash ^ hash >> 32;
}

/// Transitions of an automaton, found by state and token, and listed by state.
///
/// The table has open addressing and is at most half full. A transition whose search meets `longest_search` other
/// transitions stays out of the table and is found in the list of its state. Only a text that was made to cause this
/// has such transitions. Transitions are removed in the reverse of the order in which they were added, so removing one
/// never breaks the search for another.
class Transitions {
  public:
    using State = std::int32_t;
    using Edge = std::int32_t;  ///< the number of a transition
    static constexpr Edge none = -1;
    static constexpr std::size_t longest_search = 64;

    Index size() const { return std::ssize(edges_); }
    State target(Edge edge) const { return at(edge).to; }
    Token token(Edge edge) const { return at(edge).token; }
    void redirect(Edge edge, State to) { edges_[static_cast<std::size_t>(edge)].to = to; }

    /// Return the newest transition of a state; after(edge) returns the next older transition of the same state.
    Edge first(State from) const {
        const auto list = static_cast<std::size_t>(from);
        return list < lists_.size() ? lists_[list] : none;
    }
    Edge after(Edge edge) const { return at(edge).sibling; }

    /// Find the transition of a state by a token; `none` if there is no such transition.
    Edge find(State from, Token token) const {
        for (std::size_t step = 0; step < std::min(longest_search, slots_.size()); ++step) {
            const Edge edge = slots_[place(from, token, step)];
            if (edge == none || is(edge, from, token)) return edge;
        }
        Edge edge = first(from);
        while (edge != none && at(edge).token != token) edge = after(edge);
        return edge;
    }

    /// Add a transition that is not there yet. If memory runs out, everything stays as it was.
    void add(State from, Token token, State to) {
        if (2 * (edges_.size() + 1) > slots_.size()) grow();
        const auto list = static_cast<std::size_t>(from);
        if (list >= lists_.size()) lists_.resize(list + 1, none);
        edges_.push_back({from, token, to, lists_[list]});
        lists_[list] = static_cast<Edge>(edges_.size() - 1);
        set_slot(lists_[list], lists_[list]);
    }

    /// Make room for more transitions of more states: until then `add` allocates nothing.
    void make_room(std::size_t transitions, std::size_t states) {
        edges_.reserve(edges_.size() + transitions);
        lists_.reserve(lists_.size() + states);
        while (2 * (edges_.size() + transitions) > slots_.size()) grow();
    }

    /// Remove the newest transition.
    void pop_back() {
        set_slot(static_cast<Edge>(edges_.size() - 1), none);
        lists_[static_cast<std::size_t>(edges_.back().from)] = edges_.back().sibling;
        edges_.pop_back();
    }

  private:
    struct Entry {
        State from;
        Token token;
        State to;
        Edge sibling;
    };

    const Entry& at(Edge edge) const { return edges_[static_cast<std::size_t>(edge)]; }
    bool is(Edge edge, State from, Token token) const { return at(edge).from == from && at(edge).token == token; }
    std::size_t place(State from, Token token, std::size_t step) const {
        return (transition_hash(from, token) + step) & (slots_.size() - 1);
    }

    /// Write `value` into the slot that an edge has or may take, unless the search for the slot is too long.
    void set_slot(Edge edge, Edge value) {
        const auto [from, token, to, sibling] = at(edge);
        for (std::size_t step = 0; step < std::min(longest_search, slots_.size()); ++step) {
            Edge& slot = slots_[place(from, token, step)];
            if (slot != none && slot != edge) continue;
            slot = value;
            return;
        }
    }

    /// Double the slots. All transitions are added again in their old order.
    void grow() {
        slots_ = std::vector<Edge>(std::max<std::size_t>(16, 2 * slots_.size()), none);
        for (Edge edge = 0; edge < size(); ++edge) set_slot(edge, edge);
    }

    std::vector<Entry> edges_;
    std::vector<Edge> slots_;
    std::vector<Edge> lists_;  // by state: its newest transition
};

}}}  // namespace specsample::detail
