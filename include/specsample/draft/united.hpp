// Several drafters as one.
//
//   United(a, b, ...)    all of them in one tree
//   FirstOf(a, b, ...)   the first that has anything to propose
#pragma once

#include <concepts>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include <specsample/draft/drafter.hpp>
#include <specsample/draft/proposer.hpp>

namespace specsample {
namespace detail {

/// A law that can say what each of several says; void where none can.
template <class First, class... Rest>
struct CommonLaw {
    using type = First;
};
template <class First, class Second, class... Rest>
struct CommonLaw<First, Second, Rest...> : CommonLaw<typename EitherLaw<First, Second>::type, Rest...> {};
template <class... Rest>
struct CommonLaw<void, Rest...> {
    using type = void;
};

/// Drafters, or models that become some, and what all of them have in common.
template <class... D>
class Drafters {
  public:
    using Law = typename CommonLaw<typename Unwrapped<typename DrafterOf<D>::type>::Law...>::type;
    static_assert(
        !std::is_void_v<Law>,
        "specsample: drafters that propose together must return rows of one type, or be sure of their tokens; "
        "let all of them return the same, as std::vector<float>");

    explicit Drafters(D... drafters) : drafters_(std::move(drafters)...) {}

    /// Call f(drafter) for each, in order, for as long as it returns true.
    template <class F>
    void each(F&& f) {
        std::apply([&](auto&... drafter) { (f(unwrapped(drafter)) && ...); }, drafters_);
    }

    void rollback(Index length) {
        each([&](auto& drafter) {
            if constexpr (Rewindable<decltype(drafter)>) drafter.rollback(length);
            return true;
        });
    }

  private:
    template <class Drafter>
    static Unwrapped<Drafter>& unwrapped(Drafter& drafter) {
        return drafter;
    }

    std::tuple<typename DrafterOf<D>::type...> drafters_;
};

template <class... D>
inline constexpr bool any_remembers = (Rewindable<typename DrafterOf<D>::type> || ...);

/// Can all of them fill this proposal?
template <class L, class... D>
concept FilledBy = (Fills<typename DrafterOf<D>::type, L> && ...);

}  // namespace detail

/// All drafters in one tree: each adds its branches behind those of the drafters before it, every child with the law
/// that it was drawn from. Children may repeat a token; what was rejected once is judged again, by its own law.
///
///     Sampler sampler(United(LookupDraft(), draft), target);
///
/// @tparam D   drafters, models, or std::refs of either; models are drafted from as chains
/// @law        that of each drafter; one common law type: rows of one type, and point masses
/// @cost       that of all of them. Coins: theirs, at nodes of their own
template <class... D>
class United {
  public:
    using Law = typename detail::Drafters<D...>::Law;

    explicit United(D... drafters) : drafters_(std::move(drafters)...) {}

    template <class Source, class L>
        requires detail::FilledBy<L, D...>
    void propose(std::span<const Token> prefix, const Source& coins, Proposal<L>& proposal) {
        drafters_.each([&](auto& drafter) {
            drafter.propose(prefix, coins, proposal);
            return !proposal.fault();
        });
    }

    void rollback(Index length)
        requires detail::any_remembers<D...>
    {
        drafters_.rollback(length);
    }

  private:
    detail::Drafters<D...> drafters_;
};

/// The first drafter that proposes anything, tried in order. Which one that is depends on the prefix alone where the
/// drafters before it name their tokens (lookup): nothing that was drawn is ever dropped.
///
///     Sampler sampler(FirstOf(LookupDraft(), draft), target);
///
/// @law, @cost   as United; drafters behind the first that proposes are not asked
template <class... D>
class FirstOf {
  public:
    using Law = typename detail::Drafters<D...>::Law;
    static constexpr bool branches = (detail::may_branch<typename detail::DrafterOf<D>::type> || ...);

    explicit FirstOf(D... drafters) : drafters_(std::move(drafters)...) {}

    template <class Source, class L>
        requires detail::FilledBy<L, D...>
    void propose(std::span<const Token> prefix, const Source& coins, Proposal<L>& proposal) {
        const Index before = proposal.size();
        drafters_.each([&](auto& drafter) {
            drafter.propose(prefix, coins, proposal);
            return proposal.size() == before && !proposal.fault();
        });
    }

    void rollback(Index length)
        requires detail::any_remembers<D...>
    {
        drafters_.rollback(length);
    }

  private:
    detail::Drafters<D...> drafters_;
};

}  // namespace specsample
