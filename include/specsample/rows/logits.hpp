// Rows of logits, read as probabilities that are never stored.
//
//     p(x) = exp(z(x) / T) / sum_y exp(z(y) / T)
//
//   Logits            a row of logits at a temperature
//   logits_of(rows)   several rows of logits at one temperature, or with the sums of each
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <limits>
#include <numbers>
#include <type_traits>
#include <utility>

#include <specsample/core/contract.hpp>
#include <specsample/core/eigen.hpp>
#include <specsample/core/list_ref.hpp>
#include <specsample/kernels/logit_weights.hpp>
#include <specsample/rows/owner.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

/// A row of logits at a temperature, accepted wherever a row of probabilities is.
///
///     verify(tokens, distributions, logits_of(rows, 0.8), rule, rng, limits, workspace);
///     auto model = [&](std::span<const Token> prefix) { return Logits(run(prefix), 0.8); };
///
/// A pipeline that shapes the row changes the logits before the temperature divides them; its filters read
/// probabilities at this temperature.
///
/// @tparam R   the logits: an owner (moved in), a view, or `const Owner&` for an owner that is only viewed: a callable
///             must not return the last kind
template <class R>
class Logits {
    static_assert(RowLike<R>,
                  "specsample::Logits: the first argument must be a row: an Eigen vector, std::vector or std::span of "
                  "float, double, Eigen::half or Eigen::bfloat16; for other types of 16 bits say which kind they hold, "
                  "as in std::span(reinterpret_cast<const Eigen::half*>(data), vocab)");
    using Stored = detail::StoredAs<R>;
    using View = detail::row_view_t<Stored>;
    using Value = detail::Compute<typename View::Scalar>;
    using Weights = kernels::LogitWeights<View>;

  public:
    static constexpr detail::RowForm form{.logits = true};
    static constexpr bool owns = detail::owns_part<R>;   ///< the row owns its logits: they are gone with it
    static constexpr bool borrows = detail::borrows<R>;  ///< the row views its logits
    /// Whether the function that makes the row may return it.
    static constexpr bool outlives_its_making = !std::is_reference_v<R> && detail::ReturnedRow<R>;
    using Owned = Logits<typename detail::CopyOf<View>::type>;

    Logits() = default;

    /// Take logits at a temperature; their normaliser is computed where it is needed.
    /// @param row           [vocab] logits; -inf is probability 0
    /// @param temperature   >= 0; 0 is the argmax, lowest id on ties
    /// @throws              std::invalid_argument for a negative or non-finite temperature
    template <class Given>
        requires(!std::same_as<std::remove_cvref_t<Given>, Logits>)
    explicit Logits(Given&& row, double temperature = 1)
        : row_(detail::store_row<R>(std::forward<Given>(row))), temperature_(temperature) {
        detail::require(detail::is_finite(temperature) && temperature >= 0, "Logits", "temperature", temperature,
                        "a finite number >= 0");
    }
    /// Take logits whose normaliser is known, so that no pass computes it.
    /// @param row           [vocab] logits; -inf is probability 0
    /// @param temperature   >= 0; 0 is the argmax, lowest id on ties
    /// @param log_sum_exp   ln sum exp(row / temperature)
    /// @throws              std::invalid_argument for a negative or non-finite temperature
    template <class Given>
    Logits(Given&& row, double temperature, double log_sum_exp) : Logits(std::forward<Given>(row), temperature) {
        is_known_ = true;
        log_sum_exp_ = log_sum_exp;
    }

