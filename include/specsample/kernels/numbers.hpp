// The numbers and ids of a row that is a value: their types are known at run time, so kernels are compiled once.
//
//   Numbers<Value>   numbers of any scalar, read as floats or as doubles
//   RowIds           ids of any integral type, or every id
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <span>

#include <specsample/core/eigen.hpp>
#include <specsample/core/numbers_view.hpp>
#include <specsample/kernels/inspect.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

/// Numbers of any scalar, read as `Value`: float for floats and 16-bit numbers, double for all rows of a round where
/// one has doubles. Sums inside a block are of this type, which is why it is a type.
template <class Value>
class Numbers {
  public:
    using Scalar = Value;

    /// @param numbers   borrowed: the row that it is a part of outlives every view
    explicit Numbers(const NumbersView& numbers) : numbers_(&numbers) {}

    Index size() const { return numbers_->size(); }
    /// Return the address of the numbers, which tells rows apart.
    const void* data() const { return numbers_->reader() ? numbers_->reader() : numbers_->data(); }

    /// Tell whether these are the same numbers, read in the same way.
    bool operator==(const Numbers& other) const {
        return data() == other.data() && numbers_->scalar() == other.numbers_->scalar() &&
               numbers_->step() == other.numbers_->step();
    }

    /// Return the address of the numbers if they can be read where they lie; otherwise null.
    const Value* in_place() const {
        if (!numbers_->are_packed() || numbers_->scalar() != scalar_of<Value>) return nullptr;
        return static_cast<const Value*>(numbers_->data());
    }

    Value coeff(Index place) const {
        if (const Value* numbers = in_place()) return numbers[place];
        Value number;
        write(place, 1, &number);
        return number;
    }

    /// Write the numbers at the places [first, first + count) to `buffer`, and return it.
    const Value* read(Index first, Index count, Value* buffer) const {
        expect(first + prefetch_distance, count);
        write(first, count, buffer);
        return buffer;
    }

    /// Prefetch the numbers at [first, first + count) if they lie side by side.
    EIGEN_ALWAYS_INLINE void expect(Index first, Index count) const {
        if (!numbers_->are_packed()) return;
        const Index bytes = bytes_of(numbers_->scalar());
        const auto* const data = static_cast<const char*>(numbers_->data());
        const Index end = std::min(first + count, size()) * bytes;
        for (Index at = first * bytes; at < end; at += 64) prefetch(data + at);
    }

    double tolerance() const {
        return bytes_of(numbers_->scalar()) == 2 ? kernels::sum_tolerance<Eigen::half> : kernels::sum_tolerance<float>;
    }
    /// Return the rounding error of the scalar: of float at best.
    double epsilon() const {
        if (numbers_->scalar() == RowScalar::f16) return static_cast<double>(Eigen::NumTraits<Eigen::half>::epsilon());
        if (numbers_->scalar() == RowScalar::bf16)
            return static_cast<double>(Eigen::NumTraits<Eigen::bfloat16>::epsilon());
        return static_cast<double>(Eigen::NumTraits<float>::epsilon());
    }

  private:
    [[gnu::noinline]] void write(Index first, Index count, Value* out) const {
        if (numbers_->reader() != nullptr) return compute(first, std::span(out, static_cast<std::size_t>(count)));
        switch (numbers_->scalar()) {
            case RowScalar::f32:
                return copy<float>(first, count, out);
            case RowScalar::f64:
                return copy<double>(first, count, out);
            case RowScalar::f16:
                return copy<Eigen::half>(first, count, out);
            case RowScalar::bf16:
                return copy<Eigen::bfloat16>(first, count, out);
        }
    }
    template <class Stored>
    void copy(Index first, Index count, Value* out) const {
        const auto* const in = static_cast<const Stored*>(numbers_->data()) + first * numbers_->step();
        if constexpr (sizeof(Stored) == 2 && sizeof(Value) == 4) {
            if (numbers_->step() == 1) return to_floats(in, count, out);
        }
        for (Index i = 0; i < count; ++i) out[i] = static_cast<Value>(in[i * numbers_->step()]);
    }
    void compute(Index first, std::span<float> out) const { numbers_->reader()->read(first, out); }
    void compute(Index first, std::span<double> out) const { numbers_->reader()->read_wide(first, out); }

