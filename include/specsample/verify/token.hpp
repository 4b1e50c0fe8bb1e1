// Token verification: each drafted token is accepted with probability min(1, p/q) until one is rejected.
//
// Leviathan, Kalman, Matias: "Fast inference from transformers via speculative decoding", ICML 2023
// (arXiv:2211.17192), Theorem 1 and appendix A.1; Chen et al.: "Accelerating large language model decoding with
// speculative sampling", 2023 (arXiv:2302.01318), Theorem 1.
#pragma once

#include <specsample/verify/top_down.hpp>

namespace specsample {

///     for i = 1..K:  accept x_i if u_i q_i(x_i) < p_i(x_i), else emit y ~ max(0, p_i - q_i) and stop
///     all accepted:  emit y ~ p_{K+1}
///
/// @draws one accept draw per drafted token tested, then one last-token draw. Accepts with probability sum min(p, q).
/// Cost: O(1) per token and one pass over one row (two where it is a residual).
struct TokenVerification {
    static constexpr bool lossless = true;
    static constexpr bool looks_ahead = false;

    template <class RoundContext>
    Outcome operator()(const RoundContext& context) const {
        return walks::top_down(context);
    }
};

/// The same on a tree: the siblings of a rejected child are tried against the residual it left. Independent children
/// are multi-step speculative sampling; Miao et al.: "SpecInfer", ASPLOS 2024 (arXiv:2305.09781), Theorem 4.2.
/// Accepts at a node with probability 1 - prod_k (1 - sum min(s_k, Q)).
using SpecInfer = TokenVerification;

/// The same with children drawn without replacement, Sampled{row, without}; Jeon et al.: "Recursive speculative
/// decoding", 2024 (arXiv:2402.14160), Theorem 1; Chen et al.: "Sequoia", 2024 (arXiv:2402.12374).
using RecursiveRejection = TokenVerification;

}  // namespace specsample
