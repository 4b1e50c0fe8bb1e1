// Position ids and attention masks for the target's pass over a tree, from the list of parents alone.
//
//   position_ids(parents, start, positions)   the position of each node in the text
//   ancestor_mask(parents, mask)              the nodes that each node attends to, as a matrix
//   ancestor_bits(parents, words)             that matrix as bits, 64 nodes per word
//   leaf_paths(parents)                       the paths from the prefix to each leaf, as lists of nodes
//   with_root(parents, rooted)                the same tree below the last token of the text as node 0
//
// A parent is -1, the prefix, or an earlier node, as in Tree, DraftTree::view and TreeShape::parents; nodes may be in
// any order in which parents come first. A node attends to the whole prefix, its ancestors and itself:
//
//   parents -1 -1 0 1    mask 1000    positions start
//                             0100              start
//                             1010              start + 1
//                             0101              start + 1
//
// Node i lies in slot start + i of the cache until Round::compact, so the columns of a mask are slots. The last token
// of a text is usually not in the cache yet and belongs to the same pass: with_root puts it first, in slot start - 1.
//
// All functions throw std::invalid_argument for an output of the wrong size, and for a parent that is neither -1 nor an
// earlier node (every cycle has such a parent), naming the first. What was written before stays in the output.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <specsample/core/contract.hpp>
#include <specsample/core/row.hpp>
#include <specsample/rows/rows.hpp>
#include <specsample/tree/links.hpp>
#include <specsample/tree/tree_shape.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {
namespace detail {

template <class Numbers>
using Number = typename decltype(std::span(std::declval<Numbers&>()))::value_type;

/// Return the parents of a tree as a span.
template <class Parents>
auto parents_in(std::string_view where, const Parents& parents) {
    const std::span<const Number<const Parents>> list(parents);
    require_memory(where, "parents", list);
    return list;
}
/// Check the size of an output.
inline void require_size(std::string_view where, std::string_view what, std::size_t size, std::size_t needed) {
    if (size != needed) invalid(where, what, size, to_text(needed));
}
/// Write a number, and check that the type of the output can hold it.
template <Integer To>
void store(std::string_view where, To& place, Index number) {
    require(std::in_range<To>(number), where, "a number", number, "inside the range of the type it is written as");
    place = static_cast<To>(number);
}

}  // namespace detail

