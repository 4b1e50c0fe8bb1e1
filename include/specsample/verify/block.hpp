// Block verification: the prefixes of a draft are judged from the longest to the shortest; the first accepted is kept.
//
// Sun et al.: "Block verification accelerates speculative decoding", ICLR 2025 (arXiv:2403.10444), Theorems 1 and 2.
#pragma once

#include <specsample/verify/bottom_up.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

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

}}  // namespace specsample
