// Greedy match: a drafted token is accepted if it is the target's most likely one.
//
// Stern, Shazeer, Uszkoreit: "Blockwise parallel decoding for deep autoregressive models", NeurIPS 2018
// (arXiv:1811.03115), section 3.
#pragma once

#include <specsample/kernels/argmax.hpp>
#include <specsample/verify/match.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

/// Greedy decoding of the target: argmax at every position, the lowest id on ties.
///
/// It is not lossless, because the text does not follow the target's rows but their argmax. Temperature{0} with any
/// lossless rule gives the same text.
///
/// @draws    none
/// @cost     one pass per position reached
/// @source   Stern, Shazeer, Uszkoreit (arXiv:1811.03115), section 3
struct GreedyMatch {
    static constexpr bool lossless = false;
    static constexpr bool drafter_invariant = true;
    static constexpr auto decision = walks::Decision::largest;

    template <class Context>
    Outcome operator()(const Context& context) const {
        return walks::match(context, [](auto& node, const auto&) {
            const Index token = kernels::argmax(node.row());
            if (token < 0) node.blame_row();
            if constexpr (!requires { node.row().weights(); })  // the largest entry must be positive
                if (token >= 0 && !(node.view().coeff(token) > 0)) node.blame_row();
            return token;
        });
    }
};

}}  // namespace specsample
