// Block verification: the longest prefix of the draft that the target can afford is kept, judged from its end.
//
// Sun et al.: "Block verification accelerates speculative decoding", ICLR 2025 (arXiv:2403.10444), Theorem 1 and 2.
#pragma once

#include <specsample/verify/bottom_up.hpp>

namespace specsample {

///     w_0 = 1,  w_i = min(1, w_{i-1} p_i(x_i) / q_i(x_i))
///     for i = K..1:  keep x_1..x_i with probability h_i = S_i / (S_i + 1 - w_i),  S_i = sum max(0, w_i p_{i+1} -
///     q_{i+1})
///                    (h_K = w_K), and emit y ~ max(0, w_i p_{i+1} - q_{i+1});  none kept: the same with i = 0
///
/// @draws one accept draw per drafted token judged, from the last one back, then one last-token draw. Never accepts
/// fewer tokens than token verification on average; E[accepted] = sum_i E[w_i]. The same distribution for point masses
/// and K = 1. Cost: K - accepted passes over two rows, the last of which is the draw; one over one row where all are
/// accepted.
struct BlockVerification {
    static constexpr bool lossless = true;

    template <class RoundContext>
    Outcome operator()(const RoundContext& context) const {
        return walks::bottom_up(context);
    }
};

/// The same on a tree: Weng et al.: "Traversal verification for speculative tree decoding", 2025 (arXiv:2505.12398),
/// Theorem 3.1. Never fewer tokens than recursive rejection on average; the same distribution where all distributions
/// are point masses.
using TraversalVerification = BlockVerification;

}  // namespace specsample
