// Token verification: each drafted token is accepted with probability min(1, p/q) until one is rejected.
//
// Leviathan, Kalman, Matias: "Fast inference from transformers via speculative decoding", ICML 2023
// (arXiv:2211.17192), Theorem 1 and appendix A.1; Chen et al.: "Accelerating large language model decoding with
// speculative sampling", 2023 (arXiv:2302.01318), Theorem 1.
#pragma once

#include <specsample/verify/commit.hpp>

namespace specsample {

///     for i = 1..K:  accept x_i if u_i q_i(x_i) < p_i(x_i), else emit y ~ max(0, p_i - q_i) and stop
///     all accepted:  emit y ~ p_{K+1}
///
/// Coins: one accept coin per drafted token tested, then one last coin. Accepts with probability sum min(p, q).
/// Cost: O(1) per token and one pass over one row (two where it is a residual).
struct TokenVerification {
    static constexpr bool lossless = true;

    template <class Shape, class Laws, class Rows, class Source>
    Outcome operator()(const Shape& shape, const Trial<Laws, Rows, Source>& trial) const {
        return commit(shape, trial);
    }
};

}  // namespace specsample
