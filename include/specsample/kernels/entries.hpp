// Rows that are more than probabilities in memory: numbers, the ids they belong to, and their encoding.
//
//   Powers            a block of logits that become weights in the loop that sums them
//   Entries::row()    the row, as an Eigen expression of its weights by id
//
// The row is an expression, so every function that takes a row takes it. Kernels read it in blocks, by place: a sparse
// row costs what it stores, and logits become probabilities in the L1 cache.
#pragma once

#include <utility>

#include <specsample/core/eigen.hpp>
#include <specsample/core/ids.hpp>
#include <specsample/core/row.hpp>
#include <specsample/kernels/block.hpp>
#include <specsample/kernels/encoding.hpp>
#include <specsample/kernels/exp2.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

/// Return the power that maps a logit to its weight. It is made anew for every block instead of stored, because it is
/// larger than the numbers that it is made from, and rows are copied more often.
template <class Value>
auto Encoding<Value>::power() const {
    return ScaledExp2<Value>(pivot_, scale_, static_cast<Value>(factor_));
}

/// A block of logits that become weights where they are used: going through a buffer would cost a third of the sum.
template <class View, class Number>
class Powers {
    using Value = Compute<Number>;

  public:
    /// @param first   the place in the row at which the block begins
    Powers(const ScaledExp2<Value>& power, const Blocks<View>& row, Index first, const Number* numbers)
        : power_(power), row_(&row), first_(first), numbers_(numbers) {}

    /// Return the weights of `count` logits, and prefetch a few lines of a later block: a burst of prefetches would
    /// stall the loop.
    template <Index count>
    EIGEN_ALWAYS_INLINE auto at(Index place) const {
        row_->expect(first_ + place + prefetch_distance, count);
        return entries_at<count>(numbers_, place).unaryExpr(ByReference(power_));
    }

  private:
    ScaledExp2<Value> power_;
    const Blocks<View>* row_;
    Index first_;
    const Number* numbers_;
};

template <Index count, class View, class Number>
EIGEN_ALWAYS_INLINE auto entries_at(const Powers<View, Number>& powers, Index first) {
    return powers.template at<count>(first);
}

/// Numbers, their ids and their encoding: the functor of a row of entries.
template <class View, class IdsOf>
class Entries {
  public:
    using Stored = typename View::Scalar;
    using Value = Compute<Stored>;
    using Ids = IdsOf;

    Entries(const View& numbers, const Ids& ids, Index vocab, const Encoding<Value>& encoding)
        : numbers_(numbers), ids_(ids), vocab_(vocab), encoding_(encoding) {}

    Value operator()(Index id) const {
        const Index place = ids_.place_of(id);
        return place < 0 ? Value{0} : weight(place);
    }

    Index size() const { return ids_.size(vocab_); }
    Value weight(Index place) const { return encoding_.weight(static_cast<Value>(numbers_.coeff(place)), place); }
    double log_weight(Index place) const {
        return encoding_.log_weight(static_cast<Value>(numbers_.coeff(place)), place);
    }
    const View& numbers() const { return numbers_; }
    const Ids& ids() const { return ids_; }
    const Encoding<Value>& encoding() const { return encoding_; }
    void mean(const Encoding<Value>& encoding) { encoding_ = encoding; }

    /// Return the row of these entries.
    auto row() const {
        using Plain = Eigen::Array<Value, Eigen::Dynamic, 1>;
        return Eigen::CwiseNullaryOp<Entries, Plain>(vocab_, 1, *this);
    }

  private:
    View numbers_;
    Ids ids_;
    Index vocab_;
    Encoding<Value> encoding_;
};

template <class View>
inline constexpr bool is_entries_row = false;
template <class E, class Plain>
inline constexpr bool is_entries_row<Eigen::CwiseNullaryOp<E, Plain>> = requires { typename E::Stored; };

/// The scalar that a view's numbers are stored in.
template <class View>
struct StoredScalar {
    using type = typename View::Scalar;
};
template <class View>
    requires is_entries_row<View>
