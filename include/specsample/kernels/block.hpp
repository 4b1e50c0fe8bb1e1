// Rows in blocks: every kernel reads memory through this file.
//
// A block is small enough that float sums inside it are accurate to about 1e-7; the sums of blocks are added in double.
// A running float sum over 262144 tokens would be off by 5e-4. Contiguous float and double rows are read in place, half
// and bfloat16 rows too where the processor converts them inside a sum's loop; anything else (strides, expressions,
// logits that are read more than once) goes through a buffer in the L1 cache.
//
// A stored entry has a place (0, 1, 2, ..) and an id. The two are the same number, except in a sparse row.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include <specsample/core/eigen.hpp>
#include <specsample/core/number.hpp>
#include <specsample/core/row.hpp>
#include <specsample/kernels/convert.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

/// Entries per block: few enough for accurate float sums, enough that the loop over blocks costs nothing.
inline constexpr Index block_size = 512;

/// Number of running sums (lanes) per block. It is fixed, and the lanes are reduced in a fixed order, so that a row has
/// the same sum on every machine: the token that a random number picks must not depend on the width of a register.
inline constexpr Index lane_count = 64;

/// Lanes that are summed together: four packets of floats. With two packets, each addition would wait for the previous
/// one; eight packets do not stay in registers.
inline constexpr Index stripe_width = std::clamp<Index>(EIGEN_MAX_STATIC_ALIGN_BYTES, 16, lane_count);

/// The scalar in which entries are summed inside a block.
template <class Scalar>
using Compute = std::conditional_t<std::is_same_v<Scalar, double>, double, float>;

template <class Scalar>
using Lanes = Eigen::Array<Compute<Scalar>, lane_count, 1>;
template <class Scalar>
using Stripe = Eigen::Array<Compute<Scalar>, stripe_width, 1>;

/// Return the `count` numbers of a block from its place `first` on as an array expression, which converts 16-bit
/// numbers to float.
template <Index count, class Value>
EIGEN_ALWAYS_INLINE auto entries_at(const Value* numbers, Index first) {
    if constexpr (sizeof(Value) == 2) {
        return Eigen::Array<float, count, 1>::NullaryExpr(Widened<Value>(numbers + first));
    } else {
        return Eigen::Map<const Eigen::Array<Value, count, 1>>(numbers + first);
    }
}

/// How many entries ahead a pass over logits prefetches, in each of the two streams that it reads in turn: memory then
/// has the time of one to two blocks to answer, in which the pass turns as many into weights. On Sapphire Rapids 256 to
/// 640 entries are about as fast, and 1024 take a third longer. Passes over stored numbers prefetch the next block.
inline constexpr Index prefetch_distance = 3 * block_size / 4;

