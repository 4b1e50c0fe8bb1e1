// What drafters share that name their tokens: reading a text into an index, and adding paths to a draft tree.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include <specsample/tree/draft_tree.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

/// Append the tokens of a text that an index does not have yet. After a prompt the index gets room for the reply, so
/// that none of its tables is built anew in a later round.
template <class TextIndex>
void read_into(TextIndex& index, std::span<const Token> text) {
    constexpr std::size_t prompt = 64, reply = 8192;  // in tokens
    const auto more = text.subspan(static_cast<std::size_t>(index.size()));
    for (const Token token : more) index.push_back(token);
    if (more.size() >= prompt) index.make_room(reply);
}

/// Add a path below the root whose tokens are named. Nodes from `first` on that have the path's first tokens are
/// shared; earlier nodes belong to other drafters and have other distributions.
template <class L>
void add_named_path(DraftTree<L>& draft_tree, Index first, std::span<const Token> path) {
    const auto find = [&](Index parent, Token token) {
        for (Index node = std::max(first, parent + 1); node < draft_tree.size(); ++node)
            if (draft_tree.parent(node) == parent && draft_tree.token(node) == token) return node;
        return no_node;
    };
    Index node = root_node;
    for (const Token token : path) {
        if (!draft_tree.grows(node)) return;
        const Index known = find(node, token);
        node = known != no_node ? known : draft_tree.add(node, token, PointMass{});
    }
}

}}}  // namespace specsample::detail