namespace attention {

/// Contiguous numbers of an integral type.
template <class Numbers>
concept IntegerList = requires(Numbers& numbers) { std::span(numbers); } && detail::Integer<detail::Number<Numbers>>;

/// Write the position of each node in the text: `start` for children of the prefix, the parent's position plus 1 for
/// others.
///
/// With start 0 this is the number of a node's ancestors, with start 1 its depth.
///
/// @param start      the length of the text, or any other position
/// @param positions  [K] numbers of any integral type
/// @throws           also std::invalid_argument for a position that their type cannot hold
/// @cost             O(K), no allocation
template <IntegerList Parents, IntegerList Positions>
void position_ids(const Parents& parents, Index start, Positions&& positions) {
    constexpr auto where = "position_ids";
    const auto list = detail::parents_in(where, parents);
    const std::span out(positions);
    detail::require_size(where, "the number of positions", out.size(), list.size());
    detail::require_memory(where, "positions", out);
    for (Index node = 0; node < std::ssize(list); ++node) {
        const Index parent = detail::parent_of(where, list, node);
        const Index above = parent == root_node ? start - 1 : static_cast<Index>(out[static_cast<std::size_t>(parent)]);
        detail::store(where, out[static_cast<std::size_t>(node)], above + 1);
    }
}

/// Write the attention mask of a tree: 1 for a node's ancestors and itself, 0 for all others.
///
///     ancestor_mask(parents, mask.rightCols(nodes))    behind the columns of the prefix, which are all ones
///
/// @param mask  [K x K] entries of any scalar type, bool and 8 bits among them: an Eigen matrix or array, a Map, a
///              block; row-major is fastest
/// @cost        O(K^2), no allocation
template <IntegerList Parents, class Mask>
    requires detail::EigenMatrix<std::remove_cvref_t<Mask>>
void ancestor_mask(const Parents& parents, Mask&& mask) {
    constexpr auto where = "ancestor_mask";
    const auto list = detail::parents_in(where, parents);
    detail::require_size(where, "the number of rows", static_cast<std::size_t>(mask.rows()), list.size());
    detail::require_size(where, "the number of columns", static_cast<std::size_t>(mask.cols()), list.size());
    using Scalar = typename std::remove_cvref_t<Mask>::Scalar;
    for (Index node = 0; node < std::ssize(list); ++node) {
        if (const Index parent = detail::parent_of(where, list, node); parent == root_node) {
            mask.row(node).setZero();
        } else {
            mask.row(node) = mask.row(parent);
        }
        mask(node, node) = Scalar(1);
    }
}

/// Return the number of 64-bit words in a row of ancestor_bits.
constexpr std::size_t mask_words(std::size_t nodes) { return (nodes + 63) / 64; }

/// Write the attention mask of a tree as bits: node j is bit j % 64 of word j / 64 of a row.
///
/// @param words  [K * mask_words(K)] row by row; the bits past K are 0
/// @cost         O(K^2 / 64), no allocation
template <IntegerList Parents>
void ancestor_bits(const Parents& parents, std::span<std::uint64_t> words) {
    constexpr auto where = "ancestor_bits";
    const auto list = detail::parents_in(where, parents);
    const std::size_t width = mask_words(list.size());
    detail::require_size(where, "the number of words", words.size(), list.size() * width);
    detail::require_memory(where, "words", words);
    for (Index node = 0; node < std::ssize(list); ++node) {
        const Index parent = detail::parent_of(where, list, node);
        const auto row = words.subspan(static_cast<std::size_t>(node) * width, width);
        if (parent == root_node) {
            std::ranges::fill(row, 0u);
        } else {
            std::ranges::copy(words.subspan(static_cast<std::size_t>(parent) * width, width), row.begin());
        }
        row[static_cast<std::size_t>(node) / 64] |= std::uint64_t{1} << (node % 64);
    }
}

/// List the nodes on the path from the prefix to each leaf, in the order of the leaves' numbers.
/// @cost O(sum of the paths' lengths), allocates
template <IntegerList Parents>
[[nodiscard]] std::vector<std::vector<Index>> leaf_paths(const Parents& parents) {
    const auto list = detail::parents_in("leaf_paths", parents);
    std::vector<bool> is_leaf(list.size(), true);
    for (Index node = 0; node < std::ssize(list); ++node)
        if (const Index parent = detail::parent_of("leaf_paths", list, node); parent != root_node)
            is_leaf[static_cast<std::size_t>(parent)] = false;
    std::vector<std::vector<Index>> paths;
    for (Index leaf = 0; leaf < std::ssize(list); ++leaf) {
        if (!is_leaf[static_cast<std::size_t>(leaf)]) continue;
        auto& path = paths.emplace_back();
        for (Index node = leaf; node != root_node; node = static_cast<Index>(list[static_cast<std::size_t>(node)]))
            path.push_back(node);
        std::ranges::reverse(path);
    }
    return paths;
}

/// Write the parents of a tree with the last token of the text added above it.
///
/// That token is node 0, and node i of the tree becomes node i + 1.
///
///     parents -1 -1 0    rooted -1 0 0 1
///
/// @param rooted  [K + 1] numbers of any integral type with a sign; not the memory of `parents`
/// @throws        also std::invalid_argument for a node that their type cannot hold
/// @cost          O(K), no allocation
template <IntegerList Parents, IntegerList Rooted>
void with_root(const Parents& parents, Rooted&& rooted) {
    constexpr auto where = "with_root";
    const auto list = detail::parents_in(where, parents);
    const std::span out(rooted);
    detail::require_size(where, "the number of rooted parents", out.size(), list.size() + 1);
    detail::require_memory(where, "rooted", out);
    detail::store(where, out.front(), root_node);
    for (Index node = 0; node < std::ssize(list); ++node)
        detail::store(where, out[static_cast<std::size_t>(node + 1)], detail::parent_of(where, list, node) + 1);
}

}  // namespace attention

}}  // namespace specsample
