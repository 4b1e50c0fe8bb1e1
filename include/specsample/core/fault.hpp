// Bad data in a round: the row, the cause, and the message about them.
//
//   RowFault   a value; a round that met bad data carries one and commits nothing
//   Fault      the exception of Sampler and BeamSearch: a RowFault, and every token emitted before the bad round
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <specsample/core/contract.hpp>
#include <specsample/core/types.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

/// The origin of bad data: a draft row or drafted token, a target row, or the limits of the round.
enum class Side { draft, target, limits };

/// The kind of bad data, and with it what the numbers of a RowFault stand for.
enum class Cause {
    wrong_count,         ///< `value` rows or distributions were given for a round that needs `bound`
    empty,               ///< a row without entries
    wrong_size,          ///< a row of `value` entries in a round whose rows have `bound`
    not_finite,          ///< `value` (NaN or infinite) at `id`
    negative,            ///< `value` at `id`
    above_one,           ///< `value` at `id`
    not_normalised,      ///< the row sums to `value`, further than `bound` from 1
    logits,              ///< the row sums to `value` and has entries that no probability can have
    probabilities,       ///< a row given as logits whose `value` numbers are probabilities that sum to `bound`
    zero_at_token,       ///< a row that gives its own drafted token `id` no probability
    row_changed,         ///< a row whose entry at token `id` is `value`, but was `bound` when that token was drawn
    removed_changed,     ///< a row whose list of removed ids has changed since token `id` was drawn
    token_changed,       ///< drafted token `value`, at a place for which `bound` was drawn
    outside_vocabulary,  ///< token `value` with a vocabulary of `bound`
    unordered_ids,       ///< a sparse row whose id `value` follows id `bound`, at place `id`
    id_outside,          ///< a sparse row with id `value`, of a vocabulary of `bound`, at place `id`
    all_masked,          ///< a row of logits that are all -inf, or a sparse row without ids
    slice_begin,         ///< the slice of rank `id` begins at id `value`, but the previous slice ends at `bound`
    slice_end,           ///< the slice of rank `id` ends at id `value`, but must end at `bound`
    slice_vocabulary,    ///< rank `id` has a vocabulary of `value` ids, but other ranks have `bound` ids
    ranks_differ,        ///< rank `id` and rank 0 differ in seed, text, draft or order of calls
    broken_contract,     ///< a request of a batch that has no round: `Round::error` says why
};

namespace metrics {

/// The number of causes of bad data: counters by cause are an array of this size, indexed by Cause.
inline constexpr std::size_t cause_count = static_cast<std::size_t>(Cause::broken_contract) + 1;

}  // namespace metrics

/// A description of bad data, as a value.
struct RowFault {
    Side side = Side::target;    ///< the origin of the data
    Cause cause = Cause::empty;  ///< what is wrong; it decides what `value`, `bound` and `id` stand for
    Index row = 0;               ///< the position in the round, or the place in limits.stop_tokens
    double value = 0;            ///< the number that was found
    double bound = 0;            ///< the number that it was compared with
    Index id = 0;                ///< the id, or the place, in the row
};

