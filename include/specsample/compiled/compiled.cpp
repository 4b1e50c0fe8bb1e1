// The definitions of what <specsample/compiled.hpp> and <specsample/c.h> declare: the source of specsample::compiled.
//
// SPECSAMPLE_DISPATCH   the loops over values are in files of their own, one for each instruction set (compiled.cmake);
//                       without it they are compiled here
#if !defined(SPECSAMPLE_COMPILED)
#define SPECSAMPLE_COMPILED
#endif

#if defined(SPECSAMPLE_DISPATCH)
#include <specsample/compiled/dispatch.cpp>
#define SPECSAMPLE_EXTERN
#include <specsample/compiled_values.hpp>
#else
#define SPECSAMPLE_LOOPS specsample_loops_base
#include <specsample/compiled/loops.cpp>
namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {
inline const char* loop_set_name() { return "base"; }

Row shape_value(const Row& row, const SamplingParams& params, std::span<const Token> context,
                filters::ShapedMemory<Row>& memory) {
    return shape_value<SamplingParams>(row, params, context, memory);
}
}}}  // namespace specsample::detail
#endif

#define SPECSAMPLE_EXTERN
#include <specsample/compiled.hpp>

// core/eigen.hpp asks for it.
extern "C" [[gnu::visibility("hidden")]] const char SPECSAMPLE_FLAGS(specsample_compiled_for_) = 0;

#if defined(__cpp_exceptions)  // the C interface turns them into codes
#include <specsample/compiled/c/c.cpp>
#endif
