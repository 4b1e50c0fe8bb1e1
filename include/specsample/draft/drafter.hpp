// What drafts: anything that fills a proposal.
#pragma once

#include <concepts>
#include <span>
#include <type_traits>

#include <specsample/concepts.hpp>
#include <specsample/proposal/proposal.hpp>
#include <specsample/random/coins.hpp>

namespace specsample {

/// drafter.propose(prefix, coins, proposal) adds nodes to an open proposal of its `Law`.
///
/// A drafter draws with coins.at(Purpose::draft, node), the node that the token will be, and gives each token the law
/// it was drawn from; rows behind laws stay where they are until its next call. Whether it grows may depend on the
/// tokens above a node, never on the token to be added: dropping a drafted token by its own identity is lossy.
///
/// One that remembers the text offers rollback(length), and is told like a model when its prefix does not extend what
/// it was last shown. One whose `propose` takes a Proposal of any law that its own converts to can be one of several.
///
/// One that only proposes chains says so: static constexpr bool branches = false. A target that scores many positions
/// in one pass is then spared the code for trees, which is half of a round's.
///
/// One whose drafts have a depth of their own says it: `Index depth() const`, the tokens on the longest path. A Sampler
/// whose lookahead would cut them is refused.
///
/// One whose chain under a depth limit is the beginning of its chain under a larger one says so: static constexpr bool
/// cut_is_prefix = true. It is then not asked for tokens that a budget leaves no room for, where the rule allows that.
///
/// One that can also fill a Proposal<Raced> draws with coins.at(Purpose::race, depth) there, depth 0 the first.
template <class D>
concept Drafter =
    requires { typename detail::Unwrapped<D>::Law; } &&
    requires(detail::Unwrapped<D>& drafter, std::span<const Token> prefix, const Coins& coins,
             Proposal<typename detail::Unwrapped<D>::Law>& proposal) { drafter.propose(prefix, coins, proposal); };

namespace detail {

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

/// The law of what a drafter proposes under a rule that shares its noise, or does not.
template <class D, bool shares_noise>
using LawOf = std::conditional_t<shares_noise && RacingDrafter<D>, Raced, typename Unwrapped<D>::Law>;

}  // namespace detail
}  // namespace specsample
