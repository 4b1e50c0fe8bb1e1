// What the type of a rule says of it. verify/rule.hpp has the rest.
#pragma once

#include <concepts>

#include <specsample/core/config.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

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

}}}  // namespace specsample::detail
