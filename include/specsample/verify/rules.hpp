// The rules of most programs and their result: what each does, promises and costs. Their walks, which are templates
// over rows, are in token.hpp, block.hpp and match.hpp.
#pragma once

#include <optional>

#include <specsample/core/fault.hpp>
#include <specsample/core/tree.hpp>
#include <specsample/core/types.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

/// The decision of a rule: the accepted path and the token after it.
struct Outcome {
    Index node = root_node;               ///< the last accepted node
    Index accepted = 0;                   ///< the length of the path to it
    LastToken last = LastToken::stopped;  ///< what the last token is
    Token token = 0;                      ///< the last token, unless there is none (stopped)
    std::optional<RowFault> fault{};      ///< the first bad data met, if any
};

namespace walks {

/// How a match rule decides the target's token. Ranks that share split rows use it to decide all tokens in one
/// exchange.
enum class Decision {
    largest,  ///< the largest entry
    draw,     ///< a draw
    race      ///< a race
};

// The walk down from the root (token.hpp), from the leaves up (block.hpp), and along the target's own tokens
// (match.hpp).
template <class T>
Outcome top_down(const T& context);
template <class T>
Outcome bottom_up(const T& context);
template <Decision by, class T>
Outcome match(const T& context);

/// What the match rules have in common.
template <Decision by>
struct MatchRule {
    static constexpr bool drafter_invariant = true;
    static constexpr bool reads_once = true;
    static constexpr auto decision = by;

    template <class Context>
    Outcome operator()(const Context& context) const {
        return walks::match<by>(context);
    }
};

}  // namespace walks

/// Token verification: drafted tokens are accepted one by one, in order, until one is rejected.
///
///     for i = 1..K:  accept x_i if u_i q_i(x_i) < p_i(x_i), else emit y ~ max(0, p_i - q_i) and stop
///     all accepted:  emit y ~ p_{K+1}
///
/// A token is accepted with probability sum min(p, q).
///
/// @draws    one accept draw per drafted token tested, then one last-token draw, unless a budget or the end of the text
///           ends the round earlier. A recovered token may take several numbers (walks::ResidualTarget::draw)
/// @cost     O(1) per token, plus one pass over each of its rows, the target's and the draft's, that has logits whose
///           normaliser is neither stated nor found by a draw. One pass over the target's row for the last token; none
///           if it is recovered and that pass over its logits was made. A recovered token is drawn by rejection, in at
///           most one attempt per position on average, each of which reads a block of the target's row and one entry of
///           the draft's; with fewer than 2048 ids, or an RNG without from(lane), by a pass over both rows. Rows of
///           probabilities are divided by their sums: this takes one pass over each row of about one decision in 500
///           (in 50 for 16-bit rows), where the random number is so close to the ratio that the sums decide
/// @source   Leviathan et al. (arXiv:2211.17192), Theorem 1; Chen et al. (arXiv:2302.01318), Theorem 1
struct TokenVerification {
    static constexpr bool lossless = true;
    static constexpr bool looks_ahead = false;
    static constexpr bool reads_once = true;

    template <class Context>
    Outcome operator()(const Context& context) const {
        return walks::top_down(context);
    }
};

/// Token verification on a tree of independent children (multi-step speculative sampling): after a rejection the next
/// sibling is judged against the residual. One of a node's children is accepted with probability
/// 1 - prod_k (1 - sum min(s_k, Q)), where s_k is the distribution that child k is judged against.
/// @source   Miao et al.: "SpecInfer", ASPLOS 2024 (arXiv:2305.09781), Theorem 4.2
using SpecInfer = TokenVerification;

/// Token verification on a tree whose children were drawn without replacement: Sampled{row, without}.
/// @source   Jeon et al.: "Recursive speculative decoding", 2024 (arXiv:2402.14160), Theorem 1; Chen et al.: "Sequoia",
///           2024 (arXiv:2402.12374)
using RecursiveRejection = TokenVerification;

/// Block verification: the prefixes of a chain are accepted or rejected as wholes, the longest first.
///
///     w_0 = 1,  w_i = min(1, w_{i-1} p_i(x_i) / q_i(x_i)),  S_i = sum max(0, w_i p_{i+1} - q_{i+1})
///     for i = K..1:  keep x_1..x_i with probability h_i = S_i / (S_i + 1 - w_i)  (h_K = w_K),
///                    and emit y ~ max(0, w_i p_{i+1} - q_{i+1})  (i = K: p_{K+1});  none kept: the same with i = 0
///
/// On average it never accepts fewer tokens than token verification: E[accepted] = sum_i E[w_i]. For point masses and
/// for K = 1 the two accept alike.
///
/// @draws    one accept draw per drafted token judged, from the last one back, then one last-token draw, unless an
///           accepted token ends the text. A budget cuts the round only after these draws
/// @cost     K - accepted passes over two rows; the last pass also gives the last token. If all tokens are accepted,
///           one pass over one row. Before these, one pass over each target row of a drafted token, for the sum of its
///           probabilities or the normaliser of its logits, and one over each draft row whose sum is not known
/// @source   Sun et al. (arXiv:2403.10444), Theorems 1 and 2
struct BlockVerification {
    static constexpr bool lossless = true;

    template <class Context>
    Outcome operator()(const Context& context) const {
        return walks::bottom_up(context);
    }
};

/// Block verification on a tree. On average it never accepts fewer tokens than recursive rejection; where all
/// distributions are point masses, the two accept alike.
/// @source   Weng et al.: "Traversal verification for speculative tree decoding", 2025 (arXiv:2505.12398), Theorem 3.1
using TraversalVerification = BlockVerification;

/// Greedy decoding of the target: argmax at every position, the lowest id on ties.
///
/// It is not lossless, because the text does not follow the target's rows but their argmax. Temperature{0} with any
/// lossless rule gives the same text.
///
/// @draws    none
/// @cost     one pass per position reached
/// @source   Stern, Shazeer, Uszkoreit (arXiv:1811.03115), section 3
struct GreedyMatch : walks::MatchRule<walks::Decision::largest> {
    static constexpr bool lossless = false;
};

/// Draws the target's token at every position and accepts a drafted token that is the same.
///
/// A drafted token x is accepted with probability p(x), so a token drawn from q is accepted with probability sum p q.
/// For point masses no rule accepts more.
///
/// @draws    one per position reached, at the address of the position's race
/// @cost     one pass per position reached
/// @source   Miao et al. (arXiv:2305.09781), section 4.3, "naive sampling"
struct SampleMatch : walks::MatchRule<walks::Decision::draw> {
    static constexpr bool lossless = true;
};

/// Draws the target's token by a race whose noise the drafter shares, and accepts a drafted token that is the same.
///
///     E_t(i)  exponential, a function of (seed, request, t, i),  t the absolute position
///     drafted  argmin_i E_t(i) / q(i)  (in a tree: the first n),     target  argmin_i E_t(i) / p(i)
///
/// A token is accepted with probability sum_i 1 / sum_j max(p_j / p_i, q_j / q_i), at least (1 - TV) / (1 + TV). Under
/// this rule `Sampler` draws its drafts with the target's noise.
///
/// @draws    one race per position reached: a number per block of 64 ids, and one per id that may win
/// @cost     one pass over a row per position reached, with a random number per 64 ids; logits are not normalised
/// @source   Daliri, Musco, Suresh (arXiv:2408.07978), Theorem 2
struct GumbelMatch : walks::MatchRule<walks::Decision::race> {
    static constexpr bool lossless = true;
    static constexpr bool shares_noise = true;
};

}}  // namespace specsample
