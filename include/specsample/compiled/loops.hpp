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

/// The walks of some rules.
template <class... Rules>
struct JudgeLoops {
    using Table = std::tuple<JudgeLoop<Rules>...>;
    static constexpr Table table() { return {&judge_values<Rules>...}; }
};
using CompiledRules =
    JudgeLoops<TokenVerification, BlockVerification, GreedyMatch, SampleMatch, GumbelMatch>;  // compiled_values.hpp

struct Loops {
    /// The functions that are there twice: for rows that are read as floats, and as doubles.
    struct OfValue {
        decltype(&draft_alone<float>) draft_alone;
        decltype(&draft_shared<float>) draft_shared;
        decltype(&inspect_as<float>) inspect;
    };

    CompiledRules::Table judge;
    OfValue floats, doubles;
    decltype(&score_values<Scores>) score_drafts;
    decltype(&score_emitted<Scores>) score_emitted;
    decltype(&shape_value<SamplingParams>) shape;
};

}}}  // namespace specsample::detail
