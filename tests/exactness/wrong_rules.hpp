// Rules that are wrong on purpose, written from the papers' formulas, and an RNG whose numbers can be used twice.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

#include "exactness/trees.hpp"

namespace cases {

/// The rows of a chain, as vectors: p_0 .. p_K, q_0 .. q_{K-1} and its tokens.
struct ChainRows {
    std::vector<Eigen::VectorXd> p, q;
    std::vector<Token> x;

    template <class T>
    explicit ChainRows(const T& context) : x(context.tokens.begin(), context.tokens.end()) {
        for (Index node = root_node; node < context.shape.size(); ++node) {
            p.push_back(NodeRow<T>(context, node).view().template cast<double>());
            if (node != root_node)
                q.push_back(detail::distribution_at(context.distributions, node).row().template cast<double>());
        }
    }
    double ratio(std::size_t i) const { return p[i][x[i]] / q[i][x[i]]; }
};

inline Eigen::VectorXd positive(const Eigen::VectorXd& row) { return row.cwiseMax(0.0); }

/// An end of a round: `accepted` tokens of a chain, and one drawn from these weights, or from p where they are zero.
template <class T>
Outcome chain_end(const T& context, const ChainRows& rows, std::size_t accepted, Eigen::VectorXd weights) {
    const bool all = accepted == rows.x.size();
    if (all || !(weights.sum() > 0)) weights = rows.p[accepted];
    return {
        .node = static_cast<Index>(accepted) - 1,
        .accepted = static_cast<Index>(accepted),
        .last = all ? LastToken::bonus : LastToken::recovered,
        .token = static_cast<Token>(draw(context.rng.at(Purpose::last, 0), RowWeights(detail::as_row(weights))).index)};
}

/// The mistakes of a block verification.
enum class Slip {
    none,
    unclipped_product,    ///< w_i is the product of the ratios, clipped at the end only
    weight_as_threshold,  ///< u < w_i in place of u < h_i
    stop_at_first,        ///< the first failure ends it
    one_uniform,          ///< the same u for all positions
    unscaled_residual,    ///< the last token from max(0, p - q)
    uncapped_last,  ///< the whole draft with min(1, P / Q), as "hierarchical speculative decoding" (arXiv:2601.05724)
};

/// Block verification by the formulas of the paper, front to back, with one mistake.
struct SlippedBlock {
    static constexpr bool lossless = true;  // so it claims
    Slip slip = Slip::none;

    template <class T>
    Outcome operator()(const T& context) const {
        const ChainRows rows(context);
        const std::size_t size = rows.x.size();
        std::vector<double> w{1}, h{1};
        double whole = 1;  // P / Q
        for (std::size_t i = 0; i < size; ++i) {
            whole *= rows.ratio(i);
            const double product = w.back() * rows.ratio(i);
            w.push_back(slip == Slip::unclipped_product ? product : std::min(1.0, product));
        }
        for (double& weight : w) weight = std::min(1.0, weight);
        for (std::size_t i = 1; i <= size; ++i) {
            const double s = i < size ? positive(w[i] * rows.p[i] - rows.q[i]).sum() : 0;
            const double d = s + 1 - w[i];
            h.push_back(i == size || slip == Slip::weight_as_threshold ? w[i] : d > 0 ? s / d : 1);
        }
        if (slip == Slip::uncapped_last) h.back() = std::min(1.0, whole);
        const std::size_t kept = longest(context, h);
        const double scale = slip == Slip::unscaled_residual ? 1 : w[kept];
        return chain_end(context, rows, kept,
                         kept < size ? positive(scale * rows.p[kept] - rows.q[kept]) : Eigen::VectorXd{});
    }

  private:
    template <class T>
    std::size_t longest(const T& context, const std::vector<double>& h) const {
        const auto passes = [&](std::size_t i) {
            return accept(context.rng.at(Purpose::accept, static_cast<Index>(i) - 1), h[i], 1);
        };
        std::size_t i = h.size() - 1;
        if (slip == Slip::stop_at_first) {
            for (i = 0; i + 1 < h.size() && passes(i + 1);) ++i;
        } else if (slip == Slip::one_uniform) {
            // The longest i with u < h_i: u is at least the largest h beyond i.
            std::vector<double> most(h.size() + 1, 0);
            for (std::size_t j = h.size(); j-- > 0;) most[j] = std::max(most[j + 1], h[j]);
            Eigen::VectorXd cells(static_cast<Index>(h.size()));
            for (std::size_t j = 0; j < h.size(); ++j) cells[static_cast<Index>(j)] = most[j] - most[j + 1];
            i = static_cast<std::size_t>(
                draw(context.rng.at(Purpose::accept, 0), RowWeights(detail::as_row(cells))).index);
        } else {
            while (i > 0 && !passes(i)) --i;
        }
        return i;
    }
};

/// Greedy block verification (the paper's appendix) without the changed target that its next round would need.
struct GreedyBlock {
    static constexpr bool lossless = true;  // so it claims