namespace detail {

/// Return the sentence about a fault, with marks in place of its numbers: %r the name of the row, %n its number, %v the
/// value, %b the bound, %V and %B value and bound as whole numbers, %i the id or place.
[[nodiscard]] inline const char* sentence(const RowFault& fault) {
    const bool draft = fault.side == Side::draft;
    switch (fault.cause) {
        case Cause::wrong_count:
            return draft ? "the number of distributions is %V, but must be %B, one per drafted token"
                         : "the number of target rows is %V, but must be %B, one per position";
        case Cause::empty:
            return "%r is empty, but must hold one probability per token of the vocabulary";
        case Cause::wrong_size:
            return draft ? "%r has %V entries, but must have %B like the first target row; for a draft with another "
                           "vocabulary write vocabularies::mapped(draft, vocabularies::IdMap::same_ids(%V, %B))"
                         : "%r has %V entries, but must have %B like the first target row";
        case Cause::not_finite:
            return "%r is %v at id %i, but must be finite";
        case Cause::negative:
            return "%r is %v at id %i, but must be non-negative";
        case Cause::above_one:
            return "%r is %v at id %i, but must be at most 1";
        case Cause::not_normalised:
            return "%r sums to %v, but must sum to 1 within %b";
        case Cause::logits:
            return "%r sums to %v: these look like logits; return specsample::Logits(row, temperature)";
        case Cause::probabilities:
            return "%r is given as logits, but its %V numbers sum to %b and none is negative: these look like "
                   "probabilities; return the row itself, without specsample::Logits";
        case Cause::zero_at_token:
            return "%r is 0 at its own drafted token %i, but must be the row that the token was drawn from";
        case Cause::row_changed:
            return "%r has entry %v at token %i, which was drawn when the entry was %b, but must stay as it was until "
                   "the round ends: give every drafted row a buffer of its own";
        case Cause::removed_changed:
            return "%r has other ids removed than when token %i was drawn from the rest, but must keep them until the "
                   "round ends: give every drafted token a list of its own";
        case Cause::token_changed:
            return "drafted token %n is %V, but must be %B, the token that was drawn there: give every draft a list of "
                   "its own";
        case Cause::outside_vocabulary:
            if (!draft) return "limits.stop_tokens[%n] is %V, but must be inside the vocabulary [0, %B)";
            if (fault.bound >= std::numeric_limits<Token>::max())  // the size of the vocabulary is not known yet
                return "drafted token %n is %V, but must be a token id, at least 0 and of 31 bits";
            if (fault.value < 0) return "drafted token %n is %V, but must be inside the vocabulary [0, %B)";
            return "drafted token %n is %V, but must be inside the vocabulary [0, %B); for a draft with another one "
                   "see vocabularies::mapped and vocabularies::IdMap::same_ids";
        case Cause::unordered_ids:
            return "%r has id %V after %B at place %i, but the ids of a sparse row must be strictly increasing";
        case Cause::id_outside:
            return "%r has id %V at place %i, but must have ids inside the vocabulary [0, %B)";
        case Cause::all_masked:
            return "%r makes no token possible: every logit is -inf, or no id is left, but one must be possible";
        case Cause::slice_begin:
            return "%r has a slice on rank %i that begins at id %V, but must begin at %B, where the one before it ends";
        case Cause::slice_end:
            return "%r has a slice on rank %i that ends at id %V, but must end at %B";
        case Cause::slice_vocabulary:
            return "%r is of a vocabulary of %V ids on rank %i, but must be of %B ids as on the other ranks";
        case Cause::ranks_differ:
            return "%r is read by rank %i in another round than by rank 0, but seed, request, text, draft, limits and "
                   "the order of calls must be the same on every rank";
        case Cause::broken_contract:
            return "the request has no round: what it was given, or what its rows threw, allows none";
    }
    return "%r is bad";
}

/// Return the text that replaces a mark in a sentence.
[[nodiscard]] inline std::string text_of_mark(char mark, const RowFault& fault) {
    if (mark == 'r') return (fault.side == Side::draft ? "draft row " : "target row ") + to_text(fault.row);
    if (mark == 'n') return to_text(fault.row);
    if (mark == 'v') return to_text(fault.value);
    if (mark == 'b') return to_text(fault.bound);
    if (mark == 'V') return whole_text(fault.value);
    return mark == 'B' ? whole_text(fault.bound) : to_text(fault.id);
}

}  // namespace detail

/// Return the message for a fault: what the data is, and what it must be.
[[gnu::cold]] inline std::string message(const RowFault& fault) {
    std::string text;
    for (const char* at = detail::sentence(fault); *at != 0; ++at) {
        if (*at == '%')
            text += detail::text_of_mark(*++at, fault);
        else
            text += *at;
    }
    return text;
}

/// The exception for bad data. Nothing of the faulty round was committed.
class Fault : public std::invalid_argument {
  public:
    Fault(const RowFault& found, std::vector<Token> emitted_before, std::string_view where = "Sampler")
        : std::invalid_argument("specsample::" + std::string(where) + ": " + message(found)),
          fault(found),
          emitted(std::move(emitted_before)) {}

    RowFault fault;              ///< the row and the cause
    std::vector<Token> emitted;  ///< the tokens that this call had written before the faulty round
};

namespace detail {

/// Return whether a row is bad only because it makes no token possible: it has no entries, all of its logits are -inf,
/// no id is left, or every probability is 0. A drafter with such a row has nothing to offer.
inline bool makes_nothing_possible(const RowFault& fault) {
    return fault.cause == Cause::empty || fault.cause == Cause::all_masked ||
           (fault.cause == Cause::not_normalised && fault.value == 0);
}

}  // namespace detail

}}  // namespace specsample
