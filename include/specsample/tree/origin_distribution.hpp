// Origins as the distributions that rules read, and back.
#pragma once

#include <specsample/rows/row_view.hpp>
#include <specsample/tree/distribution.hpp>
#include <specsample/tree/origin.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

template <class Value>
Encoding<double> found_encoding(const Row& row) {
    return Encoding<double>(RowView<Value>(row).encoding());
}

/// Return the distribution of an origin, which outlives it.
template <class Value>
[[gnu::noinline]] Mixed<row_view_t<RowView<Value>>> distribution_of(const Origin& origin) {
    if (!origin.is_sampled()) return PointMass{};
    return Sampled<row_view_t<RowView<Value>>>(RowView<Value>(*OriginAccess::row(origin)),
                                               OriginAccess::without(origin), OriginAccess::drawn(origin));
}

/// Return the origin of a distribution that was made of a row.
template <class View>
Origin origin_of(Row row, const Sampled<View>& distribution) {
    if (row.are_logits()) parts_of(row).found = Encoding<double>(distribution.row().functor().encoding());
    return OriginAccess::origin(row, distribution.without(), distribution.drawn());
}

}}}  // namespace specsample::detail
