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

#include <bit>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>

#include <specsample/concepts.hpp>
#include <specsample/core/contract.hpp>
#include <specsample/core/fault.hpp>
#include <specsample/core/list_ref.hpp>
#include <specsample/kernels/draw.hpp>
#include <specsample/kernels/inspect.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

namespace detail {

/// What a row stores for a token, before any arithmetic: a row that has not changed gives the same bits again, however
/// the code that reads it is compiled. All weight on one token stays there whatever is stored, so there it is the
/// weight.
/// @returns   the bits of the number as a double, of a zero of either sign those of 0; all ones where nothing is stored
template <class View>
[[gnu::noinline]] std::uint64_t stored_bits(const View& row, Token token) {
    double number = 0;
    if constexpr (is_entries_row<View>) {
        const auto& entries = row.functor();
        const Index place = entries.ids().place_of(token);
        if (place < 0) return ~std::uint64_t{0};
        const bool is_peak = entries.encoding().is_peak();
        number = is_peak ? double{entries.weight(place)} : static_cast<double>(entries.numbers().coeff(place));
    } else {
        number = static_cast<double>(row.coeff(token));
    }
    return number == 0 ? 0 : std::bit_cast<std::uint64_t>(number);  // a computed 0 may come with either sign
}

/// A digest of a list of ids.
inline std::uint32_t digest_of(std::span<const Token> ids) {
    std::uint32_t digest = 0;
    for (const Token id : ids) digest = (digest ^ digest >> 15 ^ static_cast<std::uint32_t>(id)) * 0x9E37'79B1;
    return digest;
}

}  // namespace detail

/// The distribution of a token that was drawn from a row, possibly with some ids removed.
///
/// The row and the list of ids are borrowed and must outlive the round: a drafter that reuses its buffers needs one
/// per drafted row. `remember(token)` lets verify notice where it has none; draft_token and drafters do that.
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
        : row_(detail::as_row(row)), without_(without), rest_(rest.value_or(-1)) {
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
        return detail::is_among(without_, token) ? 0 : static_cast<double>(row_.coeff(token));
    }
    /// The sum of all weights.
    /// @cost   a pass, unless it was given
    double rest() const {
        if (rest_ >= 0) return rest_;
        if (without_.empty() && detail::sum_deviation(row_) == 0) return 1;
        return kernels::BlockSums(kernels::WithoutWeights(row_, without_)).total();
    }
    /// Whether it was given.
    bool knows_rest() const { return rest_ >= 0; }
    /// State it, as the draw found it; negative: it is not known.
    void know_rest(double rest) { rest_ = rest; }

    /// Remember that this token was drawn, and what the row stores for it: verify then compares.
    /// @cost   O(1), and a look at the removed ids
    /// @edge   a token outside the row is not remembered
    void remember(Token token) {
        if (token < 0 || token >= row_.size()) return;
        if constexpr (requires { row_.functor().numbers().remember(token); }) {
            row_.functor().numbers().remember(token);  // a slice: the rank that holds the entry compares it
        } else {
            drawn_bits_ = detail::stored_bits(row_, token);
        }
        drawn_ = token;
        removed_ = detail::digest_of(without_);
    }

    /// What has changed since a token was remembered: the row, the ids removed from it, or the token that is judged.
    /// @param token   the token that is judged, at this node
    std::optional<RowFault> change(Token token, Index node) const {
        if (drawn_ < 0) return std::nullopt;
        const auto fault = [&](Cause cause, double value, double bound) {
            return RowFault{Side::draft, cause, node, value, bound, drawn_};
        };
        if (token != drawn_) return fault(Cause::token_changed, token, drawn_);
        if (removed_ != detail::digest_of(without_)) return fault(Cause::removed_changed, 0, 0);
        if constexpr (!requires { row_.functor().numbers().remember(token); }) {
            const std::uint64_t bits = detail::stored_bits(row_, drawn_);
            const auto number = [](std::uint64_t of) { return ~of == 0 ? 0 : std::bit_cast<double>(of); };
            if (bits != drawn_bits_) return fault(Cause::row_changed, number(bits), number(drawn_bits_));
        }
        return std::nullopt;
    }

  private:
    View row_;
    std::span<const Token> without_{};
    double rest_ = -1;  ///< negative: not known
    std::uint64_t drawn_bits_ = 0;
    Token drawn_ = -1;           ///< the token that was remembered
    std::uint32_t removed_ = 0;  ///< the digest of the removed ids then
};

template <Row R>
Sampled(const R&) -> Sampled<detail::row_view_t<R>>;
template <Row R, class... Rest>
Sampled(const R&, ListRef<Token>, Rest...) -> Sampled<detail::row_view_t<R>>;

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
    void remember(Token token) {
        if (sampled_) sampled_->remember(token);
    }
    std::optional<RowFault> change(Token token, Index node) const {
        return sampled_ ? sampled_->change(token, node) : std::nullopt;
    }

  private:
    std::optional<Sampled<View>> sampled_{};
};

namespace detail {

/// The rest of a whole row from which a token was drawn, by the sum that the draw found: 1 for logits that were
/// normalised here; negative, not known, if nothing could be drawn.
template <class View>
double rest_of(const View& row, double sum) {
    if (sum_deviation(row) == 0) return 1;
    return is_positive(sum) ? sum : -1;
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

namespace detail {

/// True for a rule that shares the target's noise with its drafter.
template <class Rule>
inline constexpr bool shares_noise = requires { requires bool(Rule::shares_noise); };

}  // namespace detail

}}  // namespace specsample
