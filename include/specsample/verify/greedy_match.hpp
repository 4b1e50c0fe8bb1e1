// Greedy match: keep a drafted token where it is the target's likeliest.
//
// Stern, Shazeer, Uszkoreit: "Blockwise parallel decoding for deep autoregressive models", NeurIPS 2018
// (arXiv:1811.03115), section 3.
#pragma once

#include <specsample/kernels/argmax.hpp>
#include <specsample/verify/match.hpp>

namespace specsample {

/// The text is that of greedy decoding: argmax at every position, the lowest id on ties.
///
/// It does not follow the rows as they are but their argmax, so it is not lossless; Temperature{0} with any lossless
/// rule gives the same text. @draws none. Cost: one pass per position reached.
struct GreedyMatch {
    static constexpr bool lossless = false;
    static constexpr bool drafter_invariant = true;

    template <class RoundContext>
    Outcome operator()(const RoundContext& context) const {
        return walks::match(context, [](auto& node, const auto&) {
            const Index token = kernels::argmax(node.row());
            if (token < 0) node.blame_row();
            if constexpr (!requires { node.row().weights(); })  // the largest probability must be one
                if (token >= 0 && !(node.view().coeff(token) > 0)) node.blame_row();
            return token;
        });
    }
};

}  // namespace specsample
