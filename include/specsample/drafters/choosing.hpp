// Choosing among drafters: every round scores all of them, also those that did not draft.
//
//   choosing::Overlaps   how well each of several drafters would have drafted so far
//   choosing::BestOf     drafts with the drafter that has scored best
//   choosing::Watched    the target, whose rows score the drafters
//
// The probability that a token drawn from q is accepted is sum_x min(p(x), q(x)): Leviathan et al. (arXiv:2211.17192),
// corollary 3.6. It takes the two rows, and no draft that was judged. So the row that the target computes for a round
// anyway scores every drafter at the same place of the text, not only the one that drafted there.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <specsample/core/contract.hpp>
#include <specsample/drafters/united.hpp>
#include <specsample/kernels/overlap.hpp>
#include <specsample/models/adaptor.hpp>
#include <specsample/theory/expected_tokens.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace choosing {

/// What drafters are compared by.
struct OverlapOptions {
    double half_life = 16;        ///< recorded overlaps after which one counts half, above 0
    Index lookahead = 4;          ///< tokens that a round drafts, at least 1
    std::vector<double> costs{};  ///< [drafters] of a drafted token, in passes of the target; 0 for drafters not named
};

/// How well each of several drafters would have drafted so far: the mean of its overlaps with the target, recent ones
/// first.
///
/// An engine with a loop of its own records kernels::overlap(q, p) of one row per round and drafter, or p(x) where a
/// drafter names its token, and drafts with the drafter of the largest gain. Any choice that follows from the text and
/// from earlier rounds keeps the output distribution; the choice must not look at the tokens that are drawn for it.
class Overlaps {
  public:
    /// @throws   std::invalid_argument for a half-life that is not positive and finite, a lookahead below 1 or above
    ///           most_drafted, or a negative or non-finite cost
    explicit Overlaps(OverlapOptions options = {}) : options_(std::move(options)) {
        constexpr auto where = "choosing::Overlaps";
        detail::require(detail::is_finite(options_.half_life) && options_.half_life > 0, where, "half_life",
                        options_.half_life, "a finite number above 0");
        detail::require_length(where, "lookahead", options_.lookahead, 1);
        for (const double cost : options_.costs)
            detail::require(detail::is_finite(cost) && cost >= 0, where, "a cost", cost, "a finite number >= 0");
        decay_ = std::exp2(-1 / options_.half_life);
    }

    /// Record how well a drafter would have drafted at a place of the text.
    /// @param drafter   its number, at least 0
    /// @param overlap   the probability that its token is accepted
    /// @edge            a number outside [0, 1] by rounding counts as the nearest in it, NaN does not count
    void record(Index drafter, double overlap) {
        detail::require(drafter >= 0, "choosing::Overlaps::record", "drafter", drafter, "at least 0");
        if (detail::is_nan(overlap)) return;
        Mean& mean = mean_of(drafter);
        mean.sum = decay_ * mean.sum + std::clamp(overlap, 0., 1.);
        mean.weight = decay_ * mean.weight + 1;
    }

    /// Return the mean overlap of a drafter; 1 before any is known, so that every drafter is tried.
    double overlap(Index drafter) const {
        if (drafter < 0 || drafter >= std::ssize(means_)) return 1;
        const Mean& mean = means_[static_cast<std::size_t>(drafter)];
        return mean.weight > 0 ? mean.sum / mean.weight : 1;
    }

    /// Return the tokens of a round per pass of the target, drafting included, if this drafter drafts and its tokens
    /// are accepted independently.
    double gain(Index drafter) const {
        const bool is_named = drafter >= 0 && drafter < std::ssize(options_.costs);
        const double cost = is_named ? options_.costs[static_cast<std::size_t>(drafter)] : 0;
        const auto lookahead = static_cast<double>(options_.lookahead);
        return theory::expected_tokens(std::min(overlap(drafter), 1.), options_.lookahead) / (1 + lookahead * cost);
    }

    /// Forget what was recorded.
    void clear() { means_.clear(), place_ = -1; }

  private:
    template <class... D>
    friend class BestOf;
    template <class Target>
    friend class Watched;

    struct Mean {
        double sum = 0, weight = 0;
    };

    /// What a drafter drafts first after a prefix.
    struct Guess {
        std::vector<Token> tokens{};  ///< that it names, or draws with the target's noise
        Eigen::ArrayXf row{};         ///< that it draws from
        bool is_made = false, has_row = false;
    };

    Mean& mean_of(Index drafter) {
        const auto at = static_cast<std::size_t>(drafter);
        if (at >= means_.size()) means_.resize(at + 1);
        return means_[at];
    }

    /// Begin to take guesses of what follows a prefix.
    void open(Index place, std::size_t drafters) {
        place_ = place;
        if (guesses_.size() < drafters) guesses_.resize(drafters);
        for (Guess& guess : guesses_) guess.is_made = false;
    }

    /// Take the guess of a drafter: the tokens after the prefix among the nodes from `first` on.
    template <class L>
    void take(std::size_t drafter, const DraftTree<L>& draft, Index first) {
        Guess& guess = guesses_[drafter];
        guess.tokens.clear();
        guess.has_row = false;
        guess.is_made = draft.size() > first;
        for (Index node = first; node < draft.size(); ++node) {
            if (draft.parent(node) != root_node) continue;
            if constexpr (detail::RowDistribution<L>) {
                const L& distribution = draft.distributions()[static_cast<std::size_t>(node)];
                if (!distribution.is_point()) {
                    guess.has_row = true;
                    guess.row = detail::as_row(distribution.row()).template cast<float>();
                    return;
                }
            }
            if (const Token token = draft.token(node); std::ranges::count(guess.tokens, token) == 0)
                guess.tokens.push_back(token);
        }
    }

    /// Score the guesses by the target's row after a prefix, if they were made for this prefix.
    template <RowLike R>
    void judge(Index place, const R& row) {
        static_assert(!detail::form_of<std::remove_cvref_t<R>>.split,
                      "specsample::choosing::Watched: rows that are split over ranks cannot be scored, because no rank "
                      "has all of their ids");
        if (place != std::exchange(place_, -1)) return;
        const auto view = detail::as_row(row);
        for (std::size_t drafter = 0; drafter < guesses_.size(); ++drafter) {
            const Guess& guess = guesses_[drafter];
            if (!guess.is_made) continue;
            double overlap = 0;
            if (!guess.has_row) {
                for (const Token token : guess.tokens)
                    if (token < view.size()) overlap += static_cast<double>(view.coeff(token));
            } else if (guess.row.size() == view.size()) {
                overlap = kernels::overlap(guess.row, row);
            }
            record(static_cast<Index>(drafter), overlap);
        }
    }

    OverlapOptions options_;
    double decay_ = 1;
    std::vector<Mean> means_{};
    std::vector<Guess> guesses_{};
    Index place_ = -1;  ///< the size of the prefix that guesses were made for
};

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
    explicit BestOf(Overlaps& overlaps, D... drafters)
        : detail::Drafters<D...>(std::move(drafters)...), overlaps_(&overlaps) {}

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
    Watched(Target target, Overlaps& overlaps)
        : detail::Adaptor<Watched<Target>, Target>(std::move(target)), overlaps_(&overlaps) {}

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
        if (detail::element_count(rows).value_or(0) > 0) overlaps_->judge(place, detail::element(rows, 0));
        return std::forward<Rows>(rows);
    }

    Overlaps* overlaps_;
};

}}}  // namespace specsample::choosing
