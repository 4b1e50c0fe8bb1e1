// Policies that take the children of a node from one row.
//
//   Independent          each child is drawn from the whole row, so children may repeat a token
//   WithoutReplacement   each child is drawn from the row without its older siblings
//   TopChildren          the most probable tokens, none of them drawn
//   GreedyChildren       the most probable tokens, and one child drawn from the rest, which is judged first
#pragma once

#include <span>

#include <specsample/kernels/draw.hpp>
#include <specsample/kernels/top.hpp>
#include <specsample/random/draw.hpp>
#include <specsample/rows/logits.hpp>
#include <specsample/tree/distribution.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace children {

// Each policy is called with
//   row   the drafter's row as it was given: probabilities, Logits or a sparse row. It outlives the round
//   ids   room for as many ids as there are to be children; it outlives the round as well
//   rng   rng(i) gives the random numbers of child i's draft draw
//   add   add(token, distribution) adds a child
// and adds fewer children where the row has no more tokens to give.

/// Draw each child from the whole row. Multi-step speculative sampling (SpecInfer) judges such children.
/// @draws   one per child
/// @cost    one pass
struct Independent {
    template <RowLike R, class RngOf, class Add>
    void operator()(const R& row, std::span<Token> ids, const RngOf& rng, const Add& add) const {
        if (ids.empty()) return;
        const auto weights = kernels::summed(kernels::row_weights(row));
        const auto probs = kernels::probs_of(row, weights);
        for (std::size_t i = 0; i < ids.size(); ++i) {
            const kernels::Drawn drawn = draw(rng(i), weights);
            if (drawn.index < 0) return;
            Sampled distribution(probs);
            distribution.know_rest(detail::rest_of(probs, drawn.sum));
            add(drawn.index, distribution);
        }
    }
};

/// Draw the children without replacement, as the first to arrive in one race (Gumbel top-k).
/// @draws   one race, at the address of the first child; with an RNG without lanes, such as GeneratorRng, one draw per
///          child
/// @cost    two passes, one for one child of a row of probabilities; with an RNG without lanes, one pass per child
struct WithoutReplacement {
    template <RowLike R, class RngOf, class Add>
    void operator()(const R& row, std::span<Token> ids, const RngOf& rng, const Add& add) const {
        if (ids.empty()) return;
        if constexpr (detail::RacingRng<decltype(rng(std::size_t{0}))>) {
            race_all(row, ids, rng(std::size_t{0}), add);
        } else {
            draw_in_turn(detail::as_row(row), ids, rng, add);
        }
    }

  private:
    template <class R, class Rng, class Add>
    static void race_all(const R& row, std::span<Token> ids, const Rng& rng, const Add& add) {
        const Index found = race(rng, row, ids);
        if (found == 1) add(ids[0], Sampled(row));
        if (found > 1) add_several(row, ids.first(static_cast<std::size_t>(found)), add);
    }

    /// Add the children of a row. This is not inlined, so that its sums are not on the stack while the ids race.
    template <class R, class Add>
    [[gnu::noinline]] static void add_several(const R& row, std::span<Token> ids, const Add& add) {
        auto rest = detail::rest_sums(row);
        add(ids[0], Sampled(rest.row()));
        for (std::size_t i = 1; i < ids.size(); ++i) {
            const std::span<const Token> drawn = ids.first(i);
            const double left = rest.without(drawn);
            if (!detail::is_finite(left)) return;  // an overflow: verify blames the row when it judges the first child
            add(ids[i], Sampled(rest.row(), drawn, left));
        }
    }

    template <class View, class RngOf, class Add>
    static void draw_in_turn(const View& row, std::span<Token> ids, const RngOf& rng, const Add& add) {
        for (std::size_t i = 0; i < ids.size(); ++i) {
            const std::span<const Token> drawn = ids.first(i);
            const kernels::Drawn next = draw(rng(i), kernels::WithoutWeights(row, drawn));
            if (next.index < 0) return;  // the row has no more ids
            ids[i] = static_cast<Token>(next.index);
            add(next.index, Sampled(row, drawn, next.sum));
        }
    }
};

/// Take the most probable tokens, as point masses.
/// @draws   none
/// @cost    one pass
struct TopChildren {
    template <RowLike R, class RngOf, class Add>
    void operator()(const R& row, std::span<Token> ids, const RngOf&, const Add& add) const {
        const Index found = kernels::top_ids(row, ids);
        for (Index i = 0; i < found; ++i) add(ids[static_cast<std::size_t>(i)], PointMass{});
    }
};

/// Take the most probable n - 1 tokens as point masses, and draw one child from the rest. The drawn child comes first,
/// and the others are accepted out of its residual. Recursive rejection then attains the optimum of this draft,
/// p(named) + sum_rest min(p, q'), where `named` are the n - 1 tokens.
/// @draws    one
/// @cost     two passes
/// @source   Hu et al.: "Towards optimal multi-draft speculative decoding", ICLR 2025 (arXiv:2502.18779), section 5
struct GreedyChildren {
    template <RowLike R, class RngOf, class Add>
    void operator()(const R& given, std::span<Token> ids, const RngOf& rng, const Add& add) const {
        if (ids.empty()) return;
        const auto row = detail::as_row(given);
        const Index found = kernels::top_ids(row, ids.first(ids.size() - 1));
        const std::span<const Token> named = ids.first(static_cast<std::size_t>(found));
        const kernels::Drawn drawn = draw(rng(std::size_t{0}), kernels::WithoutWeights(row, named));
        if (drawn.index >= 0) add(drawn.index, Sampled(row, named, drawn.sum));
        for (const Token token : named) add(token, PointMass{});
    }
};

}  // namespace children

}}  // namespace specsample