    template <class T>
    Outcome operator()(const T& context) const {
        const ChainRows rows(context);
        const std::size_t size = rows.x.size();
        std::vector<double> p{1}, q{1};
        for (std::size_t i = 0; i < size; ++i) {
            p.push_back(p.back() * rows.p[i][rows.x[i]]);
            q.push_back(q.back() * rows.q[i][rows.x[i]]);
        }
        const auto residual = [&](std::size_t i) -> Eigen::VectorXd { return p[i] * rows.p[i] - q[i] * rows.q[i]; };
        std::size_t kept = size;
        for (; kept > 0; --kept) {
            double s = p[size], d = q[size];
            if (kept < size) s = positive(residual(kept)).sum(), d = positive(-residual(kept)).sum();
            if (d == 0 || accept(context.rng.at(Purpose::accept, static_cast<Index>(kept) - 1), s, d)) break;
        }
        return chain_end(context, rows, kept, kept < size ? positive(residual(kept)) : Eigen::VectorXd{});
    }
};

/// Traversal by recursion, as published: normalised residuals, a weight per node, a distribution per sibling.
struct RecursiveTraversal {
    static constexpr bool lossless = true;  // so it claims
    bool over_the_rest_of_q = false;        ///< the mistake: w' = S / sum_{y != x} Q(y) in place of S / (S + 1 - w)

    template <class T>
    Outcome operator()(const T& context) const {
        Outcome outcome;
        visit(context, root_node, 0, 1, outcome);
        return outcome;
    }

  private:
    /// Judge a node and what is below it; false if it is rejected.
    template <class T>
    bool visit(const T& context, Index node, Index depth, double w, Outcome& outcome) const {
        Eigen::VectorXd b = NodeRow<T>(context, node).view().template cast<double>();
        for (Index child = context.shape.first_child(node); child != no_node;
             child = context.shape.next_sibling(child)) {
            const auto distribution = detail::distribution_at(context.distributions, child);
            const Token x = context.token(child);
            Eigen::VectorXd q = Eigen::VectorXd::Zero(b.size());
            for (Index y = 0; y < q.size(); ++y)
                q[y] = distribution.is_point() ? (y == x ? 1 : 0) : distribution.weight(y) / distribution.rest();
            if (visit(context, child, depth + 1, std::min(1.0, w * b[x] / q[x]), outcome)) return true;
            const Eigen::VectorXd left = positive(w * b - q);
            const double s = left.sum(), d = over_the_rest_of_q ? q.sum() - q[x] : s + 1 - w;
            w = d > 0 ? std::min(1.0, s / d) : over_the_rest_of_q ? 0 : 1;
            if (s > 0) b = left / s;
        }
        if (node != root_node && !accept(context.rng.at(Purpose::accept, node), w, 1)) return false;
        outcome.node = node;
        outcome.accepted = depth;
        outcome.last = LastToken::recovered;
        outcome.token = static_cast<Token>(draw(context.rng.at(Purpose::last, 0), RowWeights(detail::as_row(b))).index);
        return true;
    }
};

/// Every path from the root to a leaf judged on its own, the longest accepted one kept.
struct LongestPath {
    static constexpr bool lossless = true;  // so it claims

    template <class T>
    Outcome operator()(const T& context) const {
        Outcome best;
        for (Index leaf = 0; leaf < context.shape.size(); ++leaf) {
            if (context.shape.first_child(leaf) != no_node) continue;
            std::vector<Index> path;
            for (Index node = leaf; node != root_node; node = context.shape.parent(node)) path.push_back(node);
            Outcome judged;
            for (; !path.empty(); path.pop_back(), ++judged.accepted) {
                NodeRow<T> row(context, judged.node);
                const auto distribution = row.distribution(path.back());
                const Index random = leaf * 16 + judged.accepted;
                if (!accept(context.rng.at(Purpose::policy, random),
                            row.entry(context.token(path.back())) * distribution.rest(),
                            distribution.weight(context.token(path.back()))))
                    break;
                judged.node = path.back();
            }
            if (judged.accepted > best.accepted || leaf == 0) best = judged;
        }
        ResidualTarget<T> end(context, best.node);
        if (const Index child = context.shape.first_child(best.node); child != no_node) end.reject(child);
        best.last = LastToken::recovered;
        best.token = static_cast<Token>(end.draw(context.rng.at(Purpose::last, 0)).index);
        return best;
    }
};

/// Token verification that draws the token after a rejection from the target.
struct ResidualFromTarget {
    static constexpr bool lossless = true;  // so it claims

    template <class T>
    struct Node : ResidualTarget<T> {
        using ResidualTarget<T>::ResidualTarget;
        template <class Rng>
        Drawn draw(const Rng& random) {
            return this->draw_from_row(random);
        }
    };

    template <class T>
    Outcome operator()(const T& context) const {
        return top_down(context, [&](Index node) { return Node<T>(context, node); });
    }
};

/// An RNG whose uniforms are the middles of `cells` equal cells, enumerated with equal probability. Exact where every
/// decision changes at a cell's border; unlike with EnumeratedRng, a number may be used twice.
class CellRng {
  public:
    CellRng(Enumerator& paths, std::size_t cells) : paths_(&paths), cells_(cells) {}

    struct Rng {
        double u;
        double uniform() const { return u; }
        double open_uniform(std::uint32_t) const { throw std::logic_error("a race needs a cell per id"); }
    };

    Rng at(Purpose purpose, Index node) const {
        const auto [found, is_new] = uniforms_.try_emplace({purpose, node}, 0);
        if (is_new) {
            const std::size_t cell = paths_->choose(std::vector<double>(cells_, 1 / static_cast<double>(cells_)));
            found->second = (static_cast<double>(cell) + .5) / static_cast<double>(cells_);
        }
        return {found->second};
    }

  private:
    Enumerator* paths_;
    std::size_t cells_;
    mutable std::map<std::pair<Purpose, Index>, double> uniforms_;
};

}  // namespace cases
