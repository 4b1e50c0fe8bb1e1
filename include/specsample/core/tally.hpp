// Counters over rounds, with the rates that follow from them.
//
//   RoundCounts   the contribution of one round
//   Tally         sums over rounds, in all and per position, and rates
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include <specsample/core/contract.hpp>
#include <specsample/core/estimate.hpp>
#include <specsample/core/fault.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

/// The contribution of one round to a `Tally`, counted after the round was cut: it describes what was really emitted.
struct RoundCounts {
    Index proposed = 0;   ///< drafted tokens shown to verification
    Index evaluated = 0;  ///< positions decided: the accepted ones, and the rejected one if there is one
    Index accepted = 0;   ///< drafted tokens emitted: the first `accepted` positions
    Index tokens = 0;     ///< tokens emitted: accepted + 1, or accepted if there is no last token
    LastToken last = LastToken::stopped;  ///< the kind of the last token
    Index depth = -1;     ///< positions of the drafted tree, its longest path; -1 for a chain, which has `proposed`
    Index discarded = 0;  ///< tokens decided and then cut, because the text ended before them; not in `tokens`
    Index passes = 1;     ///< target passes of the round
    std::optional<Cause> fault{};  ///< bad data: the round emitted nothing, and only the fault is counted

    /// Return the number of positions of the draft: the depth of a tree, or the length of a chain.
    [[nodiscard]] Index positions() const { return depth < 0 ? proposed : depth; }

    /// Return whether the round ended without a rejection and without a last token.
    [[nodiscard]] bool is_cut() const { return last == LastToken::stopped && evaluated == accepted; }

    friend bool operator==(const RoundCounts&, const RoundCounts&) = default;
};

namespace metrics {

/// Decisions at one position of the round.
struct PositionCounts {
    Index evaluated = 0;  ///< drafted tokens that were judged
    Index accepted = 0;   ///< judged tokens that were emitted
    Index censored = 0;   ///< drafted tokens not judged, because a stop, a budget or the caller cut the round

    friend bool operator==(const PositionCounts&, const PositionCounts&) = default;
};

}  // namespace metrics

/// Counters over rounds. A round is one draft and one verification. It costs one target pass if the target scores all
/// drafted positions at once, and several (`passes`) if a token tree is scored path by path, or a chain row by row.
///
/// `evaluated` counts decisions, not drafted tokens: a position after a rejection, or past a stop, was never decided
/// and is in `proposed` only. In a tree a position is a depth: it counts as accepted if a token at that depth was
/// accepted, and `proposed` counts all nodes. Every rate is a ratio of sums, never a mean of ratios, so that tallies
/// can be merged in any order. Tallies are equal if all their counters are.
///
/// A position left undecided by a stop, rather than by a rejection, is `censored`: it counts neither as a success nor
/// as a failure. Tokens that were decided and then cut, because a callback or a stop string ended the text before them,
/// are `discarded`. A round that met bad data is in `faults`, under its cause, and in no other counter.
///
/// Use one tally per thread: they share nothing, and += adds them up afterwards. The result equals the tally of all
/// rounds, in whatever order they were counted and merged.
///
/// A high acceptance does not show that a text follows the target's distribution: judging drafts with a wrong draft
/// distribution raises it. `Audit` tests the text itself.
struct Tally {
    Index rounds = 0;     ///< verifications without bad data
    Index proposed = 0;   ///< sum of RoundCounts::proposed
    Index evaluated = 0;  ///< sum of RoundCounts::evaluated = accepted + rejections
    Index accepted = 0;   ///< sum of RoundCounts::accepted
    Index recovered = 0;  ///< rounds whose last token was drawn from a residual
    Index bonus = 0;      ///< rounds whose last token came after a full acceptance
    Index matched = 0;    ///< rounds whose last token was the target's own choice, where a match rule left the draft
    Index stopped = 0;    ///< rounds without a last token
    Index tokens = 0;     ///< tokens emitted = accepted + recovered + bonus + matched
    /// Counts per 0-based position in the round, up to the length of the longest draft.
    std::vector<metrics::PositionCounts> positions;
    Index discarded = 0;                               ///< sum of RoundCounts::discarded
    Index passes = 0;                                  ///< sum of RoundCounts::passes: target passes
    std::array<Index, metrics::cause_count> faults{};  ///< rounds that met bad data, by cause: see `faults_of`

    /// Make room for rounds that draft up to `lookahead` tokens, so that even the first `record` allocates nothing.
    /// @throws std::invalid_argument if lookahead is negative or above most_drafted
    void reserve(Index lookahead) {
        detail::require(lookahead >= 0, "Tally::reserve", "lookahead", lookahead, "0 or more");
        detail::require_length("Tally::reserve", "lookahead", lookahead, 0);
        positions.reserve(static_cast<std::size_t>(lookahead));
    }

    /// Add one round.
    /// @pre      0 <= accepted <= evaluated <= positions <= proposed, evaluated <= accepted + 1, passes >= 1; tokens =
    ///           accepted + 1, or accepted in a stopped round; only a stopped round discards tokens, at most positions
    ///           + 1 - tokens. For a round with a fault only: tokens = 0
    /// @throws   std::invalid_argument, with nothing added, if this does not hold
    /// @cost     O(positions); allocates only for a draft longer than all before
    void record(const RoundCounts& round) {
        if (round.fault) {
            record_fault(round);
            return;
        }
        check(round);
        grow(static_cast<std::size_t>(round.positions()));
        ++rounds;
        proposed += round.proposed;
        evaluated += round.evaluated;
        accepted += round.accepted;
        tokens += round.tokens;
        discarded += round.discarded;
        passes += round.passes;
        ++rounds_ending(round.last);
        for (Index i = 0; i < round.evaluated; ++i) ++positions[static_cast<std::size_t>(i)].evaluated;
        for (Index i = 0; i < round.accepted; ++i) ++positions[static_cast<std::size_t>(i)].accepted;
        if (!round.is_cut()) return;
        for (Index i = round.evaluated; i < round.positions(); ++i) ++positions[static_cast<std::size_t>(i)].censored;
    }

