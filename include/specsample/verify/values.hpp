// verify for rows and origins that are values. verify/verify.hpp says what it does.
#pragma once

#include <algorithm>
#include <concepts>
#include <optional>
#include <span>

#include <specsample/core/tree.hpp>
#include <specsample/random/rng.hpp>
#include <specsample/tree/origin.hpp>
#include <specsample/verify/verify.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

namespace detail {

/// The target's rows as a walk reads them. Row 0 was asked for already, to see what its scalar is.
template <class Value>
class RowValueList {
  public:
    RowValueList(const Rows& rows, const std::optional<Row>& first) : rows_(rows), first_(first) {}

    /// @throws   std::invalid_argument for a row of doubles that a callable made after rows of floats
    [[gnu::noinline]] RowView<Value> operator()(Index i) const {
        if (const Row* row = rows_.listed(i)) return RowView<Value>(*row);
        if (i == 0 && first_) {
            const Row row = *first_;
            first_.reset();
            return {row, typename RowView<Value>::Made{}};
        }
        const Row row = rows_[i];
        if (sizeof(Value) < sizeof(double) && row.scalar() == RowScalar::f64)
            invalid("verify", "the scalar of row " + to_text(i), "f64", "that of row 0, which is read as floats");
        return {row, typename RowView<Value>::Made{}};
    }

    Index count() const { return rows_.count(); }

  private:
    const Rows& rows_;
    mutable std::optional<Row> first_;
};

template <class Value>
bool rows_exist(const RowValueList<Value>& rows) {
    return rows.count() >= 0;
}
template <class Value>
std::optional<Index> element_count(const RowValueList<Value>& rows) {
    if (rows.count() < 0) return std::nullopt;
    return rows.count();
}

/// The origins of a draft of `size` tokens, as distributions.
template <class Value>
class OriginList {
  public:
    OriginList(const Origins& origins, std::size_t size)
        : origins_(origins), size_(origins.are_listed() ? origins.list().size() : size) {}

    auto operator[](std::size_t node) const {
        static const Origin named;
        return OriginAccess::distribution<Value>(origins_.are_listed() ? origins_.list()[node] : named);
    }
    std::size_t size() const { return size_; }

  private:
    const Origins& origins_;
    std::size_t size_;
};

/// Judge a draft of values. Every row is read as `Value`.
template <class Value, class Rule>
Round judge_values(std::span<const Token> tokens, const Links& shape, const Origins& origins, const Rows& rows,
                   const std::optional<Row>& first, const Rule& rule, const RoundRng& rng, const RoundLimits& limits,
                   RoundMemory& memory) {
    const RowValueList<Value> target(rows, first);
    if constexpr (shares_noise<Rule>) {
        if (origins.are_listed() &&
            origins.list().size() != tokens.size())  // is no list for the rule, which reads none
            return {.proposed = shape.size(),
                    .fault = RowFault{.side = Side::draft,
                                      .cause = Cause::wrong_count,
                                      .value = static_cast<double>(origins.list().size()),
                                      .bound = static_cast<double>(tokens.size())}};
        const SharedNoise all;
        return judge_plain(tokens, shape, all, target, rule, rng, limits, memory);
    } else {
        const OriginList<Value> list(origins, tokens.size());
        return judge_plain(tokens, shape, list, target, rule, rng, limits, memory);
    }
}

/// Refuse an origin that a rule cannot judge.
/// @param shares_noise      whether the rule shares the target's noise with its drafter
/// @param compares_tokens   whether it compares tokens, and no probabilities
inline void require_origins(const Origins& origins, bool shares_noise, bool compares_tokens) {
    for (std::size_t i = 0; i < origins.list().size(); ++i) {
        const Origin& origin = origins.list()[i];
        if (shares_noise && origin.is_sampled())
            invalid("verify", "origins[" + to_text(i) + "]", "sampled, for a rule that shares the target's noise",
                    "that of draft_token(rule, ..), or named");
        if (!compares_tokens && origin.is_shared_noise())
            invalid("verify", "origins[" + to_text(i) + "]", "shared_noise, which has no ratio",
                    "sampled(row), or the rule a match rule (GumbelMatch)");
    }
}

/// Tell whether a round of values has doubles, so that all of its rows are read as doubles.
inline bool has_doubles(const Origins& origins, const Rows& rows, const std::optional<Row>& first) {
    const auto is_wide = [](const Row& row) { return row.scalar() == RowScalar::f64; };
    if (first && is_wide(*first)) return true;
    for (Index i = 1; i < rows.count(); ++i)
        if (is_wide(rows[i])) return true;
    return std::ranges::any_of(origins.list(), [&](const Origin& origin) {
        return origin.is_sampled() && is_wide(*OriginAccess::row(origin));
    });
}

template <class Tokens>
inline constexpr bool are_tokens = std::convertible_to<const Tokens&, std::span<const Token>>;
template <class Parent>
inline constexpr bool are_tokens<Tree<Token, Parent>> = true;

/// Whether verify takes these arguments as values.
template <class Tokens, class Given, class R, class Source>
concept ValueArguments = are_tokens<Tokens> && std::convertible_to<Given, const Origins&> &&
                         std::convertible_to<R, const Rows&> && std::same_as<Source, RoundRng>;

/// Judge a draft of values over the links of its tree.
template <class Rule>
Round verify_values(std::span<const Token> tokens, const Links& shape, const Origins& origins, const Rows& rows,
                    const Rule& rule, const RoundRng& rng, const RoundLimits& limits, RoundMemory& memory) {
    static_assert(RuleClaim<Rule>,
                  "specsample::verify: the fourth argument must be a rule: TokenVerification{}, another of the "
                  "library's, or your own (verify/rule.hpp)");
    require_memory("verify", "tokens", tokens);
    require_origins(
        origins, shares_noise<Rule>, requires { Rule::decision; });
    const std::optional<Row> first = rows.count() == 0 ? std::optional<Row>() : rows[0];
    const auto judged = has_doubles(origins, rows, first) ? judge_values<double, Rule> : judge_values<float, Rule>;
    return judged(tokens, shape, origins, rows, first, rule, rng, limits, memory);
}

}  // namespace detail

