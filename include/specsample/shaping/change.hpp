// Changes of single logits of a row in a pipeline.
#pragma once

#include <specsample/shaping/candidates.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

/// Return the number at a place as a logit, writable.
template <class Value>
Value& logit_at(filters::Candidates<Value>& row, Index place) {
    return row.change_logits()[static_cast<std::size_t>(place)];
}

/// Change the logit at a place to change(logit), as changed_logit does, unless its token is impossible.
template <class Value, class Change>
void change_logit(filters::Candidates<Value>& row, Index place, const Change& change) {
    Value& logit = logit_at(row, place);
    logit = changed_logit(logit, change);
}

/// Add a finite `by` to the logit at a place, as if the pipeline's temperature so far had been applied.
template <class Value>
void add_to_logit(filters::Candidates<Value>& row, Index place, double by) {
    change_logit(row, place, [&](double z) { return z + rounded(row.temperature() * by); });
}

/// Apply a penalty to the tokens of a window, given by the place of its counts. One that only lowers logits waits until
/// the numbers are needed.
template <class Value>
void penalise(filters::Candidates<Value>& row, std::size_t window, const Penalty& penalty) {
    if (penalty.only_lowers() && row.lower(window, penalty)) return;
    row.scratch().windows[window].for_each([&](Token id, Index count) {
        if (const Index place = row.place_of(id); place >= 0)
            change_logit(row, place, [&](double z) { return penalty(z, count); });
    });
}

}}}  // namespace specsample::detail
