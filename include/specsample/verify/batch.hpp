// Batches: many requests in one call, each judged as if it were alone.
//
//   verify_batch   judges them, on the threads that the caller brings
//   Request        the arguments of verify as one value
//   slice          the rows (or distributions) of one request: [begin, end) of the batch's list
//   write_padded   the tokens of all rounds as one padded matrix, [requests x width] ids
//
// The result of a request depends on its own arguments alone: not on its slot, its neighbours, their number or their
// order, and not on threads. Random draws are addressed instead of taken from a common stream, and every slot has its
// own workspace.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <exception>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <specsample/core/contract.hpp>
#include <specsample/rows/rows.hpp>
#include <specsample/verify/round.hpp>
#include <specsample/verify/verify.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

/// Memory that batches reuse: one workspace per slot, whichever thread works on that slot. After the first batch of a
/// size, a batch allocates nothing.
struct BatchWorkspace {
    std::vector<Workspace> slots;  ///< one per request
    std::vector<Round> rounds;     ///< one per request: what verify_batch returns
};

namespace detail {

/// Calls body(0), body(1), .. body(count - 1), one after the other.
struct PlainLoop {
    template <class Body>
    void operator()(Index count, const Body& body) const {
        for (Index i = 0; i < count; ++i) body(i);
    }
};

/// Judge request i. If this throws, return a round with a fault.
template <class Judge>
Round judge_one(Judge& judge, Index i, Workspace& workspace) {
#if defined(__cpp_exceptions)
    try {
        return judge(i, workspace);
    } catch (const std::exception& thrown) {
        const char* const what = thrown.what();
        return what == nullptr ? no_round("the request threw something without a message") : no_round(what, workspace);
    } catch (...) {
        return no_round("the request threw something that is no std::exception");
    }
#else
    return judge(i, workspace);
#endif
}

}  // namespace detail

/// Judge a batch of requests, one round each.
///
///     verify_batch(slots, [&](Index i, Workspace& workspace) {
///         return verify(tokens[i], distributions[i], slice(rows, ends[i], ends[i + 1]), rule, rng[i], limits[i],
///                       workspace);
///     }, memory, parallel_for);
///
/// Requests may differ in everything: one may have no drafted tokens, and std::visit may choose a rule for each.
///
/// @param count          requests, >= 0
/// @param judge          judge(i, workspace) -> Round. Calls may run on several threads at once, so what requests share
///                       must be safe to read
/// @param memory         holds the returned rounds and their tokens
/// @param parallel_for   parallel_for(count, body) calls body(i) once for every i below count, on any threads and in
///                       any order, and returns when all calls have. The library starts no threads
/// @returns              [count] rounds, valid until the next use of `memory`. A bad request has a fault in its own
///                       round: the bad data, or Cause::broken_contract with a message in round.error if verify or the
///                       request's rows threw anything. Without exceptions, only a Request reports what verify would
///                       throw
/// @throws               std::invalid_argument if count < 0; anything that parallel_for throws
/// @edge                 a request that parallel_for leaves out gets a fault; an i outside [0, count) is refused
/// @cost                 the sum over the requests; no allocation once every slot has met its longest request
template <class Judge, class ParallelFor = detail::PlainLoop>
    requires std::invocable<Judge&, Index, Workspace&>
[[nodiscard]] std::span<Round> verify_batch(Index count, Judge&& judge, BatchWorkspace& memory,
                                            ParallelFor&& parallel_for = {}) {
    constexpr auto where = "verify_batch";
    detail::require(count >= 0, where, "count", count, "at least 0");
    const auto size = static_cast<std::size_t>(count);
    if (memory.slots.size() < size) memory.slots.resize(size);
    memory.rounds.assign(size, detail::no_round("specsample::verify_batch: the request was not judged, but "
                                                "parallel_for(count, body) must call body(i) once for every i below "
                                                "count"));
    parallel_for(count, [&](Index i) {
        if (i < 0 || i >= count) detail::invalid(where, "the i of body(i)", i, "below " + detail::to_text(count));
        const auto slot = static_cast<std::size_t>(i);
        memory.rounds[slot] = detail::judge_one(judge, i, memory.slots[slot]);
    });
    return memory.rounds;
}

