// Models of dense rows behind one type, so that a sampler is compiled once for all of them.
#pragma once

#include <concepts>
#include <functional>
#include <span>
#include <utility>

#include <specsample/core/eigen.hpp>
#include <specsample/core/types.hpp>

namespace any {

using namespace specsample;

/// Any model that returns the row after a prefix by value; it also scores several positions in one pass.
class Model {
  public:
    template <class M>
        requires(!std::same_as<M, Model>)
    Model(M model) : row_(std::move(model)) {}

    Eigen::VectorXd operator()(std::span<const Token> prefix) const { return row_(prefix); }

    /// The rows of the last `count` positions.
    RowMajorMatrix<double> operator()(std::span<const Token> prefix, Index count) const {
        RowMajorMatrix<double> rows;
        for (Index i = 0; i < count; ++i) {
            const Eigen::VectorXd row = row_(prefix.first(prefix.size() - static_cast<std::size_t>(count - 1 - i)));
            rows.conservativeResize(count, row.size());
            rows.row(i) = row.transpose();
        }
        return rows;
    }

  private:
    std::function<Eigen::VectorXd(std::span<const Token>)> row_;
};

}  // namespace any
