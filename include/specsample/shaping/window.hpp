// The part of a context that penalties count.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include <specsample/core/contract.hpp>
#include <specsample/shaping/candidates.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

namespace filters {

/// The whole context, of any length, as Window::last_n.
inline constexpr Index whole_context = std::numeric_limits<Index>::max();

/// The last tokens of a context, without some at its beginning.
struct Window {
    Index last_n = whole_context;  ///< largest number of tokens; 0 counts none
    Index skip = 0;                ///< leading tokens that do not count, such as a prompt

    /// Check the settings.
    /// @throws std::invalid_argument for negative numbers
    void check() const {
        detail::require(last_n >= 0, "Window", "last_n", last_n, "at least 0");
        detail::require(skip >= 0, "Window", "skip", skip, "at least 0");
    }

    /// Return the tokens of a context that are in the window.
    std::span<const Token> of(std::span<const Token> context) const {
        const auto rest = context.subspan(static_cast<std::size_t>(std::min(skip, std::ssize(context))));
        return rest.last(static_cast<std::size_t>(std::min(last_n, std::ssize(rest))));
    }
};

}  // namespace filters

namespace detail {

/// Call f(place, count) once for every candidate that is in a window.
/// @cost   two passes over the window; O(vocab) once, for the counts
template <class Value, class F>
void for_counts(filters::Candidates<Value>& row, std::span<const Token> window, const F& f) {
    if (window.empty() || row.size() == 0) return;
    const auto is_inside = [&](Token id) { return id >= 0 && id < row.vocab(); };
    auto& counts = row.scratch().counts;
    grow(counts, static_cast<std::size_t>(row.vocab()));
    for (const Token id : window)
        if (is_inside(id)) ++counts[static_cast<std::size_t>(id)];
    for (const Token id : window) {
        if (!is_inside(id) || counts[static_cast<std::size_t>(id)] == 0) continue;
        const auto count = static_cast<Index>(counts[static_cast<std::size_t>(id)]);
        counts[static_cast<std::size_t>(id)] = 0;
        if (const Index place = row.place_of(id); place >= 0) f(place, count);
    }
}

/// Tell `outlook` that the logits of the tokens in a window may change.
void foresee(auto& outlook, std::span<const Token> window) {
    for (const Token token : window) outlook.change(token);
}

/// Return the number at a place as a logit, writable.
template <class Value>
Value& logit_at(filters::Candidates<Value>& row, Index place) {
    return row.change_logits()[static_cast<std::size_t>(place)];
}

/// Change the logit at a place to change(logit), unless its token is impossible. A result too large for the row's
/// scalar is clamped to a finite number that leaves room for a temperature: the token stays possible, and the row
/// valid.
template <class Value, class Change>
void change_logit(filters::Candidates<Value>& row, Index place, const Change& change) {
    Value& logit = logit_at(row, place);
    const auto z = static_cast<double>(logit);
    const double most = std::max(double{std::numeric_limits<Value>::max()} * 0x1p-20, std::abs(z));
    if (is_finite(z)) logit = static_cast<Value>(std::clamp<double>(change(z), -most, most));
}

/// Add a finite `by` to the logit at a place, as if the pipeline's temperature so far had been applied.
template <class Value>
void add_to_logit(filters::Candidates<Value>& row, Index place, double by) {
    change_logit(row, place, [&](double z) { return z + row.temperature() * by; });
}

}  // namespace detail

}}  // namespace specsample
