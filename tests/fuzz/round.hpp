// The result of a round, and the conditions on it for any input.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include <specsample/verify.hpp>

#include "fuzz/numbers.hpp"

namespace fuzz {

/// A round by value, or the message that was thrown instead.
struct Told {
    std::vector<Token> tokens;
    std::vector<Index> path;
    Round round;  ///< its spans are invalid
    std::string refusal;

    bool is_good() const { return refusal.empty() && !round.fault; }

    friend bool operator==(const Told& a, const Told& b) {
        const auto bits = [](double x) { return std::bit_cast<std::uint64_t>(x); };
        const auto counts = [](const Round& r) {
            return std::array{r.proposed, r.evaluated, r.accepted, r.discarded, Index(r.last), Index(r.end)};
        };
        if (a.refusal != b.refusal || a.tokens != b.tokens || a.path != b.path) return false;
        if (counts(a.round) != counts(b.round) || a.round.fault.has_value() != b.round.fault.has_value()) return false;
        if (!a.round.fault) return true;
        const RowFault &x = *a.round.fault, &y = *b.round.fault;
        return x.side == y.side && x.cause == y.cause && x.row == y.row && x.id == y.id &&
               bits(x.value) == bits(y.value) && bits(x.bound) == bits(y.bound);
    }
};

/// Call judge() -> Round and keep the result. No exception but std::invalid_argument may be thrown.
template <class F>
Told tell(const F& judge) {
    try {
        const Round round = judge();
        Told told{{round.tokens.begin(), round.tokens.end()}, {round.path.begin(), round.path.end()}, round, {}};
        told.round.tokens = {};
        told.round.path = {};
        return told;
    } catch (const std::invalid_argument& error) {
        return {.tokens = {}, .path = {}, .round = {}, .refusal = error.what()};
    }
}

/// A round with bad data has nothing to append, and its fault has a message.
inline void check_fault(const Told& told) {
    must(told.tokens.empty() && told.path.empty(), "a round with a fault has no tokens");
    must(told.round.accepted == 0 && told.round.evaluated == 0 && told.round.discarded == 0,
         "a round with a fault counts nothing");
    const std::string text = message(*told.round.fault);
    must(!text.empty() && std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; }),
         "the message of a fault can be printed");
}

/// The draft and the limits of a round.
struct Given {
    std::vector<std::int64_t> tokens, parents;
    RoundLimits limits;

    std::int64_t parent(Index node) const { return parents[static_cast<std::size_t>(node)]; }
    bool is_leaf(Index node) const { return std::ranges::find(parents, node) == parents.end(); }
};

inline void check_path(const Told& told, const Given& given) {
    must(std::ssize(told.path) == told.round.accepted, "a node of the path per accepted token");
    Index before = root_node;
    for (std::size_t i = 0; i < told.path.size(); ++i) {
        const Index node = told.path[i];
        must(node >= 0 && node < std::ssize(given.tokens), "the path is made of drafted nodes");
        must(given.parent(node) == before, "the path is a path of the tree");
        must(given.tokens[static_cast<std::size_t>(node)] == told.tokens[i], "accepted tokens are those of the path");
        before = node;
    }
    must(told.round.last != LastToken::bonus || given.is_leaf(before), "a bonus comes after a leaf");
    must((told.round.last != LastToken::recovered && told.round.last != LastToken::matched) || !given.is_leaf(before),
         "a recovered or matched token comes where a child was left");
}

inline void check_counts(const Told& told, const Given& given) {
    const Round& round = told.round;
    const bool has_last = round.last != LastToken::stopped;
    const bool rejected = round.last == LastToken::recovered || round.last == LastToken::matched;
    must(round.proposed == std::ssize(given.tokens), "all drafted tokens are counted as proposed");
    must(std::ssize(told.tokens) == round.accepted + (has_last ? 1 : 0), "tokens are those accepted and a last one");
    must(round.evaluated == round.accepted + (rejected ? 1 : 0), "positions evaluated are those decided");
    must(round.accepted >= 0 && round.accepted <= round.proposed && round.discarded >= 0, "counts are in their range");
    must(round.keep_target(5) == 5 + round.accepted, "the target keeps what was accepted");
    must(round.keep_draft(5) >= 5 && round.keep_draft(5) <= round.keep_target(5), "the draft keeps no more than that");
}

/// The end of a round and its reason: nothing comes after it.
inline void check_end(const Told& told, const Given& given) {
    const auto tokens = std::span<const Token>(told.tokens);
    const Round& round = told.round;
    must(std::ssize(tokens) <= given.limits.max_tokens, "no more tokens than the budget");
    must(!tokens.empty() || round.end == RoundEnd::excluded, "a round without tokens was ended by its predicate");
    for (std::size_t count = 1; count < tokens.size(); ++count) {
        must(given.limits.until(tokens.first(count)) == StopDecision::go_on, "nothing comes after the predicate's end");
        must(!given.limits.stops(tokens[count - 1]), "nothing comes after a stop token");
    }
    if (round.end == RoundEnd::excluded) return must(round.discarded > 0, "what a predicate excludes was decided");
    const StopDecision last = given.limits.until(tokens);
    const bool is_stop = given.limits.stops(tokens.back()), is_full = std::ssize(tokens) == given.limits.max_tokens;
    const RoundEnd end = last == StopDecision::include ? RoundEnd::included
                         : is_stop                     ? RoundEnd::stop_token
                         : is_full                     ? RoundEnd::budget
                                                       : RoundEnd::none;
    must(last != StopDecision::exclude && round.end == end, "a round ends for the first reason it has");
}

inline void check_round(const Told& told, const Given& given) {
    check_path(told, given);
    check_counts(told, given);
    check_end(told, given);
}

}  // namespace fuzz
