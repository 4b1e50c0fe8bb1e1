// The templates over rows that are values, compiled once: the rules' walks, the draws and the scores, read as floats or
// as doubles. compiled.hpp says what that is for; this part of it does without Eigen.
#pragma once

#include <optional>
#include <span>

#include <specsample/drafters/draft_value.hpp>
#include <specsample/verify/rules.hpp>
#include <specsample/verify/value_scores.hpp>
#include <specsample/verify/values.hpp>

#if !defined(SPECSAMPLE_EXTERN)
#define SPECSAMPLE_EXTERN extern
#endif

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

#define SPECSAMPLE_VALUES(Rule)                                                                                      \
    SPECSAMPLE_EXTERN template Round judge_values(std::span<const Token>, const Links*, const Origins&, const Rows&, \
                                                  const Rule&, const RoundRng&, const RoundLimits&, RoundMemory&);   \
    template <>                                                                                                      \
    struct JudgesValues<Rule> {};

SPECSAMPLE_VALUES(TokenVerification)
SPECSAMPLE_VALUES(BlockVerification)
SPECSAMPLE_VALUES(GreedyMatch)
SPECSAMPLE_VALUES(SampleMatch)
SPECSAMPLE_VALUES(GumbelMatch)

#define SPECSAMPLE_READ_AS(Value)                                                                         \
    SPECSAMPLE_EXTERN template DraftedValue draft_alone<Value>(const RoundRng&, Index, const Row&, Index, \
                                                               std::span<const Token>);                   \
    SPECSAMPLE_EXTERN template DraftedValue draft_shared<Value>(const RoundRng&, const Row&, Index,       \
                                                                std::span<const Token>);                  \
    SPECSAMPLE_EXTERN template std::optional<RowFault> inspect_as<Value>(const Row&, Side, Index);

SPECSAMPLE_READ_AS(float)
SPECSAMPLE_READ_AS(double)

SPECSAMPLE_EXTERN template std::span<const DraftScore> score_values(const Links&, std::span<const Token>,
                                                                    const Origins&, const Rows&, const RoundRng&,
                                                                    const Round&, Scores&);
SPECSAMPLE_EXTERN template std::span<const TokenScore> score_emitted(const Round&, const Rows&, Scores&, Index);

#undef SPECSAMPLE_VALUES
#undef SPECSAMPLE_READ_AS

}}}  // namespace specsample::detail

#undef SPECSAMPLE_EXTERN
