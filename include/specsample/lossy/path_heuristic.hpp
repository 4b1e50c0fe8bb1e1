// Path heuristics: a path of the tree is judged as a whole, by a score of its tokens' target probabilities.
//
// Tutorials on tree drafts have many variants of this rule; this one covers their common parts.
#pragma once

#include <specsample/core/eigen.hpp>
#include <specsample/lossy/distribution.hpp>
#include <specsample/lossy/paths.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace lossy {

/// The paths from the root to a leaf that `PathHeuristic` judges.
enum class Paths {
    best,    ///< the likeliest one; the first of equals
    top,     ///< the k likeliest, in descending order
    sampled  ///< one drawn in proportion to its target probability: lossy by itself, because it never leaves the tree
};

/// Accept a path if its score is at least the threshold, else its longest prefix, possibly empty, whose score is.
///
/// The last token is drawn from p after the accepted tokens. Of the top k paths the first path accepted as a whole is
/// taken, else the longest accepted prefix of any of the k. Paths with a token of target probability 0 are left out.
///
/// The output distribution at one position is q(x) where score(p(x)) >= threshold, plus p times the q mass of all other
/// tokens.
///
/// @param threshold   >= 0
/// @param score       product, arithmetic_mean, geometric_mean, or another function of PathSums
/// @param paths       the paths that are judged
/// @param k           >= 1, for Paths::top
/// @draws             for Paths::sampled one accept draw, at node 0; then one last-token draw
/// @cost              one target row per node that is reached and has children, one entry per node, and one pass for
///                    the last token
struct PathHeuristic {
    static constexpr bool lossless = false;

    double threshold = 0.3;
    double (*score)(const PathSums&) = geometric_mean;
    Paths paths = Paths::best;
    Index k = 1;

    void check() const {
        detail::require_not_negative("PathHeuristic", "threshold", threshold);
        detail::require(score != nullptr, "PathHeuristic", "score", "null", "a function of PathSums");
        detail::require(k >= 1, "PathHeuristic", "k", k, "at least 1");
    }

    template <class T>
    Outcome operator()(const T& context) const {
        check();
        const auto bad = detail::note_paths(context, [](walks::NodeRow<T>&) { return 0.0; });
        if (bad) return {.fault = bad};
        if (paths != Paths::sampled) return detail::keep_path(context, best_prefix(context));
        const Index leaf = draw(context.rng.at(Purpose::accept, 0), LeafWeights<T>{context}).index;
        return detail::keep_path(context, leaf < 0 ? root_node : prefix(context, leaf));
    }

    /// Compute for each id the probability that it is accepted once drafted.
    template <RowLike Q, RowLike P>
    Eigen::ArrayXd chances(const Q& q, const P& p) const {
        check();
        const detail::RowPair at(q, p);
        return detail::indicator(
            at.p.size(), [&](Index id) { return at.p[id] > 0 && score(PathSums{}.then(at.p[id])) >= threshold; });
    }

    /// Compute the output distribution at one position.
    template <RowLike Q, RowLike P>
    Eigen::ArrayXd distribution(const Q& q, const P& p) const {
        const detail::RowPair at(q, p);
        return detail::emitted(at.q, chances(q, p), at.p);
    }

  private:
    /// Tell whether the node ends a path whose tokens all have target mass.
    template <class T>
    static bool is_leaf(const T& context, Index node) {
        return detail::is_reached(context.state(node)) &&
               (context.shape.first_child(node) == no_node || context.ends(node));
    }

    /// The weight of each node: the product of its path if the path ends there, else 0.
    template <class T>
    struct LeafWeights {
        const T& context;

        Index size() const { return context.shape.size(); }
        double operator[](Index node) const {
            return is_leaf(context, node) ? product(detail::noted(context.state(node))) : 0;
        }
        double sum(Index first, Index count) const {
            double total = 0;
            for (Index node = first; node < first + count; ++node) total += (*this)[node];
            return total;
        }
    };

    /// Find the last node of the longest prefix of the path to `node` whose score reaches the threshold.
    template <class T>
    Index prefix(const T& context, Index node) const {
        while (node != root_node && !(score(detail::noted(context.state(node))) >= threshold))
            node = context.shape.parent(node);
        return node;
    }

    /// Find the leaf after `last` in descending order of likelihood; for no_node, the likeliest leaf. Returns no_node
    /// after the last leaf.
    template <class T>
    static Index next_leaf(const T& context, Index last) {
        Index best = no_node;
        for (Index node = 0; node < context.shape.size(); ++node) {
            const double likely = context.state(node).c;
            if (!is_leaf(context, node)) continue;
            if (last != no_node &&
                !(likely < context.state(last).c || (likely == context.state(last).c && node > last)))
                continue;
            if (best == no_node || likely > context.state(best).c) best = node;
        }
        return best;
    }

    template <class T>
    Index best_prefix(const T& context) const {
        Index best = root_node;
        Index leaf = no_node;
        for (Index tried = 0; tried < (paths == Paths::top ? k : 1); ++tried) {
            leaf = next_leaf(context, leaf);
            if (leaf == no_node) break;
            const Index end = prefix(context, leaf);
            if (end == leaf) return leaf;
            if (context.state(end).rejected > context.state(best).rejected) best = end;
        }
        return best;
    }
};

}  // namespace lossy

}}  // namespace specsample
