// Sample and match: the target's token is drawn first, and a drafted token is accepted if it is the same.
//
// "Naive sampling" of Miao et al.: "SpecInfer", ASPLOS 2024 (arXiv:2305.09781), section 4.3; what engines do for drafts
// that have no distribution, and on trees of point masses (Medusa, EAGLE-2, retrieval).
#pragma once

#include <specsample/verify/match.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

/// Draws the target's token at every position and accepts a drafted token that is the same.
///
/// A drafted token x is accepted with probability p(x), so a token drawn from q is accepted with probability sum p q.
/// For point masses no rule accepts more.
///
/// @draws    one per position reached, at the address of the position's race
/// @cost     one pass per position reached
/// @source   Miao et al. (arXiv:2305.09781), section 4.3, "naive sampling"
struct SampleMatch {
    static constexpr bool lossless = true;
    static constexpr bool drafter_invariant = true;
    static constexpr auto decision = walks::Decision::draw;

    template <class Context>
    Outcome operator()(const Context& context) const {
        return walks::match(context, [](auto& node, const auto& rng) { return node.draw_from_row(rng).index; });
    }
};

}}  // namespace specsample
