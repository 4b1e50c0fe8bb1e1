// Several drafters as one.
//
//   United(a, b, ...)    all of them in one tree
//   FirstOf(a, b, ...)   the first that proposes anything
#pragma once

#include <algorithm>
#include <concepts>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include <specsample/drafters/drafter.hpp>
#include <specsample/drafters/chain.hpp>
#include <specsample/drafters/proposer.hpp>
#include <specsample/random/draw.hpp>
#include <specsample/tree/distribution.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {
namespace detail {

/// The type of distribution that two types convert to; void where there is none.
template <class A, class B>
struct EitherDistribution {
    using type =
        std::conditional_t<std::convertible_to<A, B>, B, std::conditional_t<std::convertible_to<B, A>, A, void>>;
};
template <class View>
struct EitherDistribution<PointMass, Sampled<View>> {
    using type = Mixed<View>;
};
template <class View>
struct EitherDistribution<Sampled<View>, PointMass> {
    using type = Mixed<View>;
};

/// The distribution type that can hold each of several distributions; void if there is none.
template <class First, class... Rest>
struct CommonDistribution {
    using type = First;
};
template <class First, class Second, class... Rest>
struct CommonDistribution<First, Second, Rest...>
    : CommonDistribution<typename EitherDistribution<First, Second>::type, Rest...> {};
template <class... Rest>
struct CommonDistribution<void, Rest...> {
    using type = void;
};

/// Several drafters, or models that become drafters of chains: the common base of United, FirstOf and choosing::BestOf.
template <class... D>
class Drafters {
  public:
    using Distribution =
        typename CommonDistribution<typename Unwrapped<typename DrafterOf<D>::type>::Distribution...>::type;
    static_assert(
        !std::is_void_v<Distribution>,
        "specsample: drafters that propose together must return rows of one type, or be sure of their tokens; "
        "let all of them return the same, as std::vector<float>");

    /// Return the depth of the deepest drafter; 0 if none has a depth of its own.
    Index depth() const {
        return std::apply([](const auto&... drafter) { return std::max({Index{0}, depth_of(drafter)...}); }, drafters_);
    }

    void rollback(Index length)
        requires(Rewindable<typename DrafterOf<D>::type> || ...)
    {
        each([&](auto& drafter) {
            if constexpr (Rewindable<decltype(drafter)>) drafter.rollback(length);
            return true;
        });
    }

    /// Call visit on each model that is held here, for SharedModels.
    [[gnu::always_inline]] void each_model(const auto& visit) {
        std::apply([&](auto&... drafter) { (visit(drafter), ...); }, drafters_);
    }

  protected:
    explicit Drafters(D... drafters) : drafters_(std::move(drafters)...) {}

    /// Let each drafter add its nodes, in order, until go_on() is false or there is a fault. Each drafter draws from a
    /// random source of its own, but drafters that draw with the target's noise share one source.
    template <class Source, class L, class GoOn>
    void propose_while(std::span<const Token> prefix, const Source& rng, DraftTree<L>& draft_tree, const GoOn& go_on) {
        Index part = 0;
        each([&](auto& drafter) {
            propose_part(drafter, part++, prefix, rng, draft_tree);
            return go_on() && !draft_tree.fault();
        });
    }

    /// Let one of the drafters add its nodes.
    template <class Source, class L>
    void propose_with(std::size_t drafter, std::span<const Token> prefix, const Source& rng, DraftTree<L>& draft_tree) {
        Index part = 0;
        each([&](auto& each) {
            if (std::cmp_equal(part, drafter)) propose_part(each, part, prefix, rng, draft_tree);
            return std::cmp_less(part++, drafter);
        });
    }

  private:
    template <class Source, class L>
    static void propose_part(auto& drafter, Index part, std::span<const Token> prefix, const Source& rng,
                             DraftTree<L>& draft_tree) {
        if constexpr (std::same_as<L, SharedNoise>) {
            drafter.propose(prefix, rng, draft_tree);
        } else {
            drafter.propose(prefix, split(rng, part), draft_tree);
        }
    }

    /// Call f(drafter) for each drafter, in order, until it returns false.
    template <class F>
    void each(F&& f) {
        std::apply([&](auto&... drafter) { (f(unwrapped(drafter)) && ...); }, drafters_);
    }

    template <class Drafter>
    static Unwrapped<Drafter>& unwrapped(Drafter& drafter) {
        return drafter;
    }

    std::tuple<typename DrafterOf<D>::type...> drafters_;
};

/// All of the drafters can fill this draft tree.
template <class L, class... D>
concept FilledBy = (Fills<typename DrafterOf<D>::type, L> && ...);

}  // namespace detail

/// Drafts one tree with several drafters: each adds its branches after the branches of earlier drafters, with its own
/// draft distributions. Children of a node may repeat a token; each repetition is judged by its own distribution.
///
///     Sampler sampler(United(LookupDrafter(), draft), target);
///
/// The drafters need one common distribution type: rows of one type, and point masses.
///
/// @tparam D   drafters, models, or std::refs of either; models are drafted from as chains
/// @draws      the draws of each drafter, from a random source of its own
/// @cost       the cost of all drafters
template <class... D>
class United : public detail::Drafters<D...> {
  public:
    explicit United(D... drafters) : detail::Drafters<D...>(std::move(drafters)...) {}

    template <class Source, class L>
        requires detail::FilledBy<L, D...>
    void propose(std::span<const Token> prefix, const Source& rng, DraftTree<L>& draft_tree) {
        this->propose_while(prefix, rng, draft_tree, [] { return true; });
    }
};

/// Drafts with the first of several drafters that proposes anything, tried in order. The choice depends on the prefix
/// alone if the drafters before the chosen one name their tokens (lookup); nothing that was drawn is ever dropped.
///
///     Sampler sampler(FirstOf(LookupDrafter(), draft), target);
///
/// The distribution type is the same as for United.
///
/// @draws   as United
/// @cost    as United; drafters after the first that proposes are not called
template <class... D>
class FirstOf : public detail::Drafters<D...> {
  public:
    static constexpr bool branches = (detail::may_branch<typename detail::DrafterOf<D>::type> || ...);
    static constexpr bool cut_is_prefix = (detail::cut_is_prefix<typename detail::DrafterOf<D>::type> && ...);

    explicit FirstOf(D... drafters) : detail::Drafters<D...>(std::move(drafters)...) {}

    template <class Source, class L>
        requires detail::FilledBy<L, D...>
    void propose(std::span<const Token> prefix, const Source& rng, DraftTree<L>& draft_tree) {
        const Index before = draft_tree.size();
        this->propose_while(prefix, rng, draft_tree, [&] { return draft_tree.size() == before; });
    }
};

}}  // namespace specsample