/// Judge a list of requests: any type with size() and [i] whose elements can be called with a workspace.
///
///     std::vector<decltype(Request{tokens, distributions, rows, rule, rng, limits})> requests;
///     std::vector<std::function<Round(Workspace&)>> requests;    // of different types
template <class Requests, class ParallelFor = detail::PlainLoop>
    requires requires(Requests& requests, Workspace& workspace) { requests[requests.size()](workspace); }
[[nodiscard]] std::span<Round> verify_batch(Requests&& requests, BatchWorkspace& memory,
                                            ParallelFor&& parallel_for = {}) {
    const auto judge = [&](Index i, Workspace& workspace) { return requests[static_cast<std::size_t>(i)](workspace); };
    return verify_batch(static_cast<Index>(requests.size()), judge, memory, std::forward<ParallelFor>(parallel_for));
}

namespace detail {

/// Return the message that verify would throw; empty if it would throw none.
/// @cost   O(K) for a tree
template <class Tokens>
std::string refusal_of(const Tokens& given, const RoundLimits& limits) {
    std::string refused;
    if constexpr (requires { given.parents; }) {
        refused = refusal_of_sizes(given.tokens.size(), given.parents.size());
        for (Index node = 0; refused.empty() && node < std::ssize(given.parents); ++node)
            refused = refusal_of_parent("Tree", given.parents[static_cast<std::size_t>(node)], node);
    }
    return refused.empty() ? refusal_of_limits(limits) : refused;
}

class Origins;  // tree/origin.hpp
template <class Rule>
std::string refusal_of_origins(const Origins& origins);  // verify/values.hpp

/// Return the number of drafted tokens, of a chain or a tree.
template <class Tokens>
Index size_of(const Tokens& given) {
    if constexpr (requires { given.parents; })
        return std::ssize(given.tokens);
    else
        return std::ssize(std::span(given));
}

}  // namespace detail

/// One request of a batch: the arguments of verify as one value. Lvalue tokens, distributions and rows are borrowed,
/// rvalues are moved; the rest is copied.
///
///     Request{tokens, distributions, rows, TokenVerification{}, RoundRng(seed, request, start), limits}
///     Request{Tree{tokens, parents}, PointMass{}, slice(rows, begin, end), rule, rng}
///
/// request(workspace) calls verify, but three refusals of verify do not throw here: limits without room for a token,
/// bad parents of a tree, and tokens drawn without the noise that the rule shares with its drafter. The round then has
/// the fault Cause::broken_contract, and the message in round.error, also when exceptions are disabled.
template <class Tokens, class Distributions, class Rows, class Rule, class Source>
struct Request {
    Tokens tokens;                ///< the ids of a chain, or a Tree
    Distributions distributions;  ///< one per drafted token, or one for all
    Rows rows;                    ///< the target's rows, one more than drafted tokens
    Rule rule;                    ///< how the draft is judged
    Source rng;                   ///< the random numbers of the round
    RoundLimits limits{};         ///< where the round ends

    /// Judge the request.
    [[nodiscard]] Round operator()(Workspace& workspace) { return judge(*this, workspace); }
    [[nodiscard]] Round operator()(Workspace& workspace) const { return judge(*this, workspace); }

  private:
    template <class Self>
    static Round judge(Self& self, Workspace& workspace) {
        std::string refused = detail::refusal_of(self.tokens, self.limits);
        if (!refused.empty()) return detail::no_round(refused, workspace);
        if constexpr (detail::RowValues<Rows>)
            refused = detail::refusal_of_origins<Rule>(self.distributions);
        else
            refused = detail::refusal_of_drawn<Rule>(self.distributions, detail::size_of(self.tokens));
        if (!refused.empty()) return detail::no_round(refused, workspace);
        return verify(self.tokens, self.distributions, self.rows, self.rule, self.rng, self.limits, workspace);
    }
};

