#include "engine/history.hpp"

#include <algorithm>

namespace engine {

void History::push(Token token, Index parent, Index layers) {
    entries_.push_back({token, parent, parent == no_slot ? 0 : position(parent) + 1, layers});
}

std::vector<Index> History::find(std::span<const Token> text, Index layers) const {
    std::vector<Index> path;
    Index parent = no_slot;
    for (const Token token : text) {
        Index slot = parent + 1;  // children come after their parent; without branches, right after it
        while (slot < size() && (entry(slot).parent != parent || entry(slot).token != token)) ++slot;
        if (slot >= size() || entry(slot).layers < layers) break;
        path.push_back(parent = slot);
    }
    return path;
}

void History::see(Index slot, Visible& visible) const {
    visible.others.clear();
    // Where a slot's number equals its position, every slot before it is an ancestor.
    for (; slot != no_slot && position(slot) != slot; slot = entry(slot).parent) visible.others.push_back(slot);
    std::ranges::reverse(visible.others);
    visible.all_before = slot + 1;
}

void History::keep(std::span<const Index> path) {
    for (Index i = 0; i < std::ssize(path); ++i) {
        const Entry& kept = entry(path[static_cast<std::size_t>(i)]);
        entries_[static_cast<std::size_t>(i)] = {kept.token, i - 1, i, kept.layers};
    }
    entries_.resize(path.size());
}

}  // namespace engine
