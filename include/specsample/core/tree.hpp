// A view of a token tree in the caller's memory, which rules walk and a target may score in one pass.
#pragma once

#include <span>
#include <utility>

#include <specsample/core/list_ref.hpp>
#include <specsample/core/types.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

/// The number of the root: the prefix that the draft continues.
inline constexpr Index root_node = -1;
/// No node: returned where there is no such child or sibling.
inline constexpr Index no_node = -1;

/// A token tree: the drafted tokens, and the node that each of them follows.
///
///     parents {-1, 0, 0}    one token after the prefix, two after that token
///
/// Parents come before their children, and siblings are in the order in which they were drawn. Siblings may repeat a
/// token. Both lists are borrowed; temporaries do not compile.
template <class Id, class Parent>
struct Tree {
    ListRef<Id> tokens;       ///< [K] ids, of any integral type
    ListRef<Parent> parents;  ///< [K] each token's parent node, -1 for the prefix
};

template <class Ids, class Parents>
Tree(const Ids&, const Parents&) -> Tree<typename decltype(std::span(std::declval<const Ids&>()))::value_type,
                                         typename decltype(std::span(std::declval<const Parents&>()))::value_type>;

}}  // namespace specsample
