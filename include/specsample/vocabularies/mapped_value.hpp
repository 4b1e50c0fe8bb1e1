// push_forward for rows that are values. vocabularies/mapped_row.hpp says what it does.
#pragma once

#include <span>
#include <vector>

#include <specsample/rows/row_view.hpp>
#include <specsample/shaping/shape_value.hpp>
#include <specsample/vocabularies/mapped_row.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

namespace detail {

/// A row that is a value, as push_numbers reads it.
template <class Value>
class MappableValue {
  public:
    explicit MappableValue(const Row& row) : row_(row), numbers_(parts().numbers) {}

    Index size() const { return parts().vocab; }
    Index count() const { return numbers_.size(); }
    RowIds ids() const { return RowIds(parts().ids); }
    bool are_logits() const { return parts().are_logits(); }
    double temperature() const { return parts().temperature; }
    double tolerance() const { return numbers_.tolerance(); }
    /// Tell whether the numbers that the row holds are a valid row.
    bool is_sound() const {
        Row held = row_;
        parts_of(held).ids = {};
        parts_of(held).vocab = count();
        parts_of(held).is_refused = false;
        const auto view = RowView<Value>(held).probs();
        return !kernels::inspect(view, Side::draft, 0);
    }
    static constexpr bool may_stay() { return true; }
    std::span<const Value> numbers(bool in_place, std::vector<Value>& memory) const {
        return numbers_in_memory(numbers_, in_place, memory);
    }

  private:
    const RowParts& parts() const { return parts_of(row_); }

    const Row& row_;
    Numbers<Value> numbers_;
};

template <class Value>
Row push_forward_as(const vocabularies::IdMap& map, const Row& row, filters::ShapedMemory<Value>& memory) {
    const MappableValue<Value> given(row);
    const auto [ids, left] = push_numbers(map, given, memory.row, memory.scratch);
    const NumbersView numbers(left.data(), std::ssize(left));
    Row mapped = given.are_logits() ? Row::logits(numbers, given.temperature()) : Row::probs(numbers);
    if (!ids.holds_every_id()) mapped = Row::sparse(IdsView(ids.data(), std::ssize(left)), mapped, map.target_vocab());
    parts_of(mapped).is_refused = parts_of(row).is_refused;
    return mapped;
}

}  // namespace detail

namespace vocabularies {

/// Send a row that is a value through a map.
/// @param memory   one for every row that is in use at the same time
/// @returns        a row that views `memory`, the map's images, and the row's own numbers if these stay in their order
template <detail::RowValue R>
[[nodiscard]] R push_forward(const IdMap& map, const R& row, filters::ShapedMemory<R>& memory) {
    if (row.scalar() == R::Scalar::f64) return detail::push_forward_as<double>(map, row, memory.doubles);
    return detail::push_forward_as<float>(map, row, memory.floats);
}

}  // namespace vocabularies

}}  // namespace specsample
