// Rows that are values, kept: a Row views its numbers, so one that outlives its source's next call is copied.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include <specsample/rows/returned.hpp>
#include <specsample/rows/row.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

/// Numbers that another reader has computed.
class CopiedNumbers final : public RowReader {
  public:
    void keep(const RowReader& from, bool are_wide) {
        const auto size = static_cast<std::size_t>(from.size());
        narrow_.resize(are_wide ? 0 : size);
        wide_.resize(are_wide ? size : 0);
        for (std::size_t first = 0; first < size; first += most) {
            const std::size_t count = std::min(most, size - first);
            const auto place = static_cast<Index>(first);
            if (are_wide)
                from.read_wide(place, std::span(wide_).subspan(first, count));
            else
                from.read(place, std::span(narrow_).subspan(first, count));
        }
    }

    Index size() const override { return std::ssize(narrow_) + std::ssize(wide_); }
    void read(Index first, std::span<float> out) const override { copy(first, out); }
    void read_wide(Index first, std::span<double> out) const override { copy(first, out); }

  private:
    static constexpr std::size_t most = 512;  // numbers that a reader is asked for at once

    template <class Number>
    void copy(Index first, std::span<Number> out) const {
        const auto copy_from = [&](const auto& numbers) {
            const auto begin = numbers.begin() + first;
            std::transform(begin, begin + std::ssize(out), out.begin(),
                           [](auto number) { return static_cast<Number>(number); });
        };
        if (wide_.empty())
            copy_from(narrow_);
        else
            copy_from(wide_);
    }

    std::vector<float> narrow_;
    std::vector<double> wide_;
};

/// A row, and memory for its numbers and ids, which is reused.
class RowCopy {
  public:
    void keep(const Row& row) {
        Row& copy = row_.emplace(row);
        RowParts& parts = parts_of(copy);
        parts.sums = nullptr;  // a pass makes them again where they are needed
        parts.numbers = copied(parts.numbers);
        if (parts.ids.size() >= 0) parts.ids = copied(parts.ids);
    }

    const Row& row() const { return *row_; }

  private:
    NumbersView copied(const NumbersView& from) {
        if (from.reader() != nullptr) {
            computed_.keep(*from.reader(), from.scalar() == RowScalar::f64);
            return {computed_, from.scalar()};
        }
        const auto size = static_cast<std::size_t>(from.size());
        const auto width = static_cast<std::size_t>(bytes_of(from.scalar()));
        numbers_.resize((size * width + sizeof(double) - 1) / sizeof(double));
        auto* const to = reinterpret_cast<std::byte*>(numbers_.data());
        const auto* const numbers = static_cast<const std::byte*>(from.data());
        if (from.step() == 1 && size > 0) std::memcpy(to, numbers, size * width);
        for (std::size_t i = 0; from.step() != 1 && i < size; ++i)
            std::memcpy(to + i * width, numbers + static_cast<Index>(i * width) * from.step(), width);
        return {numbers_.data(), from.scalar(), from.size()};
    }

    /// Copy ids as tokens. An id that does not fit becomes another invalid id.
    IdsView copied(const IdsView& from) {
        ids_.resize(static_cast<std::size_t>(from.size()));
        for (Index place = 0; place < from.size(); ++place) {
            const Index id = from.functions().id(from, place);
            ids_[static_cast<std::size_t>(place)] = static_cast<Token>(std::clamp<Index>(id, -1, 0x7fffffff));
        }
        return {ids_.data(), from.size()};
    }

    std::optional<Row> row_{};
    std::vector<double> numbers_;  ///< bytes, aligned for every scalar
    std::vector<Token> ids_;
    CopiedNumbers computed_;
};

template <RowValue Answer>
class RowRef<Answer> {
  public:
    explicit RowRef(const Row& row) : row_(row) {}

    const Row& row() const { return row_; }
    const Row& view() const { return row_; }
    Index size() const { return row_.size(); }

  private:
    Row row_;
};

template <RowValue Answer>
class OwnedRow<Answer> {
  public:
    using View = const Row&;

    void keep(const Row& row) { copy_.keep(row); }

    const Row& row() const { return copy_.row(); }
    View view() const { return copy_.row(); }

  private:
    RowCopy copy_;
};

}}}  // namespace specsample::detail
