// A round is a transaction: its limits, and its result, which the caller commits or drops.
#pragma once

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <specsample/core/fault.hpp>
#include <specsample/core/list_ref.hpp>
#include <specsample/core/row.hpp>
#include <specsample/core/stop_predicate.hpp>
#include <specsample/core/tally.hpp>
#include <specsample/tree/endings.hpp>
#include <specsample/tree/links.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

/// The value of a limit that bounds nothing.
inline constexpr Index unlimited = std::numeric_limits<Index>::max();

/// The part of the given data that a round checks.
enum class Check {
    entries_read,  ///< the entries that decide, and the sums that a decision or the last token needs: no NaN, infinity
                   ///< or row of logits passes where the last token is drawn, but an entry that no decision reads, such
                   ///< as a negative one, may. Rows past the node where a walk stops are never read
    every_row      ///< every supplied row and every computed row that is reached, in full, so that nothing escapes, not
                   ///< even probabilities given as Logits; not the rows past the end of the text, which need not exist
};

/// The limits of a round. Tokens past a limit do not exist: they are neither evaluated nor counted.
struct RoundLimits {
    Index max_tokens = unlimited;       ///< most tokens that the round emits, >= 1
    ListRef<Token> stop_tokens{};       ///< the text ends after any of these; borrowed
    detail::StopPredicate until{};      ///< a predicate that ends the text; borrowed
    Check check = Check::entries_read;  ///< how much of the rows to check

    /// True if this id, of any integral type, is a stop token.
    bool stops(detail::Integer auto id) const { return detail::is_among(stop_tokens, id); }
};

/// Whether a round ends the text, and why.
enum class RoundEnd {
    none,        ///< the text may go on
    budget,      ///< the round has max_tokens tokens
    stop_token,  ///< its last token is a stop token
    included,    ///< the predicate ended the text after its last token
    excluded     ///< the predicate ended the text before a token, which is left out
};

/// Memory that rounds reuse. After the first round of a size, a round allocates nothing.
struct Workspace {
    /// The notes of a ratio walk about a node: see ResidualTarget.
    struct Node {
        double c = 1;         ///< the factor of its row
        double residual = 1;  ///< T, the sum of the residual, if `is_summed`
        bool is_summed = true;
        Index rejected = no_node;  ///< the last of its children that was rejected
        double factor = 0;         ///< the factor of its own distribution, once it is rejected itself
        bool is_point = false;     ///< true if that distribution counts as a point mass
        double rest = -1;          ///< the sum of that distribution's weights; negative until it is known
        double sum = 0;            ///< the sum of its row; 0 until it is known
        // The normaliser of its row of logits, as an Encoding takes it; the factor is 0 until it is known.
        double pivot = 0, scale = 0, factor_of_logits = 0;

        /// A walk enters the node with s = c p. What is known of its row and its distribution stays known.
        void enter(double weight) {
            c = residual = weight;
            is_summed = true, is_point = false;
            rejected = no_node, factor = 0;
        }
    };

    std::vector<Token> drafted;        ///< the drafted tokens
    std::vector<Token> tokens;         ///< of the round
    std::vector<Index> path;           ///< the accepted nodes
    std::vector<Node> nodes;           ///< notes about the nodes, the root's first
    detail::Links links;               ///< of the drafted tree
    detail::Endings endings;           ///< where its nodes end the text, as far as it is known
    std::vector<Eigen::ArrayXd> rows;  ///< made by a target transform, one per node
    std::vector<Token> error;          ///< why a request of a batch has no round: a text, in memory of a type of
                                       ///< vector that there is, since one more costs every program 25 symbols

    /// Make room for a round over these drafted tokens.
    template <class Ids>
    void start(const Ids& given) {
        drafted.clear();
        for (const auto id : given) drafted.push_back(static_cast<Token>(id));
        nodes.clear();
        nodes.resize(drafted.size() + 1);
        path.reserve(drafted.size());
        tokens.reserve(drafted.size() + 1);
    }
};

