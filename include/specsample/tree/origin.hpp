// Origins: what a drafted token was drawn from, as a value. tree/distribution.hpp has the same as types.
#pragma once

#include <concepts>
#include <optional>
#include <span>

#include <specsample/core/list_ref.hpp>
#include <specsample/rows/row.hpp>
#include <specsample/tree/point_mass.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

namespace detail {

/// Call f<Value>() with the type in which rows of a scalar are read.
template <class F>
decltype(auto) as_read(RowScalar scalar, F&& f) {
    if (scalar == RowScalar::f64) return f.template operator()<double>();
    return f.template operator()<float>();
}

struct OriginAccess;

}  // namespace detail

/// What a drafted token was drawn from. The caller says how a token was chosen: a Row does not become an Origin by
/// itself. draft_token and Origin::sampled make those that were drawn.
///
/// The row and the list of ids are borrowed and must outlive the round.
class Origin {
    enum class Kind { named, sampled, shared_noise };

  public:
    /// Say that the token was not drawn at random: argmax, lookup, beam, or of unknown origin.
    Origin(PointMass = {}) {}
    static Origin named() { return {}; }

    /// Say that the token was drawn with the target's own noise (Purpose::race), for match rules.
    static Origin shared_noise() {
        Origin origin;
        origin.kind_ = Kind::shared_noise;
        return origin;
    }

    /// Say that the token was drawn from this row, or from the row with some ids removed.
    ///
    /// If the row has logits whose normaliser is not stated, a round makes a pass over it where the token is judged,
    /// which draft_token saves.
    /// @param without   the ids that could not be drawn, inside the row
    /// @param rest      the sum of the row over all other ids, if it is known; otherwise finding it takes a pass, where
    ///                  it is needed
    /// @throws          std::invalid_argument for a rest that is negative, NaN or infinite
    static Origin sampled(const Row& row, ListRef<Token> without = {}, std::optional<double> rest = {}) {
        const double sum = rest ? *rest : -1;
        if (rest)
            detail::require(detail::is_finite(sum) && sum >= 0, "Origin::sampled", "rest", sum,
                            "a finite number of at least 0");
        return Origin(row, {without.data(), without.size()}, {.rest = sum});
    }

    bool is_named() const { return kind_ == Kind::named; }
    bool is_sampled() const { return kind_ == Kind::sampled; }
    bool is_shared_noise() const { return kind_ == Kind::shared_noise; }
    /// Return the row of a token that was sampled.
    const Row& row() const { return *row_; }

  private:
    friend detail::OriginAccess;

    Origin(const Row& row, std::span<const Token> without, const detail::DrawnMemory& drawn)
        : kind_(Kind::sampled), row_(row), without_(without), drawn_(drawn) {}

    Kind kind_ = Kind::named;
    std::optional<Row> row_{};
    std::span<const Token> without_{};
    detail::DrawnMemory drawn_{};
};

namespace detail {

/// A drafted token, and what it was drawn from.
struct DraftedValue {
    Token token = -1;  ///< -1 if nothing can be drawn
    Origin origin{};
};

/// What the tokens of a draft were drawn from: a list with one origin per token, or PointMass{} for all. Borrowed.
class Origins {
  public:
    Origins(PointMass) {}
    template <class List>
        requires std::convertible_to<const List&, std::span<const Origin>>
    Origins(const List& list) : list_(list), are_listed_(true) {}

    bool are_listed() const { return are_listed_; }
    std::span<const Origin> list() const { return list_; }

  private:
    std::span<const Origin> list_{};
    bool are_listed_ = false;
};

/// What an origin is made of, for verify/value_walks.hpp and drafters/draft_row.hpp.
struct OriginAccess {
    static std::span<const Token> without(const Origin& origin) { return origin.without_; }
    static const DrawnMemory& drawn(const Origin& origin) { return origin.drawn_; }
    static Origin origin(const Row& row, std::span<const Token> without, const DrawnMemory& drawn) {
        return Origin(row, without, drawn);
    }
};

}  // namespace detail

}}  // namespace specsample
