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
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>

#include <specsample/concepts.hpp>
#include <specsample/core/bits.hpp>
#include <specsample/core/contract.hpp>
#include <specsample/core/fault.hpp>
#include <specsample/core/list_ref.hpp>
#include <specsample/core/rule_claim.hpp>
#include <specsample/kernels/draw.hpp>
#include <specsample/kernels/inspect.hpp>
#include <specsample/tree/point_mass.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

namespace detail {

/// Return what a row stores for a token, before any arithmetic: an unchanged row gives the same bits again, however the
/// code that reads it is compiled. A row with all weight on one token gives the weight, because the numbers stored do
/// not matter there.
/// @returns   the bits of the number as a double, 0 for a zero of either sign; all ones if nothing is stored
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
    return number == 0 ? 0 : detail::bit_cast<std::uint64_t>(number);  // a computed 0 may come with either sign
}

/// Compute a digest of a list of ids.
inline std::uint32_t digest_of(std::span<const Token> ids) {
    std::uint32_t digest = 0;
    for (const Token id : ids) digest = (digest ^ digest >> 15 ^ static_cast<std::uint32_t>(id)) * 0x9E37'79B1;
    return digest;
}

}  // namespace detail

/// The distribution of a token that was drawn from a row, possibly with some ids removed.
///
/// The row and the list of ids are borrowed and must outlive the round, so a drafter needs one buffer per drafted row.
/// `remember(token)` lets verify detect a buffer that was written again; draft_token and the drafters call it.
template <class View>
class Sampled {
  public:
    /// @param row   the probabilities that the token was drawn with
    template <RowLike R>
        requires std::same_as<detail::row_view_t<R>, View>
    explicit Sampled(const R& row) : row_(detail::as_row(row)) {}

    /// @param without   the ids that could not be drawn, inside the row
    /// @param rest      the sum of the row over all other ids, if the drafter knows it: a draw returns it. If it is not
    ///                  given, finding it takes one pass when it is needed, which is seldom for a whole row
    /// @throws          std::invalid_argument for a rest that is negative, NaN or infinite
    /// @edge            a rest below 2^-24, including 0, is too small to judge a token by: rules take the token for a
    ///                  point mass, which is exact (least_rest in verify/lists.hpp)
    template <RowLike R>
        requires std::same_as<detail::row_view_t<R>, View>
    Sampled(const R& row, ListRef<Token> without, std::optional<double> rest = {})
        : row_(detail::as_row(row)), without_(without) {
        const double sum = drawn_.rest = rest.value_or(-1);
        detail::require(!rest || (detail::is_finite(sum) && sum >= 0), "Sampled", "rest", sum,
                        "a finite number of at least 0");
    }

    /// Refuse a temporary row, which would be gone before the round ends. Keep it in a variable.
    template <RowLike R>
        requires detail::owns<R>
    explicit Sampled(const R&& row) = delete;
    template <RowLike R>
        requires detail::owns<R>
    Sampled(const R&& row, ListRef<Token> without, std::optional<double> rest = {}) = delete;

    /// Take up what another distribution of the same row remembers.
    template <RowLike R>
    Sampled(const R& row, std::span<const Token> without, const detail::DrawnMemory& drawn)
        : row_(detail::as_row(row)), without_(without), drawn_(drawn) {}

    static constexpr bool is_point() { return false; }
    const View& row() const { return row_; }
    std::span<const Token> without() const { return without_; }
    /// Return what is remembered of the token.
    const detail::DrawnMemory& drawn() const { return drawn_; }

    /// Return the entry of a token in the row; 0 for an id that was removed.
    double weight(Index token) const {
        return detail::is_among(without_, token) ? 0 : static_cast<double>(row_.coeff(token));
    }
    /// Return the sum of all weights.
    /// @cost   one pass; none if the sum was given, or for a whole row of logits whose normaliser this library found
    double rest() const {
        if (drawn_.rest >= 0) return drawn_.rest;
        if (without_.empty() && detail::sum_deviation(row_) == 0) return 1;
        return kernels::total_of(kernels::WithoutWeights(row_, without_));
    }
    /// Tell whether the sum of all weights is known.
    bool knows_rest() const { return drawn_.rest >= 0; }
    /// Set the sum of all weights, as a draw found it; negative if it is not known.
    void know_rest(double rest) { drawn_.rest = rest; }

    /// Remember that this token was drawn, and what the row stores for it. verify compares both later.
    /// @cost   O(1), and one look at each removed id
    /// @edge   a token outside the row is not remembered
    void remember(Token token) {
        if (token < 0 || token >= row_.size()) return;
        if constexpr (detail::Blocks<View>::is_split)
            row_.functor().numbers().remember(token);  // a slice: the rank that holds the entry compares it
        else
            drawn_.bits = detail::stored_bits(row_, token);
        drawn_.token = token;
        drawn_.removed = detail::digest_of(without_);
    }

    /// Return what has changed since a token was remembered: the row, the ids removed from it, or the token that is
    /// judged.
    /// @param token   the token that is judged, at this node
    std::optional<RowFault> change(Token token, Index node) const {
        if (drawn_.token < 0) return std::nullopt;
        const auto fault = [&](Cause cause, double value, double bound) {
            return RowFault{Side::draft, cause, node, value, bound, drawn_.token};
        };
        if (token != drawn_.token) return fault(Cause::token_changed, token, drawn_.token);
        if (drawn_.removed != detail::digest_of(without_)) return fault(Cause::removed_changed, 0, 0);
        if constexpr (!detail::Blocks<View>::is_split) {
            const std::uint64_t bits = detail::stored_bits(row_, drawn_.token);
            const auto number = [](std::uint64_t of) { return ~of == 0 ? 0 : detail::bit_cast<double>(of); };
            if (bits != drawn_.bits) return fault(Cause::row_changed, number(bits), number(drawn_.bits));
        }
        return std::nullopt;
    }

  private:
    View row_;
    std::span<const Token> without_{};
    detail::DrawnMemory drawn_{};
};

template <RowLike R>
Sampled(const R&) -> Sampled<detail::row_view_t<R>>;
template <RowLike R, class... Rest>
Sampled(const R&, ListRef<Token>, Rest...) -> Sampled<detail::row_view_t<R>>;

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

/// Return the rest of a whole row, given the sum that a draw from it found: 1 for logits whose normaliser this library
/// found; negative (not known) if nothing could be drawn.
template <class View>
double rest_of(const View& row, double sum) {
    if (sum_deviation(row) == 0) return 1;
    return is_positive(sum) ? sum : -1;
}

}  // namespace detail

}}  // namespace specsample
