// Rows of logits, read as probabilities that are never stored.
//
//     p(x) = exp(z(x) / T) / sum_y exp(z(y) / T)
//
//   Logits            a row of logits at a temperature
//   LogitWeights      exp((z - pivot) / T), summed in one pass: a token is drawn from them without a normaliser
//   log_sum_exp(row)  ln sum exp(z / T)
#pragma once

#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <type_traits>
#include <utility>

#include <specsample/concepts.hpp>
#include <specsample/core/contract.hpp>
#include <specsample/core/rows.hpp>
#include <specsample/kernels/argmax.hpp>
#include <specsample/kernels/draw.hpp>

namespace specsample::inline SPECSAMPLE_ABI {
namespace detail {

/// The type by which a row stores a row that it is given: an owner given by value is moved in, anything else is viewed.
/// For a viewed owner it is `const Owner&`, which says that the view may dangle.
template <class Given>
using Part =
    std::conditional_t<std::is_lvalue_reference_v<Given> &&
                           (EigenOwner<std::remove_cvref_t<Given>> ||
                            (ContiguousRow<std::remove_cvref_t<Given>> && !is_span<std::remove_cvref_t<Given>>)),
                       const std::remove_cvref_t<Given>&, std::remove_cvref_t<Given>>;

template <class R>
using PartStored = std::conditional_t<std::is_reference_v<R>, row_view_t<R>, std::remove_cvref_t<R>>;

template <class R, class Given>
PartStored<R> store_part(Given&& given) {
    if constexpr (std::is_reference_v<R>) {
        return as_row(given);
    } else {
        return std::forward<Given>(given);
    }
}

/// The largest number at the places [first, first + count); -inf if there are none.
template <class View>
double largest(const Blocks<View>& numbers, Index first, Index count) {
    using Value = typename Blocks<View>::Value;
    typename Blocks<View>::Buffer buffer;
    Value most = -std::numeric_limits<Value>::infinity();
    for_blocks(first, count, [&](Index begin, Index n) {
        most = std::max(
            most,
            Eigen::Map<const Eigen::Array<Value, Eigen::Dynamic, 1>>(numbers.read(begin, n, buffer), n).maxCoeff());
    });
    return static_cast<double>(most);
}

/// log2(e) / T, clamped to the positive normal numbers of the scalar, because 0 * inf is NaN.
template <class Value>
double exponent_scale(double temperature) {
    return std::clamp(std::numbers::log2e / temperature, double{std::numeric_limits<Value>::min()},
                      double{std::numeric_limits<Value>::max()});
}

}  // namespace detail

namespace kernels {

/// The weights exp((z - pivot) / T) of logits, summed.
///
/// The pivot is the largest logit of the first block, which is near the largest of all and costs no pass to find. If it
/// is so far off that the sum overflows or underflows, the pass is made again with the largest of all. At T = 0 all
/// weight is on the largest logit, the lowest id on ties.
///
/// @cost   one pass, rarely three; at T = 0 the pass of an argmax
/// @edge   logits that name no distribution (a NaN, +inf, all -inf) have no positive total
template <class View, class Ids = detail::EveryId>
class LogitWeights {
    using Value = detail::Compute<typename View::Scalar>;
    using Encoding = detail::Encoding<Value>;
    using Entries = detail::Entries<View, Ids>;

  public:
    /// Sum the weights of the logits of `ids`, by default of every id of the vocabulary.
    LogitWeights(const View& logits, double temperature, Index vocab, const Ids& ids = {})
        : entries_(logits, ids, vocab, {}) {
        if (temperature == 0) {
            sum(Encoding::peak(argmax(logits)));
            return;
        }
        scale_ = detail::exponent_scale<Value>(temperature);
        const detail::Blocks numbers(logits);
        sum_from(detail::largest(numbers, 0, std::min(detail::block_size, numbers.size())));
        // The pivot itself weighs 1, unless the first block is all masked: then the other weights may underflow.
        constexpr double too_large = 0x1p64;  // its inverse must be a normal number
        if (!(total() >= 1 && total() < too_large)) sum_from(detail::largest(numbers, 0, numbers.size()));
    }

