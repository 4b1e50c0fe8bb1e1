// Sampler over models whose rows are values (rows/row.hpp): for engines whose rows differ at run time, and for programs
// that compile fast. With specsample::compiled it does without Eigen.
//
//     const auto target = [&](std::span<const Token> prefix) { return Row::logits(engine.logits(prefix), .8); };
//     Sampler sampler(draft, target, {.lookahead = 4, .seed = 42});
#pragma once

#include <concepts>

#include <specsample/drafters/value_drafts.hpp>  // IWYU pragma: export
#include <specsample/rows/row_copy.hpp>
#include <specsample/sampler/loop.hpp>  // IWYU pragma: export
#include <specsample/values.hpp>        // IWYU pragma: export

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

/// Call f(rows) with the rows of a model: Rows, a list of Row, or anything that gives one by number.
template <class List, class F>
decltype(auto) with_list(List& list, const F& f) {
    if constexpr (std::convertible_to<const List&, const Rows&>) {
        return f(Rows(list));
    } else {
        const auto row = [&](Index i) -> Row { return element(list, i); };
        return f(Rows(row));
    }
}

template <class L, ValueList List, class Rule, class Source>
Round judge_draft(const DraftTree<L>& draft_tree, List& list, const Rule& rule, const Source& rng,
                  const RoundLimits& limits, RoundMemory& memory) {
    static_assert(std::same_as<Source, RoundRng>,
                  "specsample: rows that are values are judged with RoundRng; let the models return rows that are "
                  "types, as std::vector<float>, for another source of random numbers");
    return with_list(list, [&](const Rows& rows) {
        const auto judge = [&](const Origins& origins) {
            return verify_values(draft_tree.tokens(), &draft_tree.links(), origins, rows, rule, rng, limits, memory);
        };
        if constexpr (std::same_as<L, Origin>)
            return judge(draft_tree.distributions());
        else
            return judge(PointMass{});  // of a rule that compares tokens, SharedNoise as well
    });
}

template <ValueList List>
void score_round(const Round& round, List& list, Scores& memory, Index top) {
    with_list(list, [&](const Rows& rows) { token_scores(round, rows, memory, top); });
}

}}}  // namespace specsample::detail
