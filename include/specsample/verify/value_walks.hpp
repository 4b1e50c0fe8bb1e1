// The walks of the rules over rows and origins that are values.
#pragma once

#include <optional>
#include <span>

#include <specsample/rows/row_view.hpp>
#include <specsample/tree/distribution.hpp>
#include <specsample/tree/origin.hpp>
#include <specsample/verify/draft_scores.hpp>
#include <specsample/verify/kept_encoding.hpp>
#include <specsample/verify/scores.hpp>
#include <specsample/verify/value_scores.hpp>
#include <specsample/verify/values.hpp>
#include <specsample/verify/verify.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

/// Tell whether a round of values has doubles, so that all of its rows are read as doubles.
inline bool has_doubles(const Origins& origins, const Rows& rows, const std::optional<Row>& first) {
    const auto is_wide = [](const Row& row) { return row.scalar() == RowScalar::f64; };
    if (first && is_wide(*first)) return true;
    for (Index i = 1; i < rows.count(); ++i)
        if (is_wide(rows[i])) return true;
    for (const Origin& origin : origins.list())
        if (origin.is_sampled() && is_wide(origin.row())) return true;
    return false;
}

/// The target's rows as a walk reads them. Row 0 was asked for already, to see what its scalar is.
template <class Value>
class RowValueList {
  public:
    RowValueList(const Rows& rows, const std::optional<Row>& first) : rows_(rows), first_(first) {}

    /// @throws   std::invalid_argument for a row of doubles that a callable made after rows of floats
    [[gnu::noinline]] RowView<Value> operator()(Index i) const {
        if (const Row* row = rows_.listed(i)) return RowView<Value>(*row);
        if (i == 0 && first_) {
            const Row row = *first_;
            first_.reset();
            return {row, typename RowView<Value>::Made{}};
        }
        const Row row = rows_[i];
        if (sizeof(Value) < sizeof(double) && row.scalar() == RowScalar::f64)
            invalid("verify", "the scalar of row " + to_text(i), "f64", "that of row 0, which is read as floats");
        return {row, typename RowView<Value>::Made{}};
    }

    Index count() const { return rows_.count(); }

  private:
    const Rows& rows_;
    mutable std::optional<Row> first_;
};

template <class Value>
bool rows_exist(const RowValueList<Value>& rows) {
    return rows.count() >= 0;
}

/// The origins of a draft of `size` tokens, as distributions that outlive the list.
template <class Value>
class OriginList {
    using Distribution = Mixed<row_view_t<RowView<Value>>>;

  public:
    /// @param memory   keeps the normaliser of each node's row, once a rule has looked at it
    OriginList(const Origins& origins, std::size_t size, RoundMemory& memory)
        : origins_(origins), size_(origins.are_listed() ? origins.list().size() : size), memory_(memory) {}

    [[gnu::noinline]] Distribution operator[](std::size_t node) const {
        if (!origins_.are_listed() || !origins_.list()[node].is_sampled()) return PointMass{};
        const Origin& origin = origins_.list()[node];
        const RowView<Value> row(origin.row());
        return Sampled<row_view_t<RowView<Value>>>(read_kept(row, memory_.nodes[node + 1].draft),
                                                   OriginAccess::without(origin), OriginAccess::drawn(origin));
    }
    std::size_t size() const { return size_; }

  private:
    const Origins& origins_;
    std::size_t size_;
    RoundMemory& memory_;
};

template <class Rule>
struct JudgesValues {};

/// Judge a draft of values. Every row is read as `Value`.
template <class Value, class Rule>
Round judge_as(std::span<const Token> tokens, const Links& shape, const Origins& origins, const Rows& rows,
               const std::optional<Row>& first, const Rule& rule, const RoundRng& rng, const RoundLimits& limits,
               RoundMemory& memory) {
    const RowValueList<Value> target(rows, first);
    if constexpr (shares_noise<Rule>) {
        if (origins.are_listed() &&
            origins.list().size() != tokens.size())  // is no list for the rule, which reads none
            return {.proposed = shape.size(),
                    .fault = RowFault{.side = Side::draft,
                                      .cause = Cause::wrong_count,
                                      .value = static_cast<double>(origins.list().size()),
                                      .bound = static_cast<double>(tokens.size())}};
        const SharedNoise all;
        return judge_plain(tokens, shape, all, target, rule, rng, limits, memory);
    } else {
        const OriginList<Value> list(origins, tokens.size(), memory);
        return judge_plain(tokens, shape, list, target, rule, rng, limits, memory);
    }
}

template <class Rule>
Round judge_values(std::span<const Token> tokens, const Links* shape, const Origins& origins, const Rows& rows,
                   const Rule& rule, const RoundRng& rng, const RoundLimits& limits, RoundMemory& memory) {
    require_memory("verify", "tokens", tokens);
    require_none(refusal_of_origins<Rule>(origins));
    const Links& links = shape == nullptr ? memory.chain(std::ssize(tokens)) : *shape;
    const std::optional<Row> first = rows.count() == 0 ? std::optional<Row>() : rows[0];
    const auto judge = has_doubles(origins, rows, first) ? judge_as<double, Rule> : judge_as<float, Rule>;
    return judge(tokens, links, origins, rows, first, rule, rng, limits, memory);
}

/// Score a draft of values. Every row is read as `Value`.
template <class Value>
std::span<const DraftScore> score_as(const Links& shape, std::span<const Token> tokens, const Origins& origins,
                                     const Rows& rows, const std::optional<Row>& first, const RoundRng& rng,
                                     const Round& round, Scores& memory) {
    const RowValueList<Value> target(rows, first);
    const OriginList<Value> list(origins, tokens.size(), memory.notes);
    return score_drafts(shape, tokens, list, target, rng, round, memory);
}

template <class Memory>
std::span<const DraftScore> score_values(const Links& shape, std::span<const Token> tokens, const Origins& origins,
                                         const Rows& rows, const RoundRng& rng, const Round& round, Memory& memory) {
    require_none(refusal_of_origins<TokenVerification>(origins));
    const std::optional<Row> first = rows[0];
    const auto score = has_doubles(origins, rows, first) ? score_as<double> : score_as<float>;
    return score(shape, tokens, origins, rows, first, rng, round, memory);
}

template <class Memory>
std::span<const TokenScore> score_emitted(const Round& round, const Rows& rows, Memory& memory, Index top) {
    return score_tokens(round, memory, top, [&](Token token, Index i, std::span<ScoredId> listed) {
        const Row row = rows[i];
        return as_read(row.scalar(),
                       [&]<class Value>() { return score_token(RowView<Value>(row).probs(), token, i, listed); });
    });
}

}}}  // namespace specsample::detail