    // Weights.
    Index size() const { return sums_->size(); }
    Index id(Index place) const { return sums_->id(place); }
    double operator[](Index place) const { return (*sums_)[place]; }
    double sum(Index first, Index count) const { return sums_->sum(first, count); }
    double total() const { return sums_->total(); }
    Index pick(double u) const { return sums_->pick(u); }

    /// The encoding of the probabilities, which are the weights divided by their total.
    Encoding encoding() const { return scale_ == 0 ? entries_.encoding() : Encoding(pivot_, scale_, 1 / total()); }
    auto probs() const {
        Entries entries = entries_;
        entries.mean(encoding());
        return entries.row();
    }

    /// ln sum exp(z / T)
    double log_sum_exp() const { return (pivot_ * scale_ + std::log2(total())) * std::numbers::ln2; }

  private:
    void sum_from(double pivot) {
        pivot_ = detail::is_finite(pivot) ? pivot : 0;
        sum({pivot_, scale_, 1});
    }
    void sum(const Encoding& encoding) {
        entries_.mean(encoding);
        sums_.emplace(RowWeights(entries_.row()));
    }

    Entries entries_;
    double scale_ = 0;
    double pivot_ = 0;
    std::optional<BlockSums<RowWeights<decltype(std::declval<const Entries&>().row())>>> sums_;
};
}  // namespace kernels

/// A row of logits at a temperature, accepted wherever a row of probabilities is.
///
///     verify(tokens, distributions, logits_of(rows, 0.8), rule, rng, limits, workspace);
///     auto model = [&](std::span<const Token> prefix) { return Logits(run(prefix), 0.8); };
///
/// @tparam R   the logits: an owner (moved in), a view, or `const Owner&` for a viewed owner, which a callable must not
///             return
template <class R>
class Logits {
    using Stored = detail::PartStored<R>;
    using View = detail::row_view_t<Stored>;
    using Value = detail::Compute<typename View::Scalar>;

  public:
    static constexpr bool borrows = !detail::owns<Stored>;  ///< the logits are viewed, not owned
    /// True if the row may be returned by the function that makes it.
    static constexpr bool outlives_its_making =
        !std::is_reference_v<R> && (!borrows || detail::EigenView<Stored> || detail::is_span<Stored>);
    using Kept = Logits<typename detail::OwnedRow<View>::type>;

    Logits() = default;

    /// Logits at a temperature; their normaliser is found when it is needed.
    /// @param row           [vocab] logits; -inf is probability 0
    /// @param temperature   >= 0; 0 is the argmax, lowest id on ties
    /// @throws              std::invalid_argument for a negative or non-finite temperature
    template <class Given>
        requires(!std::same_as<std::remove_cvref_t<Given>, Logits>)
    explicit Logits(Given&& row, double temperature = 1)
        : row_(detail::store_part<R>(std::forward<Given>(row))), temperature_(temperature) {
        detail::require(detail::is_finite(temperature) && temperature >= 0, "Logits", "temperature", temperature,
                        "a finite number >= 0");
    }
    /// Logits whose normaliser is known, so that no pass looks for it.
    /// @param row           [vocab] logits; -inf is probability 0
    /// @param temperature   >= 0; 0 is the argmax, lowest id on ties
    /// @param log_sum_exp   ln sum exp(row / temperature)
    /// @throws              std::invalid_argument for a negative or non-finite temperature
    template <class Given>
    Logits(Given&& row, double temperature, double log_sum_exp) : Logits(std::forward<Given>(row), temperature) {
        is_known_ = true;
        log_sum_exp_ = log_sum_exp;
    }

    Index size() const { return detail::row_size(row_); }
    double temperature() const { return temperature_; }
    auto numbers() const { return detail::as_row(row_); }

