// Choosing among drafters: every round scores all of them, also those that did not draft.
//
//   choosing::BestOf    drafts with the drafter that has scored best (drafters/overlaps.hpp)
//   choosing::Watched   the target, whose rows score the drafters
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <numeric>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include <specsample/drafters/overlaps.hpp>  // IWYU pragma: export
#include <specsample/drafters/united.hpp>
#include <specsample/models/adaptor.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {
namespace detail {

/// Return the address of the overlaps that BestOf and Watched borrow.
template <class Given>
choosing::Overlaps* borrowed_overlaps(Given&& given) {
    if constexpr (std::is_same_v<Given, choosing::Overlaps&>) {
        return &given;
    } else {
        static_assert(
            sizeof(Given) == 0,
            "specsample::choosing: BestOf(overlaps, drafters..) and Watched(target, overlaps) borrow the same "
            "choosing::Overlaps, which must be a variable; write choosing::Overlaps overlaps;");
        return nullptr;
    }
}

}  // namespace detail

namespace choosing {

/// Drafts every round with the drafter that has scored best, or where it proposes nothing, with the next best.
///
///     choosing::Overlaps overlaps({.costs = {0, .15}});
///     Sampler sampler(choosing::BestOf(overlaps, LookupDrafter(), draft), choosing::Watched(target, overlaps));
///
/// The drafters that do not draft are asked for their first token, which is dropped: they are scored by the same row of
/// the target as the drafter that does. What was drawn is dropped because another drafter had scored better before, so
/// the output distribution does not change. Where a drafter proposes nothing, FirstOf says when the next may draft.
/// A token that is drawn with the target's noise has no row, and is scored as a named one: by its probability.
///
/// A repeated round may draft with another drafter, because the overlaps have changed. Rows that are split over ranks
/// cannot be scored.
///
/// @tparam D   as for FirstOf, and the distribution type is the same
/// @draws      as United
/// @cost       the drafter that drafts, one token of every other drafter, and a pass over every row that a first token
///             is drawn from
template <class... D>
class BestOf : public detail::Drafters<D...> {
    static constexpr std::size_t count = sizeof...(D);

  public:
    using Distribution = typename detail::Drafters<D...>::Distribution;
    static constexpr bool branches = (detail::may_branch<typename detail::DrafterOf<D>::type> || ...);
    static constexpr bool cut_is_prefix = (detail::cut_is_prefix<typename detail::DrafterOf<D>::type> && ...);

    /// @param overlaps   borrowed, and given to Watched as well
    template <class Given>
        requires(sizeof...(D) > 0)
    explicit BestOf(Given&& overlaps, D... drafters)
        : detail::Drafters<D...>(std::move(drafters)...),
          overlaps_(detail::borrowed_overlaps(std::forward<Given>(overlaps))) {}

    template <class Source, class L>
        requires detail::FilledBy<L, D...>
    void propose(std::span<const Token> prefix, const Source& rng, DraftTree<L>& draft_tree) {
        overlaps_->open(std::ssize(prefix), count);
        const Index before = draft_tree.size();
        for (const std::size_t drafter : order()) {
            const bool drafts = draft_tree.size() == before && !draft_tree.fault();
            DraftTree<L>& other = std::get<DraftTree<L>>(others_);
            if (!drafts) other.open(1, {}, draft_tree.vocab());
            DraftTree<L>& draft = drafts ? draft_tree : other;
            const Index first = draft.size();
            this->propose_with(drafter, prefix, rng, draft);
            if (draft.size() > first) overlaps_->take(drafter, draft, first);
        }
    }

  private:
    /// Return the drafters, the one of the largest gain first, and of equal ones the earlier.
    std::array<std::size_t, count> order() const {
        std::array<std::size_t, count> result;
        std::iota(result.begin(), result.end(), std::size_t{0});
        std::ranges::sort(result, [&](std::size_t a, std::size_t b) {
            const double gain = gain_of(a), other = gain_of(b);
            return gain > other || (gain == other && a < b);
        });
        return result;
    }

    double gain_of(std::size_t drafter) const { return overlaps_->gain(static_cast<Index>(drafter)); }

    Overlaps* overlaps_;
    std::conditional_t<std::is_same_v<Distribution, SharedNoise>, std::tuple<DraftTree<SharedNoise>>,
                       std::tuple<DraftTree<Distribution>, DraftTree<SharedNoise>>>
        others_{};  ///< for the first tokens of the drafters that do not draft
};

/// A target whose rows score the drafters: the first row of a round, after the text. Its rows are the target's,
/// unchanged.
///
/// Rows should be scored as they are judged: `Watched(shaped(target, pipeline), overlaps)`.
///
/// @tparam Target   a model of rows, by any of the three calls, or a std::ref of one
template <class Target>
class Watched : public detail::Adaptor<Watched<Target>, Target> {
    static_assert(detail::RowsModel<Target>,
                  "specsample::choosing::Watched: the first argument must be a model that returns rows");
    friend class detail::Adaptor<Watched, Target>;

  public:
    static constexpr bool stable_rows = detail::StableRows<Target>;

    /// @param overlaps   borrowed; they must outlive this
    template <class Given>
    Watched(Target target, Given&& overlaps)
        : detail::Adaptor<Watched<Target>, Target>(std::move(target)),
          overlaps_(detail::borrowed_overlaps(std::forward<Given>(overlaps))) {}

  private:
    template <class Prefix>
    decltype(auto) ask(const Prefix& prefix) {
        decltype(auto) row = std::invoke(this->model(), prefix);
        overlaps_->judge(std::ssize(prefix), row);
        return row;
    }
    template <class Prefix>
    decltype(auto) ask(const Prefix& prefix, Index count) {
        return first_judged(std::ssize(prefix) - count + 1, std::invoke(this->model(), prefix, count));
    }
    template <class Prefix>
    decltype(auto) ask(const Prefix& prefix, Tree<Token, Index> tree) {
        return first_judged(std::ssize(prefix), std::invoke(this->model(), prefix, tree));
    }

    template <class Rows>
    Rows first_judged(Index place, Rows&& rows) {
        if (detail::element_count(rows, 1) > 0) overlaps_->judge(place, detail::element(rows, 0));
        return std::forward<Rows>(rows);
    }

    Overlaps* overlaps_;
};

}
}}  // namespace specsample::choosing
