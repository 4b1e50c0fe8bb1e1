// How the children of a node are drawn from a row, several of them.
//
//   Independent          each from the whole row; they may repeat
//   WithoutReplacement   each from what its older siblings have left
//   TopChildren          the likeliest ones, not drawn at all
//   GreedyChildren       the likeliest ones but for one, which is drawn from the rest and judged first
#pragma once

#include <span>

#include <specsample/kernels/draw.hpp>
#include <specsample/kernels/top.hpp>
#include <specsample/random/draw.hpp>
#include <specsample/tree/distribution.hpp>

namespace specsample {

namespace children {

// Each is called with
//   row      the drafter's row, a view that outlives the round
//   ids      room for as many ids as there are to be children, which outlives the round as well
//   random draw     rng(i) is the draft draw of child i
//   add      add(token, distribution)
// and adds fewer children where the row has no more to give.

/// @draws one per child. Cost: a pass per child. Multi-step speculative sampling judges them (SpecInfer).
struct Independent {
    template <class View, class RngOf, class Add>
    void operator()(const View& row, std::span<Token> ids, const RngOf& rng, const Add& add) const {
        for (std::size_t i = 0; i < ids.size(); ++i) {
            const Index token = draw(rng(i), kernels::RowWeights(row)).index;
            if (token < 0) return;
            add(token, Sampled(row));
        }
    }
};

/// The distribution of a Gumbel top-k, in its order. @draws one per child. Cost: a pass per child.
struct WithoutReplacement {
    template <class View, class RngOf, class Add>
    void operator()(const View& row, std::span<Token> ids, const RngOf& rng, const Add& add) const {
        for (std::size_t i = 0; i < ids.size(); ++i) {
            const std::span<const Token> drawn = ids.first(i);
            const kernels::Drawn next = draw(rng(i), kernels::WithoutWeights(row, drawn));
            if (next.index < 0) return;  // the row has no more ids
            ids[i] = static_cast<Token>(next.index);
            add(next.index, Sampled(row, drawn, next.sum));
        }
    }
};

/// Point masses: nothing was drawn. Cost: one pass.
struct TopChildren {
    template <class View, class RngOf, class Add>
    void operator()(const View& row, std::span<Token> ids, const RngOf&, const Add& add) const {
        const Index found = kernels::top_ids(row, ids);
        for (Index i = 0; i < found; ++i) add(ids[static_cast<std::size_t>(i)], PointMass{});
    }
};

/// Hu et al.: "Towards optimal multi-draft speculative decoding", ICLR 2025 (arXiv:2502.18779), section 5: with the
/// likeliest n - 1 ids named and one drawn from the rest, recursive rejection attains the optimum of that draft,
/// p(named) + sum_rest min(p, q'). The drawn one comes first; the named ones are accepted out of its residual.
/// @draws one. Cost: two passes.
struct GreedyChildren {
    template <class View, class RngOf, class Add>
    void operator()(const View& row, std::span<Token> ids, const RngOf& rng, const Add& add) const {
        if (ids.empty()) return;
        const Index found = kernels::top_ids(row, ids.first(ids.size() - 1));
        const std::span<const Token> named = ids.first(static_cast<std::size_t>(found));
        const kernels::Drawn drawn = draw(rng(std::size_t{0}), kernels::WithoutWeights(row, named));
        if (drawn.index >= 0) add(drawn.index, Sampled(row, named, drawn.sum));
        for (const Token token : named) add(token, PointMass{});
    }
};
}  // namespace children

}  // namespace specsample
