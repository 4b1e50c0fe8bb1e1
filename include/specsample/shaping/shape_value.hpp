// shape for rows that are values. shaping/shape.hpp says what it does.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <specsample/rows/row_view.hpp>
#include <specsample/shaping/sampling_params.hpp>
#include <specsample/shaping/shape.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

namespace filters {

/// Memory for one shaped row that is a value: of floats or of doubles, as the rows are that it serves.
template <>
struct ShapedMemory<Row> {
    /// Take the size of the prompt of the rows to come, for what skips a whole_prompt: 0 until it is told.
    void begin_text(Index prompt_size) {
        floats.begin_text(prompt_size);
        doubles.begin_text(prompt_size);
    }

    ShapedMemory<float> floats{};
    ShapedMemory<double> doubles{};
};

}  // namespace filters

namespace detail {

/// Return numbers as contiguous memory: in place if they may stay there and lie so, else copied.
template <class Value>
std::span<const Value> numbers_in_memory(const Numbers<Value>& numbers, bool may_stay, std::vector<Value>& memory) {
    const auto size = static_cast<std::size_t>(numbers.size());
    if (may_stay && numbers.in_place() != nullptr) return {numbers.in_place(), size};
    grow(memory, size);
    copy_blocks(Blocks(numbers), memory.data());
    return {memory.data(), size};
}

/// Make the candidates of a row, as candidates_of does of a row that is a type.
template <class Value>
filters::Candidates<Value> candidates_of(const Row& row, ShapedNumbers<Value>& memory, ShapingScratch<Value>& scratch) {
    const RowParts& parts = parts_of(row);
    const Numbers<Value> numbers(parts.numbers);
    const std::span<const Value> values = numbers_in_memory(numbers, true, memory.numbers);
    const RowIds ids(parts.ids);
    if (!ids.holds_every_id()) copy_ids(ids, numbers.size(), memory.ids);
    const auto kind = parts.are_logits() ? filters::NumberKind::logits : filters::NumberKind::probabilities;
    return {values, kind, parts.vocab, !ids.holds_every_id(), numbers.tolerance(), memory, scratch};
}

template <class Value, Shaper P>
Row shape_as(const Row& row, const P& pipeline, std::span<const Token> context, filters::ShapedMemory<Value>& memory) {
    const RowParts& parts = parts_of(row);
    memory.row.open(static_cast<std::size_t>(row.size()));
    filters::Candidates<Value> candidates = candidates_of(row, memory.row, memory.scratch);
    if (parts.are_logits()) candidates.heat_row(parts.temperature);
    pipeline(candidates, context);
    candidates.choose();
    const double tolerance = Numbers<Value>(parts.numbers).tolerance();
    const Column<Value> left = numbers_left(candidates, parts.are_logits(), tolerance, memory.row);
    const NumbersView numbers(left.data(), left.size());
    Row shaped = parts.are_logits() ? Row::logits(numbers, candidates.temperature_of_weights()) : Row::probs(numbers);
    if (left.size() == 0 || !candidates.holds_every_id())  // none is left if the probabilities add up to nothing
        shaped = Row::sparse(IdsView(memory.row.ids.data(), left.size()), shaped, candidates.vocab());
    parts_of(shaped).is_refused = parts.is_refused || candidates.is_bad();
    return shaped;
}

template <class P>
Row shape_value(const Row& row, const P& pipeline, std::span<const Token> context, filters::ShapedMemory<Row>& memory) {
    if (row.scalar() == RowScalar::f64) return shape_as<double>(row, pipeline, context, memory.doubles);
    return shape_as<float>(row, pipeline, context, memory.floats);
}
#if defined(SPECSAMPLE_COMPILED)  // by the loops of the compiled library
Row shape_value(const Row& row, const SamplingParams& params, std::span<const Token> context,
                filters::ShapedMemory<Row>& memory);
#endif

}  // namespace detail

/// Shape a row that is a value.
/// @param memory   one for every row that is in use at a time
/// @returns        a row that views `memory`, and the row's own numbers where they did not change
template <detail::ShaperOrChanging P>
[[nodiscard]] Row shape(const Row& row, const P& pipeline, std::span<const Token> context,
                        filters::ShapedMemory<Row>& memory) {
    if constexpr (detail::Rewindability<P>::holds) {
        detail::check_shaper(pipeline);
        detail::require_memory("shape", "context", context);
        return detail::shape_value(row, pipeline, context, memory);
    }
}

}}  // namespace specsample
