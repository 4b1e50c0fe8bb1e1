// Sampler over rows that are types: Eigen vectors, std::vector, Logits and their like. (sampler_values.hpp is for rows
// that are values.)
#pragma once

#include <specsample/drafters/chain.hpp>
#include <specsample/rows/owner.hpp>
#include <specsample/sampler/loop.hpp>  // IWYU pragma: export
#include <specsample/verify/rule.hpp>
#include <specsample/verify/scores.hpp>
#include <specsample/verify/token.hpp>
#include <specsample/verify/verify.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

template <class L, class Rows, class Rule, class Source>
Round judge_draft(const DraftTree<L>& draft_tree, Rows& rows, const Rule& rule, const Source& rng,
                  const RoundLimits& limits, RoundMemory& memory) {
    return judge(draft_tree.tokens(), draft_tree.links(), draft_tree.distributions(), rows, rule, rng, limits, memory);
}

template <class Rows>
void score_round(const Round& round, Rows& rows, Scores& memory, Index top) {
    token_scores(round, rows, memory, top);
}

}}}  // namespace specsample::detail