    /// Take logits whose sums are known, so that no pass makes them: their normaliser is known, and drawing a token reads
    /// one block.
    /// @param row    [vocab] logits
    /// @param sums   of this row, at its temperature; borrowed
    /// @throws       std::invalid_argument for sums of a row of another size
    template <class Given>
    Logits(Given&& row, const kernels::LogitSums& sums) : Logits(std::forward<Given>(row), sums.temperature) {
        detail::require(sums.size == size(), "Logits", "the size of the row of sums", sums.size,
                        "that of the logits, " + detail::to_text(size()));
        sums_ = &sums;
    }
    template <class Given>
    Logits(Given&& row, const kernels::LogitSums&& sums) : Logits(std::forward<Given>(row), sums.temperature) {
        static_assert(sizeof(Given) == 0, "specsample::Logits: the sums are borrowed, and a temporary would be gone: "
                                          "give them a name");
    }

    Index size() const { return detail::row_size(row_); }
    double temperature() const { return temperature_; }
    static constexpr bool has_logits() { return true; }
    /// Return whether the caller gave the normaliser.
    bool is_normalised() const { return is_known_; }
    /// Return whether the caller gave the normaliser or the sums, so that probs() makes no pass.
    bool is_known() const { return is_known_ || sums_ != nullptr; }
    auto numbers() const& { return detail::as_row(row_); }

    /// Return the probabilities as an expression. They are not a distribution if the logits define none.
    /// @cost   one pass if the normaliser is not known
    auto probs() const& { return encoded(encoding()); }

    /// Return the row for a race, which needs the scale of the logits and no normaliser.
    /// @cost   O(1); at temperature 0 the pass of an argmax
    auto unnormalised() const& { return encoded(unnormalised_encoding()); }

    /// Return the row under an encoding that was computed before.
    auto encoded(const detail::Encoding<Value>& encoding) const& {
        return detail::Entries(numbers(), detail::EveryId{}, size(), encoding).row();
    }

    /// Return the weights that a token is drawn from. Their total gives the normaliser.
    /// @cost   one pass, unless their sums are known
    auto weights() const& { return sums_ != nullptr ? Weights(numbers(), *sums_, size()) : weights(nullptr); }
    /// Return these weights, and write the sums of their blocks.
    /// @param each   room for max_blocks sums, or null
    /// @cost         one pass
    auto weights(double* each) const& { return Weights(numbers(), temperature_, size(), {}, each); }

    // Deleted for a temporary that owns its numbers: the views would dangle.
    void numbers() && requires(owns) = delete;
    void probs() && requires(owns) = delete;
    void unnormalised() && requires(owns) = delete;
    void encoded(const detail::Encoding<Value>&) && requires(owns) = delete;
    void weights() && requires(owns) = delete;
    void weights(double*) && requires(owns) = delete;

    Index argmax() const { return specsample::kernels::argmax(numbers()); }

    detail::Encoding<Value> encoding() const {
        if (!is_known_ || temperature_ == 0) return weights().encoding();
        return detail::stated_encoding<Value>(temperature_, log_sum_exp_);
    }

    /// Return the encoding of the logits without a normaliser.
    detail::Encoding<Value> unnormalised_encoding() const {
        if (temperature_ == 0) return detail::Encoding<Value>::peak(argmax());
        return {0, detail::exponent_scale<Value>(temperature_), 1};
    }

    /// Copy this row to one that owns its memory.
    void copy_to(Owned& copy) const {
        detail::copy_row(numbers(), copy.row_);
        copy.temperature_ = temperature_;
        copy.is_known_ = is_known_;
        copy.log_sum_exp_ = log_sum_exp_;
    }

  private:
    template <class>
    friend class Logits;

    Stored row_;
    double temperature_ = 1;
    bool is_known_ = false;
    double log_sum_exp_ = 0;
    const kernels::LogitSums* sums_ = nullptr;
};

template <class Given, class... Rest>
Logits(Given&&, Rest...) -> Logits<detail::Part<Given>>;

