// Drafting while the target still scores the draft before: for each way in which that round is likely to end.
//
//   likely_outcomes   the most probable outcomes of a round that nobody has verified yet
//   OutcomeTable      the drafts that were made for them
//
// Every random draw has an address: seed, request, start of the round. So the draft after an outcome is the same draft
// whether it is made before the outcome is known or after: the text is that of the sequential loop to the token, and
// only time is gained. What is drafted ahead may depend on anything, as it changes nothing but the time.
//
// Liu et al.: "PEARL: parallel speculative decoding with adaptive draft length", ICLR 2025 (arXiv:2408.11850), drafts
// ahead for one outcome; Kumar et al.: "Speculative speculative decoding", ICLR 2026 (arXiv:2603.03251), for several.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include <specsample/core/contract.hpp>
#include <specsample/core/row.hpp>
#include <specsample/kernels/top.hpp>
#include <specsample/rows/returned.hpp>
#include <specsample/rows/rows.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace ahead {

/// How a round may end: the next round starts after `accepted` drafted tokens and `last`.
struct RoundOutcome {
    Index accepted = 0;
    Token last = -1;
    double probability = 0;  ///< as it was guessed
};

/// Guess the most probable outcomes of a round from its draft alone: each drafted token is accepted with the same
/// probability, a recovered token comes from the draft's row without the rejected token, the bonus token from the
/// draft's next row.
///
/// @param tokens       the drafted chain
/// @param rows         the drafter's rows by position, as types or values: anything indexed [i], or a callable of
///                     i. Row i is that of tokens[i]; a row after the last token, if there is one more, gives the bonus
/// @param row_count    tokens.size(), or one more
/// @param acceptance   the probability that a drafted token is accepted, in [0, 1]
/// @param most         how many outcomes are wanted
/// @param outcomes     output: the outcomes, the most probable first, `most` or fewer; its memory is reused
/// @throws             std::invalid_argument for an acceptance outside [0, 1], another number of rows, or a list of
///                     fewer rows
/// @draws              none
/// @cost               one pass per row, two per row of Logits; allocates
template <class RowsOf>
void likely_outcomes(std::span<const Token> tokens, RowsOf&& rows, Index row_count, double acceptance, Index most,
                     std::vector<RoundOutcome>& outcomes) {
    static_assert(
        detail::RowSource<RowsOf> || detail::RowValues<RowsOf>,
        "specsample::ahead::likely_outcomes: the second argument must be rows: anything indexed [i] that gives "
        "a row of floating point, or a callable of i");
    constexpr auto where = "ahead::likely_outcomes";
    detail::require(acceptance >= 0 && acceptance <= 1, where, "acceptance", acceptance, "in [0, 1]");
    detail::require(row_count == std::ssize(tokens) || row_count == std::ssize(tokens) + 1, where, "row_count",
                    row_count, "the number of tokens, or one more");
    const Index given = detail::element_count(rows, row_count);
    detail::require(given >= row_count, where, "the number of rows", given,
                    "at least row_count, " + detail::to_text(row_count));
    detail::require(most >= 0, where, "most", most, "at least 0");
    outcomes.clear();
    std::vector<Token> ids(static_cast<std::size_t>(most) + 1);
    double reached = 1;
    for (Index i = 0; i < row_count; ++i) {
        const bool is_bonus = i == std::ssize(tokens);
        const Token drafted = is_bonus ? -1 : tokens[static_cast<std::size_t>(i)];
        const double ends = is_bonus ? reached : reached * (1 - acceptance);
        detail::with_row(detail::element(rows, i), [&](const auto& row) {
            const auto view = detail::as_row(row);
            const bool is_inside = drafted >= 0 && drafted < view.size();
            const double left = 1 - (is_inside ? static_cast<double>(view.coeff(drafted)) : 0);
            for (const Token id : std::span(ids).first(static_cast<std::size_t>(kernels::top_ids(view, ids))))
                if (id != drafted && left > 0)
                    outcomes.push_back({i, id, ends * static_cast<double>(view.coeff(id)) / left});
        });
        reached *= acceptance;
    }
    const auto key = [](const RoundOutcome& outcome) {
        return std::tuple(-outcome.probability, outcome.accepted, outcome.last);
    };
    const auto count = std::min(most, std::ssize(outcomes));
    std::ranges::partial_sort(outcomes, outcomes.begin() + count, {}, key);
    outcomes.resize(static_cast<std::size_t>(count));
}

/// Drafts by the outcome that they follow.
///
///     table.clear();
///     for (const RoundOutcome& outcome : outcomes)  // on another thread, while the target scores
///         make_draft(text_after(outcome), table.add(outcome));
///     ..
///     Draft* draft = table.find(round.accepted, round.tokens.back());  // null: make it now
///
/// An engine has two, and swaps them: the draft that a round verifies lies in one while the other is filled.
///
/// @tparam Draft   what the engine keeps of a draft; never moved, so that it may point into itself
template <class Draft>
class OutcomeTable {
  public:
    /// Forget all outcomes. The drafts keep their memory.
    void clear() { count_ = 0; }

    /// Add an outcome.
    /// @returns   its draft, to be written: as it was left by an outcome of an earlier round, or newly made
    Draft& add(const RoundOutcome& outcome) {
        if (count_ == entries_.size()) entries_.emplace_back();
        Entry& entry = entries_[count_++];
        entry.outcome = outcome;
        return entry.draft;
    }

    /// Return the draft after an outcome; null if none was made.
    Draft* find(Index accepted, Token last) {
        for (std::size_t i = 0; i < count_; ++i)
            if (entries_[i].outcome.accepted == accepted && entries_[i].outcome.last == last) return &entries_[i].draft;
        return nullptr;
    }

    Index size() const { return static_cast<Index>(count_); }

  private:
    struct Entry {
        RoundOutcome outcome;
        Draft draft{};
    };

    std::deque<Entry> entries_;  // whose elements do not move
    std::size_t count_ = 0;
};

}}}  // namespace specsample::ahead