    const NumbersView* numbers_;
};

template <class Value>
bool are_same(const Numbers<Value>& one, const Numbers<Value>& other) {
    return one == other;
}
template <class Value>
double tolerance_of(const Numbers<Value>& numbers) {
    return numbers.tolerance();
}
template <class Value>
double epsilon_of(const Numbers<Value>& numbers) {
    return numbers.epsilon();
}

/// Numbers, read in blocks.
template <class Number>
class Blocks<Numbers<Number>> {
  public:
    using Scalar = Number;
    using Value = Number;
    using Buffer = Eigen::Array<Value, block_size, 1>;

    static constexpr bool is_split = false;
    static constexpr bool is_slice = false;
    static constexpr bool are_powers() { return false; }
    static constexpr bool has_list = false;
    static constexpr bool holds_every_id() { return true; }

    explicit Blocks(const Numbers<Number>& numbers) : numbers_(numbers), in_place_(numbers.in_place()) {}

    Index size() const { return numbers_.size(); }
    double operator[](Index place) const { return static_cast<double>(numbers_.coeff(place)); }
    double at(Index id) const { return (*this)[id]; }
    const Blocks& numbers() const { return *this; }
    static Index id(Index place) { return place; }
    static Index place_of(Index id) { return id; }

    EIGEN_ALWAYS_INLINE const Value* read(Index first, Index count, Buffer& buffer) const {
        return in_place_ != nullptr ? in_place_ + first : numbers_.read(first, count, buffer.data());
    }
    EIGEN_ALWAYS_INLINE const Value* stored(Index first, Index count, Buffer& buffer) const {
        return read(first, count, buffer);
    }
    EIGEN_ALWAYS_INLINE void expect(Index first, Index count) const { numbers_.expect(first, count); }

  private:
    Numbers<Number> numbers_;
    const Number* in_place_;
};

/// The ids of a row that is a value. Kernels call them through the functions that the list names.
class RowIds {
  public:
    static constexpr bool are_listed = true;

    /// @param ids   borrowed, as the numbers are
    explicit RowIds(const IdsView& ids) : ids_(ids.size() < 0 ? nullptr : &ids) {}

    bool holds_every_id() const { return ids_ == nullptr; }
    bool are_contiguous() const { return holds_every_id(); }
    Index size(Index vocab) const { return holds_every_id() ? vocab : ids_->size(); }

    Index id(Index place) const { return holds_every_id() ? place : ids_->functions().id(*ids_, place); }
    Index place_of(Index id) const { return holds_every_id() ? id : ids_->functions().place_of(*ids_, id); }
    Index first_from(Index id, Index from = 0) const { return ids_->functions().first_from(*ids_, id, from); }
    bool are_ordered() const { return holds_every_id() || ids_->functions().are_ordered(*ids_); }

    /// Write the places in this list of the ids that `other` has at [first, first + count); -1 for an id that is not
    /// here. Both are lists.
    void write_places(const RowIds& other, Index first, Index count, std::int32_t* places) const {
        ids_->functions().write_places(*ids_, *other.ids_, first, count, places);
    }

  private:
    const IdsView* ids_;  ///< null for every id
};

/// Write row q at the places [first, first + count) of row p to `buffer`, both rows sparse and values.
template <class P, class Q>
    requires std::same_as<decltype(std::declval<const Blocks<P>&>().ids()), const RowIds&>
const typename Blocks<Q>::Value* meet(const Blocks<P>& p, const Blocks<Q>& q, Index first, Index count,
                                      typename Blocks<Q>::Buffer& buffer) {
    std::array<std::int32_t, std::size_t{block_size}> places;
    q.ids().write_places(p.ids(), first, count, places.data());
    for (Index i = 0; i < count; ++i) {
        const Index place = places[static_cast<std::size_t>(i)];
        buffer[i] = place < 0 ? 0 : static_cast<typename Blocks<Q>::Value>(q[place]);
    }
    return buffer.data();
}

}}}  // namespace specsample::detail
