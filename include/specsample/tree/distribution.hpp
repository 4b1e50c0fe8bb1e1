// The distribution of a drafted token: the distribution it was really drawn from, as a type.
//
//   Sampled{row}            drawn from exactly this row
//   Sampled{row, without}   drawn from it with these ids removed: without replacement, or the random child of a
//                           greedy draft
//   PointMass               not drawn: argmax, n-gram, beam, retrieval, top-k children, anything of unknown origin,
//                           anything that was selected by its own identity
//   Mixed                   one of these, for trees whose nodes differ
//   SharedNoise                   drawn with the target's own noise: for match rules, which do not look at
//   distributions
//
// Judging a token by a row that it was not drawn from is the field's most repeated bug. It raises the acceptance
// rate, so no metric shows it; here it cannot be written down.
//
// What a ratio rule needs of a distribution Q:
//   distribution.weight(x), distribution.rest()    Q(x) = weight(x) / rest
//   distribution.is_point()               is all of it on one token?
//   distribution.row(), distribution.without()     otherwise: the row behind it, and the ids removed from that
#pragma once

#include <concepts>
#include <optional>
#include <span>
#include <type_traits>

#include <specsample/concepts.hpp>
#include <specsample/core/contract.hpp>
#include <specsample/core/list_ref.hpp>
#include <specsample/kernels/weights.hpp>

namespace specsample {

/// The token was drawn from `row` by chance, `without` some ids. Both are borrowed, never copied, and must outlive the
/// round: a drafter that reuses its buffer must keep every row of a lookahead apart.
template <class View>
class Sampled {
  public:
    template <Row R>
        requires std::same_as<detail::row_view_t<R>, View>
    explicit Sampled(const R& row) : row_(detail::as_row(row)) {}

    /// @param without   ids that could not be drawn, inside the row
    /// @param rest      the sum of the row over all others, where the drafter knows it: a draw returns it. Summed
    ///                  when it is needed otherwise, one pass
    template <Row R>
        requires std::same_as<detail::row_view_t<R>, View>
    Sampled(const R& row, ListRef<Token> without, std::optional<double> rest = {})
        : row_(detail::as_row(row)), without_(without), rest_(rest) {
        detail::require(!rest || detail::is_positive(*rest), "Sampled", "rest", rest.value_or(1), "a positive number");
    }

    /// A row that would be gone: keep it in a variable for as long as the round lasts.
    template <Row R>
        requires detail::owns<R>
    explicit Sampled(const R&& row) = delete;
    template <Row R>
        requires detail::owns<R>
    Sampled(const R&& row, ListRef<Token> without, std::optional<double> rest = {}) = delete;

    static constexpr bool is_point() { return false; }
    const View& row() const { return row_; }
    std::span<const Token> without() const { return without_; }

    double weight(Index token) const {
        return std::ranges::find(without_, token) == without_.end() ? static_cast<double>(row_.coeff(token)) : 0;
    }
    double rest() const {
        if (without_.empty()) return 1;
        if (rest_) return *rest_;
        const kernels::WithoutWeights left(row_, without_);
        return left.sum(0, left.size());  // by place: a sparse row holds fewer than there are ids
    }

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

/// The token was not drawn by chance, or nobody knows how: all mass on the token itself. Exact for any origin;
/// accepts with probability p(x).
struct PointMass {
    static constexpr bool is_point() { return true; }
    static double weight(Index) { return 1; }
    static double rest() { return 1; }
};

/// Either of the two, node by node.
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

  private:
    std::optional<Sampled<View>> sampled_{};
};

namespace detail {

/// A distribution that can say what either of two says; void where none can.
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

/// The token was drawn with the target's own noise (Purpose::race). The draw is a function of that noise, so no ratio
/// of probabilities can judge it: a match rule must, and it does not look at distributions. So a token that was named
/// may stand beside those that were raced.
struct SharedNoise {
    SharedNoise() = default;
    SharedNoise(PointMass) {}
};

}  // namespace specsample
