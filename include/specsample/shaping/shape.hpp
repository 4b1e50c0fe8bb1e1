// Sends one row through a pipeline, for engines that own their rows.
//
//   ShapedRow<R>                            the type that a row of type R becomes
//   shape(row, pipeline, context, memory)   the shaped row
#pragma once

#include <algorithm>
#include <concepts>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <specsample/concepts.hpp>
#include <specsample/rows/sparse.hpp>
#include <specsample/shaping/candidates.hpp>
#include <specsample/shaping/pipeline.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {
namespace detail {

/// Return the row that holds a row's numbers: the row itself, or the row inside a sparse row.
template <RowLike R>
const auto& inner_row(const R& row) {
    if constexpr (form_of<R>.listed) {
        return row.held();
    } else {
        return row;
    }
}

/// Tell whether code that saw more of a row found a fault in it.
template <RowLike R>
bool is_refused(const R& row) {
    if constexpr (form_of<R>.listed) return row.is_refused();
    return false;
}

/// The type of a shaped row's numbers: double where the row is double, else float.
template <class R>
using ShapedValue = Compute<row_scalar_t<R>>;

/// Return the numbers as contiguous memory: in place if they may stay there, else copied.
template <class Value, class View>
std::span<const Value> in_memory(const View& numbers, bool may_stay, std::vector<Value>& memory) {
    const auto size = static_cast<std::size_t>(numbers.size());
    if constexpr (std::same_as<View, Column<Value>>)
        if (may_stay) return {numbers.data(), size};
    grow(memory, size);
    const Blocks blocks(numbers);
    if (!blocks.holds_every_id()) {  // an expression of a sparse row: ids that it does not hold are 0
        std::fill_n(memory.begin(), size, Value{0});
        for (Index place = 0; place < blocks.size(); ++place)
            if (const Index id = blocks.id(place); id >= 0 && id < numbers.size())
                memory[static_cast<std::size_t>(id)] = static_cast<Value>(blocks[place]);
        return {memory.data(), size};
    }
    copy_blocks(blocks, memory.data());
    return {memory.data(), size};
}

/// Copy the ids of a sparse row as tokens. An id that does not fit 32 bits becomes another invalid id.
template <class Ids>
void copy_ids(const Ids& ids, Index count, std::vector<Token>& memory) {
    grow(memory, static_cast<std::size_t>(count));
    for (Index place = 0; place < count; ++place)
        memory[static_cast<std::size_t>(place)] = static_cast<Token>(std::clamp<Index>(ids.id(place), -1, 0x7fffffff));
}

/// Make the candidates of a row.
template <class Value, RowLike R>
filters::Candidates<Value> candidates_of(const R& row, bool may_stay, ShapedNumbers<Value>& memory,
                                         ShapingScratch<Value>& scratch) {
    const auto numbers = in_memory<Value>(numbers_of(inner_row(row)), may_stay, memory.numbers);
    bool is_sparse = false;
    if constexpr (form_of<R>.listed) {
        is_sparse = !row.ids().holds_every_id();
        if (is_sparse) copy_ids(row.ids(), std::ssize(numbers), memory.ids);
    }
    constexpr filters::NumberKind kind =
        form_of<R>.logits ? filters::NumberKind::logits : filters::NumberKind::probabilities;
    return {numbers, kind, row_size(row), is_sparse, stored_tolerance<row_view_t<R>>, memory, scratch};
}

/// Return the numbers that are left, in the form that a row holds: logits unchanged, because Logits normalise
/// themselves, and probabilities normalised, unless the pipeline did nothing to them.
/// @param are_logits   whether the row that came holds logits; the candidates of probabilities may be logits by now
/// @param tolerance    of the row that came: a 16-bit row may sum to a number further from 1 than a shaped row may,
///                     which has floats
template <class Value>
Column<Value> numbers_left(filters::Candidates<Value>& row, bool are_logits, double tolerance,
                           ShapedNumbers<Value>& memory) {
    const Column<Value> left(row.left().data(), std::ssize(row.left()));
    if (are_logits) return left;
    if (tolerance <= kernels::sum_tolerance<Value> && row.is_as_given()) return left;
    const std::span<const Value> probs = row.probabilities();
    if (row.is_bad()) return {row.left().data(), std::ssize(row.left())};
    grow(memory.numbers, probs.size());
    std::copy(probs.begin(), probs.end(), memory.numbers.begin());
    return {memory.numbers.data(), std::ssize(probs)};
}
template <RowLike R, class Value>
auto finished(const R&, filters::Candidates<Value>& row, ShapedNumbers<Value>& memory) {
    const Column<Value> numbers = numbers_left(row, form_of<R>.logits, stored_tolerance<row_view_t<R>>, memory);
    if constexpr (form_of<R>.logits)
        return Logits(numbers, row.temperature_of_weights());
    else
        return numbers;
}

/// The type that a row becomes: logits stay logits, with a temperature, and anything else becomes probabilities. The
/// shaped row holds every id, or the ids that are left.
template <RowLike R>
using ShapedRow = Sparse<detail::IdList<Token>,
                         std::conditional_t<detail::form_of<std::remove_cvref_t<R>>.logits,
                                            Logits<detail::Column<detail::ShapedValue<std::remove_cvref_t<R>>>>,
                                            detail::Column<detail::ShapedValue<std::remove_cvref_t<R>>>>>;

}  // namespace detail

