// The loops of the compiled library for one instruction set. compiled.cmake compiles this file for each set, and
// SPECSAMPLE_LOOPS is the name of the set's table.
#include <specsample/compiled/loops.hpp>
#include <specsample/drafters/draft_row.hpp>
#include <specsample/verify/block.hpp>
#include <specsample/verify/match.hpp>
#include <specsample/verify/token.hpp>
#include <specsample/verify/value_walks.hpp>

#define SPECSAMPLE_EXTERN
#include <specsample/compiled_values.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

template <class Value>
constexpr Loops::OfValue loops_of_value{&draft_alone<Value>, &draft_shared<Value>, &inspect_as<Value>};

extern "C" {
[[gnu::visibility("hidden")]] extern const Loops SPECSAMPLE_LOOPS;
const Loops SPECSAMPLE_LOOPS{
    CompiledRules::table(), loops_of_value<float>,  loops_of_value<double>,
    &score_values<Scores>,  &score_emitted<Scores>, &shape_value<SamplingParams>,
};
}

}}}  // namespace specsample::detail
