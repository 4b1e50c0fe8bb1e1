// Properties of a drafter that follow from its type. The concept Drafter itself is in concepts.hpp.
#pragma once

#include <concepts>
#include <span>
#include <string_view>
#include <type_traits>

#include <specsample/concepts.hpp>
#include <specsample/random/rng.hpp>
#include <specsample/tree/draft_tree.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

template <class View>
class Sampled;  // tree/distribution.hpp
template <class View>
class Mixed;  // tree/distribution.hpp

namespace detail {

/// The distribution of tokens that are drawn from rows with this view, and of tokens that are drawn or named.
template <class View>
struct Over {
    using Distribution = Sampled<View>;
    using Mixture = Mixed<View>;
};
template <RowValue View>
struct Over<View> {
    using Distribution = Origin;
    using Mixture = Origin;
};

/// A drafter that can also draw with the target's noise.
template <class D>
concept SharedNoiseDrafter =
    Drafter<D> && requires(Unwrapped<D>& drafter, std::span<const Token> prefix, const RoundRng& rng,
                           DraftTree<SharedNoise>& draft_tree) { drafter.propose(prefix, rng, draft_tree); };

/// A drafter that can fill a draft tree of this distribution.
template <class D, class L>
concept Fills = requires(Unwrapped<D>& drafter, std::span<const Token> prefix, const RoundRng& rng,
                         DraftTree<L>& draft_tree) { drafter.propose(prefix, rng, draft_tree); };

/// Check the number of rows that a model returned for a tree.
/// @throws   std::invalid_argument unless there are `expected` rows, where their number is known
template <class Rows>
void require_rows(std::string_view where, const Rows& rows, Index expected) {
    const Index found = element_count(rows, expected);
    if (found != expected)
        invalid(where, "the number of rows that draft(prefix, tree) returns", found, to_text(expected));
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

}  // namespace detail

}}  // namespace specsample
