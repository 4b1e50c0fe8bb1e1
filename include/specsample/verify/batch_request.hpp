// A request of a batch: the arguments of verify, as one value.
#pragma once

#include <span>
#include <string>
#include <utility>

#include <specsample/verify/batch.hpp>
#include <specsample/verify/verify.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {
namespace detail {

/// Return the message that verify would throw; empty if it would throw none.
/// @cost   O(K) for a tree
template <class Tokens>
std::string refusal_of(const Tokens& given, const RoundLimits& limits) {
    std::string refused;
    if constexpr (requires { given.parents; }) {
        refused = refusal_of_sizes(given.tokens.size(), given.parents.size());
        for (Index node = 0; refused.empty() && node < std::ssize(given.parents); ++node)
            refused = refusal_of_parent("Tree", given.parents[static_cast<std::size_t>(node)], node);
    }
    return refused.empty() ? refusal_of_limits(limits) : refused;
}

/// Return the number of drafted tokens, of a chain or a tree.
template <class Tokens>
Index size_of(const Tokens& given) {
    if constexpr (requires { given.parents; })
        return std::ssize(given.tokens);
    else
        return std::ssize(std::span(given));
}

}  // namespace detail

/// One request of a batch: the arguments of verify as one value. Lvalue tokens, distributions and rows are borrowed,
/// rvalues are moved; the rest is copied.
///
///     Request{tokens, distributions, rows, TokenVerification{}, RoundRng(seed, request, start), limits}
///     Request{Tree{tokens, parents}, PointMass{}, slice(rows, begin, end), rule, rng}
///
/// request(workspace) calls verify, but three refusals of verify do not throw here: limits without room for a token,
/// bad parents of a tree, and tokens drawn without the noise that the rule shares with its drafter. The round then has
/// the fault Cause::broken_contract, and the message in round.error, also when exceptions are disabled.
template <class Tokens, class Distributions, class Rows, class Rule, class Source>
struct Request {
    Tokens tokens;                ///< the ids of a chain, or a Tree
    Distributions distributions;  ///< one per drafted token, or one for all
    Rows rows;                    ///< the target's rows, one more than drafted tokens
    Rule rule;                    ///< how the draft is judged
    Source rng;                   ///< the random numbers of the round
    RoundLimits limits{};         ///< where the round ends

    /// Judge the request.
    [[nodiscard]] Round operator()(Workspace& workspace) { return judge(*this, workspace); }
    [[nodiscard]] Round operator()(Workspace& workspace) const { return judge(*this, workspace); }

  private:
    template <class Self>
    static Round judge(Self& self, Workspace& workspace) {
        std::string refused = detail::refusal_of(self.tokens, self.limits);
        if (refused.empty()) refused = detail::refusal_of_drawn<Rule>(self.distributions, detail::size_of(self.tokens));
        if (!refused.empty()) return detail::no_round(refused, workspace);
        return verify(self.tokens, self.distributions, self.rows, self.rule, self.rng, self.limits, workspace);
    }
};

template <class Tokens, class Distributions, class Rows, class Rule, class Source>
Request(Tokens&&, Distributions&&, Rows&&, Rule, Source) -> Request<Tokens, Distributions, Rows, Rule, Source>;
template <class Tokens, class Distributions, class Rows, class Rule, class Source>
Request(Tokens&&, Distributions&&, Rows&&, Rule, Source, RoundLimits)
    -> Request<Tokens, Distributions, Rows, Rule, Source>;

}}  // namespace specsample
