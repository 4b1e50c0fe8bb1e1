// The names of endings and of causes of bad data, as all reports and labels spell them.
//
//   name_of(LastToken::bonus)    "bonus"
//   name_of(Cause::not_finite)   "not_finite"
#pragma once

#include <string_view>

#include <specsample/core/fault.hpp>
#include <specsample/core/types.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace metrics {

/// Return the name of a kind of last token, which is its enumerator.
constexpr std::string_view name_of(LastToken last) {
    switch (last) {
        case LastToken::recovered:
            return "recovered";
        case LastToken::bonus:
            return "bonus";
        case LastToken::matched:
            return "matched";
        case LastToken::stopped:
            return "stopped";
    }
    return "unknown";
}

/// Return the name of a cause, which is its enumerator.
constexpr std::string_view name_of(Cause cause) {
    switch (cause) {
        case Cause::wrong_count:
            return "wrong_count";
        case Cause::empty:
            return "empty";
        case Cause::wrong_size:
            return "wrong_size";
        case Cause::not_finite:
            return "not_finite";
        case Cause::negative:
            return "negative";
        case Cause::above_one:
            return "above_one";
        case Cause::not_normalised:
            return "not_normalised";
        case Cause::logits:
            return "logits";
        case Cause::probabilities:
            return "probabilities";
        case Cause::zero_at_token:
            return "zero_at_token";
        case Cause::row_changed:
            return "row_changed";
        case Cause::removed_changed:
            return "removed_changed";
        case Cause::token_changed:
            return "token_changed";
        case Cause::outside_vocabulary:
            return "outside_vocabulary";
        case Cause::unordered_ids:
            return "unordered_ids";
        case Cause::id_outside:
            return "id_outside";
        case Cause::all_masked:
            return "all_masked";
        case Cause::slice_begin:
            return "slice_begin";
        case Cause::slice_end:
            return "slice_end";
        case Cause::slice_vocabulary:
            return "slice_vocabulary";
        case Cause::ranks_differ:
            return "ranks_differ";
        case Cause::broken_contract:
            return "broken_contract";
    }
    return "unknown";
}

}  // namespace metrics

}}  // namespace specsample