namespace detail {

/// Return the sums of what is left of a row while ids are removed from it.
/// @cost   one pass; for logits, the pass that finds their normaliser
template <RowLike R>
auto rest_sums(const R& row) {
    return kernels::RestSums(as_row(row));
}
template <class R>
auto rest_sums(const Logits<R>& row) {
    if (row.is_known()) return kernels::RestSums(row.probs());
    std::array<double, max_blocks> each;
    const auto weights = row.weights(each.data());
    return kernels::RestSums(weights.probs(), each, weights.encoding().factor());
}

/// Rows of logits by position, over stored rows or over a callable that computes them.
/// @tparam Known   the temperature of all, or their sums by position
template <class Source, class Known = double>
class LogitRows {
  public:
    static constexpr bool outlives_its_making =
        !std::is_reference_v<Source> && (!EigenMatrix<Source> || EigenOwner<Source> || EigenView<Source>);

    LogitRows(Source&& source, const Known& known) : source_(std::forward<Source>(source)), known_(known) {}

    auto operator[](detail::Integer auto i) const&
        requires(is_supplied<Source>)
    {
        return Logits(element(source_, static_cast<Index>(i)), known_at(static_cast<Index>(i)));
    }
    /// Refuse a temporary list that owns its rows: the returned row would view memory that is gone with the list.
    void operator[](detail::Integer auto i) &&
        requires(is_supplied<Source> && owns_rows<Source>)
    = delete;
    auto operator()(Index i)
        requires(!is_supplied<Source>)
    {
        return Logits(element(source_, i), known_at(i));
    }
    std::size_t size() const
        requires Counted<Source> && is_supplied<Source>
    {
        return static_cast<std::size_t>(element_count(source_));
    }

  private:
    const auto& known_at(Index i) const {
        if constexpr (std::same_as<Known, double>) {
            return known_;
        } else {
            require(i < std::ssize(known_), "logits_of", "the number of sums", std::ssize(known_),
                    "one per row, above " + to_text(i));
            return known_[static_cast<std::size_t>(i)];
        }
    }

    Source source_;
    Known known_;
};
template <class Source, class Known>
inline constexpr bool owns_rows<LogitRows<Source, Known>> = owns_rows<Source>;

template <class Source>
struct LogitsOfArguments {
    static_assert(
        RowSource<Source>,
        "specsample::logits_of: the first argument must be several rows of floating point: a matrix, anything "
        "indexed [i] that gives a row, or a callable of i; of one row write Logits(row, temperature)");
};

}  // namespace detail

/// Read the rows of `source` as logits at a temperature, for verify.
/// @param source   a matrix, anything indexed [i], or a callable of i; an lvalue is borrowed
/// @edge           a negative or non-finite temperature is refused by Logits, and only where a row is read: then one
///                 request of a batch fails alone
template <class Source>
auto logits_of(Source&& source, double temperature = 1) {
    static_assert(sizeof(detail::LogitsOfArguments<Source>) > 0);
    if constexpr (detail::RowSource<Source>)
        return detail::LogitRows<Source>(std::forward<Source>(source), temperature);
}

/// Read the rows of `source` as logits whose sums are known.
///
///     verify(tokens, distributions, logits_of(rows, sums), rule, rng, limits, workspace);
///
/// @param sums   a list of the sums of each row, at the row's temperature; borrowed
/// @throws       std::invalid_argument where a row is read without sums, or with the sums of a row of another size
template <class Source, class Sums>
    requires(!std::convertible_to<Sums, double>)
auto logits_of(Source&& source, Sums&& sums) {
    using List = ListRef<kernels::LogitSums>;
    static_assert(std::constructible_from<List, Sums>,
                  "specsample::logits_of: the second argument must be a temperature, or a list of one "
                  "kernels::LogitSums per row: a std::vector, an array or a std::span");
    static_assert(sizeof(detail::LogitsOfArguments<Source>) > 0);
    if constexpr (std::constructible_from<List, Sums> && detail::RowSource<Source>)
        return detail::LogitRows<Source, List>(std::forward<Source>(source), List(std::forward<Sums>(sums)));
}

}}  // namespace specsample
