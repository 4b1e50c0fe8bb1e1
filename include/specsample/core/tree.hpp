// A token tree on the caller's memory: what verification walks, and what a target may be asked about in one pass.
#pragma once

#include <span>
#include <utility>

#include <specsample/core/list_ref.hpp>
#include <specsample/core/types.hpp>

namespace specsample {

/// The prefix that a draft grows from.
inline constexpr Index root_node = -1;
/// The answer where a node has no such child or sibling.
inline constexpr Index no_node = -1;

/// Drafted tokens in any order in which parents come before their children; siblings in the order of their drawing.
///
///     parents {-1, 0, 0}    one token after the prefix, two after that one
///
/// Siblings may repeat a token. Both lists are borrowed; temporaries do not compile.
template <class Id, class Parent>
struct Tree {
    ListRef<Id> tokens;       ///< [K] ids, of any integral type
    ListRef<Parent> parents;  ///< [K] the node before each, -1 for the prefix
};

template <class Ids, class Parents>
Tree(const Ids&, const Parents&) -> Tree<typename decltype(std::span(std::declval<const Ids&>()))::value_type,
                                         typename decltype(std::span(std::declval<const Parents&>()))::value_type>;

}  // namespace specsample