namespace filters {

/// The type that a row of type R has after sampling parameters or a pipeline: what shape returns.
template <RowLike R>
using ShapedRow = detail::ShapedRow<R>;

}  // namespace filters

namespace detail {

/// The scratch of rows that are values, which each memory has of its own.
struct NoScratch {};

/// The types that a RowAdaptor asks of a change that shapes rows.
struct ShapedTypes {
    template <class R>
    struct Types {
        using Row = ShapedRow<R>;
        using Memory = ShapedNumbers<ShapedValue<std::remove_cvref_t<R>>>;
        using Scratch = ShapingScratch<ShapedValue<std::remove_cvref_t<R>>>;
    };
    template <RowValue R>
    struct Types<R> {
        using Row = specsample::Row;
        using Memory = filters::ShapedMemory<Row>;  // shaping/shape_value.hpp
        using Scratch = NoScratch;
    };
};

template <class R, Shaper P, class Value>
ShapedRow<R> shape(R&& row, const P& pipeline, std::span<const Token> context, ShapedNumbers<Value>& memory,
                   ShapingScratch<Value>& scratch) {
    constexpr bool may_stay = std::is_lvalue_reference_v<R> || !owns<std::remove_cvref_t<R>>;
    memory.open(static_cast<std::size_t>(row_size(row)));
    auto candidates = [&] {
        if constexpr (form_of<std::remove_cvref_t<R>>.split) {
            return gathered_candidates<Value>(row.state(), row, pipeline, context, memory, scratch);  // in part shard
        } else {
            return candidates_of<Value>(row, may_stay, memory, scratch);
        }
    }();
    if constexpr (form_of<std::remove_cvref_t<R>>.logits) candidates.heat_row(inner_row(row).temperature());
    pipeline(candidates, context);
    candidates.choose();
    const auto numbers = finished(row, candidates, memory);
    // If the probabilities add up to nothing, no id is possible.
    const auto ids = row_size(numbers) == 0 ? IdList<Token>(memory.ids.data(), 0, 1) : candidates.ids();
    ShapedRow<R> shaped(ids, numbers, candidates.vocab());
    if (candidates.is_bad() || is_refused(row)) shaped.refuse();
    return shaped;
}

}  // namespace detail

/// Shape a row. Engines that own their rows can do so lazily, in a callable that verify is given:
///
///     verify(tokens, distributions,
///            [&](Index i) { return shape(Logits(rows.row(i)), pipeline, context(i), memory[i]); }, ...);
///
/// @param row        Logits, probabilities, or a sparse row of either. Float and double numbers in contiguous memory
///                   are read in place; anything else is copied once, and so is a temporary that owns its numbers
/// @param pipeline   a shaper, or a Pipeline of several
/// @param context    the prefix of this position, drafted tokens included: penalties and masks look at it
/// @param memory     ShapedMemory<float>, or <double> for double rows; one for every row that is in use at a time
/// @returns          a view of `memory` and of the row's own numbers. After a filter it holds only the candidates that
///                   are left, normalised over them
/// @throws           std::invalid_argument for a setting of the pipeline that is out of range, or a temperature of the
///                   pipeline where the row has one
/// @cost             the cost of the shapers; no allocation once the memory is warm
/// @edge             at temperature 0 one id is left, also if the row is shaped again
/// @edge             an invalid row comes out unchanged, and a row without candidates comes out empty: both are faults
///                   where verify uses them. A drafter ends its draft at an empty row
template <class R, detail::ShaperOrChanging P>
    requires RowLike<R>
detail::ShapedRow<R> shape(R&& row, const P& pipeline, std::span<const Token> context,
                           filters::ShapedMemory<detail::ShapedValue<std::remove_cvref_t<R>>>& memory) {
    if constexpr (detail::Rewindability<P>::holds) {
        detail::check_shaper(pipeline);
        detail::require_memory("shape", "context", context);
        return detail::shape(std::forward<R>(row), pipeline, context, memory.row, memory.scratch);
    }
}

}}  // namespace specsample