struct StoredScalar<View> {
    using type = typename std::remove_cvref_t<decltype(std::declval<View>().functor())>::Stored;
};

/// A row of entries, read in blocks.
template <class View, class Ids, class Plain>
class Blocks<Eigen::CwiseNullaryOp<Entries<View, Ids>, Plain>> {
  public:
    using Scalar = typename Plain::Scalar;
    using Value = Scalar;
    using Buffer = Eigen::Array<Value, block_size, 1>;

    static constexpr bool is_split = Blocks<View>::is_split;
    static constexpr bool is_slice = false;
    static constexpr bool has_list = Ids::are_listed;

    explicit Blocks(const Eigen::CwiseNullaryOp<Entries<View, Ids>, Plain>& row)
        : entries_(row.functor()), numbers_(entries_.numbers()) {}

    bool are_powers() const { return entries_.encoding().is_logit(); }
    bool holds_every_id() const { return entries_.ids().holds_every_id(); }
    Index size() const { return entries_.size(); }
    double operator[](Index place) const { return static_cast<double>(entries_.weight(place)); }
    double at(Index id) const { return static_cast<double>(entries_(id)); }
    double log_weight(Index place) const { return entries_.log_weight(place); }
    const Blocks<View>& numbers() const { return numbers_; }
    const View& stored() const { return entries_.numbers(); }
    const Encoding<Value>& encoding() const { return entries_.encoding(); }

    Index id(Index place) const { return entries_.ids().id(place); }
    Index place_of(Index id) const { return entries_.ids().place_of(id); }
    const Ids& ids() const { return entries_.ids(); }

    const Value* read(Index first, Index count, Buffer& buffer) const {
        if (entries_.encoding().is_logit()) return write(powers(first, count, buffer), count, buffer);
        return read_weights(first, count, buffer);
    }

    void expect(Index first, Index count) const { numbers_.expect(first, count); }

    /// Return the exchange with the other ranks. Split rows only: see SharedWeights.
    auto share() const
        requires(is_split)
    {
        return numbers_.share().of(encoding());
    }

    /// Call f with a block, in a form that block_sum takes: logits become weights in f's own loop if their powers are
    /// computed in packets.
    template <class F>
    decltype(auto) visit(Index first, Index count, Buffer& buffer, F&& f) const {
        if constexpr (vectorised_exp2<Value>) {
            if (entries_.encoding().is_logit()) return f(powers(first, count, buffer));
            return f(read_weights(first, count, buffer));
        } else {
            return f(read(first, count, buffer));
        }
    }

  private:
    auto powers(Index first, Index count, Buffer& buffer) const {
        return Powers(entries_.encoding().power(), numbers_, first, numbers_.stored(first, count, buffer));
    }

    template <class Number>
    static const Value* write(const Powers<View, Number>& powers, Index count, Buffer& buffer) {
        const Index whole = count - count % stripe_width;
        for (Index i = 0; i < whole; i += stripe_width)
            buffer.template segment<stripe_width>(i) = entries_at<stripe_width>(powers, i);
        for (Index i = whole; i < count; ++i) buffer[i] = entries_at<1>(powers, i).value();
        return buffer.data();
    }

    /// Return the weights of a block of numbers that are not logits.
    const Value* read_weights(Index first, Index count, Buffer& buffer) const {
        if (entries_.encoding().is_probability()) return numbers_.read(first, count, buffer);
        buffer.head(count).setZero();
        const Index peak = entries_.encoding().peak_in(first, count);
        if (peak >= 0) buffer[peak] = 1;
        return buffer.data();
    }

    Entries<View, Ids> entries_;
    Blocks<View> numbers_;
};