template <class Tokens, class Distributions, class Rows, class Rule, class Source>
Request(Tokens&&, Distributions&&, Rows&&, Rule, Source) -> Request<Tokens, Distributions, Rows, Rule, Source>;
template <class Tokens, class Distributions, class Rows, class Rule, class Source>
Request(Tokens&&, Distributions&&, Rows&&, Rule, Source, RoundLimits)
    -> Request<Tokens, Distributions, Rows, Rule, Source>;

namespace detail {

/// Elements [begin, end) of a list, or of a callable that computes them.
template <class Source>
class Slice {
  public:
    Slice(Source&& source, Index begin, Index end)
        : source_(std::forward<Source>(source)), begin_(begin), size_(end - begin) {}

    std::size_t size() const { return static_cast<std::size_t>(size_); }

    decltype(auto) operator[](std::size_t i) const&
        requires(is_supplied<Source>)
    {
        return element(source_, begin_ + static_cast<Index>(i));
    }
    /// Refuse a temporary slice: the element would belong to a list that is destroyed with the slice.
    void operator[](std::size_t i) && requires(is_supplied<Source>&& owns_rows<Source>) = delete;
    decltype(auto) operator()(Index i)
        requires(!is_supplied<Source>)
    {
        return element(source_, begin_ + i);
    }

  private:
    Source source_;
    Index begin_;
    Index size_;
};
template <class Source>
inline constexpr bool owns_rows<Slice<Source>> = owns_rows<Source>;

}  // namespace detail

/// Take rows [begin, end) of a batch's list as rows 0, 1, .. of one request. Distributions work the same way.
///
///     const auto flat = logits_of(rows_in_memory(logits, total, vocab, stride), temperature);
///     slice(flat, cu_num_logits[i], cu_num_logits[i + 1])
///
/// @param source   a matrix, anything indexed [i], or a callable of i. An lvalue is borrowed, an rvalue moved
/// @throws         std::invalid_argument unless 0 <= begin <= end <= the number of elements, where that is known
template <class Source>
detail::Slice<Source> slice(Source&& source, Index begin, Index end) {
    detail::require(begin >= 0, "slice", "begin", begin, "at least 0");
    if (end < begin) detail::invalid("slice", "end", end, "at least begin, " + detail::to_text(begin));
    if (const Index count = detail::element_count(source, end); end > count)
        detail::invalid("slice", "end", end, "at most the number of elements, " + detail::to_text(count));
    return {std::forward<Source>(source), begin, end};
}

/// Write the tokens of rounds as a padded, row-major matrix [rounds x width].
///
/// @param rounds   [B] what verify_batch returned, or any other list of rounds. The row of a round with a fault is
///                 all padding
/// @param ids      [B * width] ids of any integral type, in contiguous memory; width K + 1 has room for every round of
///                 K drafted tokens
/// @param pad      the id that fills a row after its tokens
/// @throws         std::invalid_argument if the number of ids is no multiple of the number of rounds, a round is longer
///                 than the width, or a token does not fit into an id. Then only the rows of earlier rounds are written
template <class Rounds, class Ids, class Id = typename decltype(std::span(std::declval<Ids&>()))::value_type>
    requires detail::Integer<Id>
void write_padded(const Rounds& rounds, Ids&& ids, std::type_identity_t<Id> pad = static_cast<Id>(-1)) {
    const std::span<Id> out(ids);
    detail::require_memory("write_padded", "ids", out);
    const std::size_t count = std::size(rounds);
    const std::size_t width = count == 0 ? 0 : out.size() / count;
    if (width * count != out.size())
        detail::invalid("write_padded", "the number of ids", out.size(),
                        "a multiple of the number of rounds, " + detail::to_text(count));
    std::size_t begin = 0;
    for (const auto& round : rounds) {
        const auto row = out.subspan(begin, width);
        if (round.tokens.size() > width)
            detail::invalid("write_padded", "the number of tokens of a round", round.tokens.size(),
                            "at most the width, " + detail::to_text(width));
        for (const Token token : round.tokens)
            detail::require(std::in_range<Id>(token), "write_padded", "a token", token, "inside the range of the ids");
        const auto end =
            std::ranges::transform(round.tokens, row.begin(), [](Token token) { return static_cast<Id>(token); }).out;
        std::fill(end, row.end(), pad);
        begin += width;
    }
}

}}  // namespace specsample
