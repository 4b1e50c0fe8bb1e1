// The largest entry of a row, and the row that is certain of it.
#pragma once

#include <limits>

#include <specsample/core/number.hpp>
#include <specsample/kernels/block.hpp>

namespace specsample {

/// The index of the largest entry, the lowest one on ties. One rule for drafts, targets and plain decoding:
/// greedy texts can only agree if their ties do.
/// @returns  -1 if there is no largest entry: an empty row, a NaN in it, or nothing above -inf
/// @cost     one pass
template <Row R>
Index argmax(const R& row) {
    const auto view = as_row(row);
    Index best = -1;
    bool ordered = true;
    double largest = -std::numeric_limits<double>::infinity();
    for (Index i = 0; i < view.size(); ++i) {
        const double x = static_cast<double>(view.coeff(i));
        ordered &= !is_nan(x);
        if (x > largest) {
            largest = x;
            best = i;
        }
    }
    return ordered ? best : -1;
}

/// The distribution that gives everything to `id`; no mass at all for id -1.
template <class Scalar>
Eigen::Matrix<Scalar, Eigen::Dynamic, 1> one_hot(Index size, Index id) {
    Eigen::Matrix<Scalar, Eigen::Dynamic, 1> row = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>::Zero(size);
    if (id >= 0) row[id] = Scalar{1};
    return row;
}

}  // namespace specsample
