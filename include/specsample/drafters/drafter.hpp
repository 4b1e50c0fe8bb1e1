// Properties of a drafter that follow from its type. The concept Drafter itself is in concepts.hpp.
#pragma once

#include <algorithm>
#include <concepts>
#include <span>
#include <string_view>
#include <type_traits>

#include <specsample/concepts.hpp>
#include <specsample/random/rng.hpp>
#include <specsample/tree/draft_tree.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

/// A drafter that can also draw with the target's noise.
template <class D>
concept SharedNoiseDrafter =
    Drafter<D> && requires(Unwrapped<D>& drafter, std::span<const Token> prefix, const RoundRng& rng,
                           DraftTree<SharedNoise>& draft_tree) { drafter.propose(prefix, rng, draft_tree); };

/// Append the tokens of a text that an index does not have yet. After a prompt the index gets room for the reply, so
/// that none of its tables is built anew in a later round.
template <class Index_>
void read_into(Index_& index, std::span<const Token> text) {
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

/// Check the number of rows that a model returned for a tree.
/// @throws   std::invalid_argument unless there are `expected` rows, where their number is known
template <class Rows>
void require_rows(std::string_view where, const Rows& rows, Index expected) {
    const auto found = element_count(rows);
    if (found && *found != expected)
        invalid(where, "the number of rows that draft(prefix, tree) returns", *found, to_text(expected));
}

/// False if the drafter's type says that its draft trees never branch.
template <class D>
inline constexpr bool may_branch = true;
template <class D>
    requires requires { Unwrapped<D>::branches; }
inline constexpr bool may_branch<D> = Unwrapped<D>::branches;

/// True if the drafter's type says that a smaller depth limit only cuts its chains.
template <class D>
inline constexpr bool cut_is_prefix = [] {
    if constexpr (requires { Unwrapped<D>::cut_is_prefix; }) return bool(Unwrapped<D>::cut_is_prefix);
    return false;
}();

/// Return the depth of a drafter's own drafts; 0 if the depth limit alone bounds them.
template <class D>
Index depth_of(const D& given) {
    const Unwrapped<D>& drafter = given;
    if constexpr (requires { drafter.depth(); }) return drafter.depth();
    return 0;
}

/// The distribution of a drafter's tokens, under a rule that shares the target's noise or one that does not.
template <class D, bool shares_noise>
using DistributionOf =
    std::conditional_t<shares_noise && SharedNoiseDrafter<D>, SharedNoise, typename Unwrapped<D>::Distribution>;

}}}  // namespace specsample::detail
