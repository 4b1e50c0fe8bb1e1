// What a rule that judges by a few numbers is made of: the drafted token that it sees, and where the last token comes
// from.
//
//   DraftedToken, RatioToken   the numbers of a token, each found when it is asked for
//   Recovery                   the distribution of the last token after a rejection
//   JudgingRule                a rule that is a chance and a recovery; judged.hpp has the walk
#pragma once

#include <concepts>
#include <type_traits>

#include <specsample/core/types.hpp>
#include <specsample/verify/ratio.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

namespace lossy {

/// The distribution of the last token after a rejection. Without one it is the target's row, or its likeliest id.
enum class Recovery {
    residual,   ///< max(0, p - taken q), as in the exact rule; the rule has taken()
    target,     ///< p
    remainder,  ///< p without the rejected children
    likeliest   ///< the target's likeliest id, also where nothing was rejected
};

/// A drafted token x as a rule sees it. Each number is found when it is asked for; if the row is bad, the round is a
/// fault, whatever the rule makes of the number.
class DraftedToken {
  public:
    /// Return the node, and the token itself: what a classifier of the caller needs.
    virtual Index node() const = 0;
    virtual Token token() const = 0;

    /// Return p(x) as the row stores it.
    virtual double p() = 0;
    /// Return p(x) over the sum of its row, as the exact rules judge it; 0 for a token that an older sibling had.
    /// @cost   a pass, unless the sum is known
    virtual double share() = 0;
    /// Return the sum of the shares that the rule asked for at the older siblings, which were all rejected.
    virtual double before() const = 0;
    /// Return the largest entry of the target's row.
    /// @cost   a pass, once per node
    virtual double largest_p() = 0;
    /// Count the ids that rank before x in the target's row: larger entries, and equal entries of lower ids.
    /// @cost   up to two passes
    virtual Index rank() = 0;
    /// Return the entropy of the target's row in nats.
    /// @cost   a pass with a logarithm per entry, once per node
    virtual double entropy() = 0;
    /// Return the largest entry of the row that x was drawn from; 1 for a point mass.
    /// @cost     a pass
    /// @throws   std::invalid_argument for a token drawn with the target's noise, which has no such row
    virtual double largest_q() = 0;

  protected:
    ~DraftedToken() = default;
};

/// A drafted token with its ratio, for rules that recover from the residual.
class RatioToken : public DraftedToken {
  public:
    /// Return the ratio by which the exact rule accepts x: s(x) / Q(x), which is p / q for a first child.
    virtual walks::Ratio exact() = 0;

  protected:
    ~RatioToken() = default;
};

/// Return the chance of a decision without a random draw.
inline walks::Ratio decide(bool is_accepted) { return {is_accepted ? 1.0 : 0.0, 1}; }

/// What a rule is asked for: chance(RatioToken&) if it recovers from the residual, else chance(DraftedToken&).
template <class Rule>
using TokenFor = std::conditional_t<Rule::recovery == Recovery::residual, RatioToken, DraftedToken>;

/// A rule that is a chance and a recovery.
template <class Rule>
concept JudgingRule = requires(const Rule& rule, TokenFor<Rule>& token) {
    requires !Rule::lossless;
    rule.check();
    { rule.chance(token) } -> std::same_as<walks::Ratio>;
    requires Rule::recovery != Recovery::residual || requires {
        { rule.taken() } -> std::convertible_to<double>;
    };
};

}  // namespace lossy

namespace detail {

/// A rule without its type, so that one walk serves all.
template <class Facts>
struct Judge {
    const void* rule;
    walks::Ratio (*chance)(const void* rule, Facts& token);
    lossy::Recovery recovery = lossy::Recovery::target;
    double taken = 1;
};

template <lossy::JudgingRule Rule>
Judge<lossy::TokenFor<Rule>> judge_of(const Rule& rule) {
    rule.check();
    Judge<lossy::TokenFor<Rule>> judge{
        &rule,
        [](const void* given, lossy::TokenFor<Rule>& token) { return static_cast<const Rule*>(given)->chance(token); },
        Rule::recovery};
    if constexpr (Rule::recovery == lossy::Recovery::residual) judge.taken = rule.taken();
    return judge;
}

}  // namespace detail

}}  // namespace specsample