/// Tell whether two rows are known to be one: they have the same memory, every id, and the same encoding.
template <class View>
bool are_same(const View&, const View&) {
    return false;
}
template <class Scalar>
bool are_same(const Column<Scalar>& one, const Column<Scalar>& other) {
    return one.data() == other.data();
}
template <class View, class Ids, class Plain>
bool are_same(const Blocks<Eigen::CwiseNullaryOp<Entries<View, Ids>, Plain>>& one,
              const Blocks<Eigen::CwiseNullaryOp<Entries<View, Ids>, Plain>>& other) {
    return one.holds_every_id() && other.holds_every_id() && one.encoding() == other.encoding() &&
           are_same(one.stored(), other.stored());
}

/// Write row q at the places [first, first + count) of row p to `buffer`, both rows sparse, in one walk along their
/// sorted ids.
template <class P, class Q>
const typename Blocks<Q>::Value* meet(const Blocks<P>& p, const Blocks<Q>& q, Index first, Index count,
                                      typename Blocks<Q>::Buffer& buffer) {
    Index place = 0;
    for (Index i = 0; i < count; ++i) {
        const Index id = p.id(first + i);
        if (place < q.size() && q.id(place) < id) place = q.ids().first_from(id, place + 1);
        const bool is_there = place < q.size() && q.id(place) == id;
        buffer[i] = is_there ? static_cast<typename Blocks<Q>::Value>(q[place]) : 0;
        place += is_there ? 1 : 0;
    }
    return buffer.data();
}

/// Write row q at the places [first, first + count) of row p to `buffer`, matched by id, where at least one of the rows
/// is sparse.
template <class P, class Q>
const typename Blocks<Q>::Value* gather(const Blocks<P>& p, const Blocks<Q>& q, Index first, Index count,
                                        typename Blocks<Q>::Buffer& buffer) {
    using Value = typename Blocks<Q>::Value;
    if (!p.holds_every_id()) {
        if constexpr (Blocks<Q>::has_list) {
            if (!q.holds_every_id()) return meet(p, q, first, count, buffer);
        }
        for (Index i = 0; i < count; ++i) buffer[i] = static_cast<Value>(q.at(p.id(first + i)));
    } else if constexpr (Blocks<Q>::has_list) {
        buffer.head(count).setZero();
        for (Index place = q.ids().first_from(first); place < q.size() && q.id(place) < first + count; ++place)
            buffer[q.id(place) - first] = static_cast<Value>(q[place]);
    }
    return buffer.data();
}

/// Return row q at the places [first, first + count) of row p, matched by id; either row may be sparse.
template <class P, class Q>
const typename Blocks<Q>::Value* read_at(const Blocks<P>& p, const Blocks<Q>& q, Index first, Index count,
                                         typename Blocks<Q>::Buffer& buffer) {
    if (p.holds_every_id() && q.holds_every_id()) return q.read(first, count, buffer);
    return gather(p, q, first, count, buffer);
}

/// Call f with row q at the places [first, first + count) of row p, in a form that block_sum takes.
template <class P, class Q, class F>
decltype(auto) visit_at(const Blocks<P>& p, const Blocks<Q>& q, Index first, Index count,
                        typename Blocks<Q>::Buffer& buffer, F&& f) {
    if (p.holds_every_id() && q.holds_every_id()) return q.visit(first, count, buffer, f);
    return f(gather(p, q, first, count, buffer));
}

/// Call f with a block of row p and with row q at the same places.
template <class P, class Q, class F>
decltype(auto) visit_both(const Blocks<P>& p, const Blocks<Q>& q, Index first, Index count,
                          typename Blocks<P>::Buffer& p_buffer, typename Blocks<Q>::Buffer& q_buffer, F&& f) {
    return p.visit(first, count, p_buffer, [&](const auto& x) {
        return visit_at(p, q, first, count, q_buffer, [&](const auto& y) { return f(x, y); });
    });
}

}}}  // namespace specsample::detail

namespace Eigen::internal {

/// An entry is cheap enough to be evaluated in place, and the same every time.
template <class View, class Ids>
struct functor_traits<specsample::detail::Entries<View, Ids>> {
    enum { Cost = 20, PacketAccess = false, IsRepeatable = true };
};

}  // namespace Eigen::internal