/// The result of one draft and its verification.
///
/// `tokens`, `path` and `error` point into the workspace until its next use. A round with a fault has no tokens:
/// nothing of it may be committed, and the same round may be asked for again.
struct Round {
    std::span<const Token> tokens{};      ///< the accepted drafted tokens, and at most one more, named by `last`
    std::span<const Index> path{};        ///< the nodes of the accepted tokens; 0, 1, 2 .. in a chain
    Index proposed = 0;                   ///< drafted tokens given
    Index depth = 0;                      ///< drafted tokens on the longest path
    Index evaluated = 0;                  ///< positions decided: the accepted ones, and that of a rejection or mismatch
    Index accepted = 0;                   ///< = path.size()
    Index continued = 0;                  ///< accepted nodes after which something was drafted
    Index discarded = 0;                  ///< tokens decided and then cut, because the text ends before them
    Index passes = 1;                     ///< target passes that its rows took; a Sampler counts them
    LastToken last = LastToken::stopped;  ///< what the last token is
    RoundEnd end = RoundEnd::none;        ///< whether the text ends, and why
    std::optional<RowFault> fault{};      ///< the bad data that was met, if any
    std::string_view error{};             ///< in a batch, why there is no round: the fault is Cause::broken_contract

    /// True if there is a round: no bad data was met, and no contract broken.
    explicit operator bool() const { return !fault; }

    /// Positions of the target's cache that stay valid, for a text of `start` tokens before the round. No model has
    /// been shown a recovered, bonus or matched token yet, and an accepted token that ended the text only if the row
    /// after it was asked for.
    Index keep_target(Index start) const { return start + accepted; }

    /// The same for the draft's cache. A draft model has not been shown a token after which it drafted nothing. For a
    /// tree, the cache must hold the accepted path.
    Index keep_draft(Index start) const { return start + continued; }

    /// Positions of a cache to keep if the model must not have seen what ended the text; a recurrent state, for one,
    /// cannot forget a stop token. Where nothing ended it, all of `keep`: keep_target(start) or keep_draft(start).
    Index keep_before_end(Index keep, Index start) const {
        const bool ended = end == RoundEnd::stop_token || end == RoundEnd::included;
        return std::min(keep, start + static_cast<Index>(tokens.size()) - (ended ? 1 : 0));
    }

    /// Call move(from, to) for every position of the target's cache that has to move: node i was computed at start + i,
    /// and the accepted nodes must lie at start, start + 1 .. The order of the calls overwrites nothing that is still
    /// to be moved. In a chain nothing moves.
    template <class Move>
    void compact(Index start, Move&& move) const {
        for (Index i = 0; i < std::ssize(path); ++i)
            if (const Index node = path[static_cast<std::size_t>(i)]; node != i) move(start + node, start + i);
    }

    /// Keep the first `count` tokens only, as if the rest had never been decided.
    void truncate(Index count) {
        detail::require(count >= 0, "Round::truncate", "count", count, "at least 0");
        if (count >= std::ssize(tokens)) return;
        discarded += std::ssize(tokens) - count;
        tokens = tokens.first(static_cast<std::size_t>(count));
        evaluated = accepted = std::min(accepted, count);
        continued = std::min(continued, count);
        path = path.first(static_cast<std::size_t>(accepted));
        last = LastToken::stopped;
        end = RoundEnd::none;
    }

    /// The counts that the round adds to a Tally.
    RoundCounts counts() const {
        RoundCounts counts{.proposed = proposed,
                           .evaluated = evaluated,
                           .accepted = accepted,
                           .tokens = static_cast<Index>(tokens.size()),
                           .last = last,
                           .depth = depth,
                           .discarded = discarded,
                           .passes = passes};
        if (fault) counts.fault = fault->cause;
        return counts;
    }
};

/// A sentence on why there is no round: the bad data that was met, or the contract that was broken; empty where it has
/// no fault.
[[gnu::cold]] inline std::string message(const Round& round) {
    if (round.fault && !round.error.empty()) return std::string(round.error);
    return round.fault ? message(*round.fault) : "";
}

namespace detail {

/// The round of a request that has none, as a fault.
/// @param why   a message that outlives the round
[[gnu::cold]] inline Round no_round(std::string_view why) {
    return {.fault = RowFault{.side = Side::limits, .cause = Cause::broken_contract}, .error = why};
}
/// The same for a message that the workspace keeps.
[[gnu::cold]] inline Round no_round(std::string_view why, Workspace& workspace) {
    workspace.error.resize(why.size() / sizeof(Token) + 1);
    char* const text = reinterpret_cast<char*>(workspace.error.data());
    std::ranges::copy(why, text);
    return no_round({text, why.size()});
}

}  // namespace detail

}}  // namespace specsample
