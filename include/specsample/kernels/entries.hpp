// A row that is more than probabilities in memory: numbers, the ids they belong to, and what they mean.
//
//   Meaning           how a stored number becomes a weight: as it is, as a logit, or all to one
//   EveryId, IdList   which ids the numbers belong to
//   EntriesRow        the row, as an Eigen expression of its weights by id
//
// It is an expression, so whatever takes a row takes it. Kernels read it in blocks, by place: a sparse row costs what
// it holds, and a logit becomes a probability in the L1 cache.
#pragma once

#include <algorithm>
#include <span>

#include <specsample/core/memory.hpp>
#include <specsample/kernels/block.hpp>
#include <specsample/kernels/exp2.hpp>

namespace specsample::detail {

/// How a stored number becomes a weight.
template <class Value>
class Meaning {
  public:
    /// As it is: a probability.
    Meaning() = default;

    /// A logit x: factor * 2^((x - pivot) * scale).
    Meaning(double pivot, double scale, double factor)
        : kind_(Kind::logit), factor_(factor), pivot_(static_cast<Value>(pivot)), scale_(static_cast<Value>(scale)) {}

    /// All weight on one place, -1 for none.
    static Meaning peak(Index place) {
        Meaning meaning;
        meaning.kind_ = Kind::peak;
        meaning.peak_ = place;
        return meaning;
    }

    /// The same, where somebody else says what the factor is: nobody has seen that the weights sum to 1.
    Meaning as_given() const {
        Meaning meaning = *this;
        meaning.is_given_ = true;
        return meaning;
    }

    bool is_probability() const { return kind_ == Kind::probability; }
    bool is_given() const { return is_given_; }

    /// Can this row of logits be one of probabilities? Its normaliser tells.
    bool is_bad() const { return kind_ == Kind::peak ? peak_ < 0 : kind_ == Kind::logit && !is_positive(factor_); }

    Value weight(Value x, Index place) const {
        if (kind_ == Kind::logit) return power()(x);
        return kind_ == Kind::probability ? x : static_cast<Value>(place == peak_ ? 1 : 0);
    }

    /// The weights of the block of `count` numbers that begins at place `first`.
    /// @param expect   expect(i, n) is called before the numbers [i, i + n) of the block are worked on, to ask for
    ///                 the next block a few lines at a time: a burst of requests would stop the work
    template <class Expect>
    const Value* weights(const Value* numbers, Index first, Index count, Value* buffer, const Expect& expect) const {
        if (kind_ == Kind::probability) return numbers;
        Eigen::Map<Eigen::Array<Value, Eigen::Dynamic, 1>> out(buffer, count);
        if (kind_ == Kind::logit) {
            const ScaledExp2<Value> power = this->power();
            const auto powers = [&](const auto& part) { return part.unaryExpr(ByReference(power)); };
            const Index whole = count - count % stripe_width;
            for (Index i = 0; i < whole; i += stripe_width) {
                expect(i, stripe_width);
                Eigen::Map<Stripe<Value>>(buffer + i) = powers(StripeMap<Value>(numbers + i));
            }
            out.tail(count - whole) = powers(Column<Value>(numbers + whole, count - whole));
        } else {
            out.setZero();
            if (peak_ >= first && peak_ < first + count) out[peak_ - first] = 1;
        }
        return buffer;
    }

  private:
    enum class Kind { probability, logit, peak };

    // Made anew for every block: it is larger than what it is made from, and a row is copied more often.
    ScaledExp2<Value> power() const { return ScaledExp2<Value>(pivot_, scale_, static_cast<Value>(factor_)); }

    Kind kind_ = Kind::probability;
    bool is_given_ = false;
    double factor_ = 1;
    Index peak_ = -1;
    Value pivot_ = 0;
    Value scale_ = 1;
};

/// Every id, in order.
struct EveryId {
    static constexpr bool holds_every_id() { return true; }
    static Index id(Index place) { return place; }
    static Index place_of(Index id) { return id; }
    static Index size(Index vocab) { return vocab; }
};

/// The ids of a sparse row, strictly increasing; or every id, where that is known at run time only.
template <class Id>
class IdList {
  public:
    using value_type = Id;

    IdList() = default;
    IdList(const Id* ids, Index size, Index step) : ids_(ids), size_(size), step_(step) {}

    bool holds_every_id() const { return size_ < 0; }
    Index size(Index vocab) const { return holds_every_id() ? vocab : size_; }
    Index id(Index place) const { return holds_every_id() ? place : static_cast<Index>(ids_[place * step_]); }

    /// Where an id is, -1 if it is not here.
    Index place_of(Index id) const {
        if (holds_every_id()) return id;
        const Index place = first_from(id);
        return place < size_ && this->id(place) == id ? place : -1;
    }

    /// The first place at or after `from` whose id is not below `id`.
    /// @cost   the logarithm of how far that is, so that a walk along two lists costs little more than their length
    Index first_from(Index id, Index from = 0) const {
        Index count = 1;
        for (; from + count <= size_ && this->id(from + count - 1) < id; count *= 2) from += count;
        for (count = std::min(count, size_ - from); count > 0;) {
            const Index half = count / 2;
            if (this->id(from + half) < id) {
                from += half + 1;
                count -= half + 1;
            } else {
                count = half;
            }
        }
        return from;
    }

