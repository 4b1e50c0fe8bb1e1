// A round is a transaction: its limits, and its result, which the caller commits or drops.
#pragma once

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
#include <specsample/core/row_kinds.hpp>
#include <specsample/core/stop_predicate.hpp>
#include <specsample/core/tally.hpp>
#include <specsample/tree/endings.hpp>
#include <specsample/tree/links.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

class Workspace;

/// The value of a limit that bounds nothing.
inline constexpr Index unlimited = std::numeric_limits<Index>::max();

/// The part of the given data that a round checks.
enum class Check {
    entries_read,  ///< the entries that decide, and the sums that a decision or the last token needs. In the target's
                   ///< row that gives the last token, any NaN, infinity or logits are found, but a negative entry that
                   ///< no decision reads may pass; of the draft's row few entries may be read. Rows past the node where
                   ///< a walk stops are never read
    every_row      ///< every supplied row and every computed row that is reached, in full: even probabilities given as
                   ///< Logits are found. Rows past the end of the text are left out, because they need not exist. Past
                   ///< the budget a target row may make nothing possible, as that of a grammar that is over
};

/// The limits of a round. Tokens past a limit are cut: they count neither as evaluated nor as accepted.
struct RoundLimits {
    Index max_tokens = unlimited;       ///< most tokens that the round emits, >= 1
    ListRef<Token> stop_tokens{};       ///< the text ends after any of these; borrowed
    detail::StopPredicate until{};      ///< a predicate that ends the text; borrowed
    Check check = Check::entries_read;  ///< how much of the rows to check

    /// Tell whether this id, of any integral type, is a stop token.
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

namespace detail {

/// The encoding of a row of logits, kept once a pass has found its normaliser. Until then all numbers are 0.
struct KeptEncoding {
    double pivot;  ///< the place that has all weight if `factor` is negative
    double scale;
    double factor;
};

/// What the rounds of a workspace write. Its vectors grow and never shrink.
struct RoundMemory {
    /// What a ratio walk remembers of a node (c, T and the last rejection; `ResidualTarget` defines them).
    struct Node {
        double c = 1;           ///< the factor of its row
        double residual = 1;    ///< T, the sum of the residual, if `is_summed`
        double factor = 0;      ///< the factor with which its draft row is subtracted, once it is rejected; before the
                                ///< sums that it takes are known, the negative of d
        double rest = -1;       ///< the sum of its distribution's weights; negative until it is known
        double sum = 0;         ///< the sum of its row; 0 until it is known
        KeptEncoding row{};     ///< of its row, if that has logits
        KeptEncoding draft{};   ///< of the row that its token was drawn from
        int rejected{no_node};  ///< its child that was rejected last, or no_node
        bool is_summed = true;
        bool is_point = false;  ///< true if its distribution counts as a point mass

        /// Enter the node with s = weight p. The sums of its row and its distribution stay known.
        void enter(double weight) {
            c = residual = weight;
            is_summed = true, is_point = false;
            rejected = int{no_node}, factor = 0;
        }
    };

    std::vector<Token> drafted;  ///< the drafted tokens
    std::vector<Token> tokens;   ///< the tokens of the round
    std::vector<Index> path;     ///< the accepted nodes
    std::vector<Node> nodes;     ///< what walks remember of the nodes, the root first
    Links links;                 ///< the links of the drafted tree
    Endings endings;             ///< where the tree's nodes end the text, as far as is known
    std::vector<double> rows;    ///< the rows that a target transform makes, one after the other, by node
    std::vector<double> kept;    ///< memory for what rejections have left of the row of one node: see kept_memory
    Index kept_node = no_node;   ///< which node
    Index kept_rejections = 0;   ///< how many rejections that is after; 0 if nothing is kept
    std::vector<Token> error;    ///< why a request of a batch has no round: a text, kept in a vector of tokens
                                 ///< because a new type of vector would cost every program 25 symbols

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

