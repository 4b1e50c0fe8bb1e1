// What shapes rows that are values by SamplingParams, compiled once. compiled.hpp says what that is for.
#pragma once

#include <span>

#include <specsample/shaping/shape_value.hpp>

#if !defined(SPECSAMPLE_EXTERN)
#define SPECSAMPLE_EXTERN extern
#endif

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

SPECSAMPLE_EXTERN template Row shape_value(const Row&, const SamplingParams&, std::span<const Token>,
                                           filters::ShapedMemory<Row>&);

}}}  // namespace specsample::detail

#undef SPECSAMPLE_EXTERN
