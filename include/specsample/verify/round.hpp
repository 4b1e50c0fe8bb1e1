// A round is a transaction: what it was allowed, and what came of it. The caller commits it or drops it.
#pragma once

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <specsample/analysis/tally.hpp>
#include <specsample/core/fault.hpp>
#include <specsample/core/row.hpp>
#include <specsample/proposal/tree.hpp>

namespace specsample {

/// A count without a bound.
inline constexpr Index unlimited = std::numeric_limits<Index>::max();

/// How much of the given data a round looks at before it trusts it.
enum class Check {
    entries_read,  ///< the entries that decide and the sum of what the last token is drawn from: no NaN, infinity or
                   ///< row of logits passes, a negative entry that no decision lands on may. Rows past the node where
                   ///< a walk stops are never touched
    every_row      ///< every supplied row, in full, so that nothing escapes
};

/// What a round may do. Tokens past a limit do not exist: they are neither evaluated nor counted.
struct RoundLimits {
    Index max_tokens = unlimited;          ///< most tokens the round emits, >= 1
    std::span<const Token> stop_tokens{};  ///< the text ends after any of these
    Check check = Check::entries_read;

    /// Is this id, of any integral type, a stop token?
    bool stops(Integer auto id) const {
        return std::ranges::any_of(stop_tokens, [id](Token stop) { return std::cmp_equal(stop, id); });
    }
};

/// Memory that rounds reuse. After the first round of a size a round allocates nothing.
struct Workspace {
    /// What a ratio walk notes of a node: see SubTarget.
    struct Node {
        double c = 1;     ///< what its row is scaled by
        double owed = 1;  ///< T, the sum of what is owed, if `is_summed`
        bool is_summed = true;
        Index rejected = no_node;  ///< the last of its children that was rejected
        double factor = 0;         ///< what its own law is scaled by, once it is rejected itself
    };

    std::vector<Token> drafted;
    std::vector<Token> tokens;
    std::vector<Index> path;
    std::vector<Node> nodes;
    Links links;
    std::vector<Eigen::ArrayXd> rows;  ///< that a target transform makes, one per node
};

/// What one draft and one verification gave.
///
/// `tokens` are the accepted drafted tokens and at most one more, named by `last`; `path` are the nodes of the accepted
/// ones, 0, 1, 2 .. in a chain. They point into the workspace until its next use. A round with a fault has no tokens:
/// nothing of it may be committed, and the same round may be asked again.
struct Round {
    std::span<const Token> tokens{};
    std::span<const Index> path{};
    Index proposed = 0;   ///< drafted tokens given
    Index evaluated = 0;  ///< positions decided: accepted, or left without an accepted token
    Index accepted = 0;   ///< = path.size()
    Last last = Last::stopped;
    std::optional<RowFault> fault{};

    /// Is it a round without bad data?
    explicit operator bool() const { return !fault; }

    /// Positions of the target's cache that stay valid, for a text of `start` tokens before the round. The last
    /// token of the round has not been shown to any model yet; an accepted stop token only where its row was asked for.
    Index keep_target(Index start) const { return start + accepted; }

    /// The same for the draft's cache, which has not been shown the last token that it drafted.
    Index keep_draft(Index start) const { return start + std::clamp<Index>(proposed - 1, 0, accepted); }

    /// Keep the first `count` tokens only, as if the rest had never been decided.
    void truncate(Index count) {
        detail::require(count >= 0, "Round::truncate", "count", count, "at least 0");
        if (count >= std::ssize(tokens)) return;
        tokens = tokens.first(static_cast<std::size_t>(count));
        evaluated = accepted = std::min(accepted, count);
        path = path.first(static_cast<std::size_t>(accepted));
        last = Last::stopped;
    }

    /// What the round adds to a tally.
    RoundCounts counts() const {
        return {.proposed = proposed,
                .evaluated = evaluated,
                .accepted = accepted,
                .tokens = static_cast<Index>(tokens.size()),
                .last = last};
    }
};

}  // namespace specsample
