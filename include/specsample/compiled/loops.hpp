// The loops of the compiled library: its functions that read rows, by address, once for each instruction set.
#pragma once

#include <tuple>

#include <specsample/drafters/draft_value.hpp>
#include <specsample/shaping/shape_value.hpp>
#include <specsample/verify/rules.hpp>
#include <specsample/verify/value_scores.hpp>
#include <specsample/verify/values.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

template <class Rule>
using JudgeLoop = decltype(&judge_values<Rule>);

struct Loops {
    /// The functions that are there twice: for rows that are read as floats, and as doubles.
    struct OfValue {
        decltype(&draft_alone<float>) draft_alone;
        decltype(&draft_shared<float>) draft_shared;
        decltype(&found_encoding<float>) found_encoding;
    };

    std::tuple<JudgeLoop<TokenVerification>, JudgeLoop<BlockVerification>, JudgeLoop<GreedyMatch>,
               JudgeLoop<SampleMatch>, JudgeLoop<GumbelMatch>>
        judge;
    OfValue floats, doubles;
    decltype(&score_values<Scores>) score_drafts;
    decltype(&score_emitted<Scores>) score_emitted;
    decltype(&shape_value<SamplingParams>) shape;
};

}}}  // namespace specsample::detail
