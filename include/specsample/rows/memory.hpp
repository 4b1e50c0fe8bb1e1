// Views of rows in an engine's memory, without a copy: padded matrices and arrays of structs.
//
//   rows_in_memory(data, count, vocab, stride)   row-major [count x vocab], rows `stride` entries apart
//   member(structs, &S::field)                   one field of an array of structs, as a strided vector
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <type_traits>

#include <specsample/core/contract.hpp>
#include <specsample/core/eigen.hpp>
#include <specsample/core/list_ref.hpp>
#include <specsample/core/row.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

namespace detail {

/// Rows with a stride, as in llama.cpp's logits, an ONNX Runtime value or an OpenVINO tensor.
template <class Scalar>
using RowsInMemory = Eigen::Map<const RowMajorMatrix<Scalar>, Eigen::Unaligned, Eigen::OuterStride<>>;

template <class Data>
concept PointsToFloating =
    std::is_pointer_v<std::decay_t<Data>> && Floating<std::remove_cv_t<std::remove_pointer_t<std::decay_t<Data>>>>;

}  // namespace detail

/// View the rows of a batch that lies row-major in memory.
///
/// @param data     the first entry of row 0; borrowed
/// @param count    rows
/// @param vocab    entries per row that are tokens; the padding after them is never read
/// @param stride   entries from one row to the next, at least `vocab`
/// @throws         std::invalid_argument for a negative count, an empty vocabulary, a stride shorter than the
///                 vocabulary, more rows than memory can hold, or data that is null or not aligned where there are rows
template <detail::Floating Scalar>
detail::RowsInMemory<Scalar> rows_in_memory(const Scalar* data, Index count, Index vocab, Index stride) {
    constexpr auto where = "rows_in_memory";
    detail::require(count >= 0, where, "count", count, "at least 0");
    detail::require(vocab >= 1, where, "vocab", vocab, "at least 1");
    if (stride < vocab) detail::invalid(where, "stride", stride, "at least vocab, " + detail::to_text(vocab));
    constexpr Index most = std::numeric_limits<Index>::max() / Index{sizeof(Scalar)};
    if (count > most / stride)
        detail::invalid(where, "count", count, "at most " + detail::to_text(most / stride) + " for that stride");
    detail::require_memory(where, "data", data, static_cast<std::size_t>(count));
    return {data, count, vocab, Eigen::OuterStride<>(stride)};
}
/// View the rows of a batch that lies row-major in memory without padding: the stride is `vocab`.
template <detail::Floating Scalar>
detail::RowsInMemory<Scalar> rows_in_memory(const Scalar* data, Index count, Index vocab) {
    return rows_in_memory(data, count, vocab, vocab);
}
/// Refuse data that does not point to floating-point numbers.
template <class Data>
    requires(!detail::PointsToFloating<Data>)
detail::RowsInMemory<float> rows_in_memory(const Data&, Index, Index, Index = 0) {
    static_assert(!sizeof(Data*),
                  "specsample::rows_in_memory: data must point to float, double, Eigen::half or Eigen::bfloat16; for "
                  "other types of 16 bits say which kind they hold, as in "
                  "rows_in_memory(reinterpret_cast<const Eigen::half*>(data), count, vocab)");
    return {nullptr, 0, 0, Eigen::OuterStride<>(0)};
}

/// View one field of every struct of an array as a vector: member(candidates, &Candidate::logit).
/// @param structs   borrowed: a temporary array does not compile
/// @throws          std::invalid_argument for structs at null
template <class S, class T>
detail::StridedColumn<T> member(std::type_identity_t<ListRef<S>> structs, T S::*field) {
    static_assert(sizeof(S) % sizeof(T) == 0, "specsample::member: the field must be aligned like the struct");
    const std::span<const S> all = structs;
    constexpr auto step = static_cast<Index>(sizeof(S) / sizeof(T));
    detail::require_memory("member", "structs", all);
    const T* first = all.empty() ? nullptr : &(all.front().*field);
    return {first, static_cast<Index>(all.size()), Eigen::InnerStride<>(step)};
}

}}  // namespace specsample
