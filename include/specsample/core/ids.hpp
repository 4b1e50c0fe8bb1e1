// The ids that a row's numbers belong to.
#pragma once

#include <type_traits>

#include <specsample/core/types.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

/// The ids of a dense row: every id, in order.
struct EveryId {
    static constexpr bool are_listed = false;
    static constexpr bool are_contiguous() { return true; }
    static constexpr bool holds_every_id() { return true; }
    static constexpr bool are_ordered() { return true; }
    static Index id(Index place) { return place; }
    static Index place_of(Index id) { return id; }
    static Index size(Index vocab) { return vocab; }
};

/// The ids of a sparse row, strictly increasing. A default list holds every id, for rows that only run time shows to be
/// dense.
template <class Id>
class IdList {
  public:
    using value_type = Id;
    static constexpr bool are_listed = true;

    IdList() = default;
    IdList(const Id* ids, Index size, Index step) : ids_(ids), size_(size), step_(step) {}

    const Id* data() const { return ids_; }
    bool holds_every_id() const { return size_ < 0; }
    /// Return whether consecutive places have consecutive ids, as far as is known without a look at them.
    bool are_contiguous() const { return holds_every_id(); }
    Index size(Index vocab) const { return holds_every_id() ? vocab : size_; }
    Index id(Index place) const { return holds_every_id() ? place : static_cast<Index>(ids_[place * step_]); }

    /// Return whether the ids of a list increase strictly. Where they lie side by side, the loop is vectorised.
    bool are_ordered() const {
        using Compared = std::conditional_t<sizeof(Id) == 8, Index, Id>;
        Compared disorder = 0;  // as wide as an id, which a register compares with its neighbour
        const auto compare = [&](Index step) {
            for (Index i = 1; i < size_; ++i) {
                const bool rises = static_cast<Compared>(ids_[(i - 1) * step]) < static_cast<Compared>(ids_[i * step]);
                disorder = static_cast<Compared>(disorder | (rises ? 0 : 1));
            }
        };
        if (step_ == 1)
            compare(1);
        else
            compare(step_);
        return disorder == 0;
    }

    /// Return the place of an id, or -1 if it is not listed.
    Index place_of(Index id) const {
        if (holds_every_id()) return id;
        const Index place = first_from(id);
        return place < size_ && this->id(place) == id ? place : -1;
    }

    /// Return the first place at or after `from` whose id is not below `id`.
    /// @cost   logarithmic in the distance from `from`: a walk along two lists costs little more than their length
    Index first_from(Index id, Index from = 0) const {
        Index count = 1;
        for (; from + count <= size_ && this->id(from + count - 1) < id; count *= 2) from += count;
        if (count > size_ - from) count = size_ - from;
        while (count > 0) {
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

}}}  // namespace specsample::detail
