// Rules that choose a path of the drafted tree as a whole, from the target probabilities of its tokens.
//
//   TypicalAcceptance   the longest path of tokens that are likely enough, given the entropy of their rows
//   PathHeuristic       a path whose score reaches a threshold, or its longest prefix whose score does
//
// Both draw the last token from p after the path. Tutorials on tree drafts have many variants of the second; it covers
// their common parts.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <specsample/core/eigen.hpp>
#include <specsample/lossy/distribution.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

namespace lossy {

/// The length of a path, and the sums of its tokens' target probabilities and of their logarithms.
struct PathSums {
    Index length = 0;    ///< the number of tokens
    double sum = 0;      ///< the sum of their target probabilities
    double log_sum = 0;  ///< the sum of the logarithms of these probabilities

    /// Return the sums of the path after one more token of this probability.
    PathSums then(double probability) const { return {length + 1, sum + probability, log_sum + std::log(probability)}; }
};

// Scores of a path are in [0, 1]; the empty path has score 1.

/// Compute the target probability of the whole path.
inline double product(const PathSums& path) { return std::exp(path.log_sum); }
/// Compute the mean target probability of the path's tokens.
inline double arithmetic_mean(const PathSums& path) {
    return path.length == 0 ? 1 : path.sum / static_cast<double>(path.length);
}
/// Compute the geometric mean of the target probabilities of the path's tokens.
inline double geometric_mean(const PathSums& path) {
    return path.length == 0 ? 1 : std::exp(path.log_sum / static_cast<double>(path.length));
}

}  // namespace lossy

namespace detail {

// A walk over paths stores the PathSums of each node in the workspace, in the fields that the ratio walks use
// otherwise.

inline void note(RoundMemory::Node& at, const lossy::PathSums& path) {
    at = {.c = path.log_sum, .residual = path.sum, .rejected = static_cast<int>(path.length)};
}
inline void note_unreached(RoundMemory::Node& at) { at = {.c = -std::numeric_limits<double>::infinity()}; }

inline lossy::PathSums noted(const RoundMemory::Node& at) { return {at.rejected, at.residual, at.c}; }
inline bool is_reached(const RoundMemory::Node& at) { return is_finite(at.c); }

/// Note the sums of every path whose tokens are all accepted by a rule that decides without a random draw.
/// @cost   that of the rule, for every node that is reached and has children; no other row is read
template <class T>
std::optional<RowFault> note_paths(const T& context, const Judge<lossy::DraftedToken>& judge) {
    note(context.state(root_node), {});
    for (Index node = 0; node < context.shape.size(); ++node) note_unreached(context.state(node));
    for (Index node = root_node; node < context.shape.size(); ++node) {
        Index child = context.shape.first_child(node);
        if (child == no_node || !is_reached(context.state(node)) || context.ends(node)) continue;
        TargetNode<T> row(context, node, judge);
        for (; child != no_node && !row.fault(); child = context.shape.next_sibling(child)) {
            const bool is_accepted = row.ratio(child).s > 0;
            const double mass = row.p();
            if (!row.fault() && is_accepted) note(context.state(child), noted(context.state(node)).then(mass));
        }
        if (row.fault()) return row.fault();
    }
    return std::nullopt;
}

/// Accept the path to a node, and draw the last token from the target's row there.
template <class T>
Outcome keep_path(const T& context, Index node) {
    Outcome outcome{.node = node, .accepted = noted(context.state(node)).length};
    if (context.ends(node)) return outcome;
    walks::NodeRow<T> row(context, node);
    if (!row.fault()) outcome.token = static_cast<Token>(row.draw_from_row(context.rng.at(Purpose::last, 0)).index);
    outcome.fault = row.fault();
    outcome.last = context.shape.first_child(node) == no_node ? LastToken::bonus : LastToken::recovered;
    return outcome;
}

}  // namespace detail

namespace lossy {

/// Accept x if p(x) > min(epsilon, delta exp(-H(p))), H the entropy in nats.
///
/// On a tree the longest accepted path is taken; of equally long paths the likeliest, then the first. The last token is
/// drawn from p after that path. If no first token is accepted, the round emits one token from p. The token that Medusa
/// always accepts is the last token of the prefix here.
///
/// The output distribution is q on the accepted tokens, plus p times the q mass of all other tokens.
///
/// @param epsilon   >= 0
/// @param delta     >= 0
/// @draws           one last-token draw
/// @cost            one pass with a logarithm per entry over the row of every accepted node that has children, also on
///                  paths that are not taken, and one pass for the last token
/// @edge            a token of probability 1 is accepted unless epsilon and delta are both at least 1
/// @source          Cai et al.: "Medusa: simple LLM inference acceleration framework with multiple decoding heads",
///                  ICML 2024 (arXiv:2401.10774), section 2.3.1; Hewitt, Manning, Liang: "Truncation sampling as
///                  language model desmoothing", 2022
struct TypicalAcceptance {
    static constexpr bool lossless = false;
    static constexpr auto recovery = Recovery::target;

    double epsilon = 0.09;
    double delta = 0.3;

    void check() const {
        detail::require_not_negative("TypicalAcceptance", "epsilon", epsilon);
        detail::require_not_negative("TypicalAcceptance", "delta", delta);
    }
    walks::Ratio chance(DraftedToken& x) const { return decide(x.p() > threshold(x.entropy())); }

    /// Return the bound that a token's probability must exceed in a row of this entropy.
    double threshold(double entropy) const { return std::min(epsilon, delta * std::exp(-entropy)); }

    template <class T>
    Outcome operator()(const T& round) const {
        const auto bad = detail::note_paths(round, detail::judge_of(*this));
        return bad ? Outcome{.fault = bad} : detail::keep_path(round, longest(round));
    }

  private:
    template <class T>
    static Index longest(const T& context) {
        Index best = root_node;
        for (Index node = 0; node < context.shape.size(); ++node) {
            if (!detail::is_reached(context.state(node))) continue;
            const PathSums path = detail::noted(context.state(node)), so_far = detail::noted(context.state(best));
            const bool equal = path.length == so_far.length;
            if (path.length > so_far.length || (equal && path.log_sum > so_far.log_sum)) best = node;
        }
        return best;
    }
};

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
        const detail::Judge<DraftedToken> possible{nullptr,
                                                   [](const void*, DraftedToken& x) { return decide(x.p() > 0); }};
        const auto bad = detail::note_paths(context, possible);
        if (bad) return {.fault = bad};
        if (paths != Paths::sampled) return detail::keep_path(context, best_prefix(context));
        const Index leaf = draw(context.rng.at(Purpose::accept, 0), LeafWeights<T>{context}).index;
        return detail::keep_path(context, leaf < 0 ? root_node : prefix(context, leaf));
    }

    /// Compute for each id the probability that it is accepted once drafted: 0 or 1.
    Eigen::ArrayXd chances(const Eigen::ArrayXd&, const Eigen::ArrayXd& p) const {
        check();
        return p.unaryExpr(
            [&](double mass) { return mass > 0 && score(PathSums{}.then(mass)) >= threshold ? 1.0 : 0.0; });
    }

    /// Compute the output distribution at one position.
    Eigen::ArrayXd distribution(const Eigen::ArrayXd& q, const Eigen::ArrayXd& p) const {
        return detail::emitted(q, chances(q, p), p);
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
