// What can be told of a drafter by its type. The concept itself, Drafter, is in concepts.hpp.
#pragma once

#include <concepts>
#include <span>
#include <type_traits>

#include <specsample/concepts.hpp>
#include <specsample/proposal/proposal.hpp>
#include <specsample/random/coins.hpp>

namespace specsample::detail {

/// Can it draw with the target's noise?
template <class D>
concept RacingDrafter = Drafter<D> && requires(Unwrapped<D>& drafter, std::span<const Token> prefix, const Coins& coins,
                                               Proposal<Raced>& proposal) { drafter.propose(prefix, coins, proposal); };

/// May its proposals branch, as far as its type tells?
template <class D>
inline constexpr bool may_branch = true;
template <class D>
    requires requires { Unwrapped<D>::branches; }
inline constexpr bool may_branch<D> = Unwrapped<D>::branches;

/// The law of what a drafter proposes under a rule that shares its noise, or does not.
template <class D, bool shares_noise>
using LawOf = std::conditional_t<shares_noise && RacingDrafter<D>, Raced, typename Unwrapped<D>::Law>;

}  // namespace specsample::detail
