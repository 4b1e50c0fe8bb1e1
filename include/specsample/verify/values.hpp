// verify for rows and origins that are values. verify/verify.hpp says what it does.
#pragma once

#include <concepts>
#include <span>
#include <string>

#include <specsample/core/rule_claim.hpp>
#include <specsample/core/tree.hpp>
#include <specsample/random/rng.hpp>
#include <specsample/tree/origin.hpp>
#include <specsample/verify/round.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

namespace detail {

/// Complete for a rule that can judge values: for the rules of the compiled library (compiled_values.hpp), and for any
/// rule where the walks over values are included (verify/value_walks.hpp).
template <class Rule>
struct JudgesValues;

template <class Tokens>
inline constexpr bool are_tokens = std::convertible_to<const Tokens&, std::span<const Token>>;
template <class Parent>
inline constexpr bool are_tokens<Tree<Token, Parent>> = true;

/// Whether verify takes these arguments as values.
template <class Tokens, class Given, class R, class Source>
concept ValueArguments = are_tokens<Tokens> && std::convertible_to<Given, const Origins&> &&
                         std::convertible_to<R, const Rows&> && std::same_as<Source, RoundRng>;

/// Return the message for an origin that a rule cannot judge; empty if there is none.
template <class Rule>
std::string refusal_of_origins(const Origins& origins) {
    constexpr bool compares_tokens = requires { Rule::decision; };
    Index node = 0;
    for (const Origin& origin : origins.list()) {
        const std::string what = "origins[" + to_text(node++) + "]";
        if (shares_noise<Rule> && origin.is_sampled())
            return refusal("verify", what, "sampled, for a rule that shares the target's noise",
                           "that of draft_token(rule, ..), or named");
        if (!compares_tokens && origin.is_shared_noise())
            return refusal("verify", what, "shared_noise, which has no ratio",
                           "sampled(row), or the rule a match rule (GumbelMatch)");
    }
    return {};
}

/// Judge a draft of values over the links of its tree; without links it is a chain. verify/value_walks.hpp defines it.
template <class Rule>
Round judge_values(std::span<const Token> tokens, const Links* shape, const Origins& origins, const Rows& rows,
                   const Rule& rule, const RoundRng& rng, const RoundLimits& limits, RoundMemory& memory);

template <class Rule>
Round verify_values(std::span<const Token> tokens, const Links* shape, const Origins& origins, const Rows& rows,
                    const Rule& rule, const RoundRng& rng, const RoundLimits& limits, RoundMemory& memory) {
    static_assert(RuleClaim<Rule>,
                  "specsample::verify: the fourth argument must be a rule: TokenVerification{}, another of the "
                  "library's, or your own (verify/rule.hpp)");
    static_assert(
        !RuleClaim<Rule> || requires { sizeof(JudgesValues<Rule>); },
        "specsample::verify: the compiled library does not have this rule; include "
        "<specsample/verify/value_walks.hpp> and the header of the rule");
    return judge_values(tokens, shape, origins, rows, rule, rng, limits, memory);
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
    return detail::verify_values(tokens, nullptr, origins, rows, rule, rng, limits, detail::memory_of(workspace));
}
/// Judge a token tree whose rows and origins are values.
/// @throws   std::invalid_argument also if a parent is not -1 or an earlier node, or there are not as many parents as
///           tokens
template <class Parent, class Rule>
[[nodiscard]] Round verify(const Tree<Token, Parent>& tree, const detail::Origins& origins, const Rows& rows,
                           const Rule& rule, const RoundRng& rng, const RoundLimits& limits, Workspace& workspace) {
    detail::require_none(detail::refusal_of_sizes(tree.tokens.size(), tree.parents.size()));
    detail::RoundMemory& memory = detail::memory_of(workspace);
    return detail::verify_values(tree.tokens, &memory.tree(tree.parents), origins, rows, rule, rng, limits, memory);
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

#if !defined(SPECSAMPLE_COMPILED)
#include <specsample/verify/value_walks.hpp>  // IWYU pragma: export
#endif
