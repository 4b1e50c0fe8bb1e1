// The paths of a draft from its root down, with what their tokens' target probabilities add up to.
//
//   PathSums          running sums along a path
//   product, arithmetic_mean, geometric_mean     scores made of them
#pragma once

#include <cmath>
#include <limits>
#include <optional>

#include <specsample/verify/round_context.hpp>

namespace specsample {

namespace lossy {

/// What is known of a path: how long it is, and the sums of its tokens' target probabilities and of their logarithms.
struct PathSums {
    Index length = 0;
    double sum = 0;
    double log_sum = 0;

    /// The path with one more token.
    PathSums then(double probability) const { return {length + 1, sum + probability, log_sum + std::log(probability)}; }
};

// Scores of a path, in [0, 1]; that of no token is 1.

/// The probability of the whole path.
inline double product(const PathSums& path) { return std::exp(path.log_sum); }
/// The mean probability of its tokens.
inline double arithmetic_mean(const PathSums& path) {
    return path.length == 0 ? 1 : path.sum / static_cast<double>(path.length);
}
/// exp of the mean log-probability.
inline double geometric_mean(const PathSums& path) {
    return path.length == 0 ? 1 : std::exp(path.log_sum / static_cast<double>(path.length));
}
}  // namespace lossy

namespace detail {

// A walk over paths keeps its notes where a ratio walk keeps its own.

inline void note(Workspace::Node& at, const lossy::PathSums& path) {
    at = {.c = path.log_sum, .residual = path.sum, .rejected = path.length};
}
inline void note_unreached(Workspace::Node& at) { at = {.c = -std::numeric_limits<double>::infinity()}; }

inline lossy::PathSums noted(const Workspace::Node& at) { return {at.rejected, at.residual, at.c}; }
inline bool is_reached(const Workspace::Node& at) { return is_finite(at.c); }

/// Does a drafted stop token end the path here?
template <class T>
bool is_stop(const T& context, Index node) {
    return node != root_node && context.limits.stops(context.token(node));
}

/// Note the sums of every path on which each token's target probability is above bar(row), the row before it.
/// @param bar   bar(NodeRow&) -> double, at least 0
/// @cost        bar, once per node that is reached and has children; no other row is asked for
template <class T, class Bar>
std::optional<RowFault> note_paths(const T& context, const Bar& bar) {
    note(context.state(root_node), {});
    for (Index node = 0; node < context.shape.size(); ++node) note_unreached(context.state(node));
    for (Index node = root_node; node < context.shape.size(); ++node) {
        Index child = context.shape.first_child(node);
        if (child == no_node || !is_reached(context.state(node)) || is_stop(context, node)) continue;
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

/// Keep the path to a node, and draw the last token from the target's row there.
template <class T>
Outcome keep_path(const T& context, Index node) {
    Outcome outcome{.node = node, .accepted = noted(context.state(node)).length};
    if (is_stop(context, node)) return outcome;
    walks::NodeRow<T> row(context, node);
    if (!row.fault()) outcome.token = static_cast<Token>(row.draw_from_row(context.rng.at(Purpose::last, 0)).index);
    outcome.fault = row.fault();
    outcome.last = context.shape.first_child(node) == no_node ? LastToken::bonus : LastToken::recovered;
    return outcome;
}

}  // namespace detail
}  // namespace specsample