/// Prefetch a cache line. Eigen's function is not used, because g++ takes it for a function without effect and drops
/// some calls.
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

    /// Whether the numbers are split over ranks, so that share() sums and draws, and no rank alone.
    static constexpr bool is_split = false;
    /// Whether they are such numbers themselves, and no weights made of them.
    static constexpr bool is_slice = false;
    /// Whether the weights are powers of logits, made where they are read, by passes that prefetch.
    static constexpr bool are_powers() { return false; }
    /// Whether ids() may be a list.
    static constexpr bool has_list = false;
    static constexpr bool holds_every_id() { return true; }

    explicit Blocks(const View& view) : view_(view) {}

    Index size() const { return view_.size(); }  ///< places
    double operator[](Index place) const {
        const auto entry = static_cast<double>(view_.coeff(place));
        if constexpr (has_memory<View>) return entry;
        return rounded(entry);  // an expression may end in a product, which must not be fused with the caller's sum
    }
    double at(Index id) const { return (*this)[id]; }
    double log_weight(Index place) const { return std::log((*this)[place]); }

    /// Return the numbers that the weights are made of: here the weights themselves.
    const Blocks& numbers() const { return *this; }

    static Index id(Index place) { return place; }
    static Index place_of(Index id) { return id; }

    /// Return the entries at the places [first, first + count), count <= block_size, in contiguous memory: the row's
    /// own where possible, else `buffer`.
    const Value* read(Index first, Index count, [[maybe_unused]] Buffer& buffer) const {
        if constexpr (std::is_same_v<View, Column<Value>>) {
            return view_.data() + first;
        } else if constexpr (std::is_same_v<View, Column<Scalar>> && sizeof(Scalar) == 2) {
            expect(first + prefetch_distance, block_size);
            to_floats(view_.data() + first, count, buffer.data());
            return buffer.data();
        } else {
            buffer.head(count) = view_.segment(first, count).template cast<Value>();
            return buffer.data();
        }
    }

    /// Return the block as `read` does, but leave 16-bit numbers unconverted if entries_at converts them in the
    /// caller's loop. For callers that use each number once.
    auto stored(Index first, Index count, Buffer& buffer) const {
        if constexpr (std::is_same_v<View, Column<Scalar>> && loads_floats<Scalar>) {
            return view_.data() + first;
        } else {
            return read(first, count, buffer);
        }
    }

    /// Call f with the block that `stored` returns, which block_sum takes.
    template <class F>
    decltype(auto) visit(Index first, Index count, Buffer& buffer, F&& f) const {
        return f(stored(first, count, buffer));
    }

    /// Prefetch the numbers at [first, first + count). A pass that computes as long as it reads keeps the processor
    /// from prefetching far ahead by itself: with this call, a pass over logits in memory takes a third less time.
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

/// Return the block that a pass over `count` blocks reads at a step: a block of each half in turn, because one stream
/// does not take all that memory gives where a pass computes about as long as it reads.
constexpr Index block_at_step(Index step, Index count) {
    const Index half = count / 2;
    return step < 2 * half ? step / 2 + step % 2 * half : step;
}

/// Copy all numbers of a row to memory.
template <class View>
void copy_blocks(const Blocks<View>& numbers, typename Blocks<View>::Value* memory) {
    typename Blocks<View>::Buffer buffer;
    for_blocks(0, numbers.size(), [&](Index first, Index count) {
        std::copy_n(numbers.read(first, count, buffer), count, memory + first);
    });
}

/// Sum all lanes by halving, in place, with the same additions for every packet width. Whole packets are added: a loop
/// over single lanes would take half as long again, and an Eigen expression per half would take longer to compile than
/// the rest of a kernel.
template <Index size, class Value>
EIGEN_ALWAYS_INLINE Value reduce(Value* lanes) {
    using namespace Eigen::internal;
    constexpr Index half = size / 2, packet = packet_traits<Value>::size;
    if constexpr (half == 0) {
        return lanes[0];
    } else if constexpr (half % packet == 0) {
        using Packet = typename packet_traits<Value>::type;
        for (Index i = 0; i < half; i += packet)
            pstoreu(lanes + i, padd(ploadu<Packet>(lanes + i), ploadu<Packet>(lanes + i + half)));
        return reduce<half>(lanes);
    } else {
        for (Index i = 0; i < half; ++i) lanes[i] += lanes[i + half];
        return reduce<half>(lanes);
    }
}

/// Sum term(x..) over one block, where every x is an array of entries of one of `rows`. Whole sets of lanes come first,
/// one stripe at a time so that the loop runs in registers, then the remaining entries one by one.
///
/// Mark a caller that loops [[gnu::flatten]]: otherwise g++ does not inline all of the small calls in here, and a call
/// in the innermost loop makes the sum wait for memory.
/// @param term   maps arrays of entries to an array expression that uses each array once, because an entry may be a
///               power that is computed where it is used
/// @param rows   the numbers of the block, or anything else that entries_at takes
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
        total = reduce<lane_count>(lanes.data());
    }
    for (Index i = whole; i < count; ++i) total += term(entries_at<1>(rows, i)...).value();
    return total;
}

