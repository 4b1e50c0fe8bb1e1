// Sums of the tokens' target probabilities along the paths of a drafted tree, from the root down.
//
//   PathSums                                     running sums along a path
//   product, arithmetic_mean, geometric_mean     scores computed from them
#pragma once

#include <cmath>
#include <limits>
#include <optional>

#include <specsample/verify/round_context.hpp>

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
    at = {.c = path.log_sum, .residual = path.sum, .rejected = path.length};
}
inline void note_unreached(RoundMemory::Node& at) { at = {.c = -std::numeric_limits<double>::infinity()}; }

inline lossy::PathSums noted(const RoundMemory::Node& at) { return {at.rejected, at.residual, at.c}; }
inline bool is_reached(const RoundMemory::Node& at) { return is_finite(at.c); }

/// Note the sums of every path whose tokens all have a target probability above bar(row), `row` being the token's
/// target row.
/// @param bar   bar(NodeRow&) -> double, at least 0
/// @cost        one call of bar per node that is reached and has children; no other row is read
template <class T, class Bar>
std::optional<RowFault> note_paths(const T& context, const Bar& bar) {
    note(context.state(root_node), {});
    for (Index node = 0; node < context.shape.size(); ++node) note_unreached(context.state(node));
    for (Index node = root_node; node < context.shape.size(); ++node) {
        Index child = context.shape.first_child(node);
        if (child == no_node || !is_reached(context.state(node)) || context.ends(node)) continue;
        walks::NodeRow<T> row(context, node);
        const double above = row.fault() ? 0 : bar(row);
        for (; child != no_node && !row.fault(); child = context.shape.next_sibling(child)) {
            const double mass = row.entry(context.token(child));
            if (!row.fault() && mass > above) note(context.state(child), noted(context.state(node)).then(mass));
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

}}  // namespace specsample
