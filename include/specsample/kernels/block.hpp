// Rows in blocks: how every kernel reads memory.
//
// A block is small enough that float sums inside it stay exact to about 1e-7, and the blocks' sums are added in
// double; a running float sum over 262144 tokens would be off by 5e-4. Contiguous float and double rows are read
// in place; anything else (strides, half precision, logits, expressions) goes through a buffer in the L1 cache.
//
// What a row stores has a place, 0 1 2 .., and an id. They are the same number, except in a sparse row.
#pragma once

#include <algorithm>
#include <limits>
#include <type_traits>

#include <specsample/core/number.hpp>
#include <specsample/core/row.hpp>
#include <specsample/kernels/convert.hpp>

namespace specsample::detail {

/// Entries per block: short enough for float sums, long enough that the loop around it costs nothing.
inline constexpr Index block_size = 512;

/// Running sums that a block is added up in. Fixed, and reduced in a fixed order, so that a row has one sum on every
/// machine: what a random draw picks must not depend on the width of a register.
inline constexpr Index lane_count = 64;

/// Lanes that are worked on together: four packets of floats, whatever their width. Two sums would wait for their own
/// additions, eight do not stay in registers.
inline constexpr Index stripe_width = std::clamp<Index>(EIGEN_MAX_STATIC_ALIGN_BYTES, 16, lane_count);

/// What sums of a row's entries run in inside a block.
template <class Scalar>
using Compute = std::conditional_t<std::is_same_v<Scalar, double>, double, float>;

template <class Scalar>
using Lanes = Eigen::Array<Compute<Scalar>, lane_count, 1>;
template <class Scalar>
using Stripe = Eigen::Array<Compute<Scalar>, stripe_width, 1>;

/// `count` numbers of a block from place `first` of it, as an array expression.
template <Index count, class Value>
EIGEN_ALWAYS_INLINE auto entries_at(const Value* numbers, Index first) {
    return Eigen::Map<const Eigen::Array<Value, count, 1>>(numbers + first);
}

/// Ask the cache for a line. Not by Eigen's function: g++ sees one without effect in it, and leaves some calls out.
EIGEN_ALWAYS_INLINE void prefetch([[maybe_unused]] const void* line) {
#if defined(__GNUC__)
    __builtin_prefetch(line);
#endif
}

/// A view of a row, ready to be read block by block.
template <class View>
class Blocks {
  public:
    using Scalar = typename View::Scalar;
    using Value = Compute<Scalar>;
    using Buffer = Eigen::Array<Value, block_size, 1>;

    static constexpr bool holds_every_id() { return true; }

    explicit Blocks(const View& view) : view_(view) {}

    Index size() const { return view_.size(); }  ///< places
    double operator[](Index place) const {
        const auto entry = static_cast<double>(view_.coeff(place));
        if constexpr (has_memory<View>) return entry;
        return rounded(entry);  // an expression may end in a product
    }
    double at(Index id) const { return (*this)[id]; }

    static Index id(Index place) { return place; }
    static Index place_of(Index id) { return id; }

    /// Places [first, first + count), count <= block_size, as memory; `buffer` is used where there is none.
    const Value* read(Index first, Index count, [[maybe_unused]] Buffer& buffer) const {
        if constexpr (std::is_same_v<View, Column<Value>>) {
            return view_.data() + first;
        } else if constexpr (std::is_same_v<View, Column<Scalar>> && sizeof(Scalar) == 2) {
            expect(first + block_size, block_size);
            to_floats(view_.data() + first, count, buffer.data());
            return buffer.data();
        } else {
            buffer.head(count) = view_.segment(first, count).template cast<Value>();
            return buffer.data();
        }
    }

    /// Call f with the same, in a form that block_sum takes.
    template <class F>
    decltype(auto) visit(Index first, Index count, Buffer& buffer, F&& f) const {
        return f(read(first, count, buffer));
    }

    /// Ask the cache for the numbers at [first, first + count). A pass that computes as long as it reads keeps the
    /// processor from looking far ahead by itself: logits from memory take a third less time.
    EIGEN_ALWAYS_INLINE void expect(Index first, Index count) const {
        if constexpr (std::is_same_v<View, Column<Scalar>>) {
            constexpr Index line = 64 / Index{sizeof(Scalar)};
            const Index end = std::min(first + count, size());
            for (; first < end; first += line) prefetch(view_.data() + first);
        }
    }

  private:
    View view_;
};

template <class View>
Blocks(const View&) -> Blocks<View>;

/// Call f(first, count) for every block of [first, first + count).
template <class F>
void for_blocks(Index first, Index count, F&& f) {
    for (const Index end = first + count; first < end; first += block_size) f(first, std::min(block_size, end - first));
}

/// Sum of all entries by halving: the same additions whatever the packets are.
template <class Value, int size>
EIGEN_ALWAYS_INLINE Value reduce(const Eigen::Array<Value, size, 1>& lanes) {
    if constexpr (size == 1) {
        return lanes[0];
    } else {
        return reduce<Value, size / 2>(lanes.template head<size / 2>() + lanes.template tail<size / 2>());
    }
}

/// Sum over one block of term(x), x an array of entries per row in `rows`: lanes first, a stripe of them at a time so
/// that the loop runs in registers, then what is left.
/// @param term   from expressions of entries to an array expression over them, each of them used once: it may be a
///               power that is computed there
/// @param rows   the numbers of the block, or whatever else entries_at takes
/// A caller in a loop says [[gnu::flatten]]: g++ leaves one of the many small calls in there otherwise, and a call in
/// the innermost loop makes the sum wait for memory.
template <class Sum, class Term, class... Rows>
Sum block_sum(Index count, const Term& term, const Rows&... rows) {
    const Index whole = count - count % lane_count;
    Sum total = 0;
    if (whole > 0) {
        Lanes<Sum> lanes;
        for (Index stripe = 0; stripe < lane_count; stripe += stripe_width) {
            Stripe<Sum> sum = term(entries_at<stripe_width>(rows, stripe)...);
            for (Index i = stripe + lane_count; i < whole; i += lane_count)
                sum += term(entries_at<stripe_width>(rows, i)...);
            lanes.template segment<stripe_width>(stripe) = sum;
        }
        total = reduce(lanes);
    }
    for (Index i = whole; i < count; ++i) total += term(entries_at<1>(rows, i)...).value();
    return total;
}

/// The largest of one block, a stripe at a time; -inf where it is empty.
template <class Value>
Value block_max(Index count, const Value* numbers) {
    constexpr Value lowest = -std::numeric_limits<Value>::infinity();
    const Index whole = count - count % stripe_width;
    Stripe<Value> most = Stripe<Value>::Constant(lowest);
    for (Index i = 0; i < whole; i += stripe_width) most = most.max(entries_at<stripe_width>(numbers, i));
    Value largest = most.maxCoeff();
    for (Index i = whole; i < count; ++i) largest = numbers[i] > largest ? numbers[i] : largest;
    return largest;
}

}  // namespace specsample::detail