    /// The probabilities, as an expression. They are not a distribution if the logits define none.
    /// @cost   one pass if the normaliser is not known
    auto probs() const { return detail::Entries(numbers(), detail::EveryId{}, size(), encoding()).row(); }

    /// The weights that a token is drawn from. They know the normaliser.
    /// @cost   one pass
    auto weights() const { return kernels::LogitWeights<View>(numbers(), temperature_, size()); }

    Index argmax() const { return specsample::kernels::argmax(numbers()); }

    detail::Encoding<Value> encoding() const {
        if (!is_known_ || temperature_ == 0) return weights().encoding();
        const double scale = detail::exponent_scale<Value>(temperature_);
        const double pivot = static_cast<double>(static_cast<Value>(log_sum_exp_ * temperature_));
        const double factor = std::exp2((pivot / temperature_ - log_sum_exp_) * std::numbers::log2e);
        return detail::Encoding<Value>(pivot, scale, factor).as_given();
    }

    /// Copy this row to one that owns its memory.
    void keep_in(Kept& kept) const {
        detail::OwnedRow<View>::keep(kept.row_, numbers());
        kept.temperature_ = temperature_;
        kept.is_known_ = is_known_;
        kept.log_sum_exp_ = log_sum_exp_;
    }

  private:
    template <class>
    friend class Logits;

    Stored row_;
    double temperature_ = 1;
    bool is_known_ = false;
    double log_sum_exp_ = 0;
};

template <class Given, class... Rest>
Logits(Given&&, Rest...) -> Logits<detail::Part<Given>>;

namespace kernels {

/// ln sum_x exp(z(x)) of a row of logits; of Logits at temperature T, ln sum_x exp(z(x) / T).
/// @cost   one pass
/// @edge   -inf if all are masked, NaN for a row that defines no distribution
template <Row R>
double log_sum_exp(const R& logits) {
    return Logits(logits).weights().log_sum_exp();
}

/// The weights that a row is drawn from: the row itself, or the weights of its logits, which need no normaliser.
template <Row R>
auto row_weights(const R& row) {
    if constexpr (requires { row.weights(); }) {
        return row.weights();
    } else {
        return RowWeights(detail::as_row(row));
    }
}

/// The probabilities of a row whose weights were summed by a draw.
template <Row R, Weights W>
detail::row_view_t<R> probs_of(const R& row, const W& weights) {
    if constexpr (requires { weights.probs(); }) {
        return weights.probs();
    } else {
        return detail::as_row(row);
    }
}
}  // namespace kernels

namespace detail {

/// Rows of logits by position, all at one temperature, over stored rows or over a callable that computes them.
template <class Source>
class LogitRows {
  public:
    static constexpr bool outlives_its_making =
        !std::is_reference_v<Source> && (!EigenMatrix<Source> || EigenOwner<Source> || EigenView<Source>);

    LogitRows(Source&& source, double temperature) : source_(std::forward<Source>(source)), temperature_(temperature) {}

    auto operator[](std::size_t i) const
        requires(is_supplied<Source>)
    {
        return Logits(element(source_, static_cast<Index>(i)), temperature_);
    }
    auto operator()(Index i)
        requires(!is_supplied<Source>)
    {
        return Logits(element(source_, i), temperature_);
    }
    std::size_t size() const
        requires requires(const Source& source) { element_count(source).has_value(); } && is_supplied<Source>
    {
        return static_cast<std::size_t>(*element_count(source_));
    }

  private:
    Source source_;
    double temperature_;
};

}  // namespace detail

/// The rows of logits of `source` at a temperature, for verify.
/// @param source   a matrix, anything indexed [i], or a callable of i; an lvalue is borrowed
template <class Source>
    requires detail::RowSource<Source>
auto logits_of(Source&& source, double temperature = 1) {
    return detail::LogitRows<Source>(std::forward<Source>(source), temperature);
}

}  // namespace specsample
