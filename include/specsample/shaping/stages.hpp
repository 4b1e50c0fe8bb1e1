// Helpers of all readers of pipelines: the stages in order, and one temperature for all stages.
#pragma once

#include <specsample/core/contract.hpp>
#include <specsample/models/ask.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

/// Return the temperature after one more is applied: only one may be other than 1, which is none.
inline double heated_once(double before, double by) {
    if (before != 1 && by != 1)
        invalid("Temperature", "temperature",
                "given twice, " + to_text(before) + " by the row or an earlier step and " + to_text(by) + " here",
                "given once (1 is none)");
    return by == 1 ? before : by;
}

/// Call f with every stage of a pipeline, in order, or with a shaper that is no pipeline. Either may be given by
/// std::ref.
template <class P, class F>
void for_each_stage(const P& given, const F& f) {
    const Unwrapped<P>& pipeline = given;
    if constexpr (requires { pipeline.for_each_stage(f); }) {
        pipeline.for_each_stage(f);
    } else {
        f(pipeline);
    }
}

}}}  // namespace specsample::detail