    /// Add all rounds of another tally, as if they had been recorded here.
    Tally& operator+=(const Tally& other) {
        grow(other.positions.size());
        rounds += other.rounds;
        proposed += other.proposed;
        evaluated += other.evaluated;
        accepted += other.accepted;
        recovered += other.recovered;
        bonus += other.bonus;
        matched += other.matched;
        stopped += other.stopped;
        tokens += other.tokens;
        discarded += other.discarded;
        passes += other.passes;
        for (std::size_t i = 0; i < other.positions.size(); ++i) {
            positions[i].evaluated += other.positions[i].evaluated;
            positions[i].accepted += other.positions[i].accepted;
            positions[i].censored += other.positions[i].censored;
        }
        for (std::size_t cause = 0; cause < metrics::cause_count; ++cause) faults[cause] += other.faults[cause];
        return *this;
    }

    /// Return the number of rounds that met bad data of this cause.
    [[nodiscard]] Index faults_of(Cause cause) const { return faults[static_cast<std::size_t>(cause)]; }
    /// Return the number of rounds that met bad data of any cause.
    [[nodiscard]] Index faulty_rounds() const {
        Index sum = 0;
        for (const Index rounds_of_cause : faults) sum += rounds_of_cause;
        return sum;
    }

    /// Return the conditional acceptance over all positions, accepted / evaluated, with its interval:
    /// `estimate_acceptance`.
    /// @edge nothing evaluated: value 0, interval [0, 1]
    [[nodiscard]] metrics::Estimate acceptance(double z = metrics::z95) const {
        return metrics::estimate_acceptance(accepted, evaluated, z);
    }

    /// Return the conditional acceptance at one 0-based position: of the rounds that decided it, the share that
    /// accepted it.
    /// @throws std::invalid_argument if the position is negative
    /// @edge   a position that no round decided: value 0, interval [0, 1]
    [[nodiscard]] metrics::Estimate acceptance_at(Index position, double z = metrics::z95) const {
        detail::require(position >= 0, "Tally::acceptance_at", "position", position, "0 or more");
        if (position >= std::ssize(positions)) return metrics::estimate_acceptance(0, 0, z);
        const metrics::PositionCounts& at = positions[static_cast<std::size_t>(position)];
        return metrics::estimate_acceptance(at.accepted, at.evaluated, z);
    }

    /// Return the mean number of tokens emitted per round: the block efficiency.
    /// @edge no rounds: 0
    [[nodiscard]] double tokens_per_round() const {
        return rounds == 0 ? 0.0 : static_cast<double>(tokens) / static_cast<double>(rounds);
    }

    /// Return the mean number of tokens emitted per target pass, 1 for plain decoding. It is below tokens_per_round()
    /// if rounds take several passes.
    /// @edge no rounds: 0
    [[nodiscard]] double tokens_per_pass() const {
        return passes == 0 ? 0.0 : static_cast<double>(tokens) / static_cast<double>(passes);
    }

    friend bool operator==(const Tally&, const Tally&) = default;

  private:
    static void check(const RoundCounts& round) {
        constexpr auto where = "Tally::record";
        const bool is_stopped = round.last == LastToken::stopped;
        detail::require(round.accepted >= 0, where, "accepted", round.accepted, "0 or more");
        detail::require(round.evaluated == round.accepted || round.evaluated == round.accepted + 1, where, "evaluated",
                        round.evaluated, "accepted or accepted + 1: a round ends at its first rejection");
        detail::require(round.evaluated <= round.proposed, where, "evaluated", round.evaluated, "proposed at most");
        detail::require(round.evaluated <= round.positions() && round.positions() <= round.proposed, where, "depth",
                        round.positions(), "in [evaluated, proposed]");
        detail::require(round.tokens == round.accepted + (is_stopped ? 0 : 1), where, "tokens", round.tokens,
                        "accepted + 1, or accepted in a stopped round");
        detail::require(round.passes >= 1, where, "passes", round.passes, "1 or more");
        const Index cut_at_most = is_stopped ? round.positions() + 1 - round.tokens : 0;
        detail::require(round.discarded >= 0 && round.discarded <= cut_at_most, where, "discarded", round.discarded,
                        "0, or in a stopped round at most as many as its positions and a last token leave");
    }

    void record_fault(const RoundCounts& round) {
        constexpr auto where = "Tally::record";
        const auto cause = static_cast<std::size_t>(*round.fault);
        detail::require(cause < metrics::cause_count, where, "fault", cause, "a Cause");
        detail::require(round.tokens == 0, where, "tokens", round.tokens, "0 in a round that met bad data");
        ++faults[cause];
    }

    void grow(std::size_t size) {
        if (size > positions.size()) positions.resize(size);
    }

    Index& rounds_ending(LastToken last) {
        switch (last) {
            case LastToken::recovered:
                return recovered;
            case LastToken::bonus:
                return bonus;
            case LastToken::matched:
                return matched;
            case LastToken::stopped:
                break;
        }
        return stopped;
    }
};

}}  // namespace specsample