/// Combine load(first), .., load(first + count - 1). Halving makes a shorter chain of dependent steps than a loop.
template <Index count, class Combine, class Load>
EIGEN_ALWAYS_INLINE auto fold(const Combine& combine, const Load& load, Index first = 0) {
    if constexpr (count == 1) {
        return load(first);
    } else {
        return combine(fold<count / 2>(combine, load, first), fold<count / 2>(combine, load, first + count / 2));
    }
}

inline constexpr auto packet_max = [](const auto& a, const auto& b) { return Eigen::internal::pmax(a, b); };
inline constexpr auto packet_min = [](const auto& a, const auto& b) { return Eigen::internal::pmin(a, b); };
inline constexpr auto packet_sum = [](const auto& a, const auto& b) { return Eigen::internal::padd(a, b); };
inline constexpr auto packet_or = [](const auto& a, const auto& b) { return Eigen::internal::por(a, b); };

/// Combine the lanes of a packet, halves first, until at most four are left. Eigen's own reductions of wider packets
/// read back memory that was just written in smaller parts, which stalls the processor.
template <class Combine, class Packet>
EIGEN_ALWAYS_INLINE auto few_lanes(const Combine& combine, const Packet& packet) {
    using namespace Eigen::internal;
    using Traits = unpacket_traits<Packet>;
    if constexpr (Traits::size <= 4) {
        return packet;
    } else {
        using Half = typename Traits::half;
        Eigen::Array<typename Traits::type, Traits::size, 1> lanes;
        pstoreu(lanes.data(), packet);
        return few_lanes(combine, combine(ploadu<Half>(lanes.data()), ploadu<Half>(lanes.data() + Traits::size / 2)));
    }
}

/// Combine `count` numbers, which fill whole packets, until at most four lanes are left.
template <Index count, class Combine, class Value>
EIGEN_ALWAYS_INLINE auto few_lanes(const Combine& combine, const Value* numbers) {
    using namespace Eigen::internal;
    using Packet = typename packet_traits<Value>::type;
    constexpr Index size = packet_traits<Value>::size;
    const auto load = [&](Index i) { return ploadu<Packet>(numbers + i * size); };
    return few_lanes(combine, fold<count / size>(combine, load));
}

/// Return the largest of `count` numbers, which fill whole packets.
template <Index count, class Value>
EIGEN_ALWAYS_INLINE Value largest_of(const Value* numbers) {
    return Eigen::internal::predux_max(few_lanes<count>(packet_max, numbers));
}

/// Return the largest of some numbers, read a stripe at a time; -inf if there are none.
template <class Value>
Value block_max(Index count, const Value* numbers) {
    constexpr Value lowest = -std::numeric_limits<Value>::infinity();
    const Index whole = count - count % stripe_width;
    Stripe<Value> most = Stripe<Value>::Constant(lowest);
    for (Index i = 0; i < whole; i += stripe_width) most = most.max(entries_at<stripe_width>(numbers, i));
    Value largest = largest_of<stripe_width>(most.data());
    for (Index i = whole; i < count; ++i) largest = numbers[i] > largest ? numbers[i] : largest;
    return largest;
}

/// Return the largest number at the places [first, first + count) of a row; -inf if there are none.
template <class View>
double largest(const Blocks<View>& numbers, Index first, Index count) {
    if constexpr (Blocks<View>::is_slice) {
        return numbers.largest(first, count);
    } else {
        using Value = typename Blocks<View>::Value;
        typename Blocks<View>::Buffer buffer;
        Value most = -std::numeric_limits<Value>::infinity();
        for_blocks(first, count,
                   [&](Index begin, Index n) { most = std::max(most, block_max(n, numbers.read(begin, n, buffer))); });
        return static_cast<double>(most);
    }
}

}}}  // namespace specsample::detail
