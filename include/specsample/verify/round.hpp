// A round is a transaction: what it was allowed, and what came of it. The caller commits it or drops it.
#pragma once

#include <algorithm>
#include <concepts>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <specsample/core/fault.hpp>
#include <specsample/core/list_ref.hpp>
#include <specsample/core/row.hpp>
#include <specsample/metrics/tally.hpp>
#include <specsample/tree/tree.hpp>

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

/// What a predicate says of the tokens of a round, up to and including the last of those it is shown.
enum class StopDecision {
    go_on,
    include,  ///< the text ends with this token
    exclude   ///< the text ends before this token
};

namespace detail {

/// A predicate that ends texts: stop strings, a grammar that is finished. Borrowed, never copied: a lambda must have a
/// name.
///
///     auto until = [&](std::span<const Token> tokens) { return ends(text, tokens) ? StopDecision::exclude :
///     StopDecision::go_on; }; RoundLimits limits{.until = until};
///
/// It is called with the first token of a round, the first two, and so on, until it stops; and again where a round is
/// repeated. It must be a function of the text and these tokens.
class StopPredicate {
  public:
    StopPredicate() = default;

    template <class F>
        requires(!std::same_as<std::remove_cvref_t<F>, StopPredicate> &&
                 std::is_invocable_r_v<StopDecision, F&, std::span<const Token>>)
    StopPredicate(F&& predicate)
        : predicate_(const_cast<void*>(static_cast<const volatile void*>(std::addressof(predicate)))),
          call_([](void* self, std::span<const Token> tokens) -> StopDecision {
              return std::invoke(*static_cast<std::remove_reference_t<F>*>(self), tokens);
          }) {
        static_assert(std::is_lvalue_reference_v<F>,
                      "specsample: `until` is borrowed, and a temporary would be gone before it is called; give the "
                      "predicate a name that lives for as long as the limits");
    }

    /// Is there a predicate?
    explicit operator bool() const { return call_ != nullptr; }

    StopDecision operator()(std::span<const Token> tokens) const {
        return call_ == nullptr ? StopDecision::go_on : call_(predicate_, tokens);
    }

  private:
    void* predicate_ = nullptr;
    StopDecision (*call_)(void*, std::span<const Token>) = nullptr;
};
}  // namespace detail

/// What a round may do. Tokens past a limit do not exist: they are neither evaluated nor counted.
struct RoundLimits {
    Index max_tokens = unlimited;   ///< most tokens the round emits, >= 1
    ListRef<Token> stop_tokens{};   ///< the text ends after any of these; borrowed
    detail::StopPredicate until{};  ///< and where this says so
    Check check = Check::entries_read;

    /// Is this id, of any integral type, a stop token?
    bool stops(detail::Integer auto id) const {
        return std::ranges::any_of(stop_tokens, [id](Token stop) { return std::cmp_equal(stop, id); });
    }
};

/// Does a round end the text, and why?
enum class RoundEnd {
    none,        ///< the text may go on
    budget,      ///< it has as many tokens as it was allowed
    stop_token,  ///< its last token is a stop token
    included,    ///< the predicate ended the text after its last token
    excluded     ///< the predicate ended the text before a token, which is left out
};

/// Memory that rounds reuse. After the first round of a size a round allocates nothing.
struct Workspace {
    /// What a ratio walk notes of a node: see ResidualTarget.
    struct Node {
        double c = 1;         ///< what its row is scaled by
        double residual = 1;  ///< T, the sum of the residual, if `is_summed`
        bool is_summed = true;
        Index rejected = no_node;  ///< the last of its children that was rejected
        double factor = 0;         ///< what its own distribution is scaled by, once it is rejected itself
    };

    std::vector<Token> drafted;
    std::vector<Token> tokens;
    std::vector<Index> path;
    std::vector<Node> nodes;
    detail::Links links;
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
    Index depth = 0;      ///< of them on the longest path
    Index evaluated = 0;  ///< positions decided: accepted, or left without an accepted token
    Index accepted = 0;   ///< = path.size()
    Index continued = 0;  ///< accepted nodes that the draft went on from
    Index discarded = 0;  ///< tokens that were decided and then cut, because the text ends before them
    Index passes = 1;     ///< target passes made for its rows; whoever makes several counts them
    LastToken last = LastToken::stopped;
    RoundEnd end = RoundEnd::none;
    std::optional<RowFault> fault{};

    /// Is it a round without bad data?
    explicit operator bool() const { return !fault; }

    /// Positions of the target's cache that stay valid, for a text of `start` tokens before the round. The last
    /// token of the round has not been shown to any model yet; an accepted stop token only where its row was asked for.
    Index keep_target(Index start) const { return start + accepted; }

    /// The same for the draft's cache, which has not been shown a token that it drafted nothing after. Of a tree: for a
    /// cache that holds the path.
    Index keep_draft(Index start) const { return start + continued; }

    /// Positions of either cache that stay valid for a model that must not have seen what ended the text: a recurrent
    /// state cannot forget a stop token. Otherwise the same as `keep`, one of the two above.
    Index keep_before_end(Index keep, Index start) const {
        const bool ended = end == RoundEnd::stop_token || end == RoundEnd::included;
        return std::min(keep, start + static_cast<Index>(tokens.size()) - (ended ? 1 : 0));
    }

    /// Call move(from, to), in an order in which nothing is overwritten that is still to be moved, for every position
    /// of the target's cache that has to go elsewhere: what was computed for node i lies at start + i, and the accepted
    /// ones must lie at start, start + 1 .. In a chain nothing moves.
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

    /// What the round adds to a tally.
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

/// What is wrong with a round's data, in a sentence; nothing where its round has no fault.
[[gnu::cold]] inline std::string message(const Round& round) { return round.fault ? message(*round.fault) : ""; }

}  // namespace specsample