  private:
    const Id* ids_ = nullptr;
    Index size_ = -1;
    Index step_ = 1;
};

/// Numbers, their ids and their meaning: the functor behind an EntriesRow.
template <class View, class IdsOf>
class Entries {
  public:
    using Stored = typename View::Scalar;
    using Value = Compute<Stored>;
    using Ids = IdsOf;

    Entries(const View& numbers, const Ids& ids, Index vocab, const Meaning<Value>& meaning)
        : numbers_(numbers), ids_(ids), vocab_(vocab), meaning_(meaning) {}

    Value operator()(Index id) const {
        const Index place = ids_.place_of(id);
        return place < 0 ? Value{0} : weight(place);
    }

    Index size() const { return ids_.size(vocab_); }
    Value weight(Index place) const { return meaning_.weight(static_cast<Value>(numbers_.coeff(place)), place); }
    const View& numbers() const { return numbers_; }
    const Ids& ids() const { return ids_; }
    const Meaning<Value>& meaning() const { return meaning_; }
    void mean(const Meaning<Value>& meaning) { meaning_ = meaning; }

    /// The row of these entries.
    auto row() const {
        using Plain = Eigen::Array<Value, Eigen::Dynamic, 1>;
        return Eigen::CwiseNullaryOp<Entries, Plain>(vocab_, 1, *this);
    }

  private:
    View numbers_;
    Ids ids_;
    Index vocab_;
    Meaning<Value> meaning_;
};

template <class View, class Ids>
using EntriesRow = decltype(std::declval<const Entries<View, Ids>&>().row());

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

/// Such a row, in blocks.
template <class View, class Ids, class Plain>
class Blocks<Eigen::CwiseNullaryOp<Entries<View, Ids>, Plain>> {
  public:
    using Scalar = typename Plain::Scalar;
    using Value = Scalar;
    using Buffer = Eigen::Array<Value, block_size, 1>;

    explicit Blocks(const Eigen::CwiseNullaryOp<Entries<View, Ids>, Plain>& row)
        : entries_(row.functor()), numbers_(entries_.numbers()) {}

    bool holds_every_id() const { return entries_.ids().holds_every_id(); }
    Index size() const { return entries_.size(); }
    double operator[](Index place) const { return static_cast<double>(entries_.weight(place)); }
    double at(Index id) const { return static_cast<double>(entries_(id)); }

    Index id(Index place) const { return entries_.ids().id(place); }
    Index place_of(Index id) const { return entries_.ids().place_of(id); }
    const Ids& ids() const { return entries_.ids(); }

    const Value* read(Index first, Index count, Buffer& buffer) const {
        const auto expect = [&](Index i, Index n) { numbers_.expect(first + i + block_size, n); };
        return entries_.meaning().weights(numbers_.read(first, count, buffer), first, count, buffer.data(), expect);
    }

  private:
    Entries<View, Ids> entries_;
    Blocks<View> numbers_;
};

/// The same of two sparse rows: a walk along their lists.
template <class P, class Q>
const typename Blocks<Q>::Value* meet(const Blocks<P>& p, const Blocks<Q>& q, Index first, Index count,
                                      typename Blocks<Q>::Buffer& buffer) {
    Index place = 0;
    for (Index i = 0; i < count; ++i) {
        const Index id = p.id(first + i);
        place = q.ids().first_from(id, place);
        const bool is_there = place < q.size() && q.id(place) == id;
        buffer[i] = is_there ? static_cast<typename Blocks<Q>::Value>(q[place]) : 0;
    }
    return buffer.data();
}

/// Row q at the places [first, first + count) of row p: id by id, whatever either of them holds.
template <class P, class Q>
const typename Blocks<Q>::Value* read_at(const Blocks<P>& p, const Blocks<Q>& q, Index first, Index count,
                                         typename Blocks<Q>::Buffer& buffer) {
    if (p.holds_every_id() && q.holds_every_id()) return q.read(first, count, buffer);
    using Value = typename Blocks<Q>::Value;
    constexpr bool has_ids = requires { q.ids().first_from(first); };
    if (!p.holds_every_id()) {
        if constexpr (has_ids) {
            if (!q.holds_every_id()) return meet(p, q, first, count, buffer);
        }
        for (Index i = 0; i < count; ++i) buffer[i] = static_cast<Value>(q.at(p.id(first + i)));
    } else if constexpr (has_ids) {
        buffer.head(count).setZero();
        for (Index place = q.ids().first_from(first); place < q.size() && q.id(place) < first + count; ++place)
            buffer[q.id(place) - first] = static_cast<Value>(q[place]);
    }
    return buffer.data();
}

}  // namespace specsample::detail

namespace Eigen::internal {

/// Cheap enough to be evaluated in place, and the same every time.
template <class View, class Ids>
struct functor_traits<specsample::detail::Entries<View, Ids>> {
    enum { Cost = 20, PacketAccess = false, IsRepeatable = true };
};

}  // namespace Eigen::internal
