// A length policy that maximises expected tokens per cost, from the recent acceptance and measured times.
//
// Goodput: SmartSpec (arXiv:2406.14066).
#pragma once

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include <specsample/core/eigen.hpp>
#include <specsample/length/acceptance_memory.hpp>
#include <specsample/length/length.hpp>
#include <specsample/length/round_times.hpp>
#include <specsample/theory/speedup.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

/// Drafts the number of tokens with the most expected tokens per cost, or none if drafting does not pay.
///
///     argmax over K of (1 + a_0 + a_0 a_1 + ... + a_0 .. a_(K-1)) / (K c + cost(K + 1))
///
///     GoodputLength length(0.1, [](Index n) { return 1 + .05 * static_cast<double>(n - 1); });
///     GoodputLength length(0.1, theory::FlatCost{}, {.restore = .02, .per_token = .1});  // a recurrent target
///
/// a_j is the conditional acceptance at position j as `AcceptanceMemory` estimates it, c is the cost of drafting a
/// token, and cost(n) is the cost of a target pass over n positions, both in plain target passes. Rounds with K = 0
/// teach nothing, so one short draft is tried after 8 such rounds. Each rejected try doubles the wait, up to 64 rounds;
/// an accepted try resets it to 8. No draft is tried if not even certain acceptance would pay. The estimates do not
/// suffer if a drafter often has no draft to offer.
///
/// Times that the caller measures correct the costs: see `observe`. Lookaheads then depend on a clock, so under a ratio
/// rule a seed does not reproduce the text. Without measured times they depend on the recorded rounds alone.
///
/// Measured on texts whose acceptance goes .9, .2, .7, 0, 500 rounds each, for draft costs .05 to .5 and verification
/// costs 1 + .05 (n - 1) and 1 + .4 (n - 1): .98 to 1.29 times the speed of the fixed lookahead that is best in
/// hindsight, and .98 times the speed of plain decoding if drafts are useless (acceptance 0 and .02;
/// tests/unit/length_goodput.cpp).
///
/// @source goodput: SmartSpec, arXiv:2406.14066
template <theory::VerifyCost Cost = theory::FlatCost>
class GoodputLength {
  public:
    static constexpr Index first_wait = 8;        ///< rounds without a draft before one is tried
    static constexpr Index longest_wait = 64;     ///< the longest such wait: probing costs 1/64 of a probe per round
    static constexpr Index plain_interval = 256;  ///< rounds with drafts before one without, if times are measured

    /// @param draft_cost    time of one draft pass over the time of one plain target pass, 0 or more
    /// @param verify_cost   `FlatCost`, a callable (n) -> cost(n)/cost(1), or a table of times for 1, 2, ... positions
    /// @param replay        what a rejection costs a target with a recurrent state. Measured times contain it, so that
    ///                      it counts until there are some
    /// @throws              std::invalid_argument if draft_cost or a cost of replay is negative or not finite
    explicit GoodputLength(double draft_cost, Cost verify_cost = {}, const theory::Replay& replay = {})
        : draft_cost_(draft_cost), verify_cost_(std::move(verify_cost)), replay_(replay) {
        detail::require_replay("GoodputLength", replay);
        detail::require(detail::is_finite(draft_cost) && draft_cost >= 0, "GoodputLength", "draft_cost", draft_cost,
                        "finite and 0 or more");
    }

    /// Return the lookahead of the next round, at most `most`.
    /// @throws   std::invalid_argument if most is negative, for a verify_cost that is not finite and positive, and for
    ///           a table with fewer than most + 1 entries
    /// @cost     O(most)
    Index next(Index most) const {
        detail::require(most >= 0, "GoodputLength::next", "most", most, "0 or more");
        if (!times_.empty() && since_plain_ >= plain_interval) return 0;
        const Index best = best_lookahead(most);
        return best == 0 && waited_ >= wait_ ? probe(most) : best;
    }

    /// Learn from a round.
    /// @throws   std::invalid_argument as `next`, for a round with more positions than `next` was given as `most`
    void record(const RoundCounts& round) {
        const bool rested = !round.fault && best_lookahead(round.positions()) == 0;  // the policy alone drafts none
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

    /// Give the overlap of a position of the round that is recorded next. It has less noise than the position's
    /// decision.
    /// @param position   0-based in its round
    /// @param overlap    sum min(p, q) of its rows
    /// @throws           std::invalid_argument for a position outside 0 .. most_drafted or an overlap outside [0, 1]
    void observe_overlap(Index position, double overlap) { memory_.observe_overlap(position, overlap); }

    /// Give the measured time of a round. Times replace the given costs at the lookaheads that were measured; for
    /// others see `RoundTimes`. For comparison, the first round after the first measurement and then one in 256 drafts
    /// nothing.
    /// @param lookahead   drafted tokens of the round, 0 or more
    /// @param seconds     time of the whole round, or any other unit if it is always the same. Zero, negative and
    ///                    non-finite times are ignored: a clock that steps back must not end a text
    /// @returns           false if the time was ignored
    /// @throws            std::invalid_argument if lookahead is negative
    bool observe(Index lookahead, double seconds) {
        detail::require(lookahead >= 0, "GoodputLength::observe", "lookahead", lookahead, "0 or more");
        return times_.observe(lookahead, seconds);
    }

    /// Write the current estimates of the conditional acceptance at positions 0, 1, .. acceptance.size() - 1.
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
        double tokens = 1, survival = 1, fastest = 1 / cost(0), replayed = 0;
        memory_.for_estimates(most, [&](double acceptance) {
            const double before = survival;
            survival = detail::rounded(survival * acceptance);
            tokens += survival;
            if (times_.empty()) replayed += detail::rounded((before - survival) * replay_.after(lookahead));
            const double speed = tokens / (cost(++lookahead) + replayed);
            if (speed <= fastest) return;
            fastest = speed;
            best = lookahead;
        });
        return best;
    }

    /// Return the length of the shortest draft that would pay if it were accepted; 0 if there is none.
    Index probe(Index most) const {
        for (Index lookahead = 1; lookahead <= most; ++lookahead)
            if (static_cast<double>(lookahead + 1) * cost(0) > cost(lookahead)) return lookahead;
        return 0;
    }

    double draft_cost_;
    Cost verify_cost_;
    theory::Replay replay_;
    detail::AcceptanceMemory memory_;
    detail::RoundTimes times_;
    Index wait_ = first_wait;             ///< rounds without a draft until one is tried
    Index waited_ = 0;                    ///< rounds without a draft since the last round with one
    Index since_plain_ = plain_interval;  ///< rounds with a draft since the last round without one
};

}}  // namespace specsample
