// A request of a batch: the arguments of verify, as one value.
#pragma once

#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include <specsample/verify/batch.hpp>
#include <specsample/verify/verify.hpp>

namespace specsample::inline SPECSAMPLE_ABI {
namespace detail {

/// The message of what verify would throw for a chain, if anything.
inline std::optional<std::string> refusal(const RoundLimits& limits) {
    if (limits.max_tokens >= 1) return std::nullopt;
    return "specsample::verify: limits.max_tokens is " + to_text(limits.max_tokens) + ", but must be at least 1";
}

/// The same for a tree.
/// @cost   O(K)
template <class Id, class Parent>
std::optional<std::string> refusal(const Tree<Id, Parent>& tree, const RoundLimits& limits) {
    if (tree.parents.size() != tree.tokens.size())
        return "specsample::verify: the number of tree.parents is " + to_text(tree.parents.size()) +
               ", but must be that of tree.tokens, " + to_text(tree.tokens.size());
    for (Index node = std::ssize(tree.parents) - 1; node >= 0; --node) {
        const Parent parent = tree.parents[static_cast<std::size_t>(node)];
        if (std::cmp_less(parent, root_node) || std::cmp_greater_equal(parent, node))
            return "specsample::Tree: parents[" + to_text(node) + "] is " + to_text(parent) +
                   ", but must be -1 or a node before " + to_text(node);
    }
    return refusal(limits);
}
template <class Tokens>
std::optional<std::string> refusal(const Tokens&, const RoundLimits& limits) {
    return refusal(limits);
}

}  // namespace detail

/// One request of a batch: the arguments of verify as one value. Lvalue tokens, distributions and rows are borrowed,
/// rvalues are moved; the rest is copied.
///
///     Request{tokens, distributions, rows, TokenVerification{}, RoundRng(seed, request, start), limits}
///     Request{Tree{tokens, parents}, PointMass{}, slice(rows, begin, end), rule, rng}
///
/// request(workspace) calls verify, but does not throw where verify would refuse its arguments: limits without room for
/// a token, or the links of a tree. The message is then the round's error, also when exceptions are disabled.
template <class Tokens, class Distributions, class Rows, class Rule, class Source>
struct Request {
    Tokens tokens;                ///< of a chain, or a Tree
    Distributions distributions;  ///< one per drafted token, or one for all
    Rows rows;                    ///< the target's, one more than drafted tokens
    Rule rule;                    ///< how the draft is judged
    Source rng;                   ///< the random numbers of the round
    RoundLimits limits{};         ///< where the round ends

    /// Judge the request.
    BatchRound operator()(Workspace& workspace) { return judge(*this, workspace); }
    BatchRound operator()(Workspace& workspace) const { return judge(*this, workspace); }

  private:
    template <class Self>
    static BatchRound judge(Self& self, Workspace& workspace) {
        BatchRound round;
        round.error = detail::refusal(self.tokens, self.limits);
        if (round.error) return round;
        return verify(self.tokens, self.distributions, self.rows, self.rule, self.rng, self.limits, workspace);
    }
};

template <class Tokens, class Distributions, class Rows, class Rule, class Source>
Request(Tokens&&, Distributions&&, Rows&&, Rule, Source) -> Request<Tokens, Distributions, Rows, Rule, Source>;
template <class Tokens, class Distributions, class Rows, class Rule, class Source>
Request(Tokens&&, Distributions&&, Rows&&, Rule, Source, RoundLimits)
    -> Request<Tokens, Distributions, Rows, Rule, Source>;

}  // namespace specsample
