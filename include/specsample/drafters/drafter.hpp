// What can be told of a drafter by its type. The concept itself, Drafter, is in concepts.hpp.
#pragma once

#include <concepts>
#include <span>
#include <type_traits>

#include <specsample/concepts.hpp>
#include <specsample/random/rng.hpp>
#include <specsample/tree/draft_tree.hpp>

namespace specsample::detail {

/// Can it draw with the target's noise?
template <class D>
concept SharedNoiseDrafter =
    Drafter<D> && requires(Unwrapped<D>& drafter, std::span<const Token> prefix, const RoundRng& rng,
                           DraftTree<SharedNoise>& draft_tree) { drafter.propose(prefix, rng, draft_tree); };

/// May its draft trees branch, as far as its type tells?
template <class D>
inline constexpr bool may_branch = true;
template <class D>
    requires requires { Unwrapped<D>::branches; }
inline constexpr bool may_branch<D> = Unwrapped<D>::branches;

/// Does a depth limit do no more to its chains than to cut them, as far as its type tells?
template <class D>
inline constexpr bool cut_is_prefix = [] {
    if constexpr (requires { Unwrapped<D>::cut_is_prefix; }) return bool(Unwrapped<D>::cut_is_prefix);
    return false;
}();

/// How deep its drafts are by themselves; 0 where they are as deep as they may.
template <class D>
Index depth_of(const D& given) {
    const Unwrapped<D>& drafter = given;
    if constexpr (requires { drafter.depth(); }) return drafter.depth();
    return 0;
}

/// The distribution of what a drafter proposes under a rule that shares its noise, or does not.
template <class D, bool shares_noise>
using DistributionOf =
    std::conditional_t<shares_noise && SharedNoiseDrafter<D>, SharedNoise, typename Unwrapped<D>::Distribution>;

}  // namespace specsample::detail
