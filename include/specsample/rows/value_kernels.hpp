// The kernels that a program calls on single rows, for rows that are values.
#pragma once

#include <span>

#include <specsample/kernels/argmax.hpp>
#include <specsample/kernels/entropy.hpp>
#include <specsample/kernels/overlap.hpp>
#include <specsample/kernels/top.hpp>
#include <specsample/rows/returned.hpp>
#include <specsample/rows/row_view.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace kernels {

/// Return the id of the largest entry of a row that is a value. kernels/argmax.hpp has the rest.
template <detail::RowValue R>
Index argmax(const R& row) {
    return detail::with_row(row, [](const auto& view) { return argmax(view); });
}

/// Write the ids of the largest entries of a row that is a value. kernels/top.hpp has the rest.
template <detail::RowValue R>
Index top_ids(const R& row, std::span<Token> top) {
    return detail::with_row(row, [&](const auto& view) { return top_ids(view, top); });
}

/// Return the entropy of a row that is a value. kernels/entropy.hpp has the rest.
template <detail::RowValue R>
double entropy(const R& row) {
    return detail::with_row(row, [](const auto& view) { return entropy(view); });
}

/// Return the overlap of two rows that are values. kernels/overlap.hpp has the rest.
template <detail::RowValue Q, detail::RowValue P>
double overlap(const Q& q, const P& p) {
    return detail::with_rows(q, p, [](const auto& draft, const auto& target) { return overlap(draft, target); });
}

}}}  // namespace specsample::kernels