/// Judge a draft whose rows and origins are values: for engines, whose rows differ at run time, for programs that link
/// specsample::compiled, and wherever compiling fast counts more than the last hundredth of speed.
///
/// The text is that of the same rows given as types, except that all rows are read as doubles if one of them is.
///
/// @param tokens      [K] drafted tokens
/// @param origins     [K] what each was drawn from, or PointMass{} for all
/// @param rows        [K + 1] the target's rows
/// @throws            std::invalid_argument as verify of types does; for an origin that the rule cannot judge; and for
///                    a callable that makes a row of doubles after rows of floats
/// @cost              that of the rule, and about half a microsecond per round more than for rows that are types; rows
///                    of 16 bits take up to a third longer
template <class Rule>
[[nodiscard]] Round verify(std::span<const Token> tokens, const detail::Origins& origins, const Rows& rows,
                           const Rule& rule, const RoundRng& rng, const RoundLimits& limits, Workspace& workspace) {
    detail::RoundMemory& memory = detail::memory_of(workspace);
    return detail::verify_values(tokens, memory.chain(std::ssize(tokens)), origins, rows, rule, rng, limits, memory);
}
/// Judge a token tree whose rows and origins are values.
/// @throws   std::invalid_argument also if a parent is not -1 or an earlier node, or there are not as many parents as
///           tokens
template <class Parent, class Rule>
[[nodiscard]] Round verify(const Tree<Token, Parent>& tree, const detail::Origins& origins, const Rows& rows,
                           const Rule& rule, const RoundRng& rng, const RoundLimits& limits, Workspace& workspace) {
    detail::require_none(detail::refusal_of_sizes(tree.tokens.size(), tree.parents.size()));
    detail::RoundMemory& memory = detail::memory_of(workspace);
    return detail::verify_values(tree.tokens, memory.tree(tree.parents), origins, rows, rule, rng, limits, memory);
}

/// Say what goes with rows that are values.
template <class Tokens, class Given, class R, class Rule, class Source>
    requires(detail::RowValues<R> && !detail::ValueArguments<Tokens, Given, R, Source>)
Round verify(const Tokens&, Given&&, R&&, const Rule&, const Source&, const RoundLimits&, Workspace&) {
    static_assert(
        !sizeof(Tokens*),
        "specsample::verify: rows that are values go with a list of Token, a list of Origin or PointMass{}, "
        "Rows or a list of Row, and RoundRng; write Origin::sampled(row) for Sampled{row}, and Rows(row_of) for "
        "a callable, which needs a name");
    return {};
}

}}  // namespace specsample
