// How well each of several drafters would have drafted: their overlaps with the target's rows.
//
// The probability that a token drawn from q is accepted is sum_x min(p(x), q(x)): Leviathan et al. (arXiv:2211.17192),
// corollary 3.6. It takes the two rows, and no draft that was judged. So the row that the target computes for a round
// anyway scores every drafter at the same place of the text, not only the one that drafted there.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include <specsample/core/contract.hpp>
#include <specsample/kernels/overlap.hpp>
#include <specsample/theory/expected_tokens.hpp>
#include <specsample/tree/distribution.hpp>
#include <specsample/tree/draft_tree.hpp>

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
            if constexpr (detail::MayHaveRow<L>) {
                const L& distribution = draft.distributions()[static_cast<std::size_t>(node)];
                if (detail::is_drawn(distribution)) {
                    guess.has_row = true;
                    detail::with_row(distribution.row(),
                                     [&](const auto& row) { guess.row = detail::as_row(row).template cast<float>(); });
                    return;
                }
            }
            if (const Token token = draft.token(node); std::ranges::count(guess.tokens, token) == 0)
                guess.tokens.push_back(token);
        }
    }

    /// Score the guesses by the target's row after a prefix, if they were made for this prefix.
    template <detail::AnyRow R>
    void judge(Index place, const R& row) {
        if (place != std::exchange(place_, -1)) return;
        detail::with_row(row, [&](const auto& given) { this->score(given); });
    }

    template <RowLike R>
    void score(const R& row) {
        static_assert(!detail::form_of<std::remove_cvref_t<R>>.split,
                      "specsample::choosing::Watched: rows that are split over ranks cannot be scored, because no rank "
                      "has all of their ids");
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

}}}  // namespace specsample::choosing
