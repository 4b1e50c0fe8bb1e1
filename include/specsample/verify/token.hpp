// Token verification: each drafted token is accepted with probability min(1, p/q) until one is rejected.
//
// Leviathan, Kalman, Matias: "Fast inference from transformers via speculative decoding", ICML 2023
// (arXiv:2211.17192), Theorem 1 and appendix A.1; Chen et al.: "Accelerating large language model decoding with
// speculative sampling", 2023 (arXiv:2302.01318), Theorem 1.
#pragma once

#include <specsample/verify/top_down.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

/// Token verification: drafted tokens are accepted one by one, in order, until one is rejected.
///
///     for i = 1..K:  accept x_i if u_i q_i(x_i) < p_i(x_i), else emit y ~ max(0, p_i - q_i) and stop
///     all accepted:  emit y ~ p_{K+1}
///
/// A token is accepted with probability sum min(p, q).
///
/// @draws    one accept draw per drafted token tested, then one last-token draw, unless a budget or the end of the text
///           ends the round earlier
/// @cost     O(1) per token, plus one pass if its target row has logits without a stated normaliser. One pass for the
///           last token, over one row, or over two if it is recovered. Rows of probabilities are divided by their sums.
///           This takes one more pass over the target's row if a token is recovered, and one over each row of about one
///           acceptance in 500 (in 50 for 16-bit rows), where the random number is so close to the ratio that the sums
///           decide
/// @source   Leviathan et al. (arXiv:2211.17192), Theorem 1; Chen et al. (arXiv:2302.01318), Theorem 1
struct TokenVerification {
    static constexpr bool lossless = true;
    static constexpr bool looks_ahead = false;

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

}}  // namespace specsample
