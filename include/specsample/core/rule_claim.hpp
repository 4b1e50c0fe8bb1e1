// What the type of a rule says of it, and what it must be. verify/rule.hpp has the rest.
#pragma once

#include <concepts>
#include <type_traits>

#include <specsample/core/row_kinds.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

class RoundRng;    // random/rng.hpp
struct PointMass;  // tree/point_mass.hpp
struct Outcome;    // verify/rules.hpp
template <class Distributions, class Rows, class Source>
struct RoundContext;  // verify/round_context.hpp

namespace detail {

/// A type that says whether its rule keeps the target's distribution.
template <class R>
concept RuleClaim = requires {
    { R::lossless } -> std::convertible_to<bool>;
};

/// True for a rule that shares the target's noise with its drafter.
template <class Rule>
inline constexpr bool shares_noise = requires { requires bool(Rule::shares_noise); };

/// Checks the first argument of draft_token.
template <class Rule>
struct DraftRule {
    static_assert(
        RuleClaim<Rule>,
        "specsample::draft_token: the first argument must be the rule that will judge the token, which decides "
        "how it is drawn; write draft_token(rule, rng, node, row)");
};

template <class R, class T>
concept RuleCall = std::invocable<const R&, const T&>;

/// A rule that returns an Outcome for contexts of type T.
template <class R, class T>
concept RuleFor = RuleCall<R, T> && std::same_as<std::invoke_result_t<const R&, const T&>, Outcome>;

/// The context of a chain of point masses and dense target rows (RowMajorMatrix<float>), which every rule takes.
using PlainContext = RoundContext<const PointMass, const Eigen::Matrix<float, -1, -1, 1, -1, -1>, RoundRng>;

/// Checks a rule at compile time: each mistake gives one sentence.
/// @tparam T   the context that the rule is called with
template <class R, class T = PlainContext>
struct RuleRequirements {
    static constexpr bool is_callable = RuleCall<R, T>;
    static constexpr bool gives_an_outcome = !is_callable || RuleFor<R, T>;
    static constexpr bool has_a_claim = !is_callable || !gives_an_outcome || RuleClaim<R>;
    static constexpr bool all = is_callable && gives_an_outcome && has_a_claim;

    static_assert(
        is_callable,
        "specsample::Rule: a rule must be callable with a context; give one as in TokenVerification{}, or write "
        "template <class T> specsample::Outcome operator()(const T& context) const { ... }");
    static_assert(
        gives_an_outcome,
        "specsample::Rule: rule(context) must return a specsample::Outcome: the accepted node, how many tokens "
        "lead there, and the last token; verify/rule.hpp has an example");
    static_assert(has_a_claim,
                  "specsample::Rule: a rule must say whether it keeps the target's distribution; write "
                  "static constexpr bool lossless = true; (or false)");
};

}  // namespace detail

}}  // namespace specsample
