// Small models with known rows, for enumerating distributions.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <specsample/core/eigen.hpp>
#include <specsample/kernels/argmax.hpp>
#include <specsample/random/rng.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace testing {

/// A model with the same row after every prefix.
struct FixedModel {
    Eigen::VectorXd row;

    Eigen::VectorXd operator()(std::span<const Token>) const { return row; }
};

/// The kind of rows of a ContextModel.
enum class RowKind {
    smooth,        ///< every token possible
    with_zeros,    ///< some tokens impossible
    peaked,        ///< nearly certain of one token
    point_masses,  ///< certain of one token
    spanning,      ///< from 1e-300 to 1, as low temperatures make them
};

/// A model with a different random row after every prefix: a function of the seed and the whole prefix.
///
/// @param vocab   entries of a row
/// @param seed    selects the model
/// @param rows    the kind of rows; every row sums to 1
class ContextModel {
  public:
    ContextModel(Index vocab, std::uint64_t seed, RowKind rows = RowKind::smooth)
        : vocab_(vocab), seed_(seed), rows_(rows) {}

    Eigen::VectorXd operator()(std::span<const Token> prefix) const {
        std::uint64_t context = seed_;
        for (const Token token : prefix) context = Rng({.seed = context, .position = token + 1}).bits();
        const Rng noise({.seed = context});
        if (rows_ == RowKind::point_masses)
            return kernels::one_hot<double>(vocab_, static_cast<Index>(noise.uniform() * static_cast<double>(vocab_)));
        Eigen::VectorXd row(vocab_);
        for (Index i = 0; i < vocab_; ++i) row[i] = weight(noise, static_cast<std::uint32_t>(i));
        if (!(row.sum() > 0)) row[0] = 1;
        return row / row.sum();
    }

    /// Return the rows of the last `count` positions.
    RowMajorMatrix<double> operator()(std::span<const Token> prefix, Index count) const {
        RowMajorMatrix<double> rows(count, vocab_);
        for (Index i = 0; i < count; ++i)
            rows.row(i) = (*this)(prefix.first(prefix.size() - static_cast<std::size_t>(count - 1 - i))).transpose();
        return rows;
    }

  private:
    double weight(const Rng& noise, std::uint32_t lane) const {
        const double u = noise.open_uniform(lane + 1);
        if (rows_ == RowKind::with_zeros && noise.uniform(lane + 1000) < 0.4) return 0;
        if (rows_ == RowKind::spanning) return std::pow(10, -300 * std::pow(u, 4));
        return rows_ == RowKind::peaked ? std::pow(u, 12) : -std::log(u);
    }

    Index vocab_;
    std::uint64_t seed_;
    RowKind rows_;
};

/// A model with slightly moved rows: (1 - epsilon) p + epsilon / vocab. As a draft of the model itself it makes every
/// acceptance a near tie.
template <class Model>
struct Nudged {
    Model model;
    double epsilon;

    Eigen::VectorXd operator()(std::span<const Token> prefix) const {
        const Eigen::VectorXd row = model(prefix);
        return (1 - epsilon) * row + Eigen::VectorXd::Constant(row.size(), epsilon / static_cast<double>(row.size()));
    }
};

}}}  // namespace specsample::testing
