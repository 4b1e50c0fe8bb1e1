// A target that scores a whole token tree in one pass.
#pragma once

#include <span>
#include <type_traits>
#include <vector>

#include <specsample/concepts.hpp>
#include <specsample/proposal/tree.hpp>

namespace specsample {

/// A model that can be asked about a prefix and a tree after it.
template <class M>
concept TreeCallable = detail::takes_span<M, Tree<Token, Index>> || detail::takes_vector<M, Tree<Token, Index>>;

/// model(prefix, tree) returns a row-major matrix of tree.tokens.size() + 1 rows, or anything indexed [i] that gives a
/// row. Row 0 is the law of the token that follows the prefix, row i + 1 of that which follows node i: given the prefix
/// and the tokens on the node's path, and no other node. attention.hpp has masks and positions for that.
///
/// The row after a drafted stop token is asked for with the others, and no walk reads it.
///
/// What it computes for nodes is its own affair: the next prefix says which of them were kept. rollback(length), if the
/// model has it, is told of prefixes alone.
template <class M>
concept TreeModel =
    TreeCallable<M> && (detail::RowMajorRows<std::remove_cvref_t<detail::Answer<M, Tree<Token, Index>>>> ||
                        detail::IndexedRows<std::remove_cvref_t<detail::Answer<M, Tree<Token, Index>>>>);

}  // namespace specsample