    /// Begin with a chain of drafted tokens, or with a tree, about whose endings nothing is known.
    const Links& chain(Index size) {
        endings.clear();
        links.become_chain(size);
        return links;
    }
    template <class Parent>
    const Links& tree(std::span<const Parent> parents) {
        endings.clear();
        links.connect(parents);
        return links;
    }

    void reserve(std::size_t count) {
        drafted.reserve(count);
        tokens.reserve(count + 1);
        path.reserve(count);
        nodes.reserve(count + 1);
    }
};

RoundMemory& memory_of(Workspace& workspace);

/// Raise std::invalid_argument with a message, unless it is empty.
inline void require_none(const std::string& refused) {
    if (!refused.empty()) raise(std::invalid_argument(refused));
}

/// Return the message for a tree with more or fewer parents than tokens; empty for a good tree.
inline std::string refusal_of_sizes(std::size_t tokens, std::size_t parents) {
    if (tokens == parents) return {};
    return refusal("verify", "the number of tree.parents", parents, "that of tree.tokens, " + to_text(tokens));
}
}  // namespace detail

/// Memory that rounds reuse: one per thread, or one per request of a batch. A round allocates only if it is larger than
/// every round before it and than what `reserve` was given.
///
/// A workspace holds about 160 bytes per drafted token, whatever the vocabulary: rows are read where they lie. Only
/// rules that substitute the target (lossy::Transformed) also keep a row of doubles per node, and traversal
/// verification of children that were drawn from rows keeps 8 bytes per id, 16 where rows are doubles.
class Workspace {
  public:
    /// Allocate now what rounds over up to `nodes` drafted tokens need, as chains or trees.
    /// @param vocab        the number of ids, for rules that substitute the target; 0 for all other rules
    /// @param tree_vocab   the number of ids, for traversal verification of trees drawn from rows; 0 for all else
    /// @throws             std::invalid_argument for a negative number
    /// @cost               about 160 bytes per node, 8 * vocab bytes more per node, and 16 * tree_vocab bytes
    void reserve(Index nodes, Index vocab = 0, Index tree_vocab = 0) {
        detail::require(nodes >= 0, "Workspace::reserve", "nodes", nodes, "at least 0");
        detail::require(vocab >= 0, "Workspace::reserve", "vocab", vocab, "at least 0");
        detail::require(tree_vocab >= 0, "Workspace::reserve", "tree_vocab", tree_vocab, "at least 0");
        const auto count = static_cast<std::size_t>(nodes);
        memory_.reserve(count);
        memory_.links.reserve(nodes);
        memory_.endings.reserve(count);
        const std::size_t numbers = (count + 1) * static_cast<std::size_t>(vocab);
        if (memory_.rows.size() < numbers) memory_.rows.resize(numbers);
        const std::size_t kept =
            tree_vocab == 0 ? 0 : 2 * static_cast<std::size_t>(tree_vocab) + 1032;  // see kept_memory
        if (memory_.kept.size() < kept) memory_.kept.resize(kept);
    }

  private:
    friend detail::RoundMemory& detail::memory_of(Workspace& workspace);

    detail::RoundMemory memory_;
};

namespace detail {

inline RoundMemory& memory_of(Workspace& workspace) { return workspace.memory_; }

}  // namespace detail

/// The result of one draft and its verification.
///
/// `tokens`, `path` and `error` point into the workspace until its next use. A round with a fault has no tokens:
/// nothing of it may be committed, and the same round may be asked for again.
struct Round {
    std::span<const Token> tokens{};      ///< the accepted drafted tokens, and at most one more, named by `last`
    std::span<const Index> path{};        ///< the nodes of the accepted tokens; 0, 1, 2 .. in a chain
    Index proposed = 0;                   ///< drafted tokens given
    Index depth = 0;                      ///< drafted tokens on the longest path
    Index evaluated = 0;                  ///< accepted positions, and the position of a rejection or mismatch
    Index accepted = 0;                   ///< = path.size()
    Index continued = 0;                  ///< accepted nodes after which something was drafted
    Index discarded = 0;                  ///< tokens decided and then cut, because the text ends before them
    Index passes = 1;                     ///< target passes that its rows took; a Sampler counts them
    LastToken last = LastToken::stopped;  ///< what the last token is
    RoundEnd end = RoundEnd::none;        ///< whether the text ends, and why
    std::optional<RowFault> fault{};      ///< the bad data that was met, if any
    std::string_view error{};             ///< in a batch, the message of the fault Cause::broken_contract

