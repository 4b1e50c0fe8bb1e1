// Sample and match: the target draws its token first, and the draft is kept for as long as it guessed it.
//
// "Naive sampling" of Miao et al.: "SpecInfer", ASPLOS 2024 (arXiv:2305.09781), section 4.3; what engines do for drafts
// that have no distribution, and on trees of point masses (Medusa, EAGLE-2, retrieval).
#pragma once

#include <specsample/verify/match.hpp>

namespace specsample {

/// Accepts a drafted token with probability p(x), so sum p q of tokens drawn from q; the best there is for point
/// masses. @draws one race draw per position reached. Cost: one pass per position reached.
struct SampleMatch {
    static constexpr bool lossless = true;
    static constexpr bool drafter_invariant = true;

    template <class RoundContext>
    Outcome operator()(const RoundContext& context) const {
        return walks::match(context, [](auto& node, const auto& rng) { return node.draw_from_row(rng).index; });
    }
};

}  // namespace specsample
