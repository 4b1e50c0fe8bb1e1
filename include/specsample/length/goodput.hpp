// As many tokens as pay, by what acceptance and time were lately.
#pragma once

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include <specsample/length/acceptance_memory.hpp>
#include <specsample/length/length.hpp>
#include <specsample/length/round_times.hpp>
#include <specsample/theory/verify_cost.hpp>

namespace specsample {

/// The lookahead with the most expected tokens per cost; none, where drafting does not pay.
///
///     argmax over K of (1 + a_0 + a_0 a_1 + ... + a_0 .. a_(K-1)) / (K c + cost(K + 1))
///
///     GoodputLength length(0.1, [](Index n) { return 1 + .05 * static_cast<double>(n - 1); });
///
/// a_j is the conditional acceptance at position j as `AcceptanceMemory` estimates it, c what drafting a token costs
/// and cost what verification does, both in plain target passes. Where K is 0 nothing is learnt, so one short draft is
/// tried after 8 such rounds, and after twice as many each time that it is rejected, up to 64; none if not even certain
/// acceptance would pay. An accepted one brings the wait back to 8. Drafters that often have nothing to propose lose
/// nothing by it.
///
/// What the caller measures corrects the costs: see `observe`. Then texts depend on a clock: under a rule that judges
/// by ratios a seed does not repeat them. Without it they are a function of what was recorded.
///
/// Measured on texts whose acceptance goes .9, .2, .7, 0, 500 rounds each, for draft costs .05 to .5 and verification
/// costs 1 + .05 (n - 1) and 1 + .4 (n - 1): from .98 to 1.29 of what the best fixed lookahead earns in hindsight; and
/// .98 of plain decoding where drafts are useless (acceptance 0 and .02; tests/unit/length_goodput.cpp).
///
/// @source goodput: SmartSpec, arXiv:2406.14066
template <theory::VerifyCost Cost = theory::FlatCost>
class GoodputLength {
  public:
    static constexpr Index first_wait = 8;     ///< rounds without a draft before one is tried
    static constexpr Index longest_wait = 64;  ///< the most that become of them: a probe of one token costs 1/64 pass
    static constexpr Index plain_interval = 256;  ///< rounds with drafts, then one without, if times are measured

    /// @param draft_cost    time of one draft pass over the time of one plain target pass, 0 or more
    /// @param verify_cost   `FlatCost`, a callable (n) -> cost(n)/cost(1), or a table of times for 1, 2, ... positions
    /// @throws              std::invalid_argument if draft_cost is negative or not finite
    explicit GoodputLength(double draft_cost, Cost verify_cost = {})
        : draft_cost_(draft_cost), verify_cost_(std::move(verify_cost)) {
        detail::require(detail::is_finite(draft_cost) && draft_cost >= 0, "GoodputLength", "draft_cost", draft_cost,
                        "finite and 0 or more");
    }

    /// @throws std::invalid_argument if most is negative, for a verify_cost that is not finite and positive, and for a
    ///         table with fewer than most + 1 entries
    /// @cost   O(most)
    Index next(Index most) const {
        detail::require(most >= 0, "GoodputLength::next", "most", most, "0 or more");
        if (!times_.empty() && since_plain_ >= plain_interval) return 0;
        const Index best = best_lookahead(most);
        return best == 0 && waited_ >= wait_ ? probe(most) : best;
    }

    /// @throws std::invalid_argument as `next`, for a round with more positions than that allowed
    void record(const RoundCounts& round) {
        const bool rested = !round.fault && best_lookahead(round.positions()) == 0;  // or there was nothing to propose
        memory_.record(round, rested ? waited_ : 0);
        if (round.fault) return;
        if (round.proposed == 0) {
            ++waited_;
            since_plain_ = 0;
            return;
        }
        const bool is_failed_probe = rested && waited_ >= wait_ && round.evaluated > round.accepted;
        wait_ = is_failed_probe ? std::min(2 * wait_, longest_wait) : first_wait;
        waited_ = 0;
        ++since_plain_;
    }

    /// Tell sum min(p, q) of a position of the round that is recorded next, where it is known: see `AcceptanceMemory`.
    /// @throws std::invalid_argument for a negative position or an overlap outside [0, 1]
    void observe_overlap(Index position, double overlap) { memory_.observe_overlap(position, overlap); }

    /// Tell what a round with this many drafted tokens took. Times take the place of the costs that were given, at the
    /// lookaheads that were measured; for others see `RoundTimes`. To have something to compare with, the first round
    /// after the first measurement and then one in 256 drafts nothing.
    /// @param seconds   of the whole round; other units do as well, if they are always the same. Zero, negative and
    ///                  non-finite ones are ignored: a clock that steps back says nothing, and must end no text
    /// @returns         whether it was taken
    /// @throws          std::invalid_argument if lookahead is negative
    bool observe(Index lookahead, double seconds) {
        detail::require(lookahead >= 0, "GoodputLength::observe", "lookahead", lookahead, "0 or more");
        return times_.observe(lookahead, seconds);
    }

    /// The conditional acceptance at positions 0, 1, .. as it is estimated now.
    void estimate(std::span<double> acceptance) const {
        auto next = acceptance.begin();
        memory_.for_estimates(std::ssize(acceptance), [&](double estimate) { *next++ = estimate; });
    }

  private:
    double cost(Index lookahead) const {
        return times_.cost(lookahead, [this](Index tokens) {
            return detail::rounded(static_cast<double>(tokens) * draft_cost_) +
                   detail::pass_cost("GoodputLength", verify_cost_, tokens + 1);
        });
    }

    Index best_lookahead(Index most) const {
        Index best = 0, lookahead = 0;
        double tokens = 1, survival = 1, fastest = 1 / cost(0);
        memory_.for_estimates(most, [&](double acceptance) {
            survival = detail::rounded(survival * acceptance);
            tokens += survival;
            const double speed = tokens / cost(++lookahead);
            if (speed <= fastest) return;
            fastest = speed;
            best = lookahead;
        });
        return best;
    }

    /// The shortest draft that would pay if it were accepted; 0 if there is none.
    Index probe(Index most) const {
        for (Index lookahead = 1; lookahead <= most; ++lookahead)
            if (static_cast<double>(lookahead + 1) * cost(0) > cost(lookahead)) return lookahead;
        return 0;
    }

    double draft_cost_;
    Cost verify_cost_;
    detail::AcceptanceMemory memory_;
    detail::RoundTimes times_;
    Index wait_ = first_wait;             ///< rounds without a draft until one is tried
    Index waited_ = 0;                    ///< rounds without a draft since the last one with
    Index since_plain_ = plain_interval;  ///< rounds with a draft since the last one without
};

}  // namespace specsample
