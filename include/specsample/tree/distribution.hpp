// Draft distributions: the distribution that a drafted token was drawn from, as a type.
//
//   Sampled{row}            drawn from exactly this row
//   Sampled{row, without}   drawn from the row with these ids removed: without replacement, or the random child of a
//                           greedy draft
//   PointMass               not drawn: argmax, n-gram, beam, retrieval, top-k children, a token selected by its own
//                           identity, or one of unknown origin
//   Mixed                   Sampled or PointMass, for trees whose nodes differ
//   SharedNoise             drawn with the target's own noise, for match rules, which compare tokens only
//
// Verifying a token against a row that it was not drawn from is the field's most repeated bug. It raises the acceptance
// rate, so no metric shows it. Here every token carries its own distribution.
//
// Rules that compare probabilities ask a distribution Q for:
//   distribution.weight(x), distribution.rest()   Q(x) = weight(x) / rest()
//   distribution.is_point()                       whether all mass is on one token
//   distribution.row(), distribution.without()    otherwise the row behind it, and the ids removed from the row
#pragma once

#include <concepts>
#include <optional>
#include <span>
#include <type_traits>

#include <specsample/concepts.hpp>
#include <specsample/core/contract.hpp>
#include <specsample/core/list_ref.hpp>
#include <specsample/kernels/draw.hpp>
#include <specsample/kernels/inspect.hpp>

namespace specsample {
inline namespace SPECSAMPLE_ABI {

/// The distribution of a token that was drawn from a row, possibly with some ids removed.
///
/// The row and the list of ids are borrowed and must outlive the round: a drafter that reuses its buffers needs one
/// per drafted row.
template <class View>
class Sampled {
  public:
    /// @param row   the probabilities that the token was drawn with
    template <Row R>
        requires std::same_as<detail::row_view_t<R>, View>
    explicit Sampled(const R& row) : row_(detail::as_row(row)) {}

    /// @param without   the ids that could not be drawn, inside the row
    /// @param rest      the sum of the row over all other ids, if the drafter knows it: a draw returns it. Without it,
    ///                  the sum takes one pass when it is needed, which for a whole row is seldom
    /// @throws          std::invalid_argument for a rest that is negative, NaN or infinite
    /// @edge            a rest below 2^-24, 0 among them, is too little to judge a token by: rules take the token for a
    ///                  point mass, which is exact (least_rest in verify/distributions.hpp)
    template <Row R>
        requires std::same_as<detail::row_view_t<R>, View>
    Sampled(const R& row, ListRef<Token> without, std::optional<double> rest = {})
        : row_(detail::as_row(row)), without_(without), rest_(rest) {
        const double sum = rest.value_or(0);
        detail::require(detail::is_finite(sum) && sum >= 0, "Sampled", "rest", sum, "a finite number of at least 0");
    }

    /// A temporary row is refused: it would be gone before the round ends. Keep it in a variable.
    template <Row R>
        requires detail::owns<R>
    explicit Sampled(const R&& row) = delete;
    template <Row R>
        requires detail::owns<R>
    Sampled(const R&& row, ListRef<Token> without, std::optional<double> rest = {}) = delete;

    static constexpr bool is_point() { return false; }
    const View& row() const { return row_; }
    std::span<const Token> without() const { return without_; }

    /// The entry of a token in the row; 0 for an id that was removed.
    double weight(Index token) const {
        return std::ranges::find(without_, token) == without_.end() ? static_cast<double>(row_.coeff(token)) : 0;
    }
    /// The sum of all weights.
    /// @cost   a pass, unless it was given
    double rest() const {
        if (rest_) return *rest_;
        return kernels::BlockSums(kernels::WithoutWeights(row_, without_)).total();
    }
    /// Whether it was given.
    bool knows_rest() const { return rest_.has_value(); }

  private:
    View row_;
    std::span<const Token> without_{};
    std::optional<double> rest_{};
};

template <Row R>
Sampled(const R&) -> Sampled<detail::row_view_t<R>>;
template <Row R, class... Rest>
Sampled(const R&, ListRef<Token>, Rest...) -> Sampled<detail::row_view_t<R>>;

/// The distribution of a token drawn from a row of type R: what an engine keeps a list of while it drafts.
///
///     std::vector<SampledFrom<decltype(q[0])>> distributions;
template <Row R>
using SampledFrom = Sampled<detail::row_view_t<R>>;

/// The distribution of a token that was not drawn at random, or of unknown origin: all mass on the token itself.
///
/// It is exact for any origin; the token is accepted with probability p(x).
struct PointMass {
    static constexpr bool is_point() { return true; }
    static double weight(Index) { return 1; }
    static double rest() { return 1; }
};

/// A Sampled or a PointMass, for trees whose nodes differ.
template <class View>
class Mixed {
  public:
    Mixed(PointMass = {}) {}
    Mixed(const Sampled<View>& distribution) : sampled_(distribution) {}

    bool is_point() const { return !sampled_; }
    const View& row() const { return sampled_->row(); }
    std::span<const Token> without() const { return sampled_->without(); }
    double weight(Index token) const { return sampled_ ? sampled_->weight(token) : 1; }
    double rest() const { return sampled_ ? sampled_->rest() : 1; }
    bool knows_rest() const { return !sampled_ || sampled_->knows_rest(); }

  private:
    std::optional<Sampled<View>> sampled_{};
};

namespace detail {

/// The distribution of a token that was drawn from a whole row, and the sum that the draw found.
template <class View>
Sampled<View> drawn_from(const View& row, double sum) {
    if (sum_deviation(row) == 0 || !is_positive(sum)) return Sampled<View>(row);
    return Sampled<View>(row, {}, sum);
}

/// The type of distribution that two types convert to; void where there is none.
template <class A, class B>
struct EitherDistribution {
    using type =
        std::conditional_t<std::convertible_to<A, B>, B, std::conditional_t<std::convertible_to<B, A>, A, void>>;
};
template <class View>
struct EitherDistribution<PointMass, Sampled<View>> {
    using type = Mixed<View>;
};
template <class View>
struct EitherDistribution<Sampled<View>, PointMass> {
    using type = Mixed<View>;
};

}  // namespace detail

/// The distribution of a token that was drawn with the target's own noise (Purpose::race).
///
/// The token is a function of that noise, so a rule that compares probabilities would be biased. Match rules compare
/// tokens only; a draft for them may therefore mix such tokens with point masses.
struct SharedNoise {
    SharedNoise() = default;
    SharedNoise(PointMass) {}
};

}  // inline namespace
}  // namespace specsample