    /// Tell whether there is a round: no bad data was met, and no contract was broken.
    explicit operator bool() const { return !fault; }

    /// Return how many positions of the target's cache stay valid, for a text of `start` tokens before the round. No
    /// model has been shown a recovered, bonus or matched token yet. The target has been shown an accepted token that
    /// ended the text only if the row after that token was asked for.
    Index keep_target(Index start) const { return start + accepted; }

    /// Return how many positions of the draft model's cache stay valid. A draft model has not been shown a token after
    /// which it drafted nothing. For a tree, the cache must hold the accepted path.
    Index keep_draft(Index start) const { return start + continued; }

    /// Return how many positions of a cache to keep if the model must not have seen the token that ended the text: for
    /// example, a recurrent state cannot forget a stop token. `keep` is keep_target(start) or keep_draft(start); all of
    /// it is kept if nothing ended the text.
    Index keep_before_end(Index keep, Index start) const {
        const bool ended = end == RoundEnd::stop_token || end == RoundEnd::included;
        const Index before = start + static_cast<Index>(tokens.size()) - (ended ? 1 : 0);
        return keep < before ? keep : before;
    }

    /// Call move(from, to) for every position of the target's cache that has to move: node i was computed at start + i,
    /// and the accepted nodes must lie at start, start + 1 .. No call overwrites a position that a later call moves. In
    /// a chain nothing moves.
    template <class Move>
    void compact(Index start, Move&& move) const {
        for (Index i = 0; i < std::ssize(path); ++i)
            if (const Index node = path[static_cast<std::size_t>(i)]; node != i) move(start + node, start + i);
    }

    /// Keep the first `count` tokens only, as if the rest had never been decided.
    void truncate(Index count) {
        detail::require(count >= 0, "Round::truncate", "count", count, "at least 0");
        if (count == std::ssize(tokens) && end == RoundEnd::excluded) end = RoundEnd::none;
        if (count >= std::ssize(tokens)) return;
        discarded += std::ssize(tokens) - count;
        tokens = tokens.first(static_cast<std::size_t>(count));
        if (accepted > count) accepted = count;
        if (continued > count) continued = count;
        evaluated = accepted;
        path = path.first(static_cast<std::size_t>(accepted));
        last = LastToken::stopped;
        end = RoundEnd::none;
    }

    /// Return the counts that the round adds to a Tally.
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

/// Say in a sentence why there is no round: which bad data was met, or which contract was broken. Empty if the round
/// has no fault.
[[gnu::cold]] inline std::string message(const Round& round) {
    if (round.fault && !round.error.empty()) return std::string(round.error);
    return round.fault ? message(*round.fault) : "";
}

namespace detail {

/// Make the round, with a fault, of a request that could not be judged.
/// @param why   a message that outlives the round
[[gnu::cold]] inline Round no_round(std::string_view why) {
    return {.fault = RowFault{.side = Side::limits, .cause = Cause::broken_contract}, .error = why};
}
/// Make such a round from a message that the workspace copies.
[[gnu::cold]] inline Round no_round(std::string_view why, Workspace& workspace) {
    std::vector<Token>& error = memory_of(workspace).error;
    error.resize(why.size() / sizeof(Token) + 1);
    char* const text = reinterpret_cast<char*>(error.data());
    why.copy(text, why.size());
    return no_round({text, why.size()});
}

}  // namespace detail

}}  // namespace specsample
