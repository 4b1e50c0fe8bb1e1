// Numbers and ids where they lie, described by values: a row of any kind is then one type.
//
//   RowScalar     the type of a row's numbers
//   NumbersView   numbers in memory, or computed by a RowReader
//   IdsView       ids in memory
//   RowReader     numbers that are computed when they are read
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include <specsample/core/contract.hpp>
#include <specsample/core/ids.hpp>
#include <specsample/core/row_kinds.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

/// Numbers that are computed where they are read: an interpolation of two rows, a row in another encoding.
///
/// A kernel may read any range, several times, and expects the same numbers each time.
class RowReader {
  public:
    /// Return the number of entries.
    virtual Index size() const = 0;
    /// Write the entries at the places [first, first + out.size()), at most 512 of them.
    virtual void read(Index first, std::span<float> out) const = 0;
    /// Write the same entries as doubles, for rows whose numbers are Row::Scalar::f64. By default, floats are widened.
    virtual void read_wide(Index first, std::span<double> out) const {
        for (double& number : out) {
            float narrow = 0;
            read(first++, std::span(&narrow, 1));
            number = double{narrow};
        }
    }

  protected:
    ~RowReader() = default;
};

namespace detail {

/// The type of the numbers of a row.
enum class RowScalar : std::uint8_t {
    f32,   ///< float
    f64,   ///< double
    f16,   ///< IEEE 754 binary16
    bf16,  ///< bfloat16
};

/// The size of a scalar in bytes.
constexpr Index bytes_of(RowScalar scalar) { return scalar == RowScalar::f64 ? 8 : scalar == RowScalar::f32 ? 4 : 2; }

template <class T>
inline constexpr RowScalar scalar_of = RowScalar::f32;
template <>
inline constexpr RowScalar scalar_of<double> = RowScalar::f64;
template <>
inline constexpr RowScalar scalar_of<Eigen::half> = RowScalar::f16;
template <>
inline constexpr RowScalar scalar_of<Eigen::bfloat16> = RowScalar::bf16;

/// A list whose numbers lie in memory, a fixed step apart.
template <class L, bool = EigenMatrix<L>>
inline constexpr bool lies_in_memory = requires(const L& list) { std::span(list); };
template <class L>
inline constexpr bool lies_in_memory<L, true> = bool(L::IsVectorAtCompileTime) && has_memory<L>;

/// Return the address of the first number; null for what require_viewable refuses.
template <class L>
auto address_of(const L& list) {
    if constexpr (!lies_in_memory<L>)
        return static_cast<const float*>(nullptr);
    else if constexpr (EigenMatrix<L>)
        return list.data();
    else
        return std::data(list);  // an array has no member
}

/// Return the number of elements from one to the next.
template <class L>
Index step_of(const L& list) {
    if constexpr (EigenMatrix<L> && lies_in_memory<L>)
        return list.innerStride();
    else
        return 1;
}

/// Tell at compile time why a list cannot be viewed.
template <class Given, bool in_memory>
constexpr void require_viewable() {
    static_assert(in_memory,
                  "specsample::Row: these numbers are computed, or lie in no memory that can be viewed; assign "
                  "them to a vector that outlives the round, or compute them in a RowReader");
    static_assert(std::is_lvalue_reference_v<Given> || !owns<std::remove_cvref_t<Given>>,
                  "specsample::Row: the numbers are borrowed, and a temporary would be gone before they are "
                  "read; give it a name that lives until the round ends");
}

/// Numbers in memory, a fixed step apart, or computed by a reader; borrowed.
///
/// It is made implicitly of a std::vector, a std::span, an Eigen vector, or one row of an Eigen matrix. A temporary
/// that owns its numbers does not compile.
class NumbersView {
  public:
    NumbersView() = default;

    /// View numbers of a type that is known at run time: also 16-bit numbers out of std::uint16_t.
    /// @param data   the first number
    /// @param size   how many there are
    /// @param step   how many numbers lie from one to the next
    /// @throws       std::invalid_argument for numbers at null, or at an address that is not aligned, or for a negative
    ///               size
    NumbersView(const void* data, RowScalar scalar, Index size, Index step = 1)
        : data_(data), size_(size), step_(step), scalar_(scalar) {
        detail::require(size >= 0, "Row", "size", size, "at least 0");
        const auto align = static_cast<std::size_t>(detail::bytes_of(scalar));
        const bool is_aligned = reinterpret_cast<std::uintptr_t>(data) % align == 0;
        if (size > 0 && (data == nullptr || !is_aligned))
            detail::refuse_memory("Row", "data", data == nullptr, align, static_cast<std::size_t>(size));
    }
    template <detail::Floating T>
    NumbersView(const T* data, Index size, Index step = 1) : NumbersView(data, detail::scalar_of<T>, size, step) {}

    /// View a list.
    template <class List>
        requires(RowLike<List> && !detail::StatedRow<std::remove_cvref_t<List>>)
    NumbersView(List&& list)
        : NumbersView(detail::address_of(list), detail::row_size(list),
                      detail::step_of<std::remove_cvref_t<List>>(list)) {
        detail::require_viewable<List, detail::lies_in_memory<std::remove_cvref_t<List>>>();
    }

    /// Refuse a list of other numbers.
    template <class List>
        requires(detail::lies_in_memory<std::remove_cvref_t<List>> && !RowLike<List>)
    NumbersView(List&&) {
        static_assert(!sizeof(std::remove_cvref_t<List>*),
                      "specsample::Row: the numbers must be of type float, double, Eigen::half or Eigen::bfloat16; of "
                      "16 bits in another type say what they hold: {data, Row::Scalar::bf16, size}");
    }

    /// Refuse a pointer.
    template <class Pointer>
        requires std::is_pointer_v<std::remove_cvref_t<Pointer>>
    NumbersView(Pointer&&) {
        static_assert(!sizeof(std::remove_cvref_t<Pointer>*),
                      "specsample::Row: a pointer does not say how many numbers there are; write {data, size}, and "
                      "*reader for a RowReader");
    }

    /// View what a reader computes.
    /// @param scalar   f64 to compute in doubles. The other scalars are computed in floats, and say how far a sum of
    ///                 probabilities may be from 1
    NumbersView(const RowReader& reader, RowScalar scalar = RowScalar::f32)
        : reader_(&reader), size_(reader.size()), scalar_(scalar) {
        detail::require(size_ >= 0, "Row", "the size of the reader", size_, "at least 0");
    }
    /// Refuse a temporary reader.
    NumbersView(const RowReader&&, RowScalar = RowScalar::f32) = delete;

    const void* data() const { return data_; }           ///< null if a reader computes the numbers
    const RowReader* reader() const { return reader_; }  ///< null if they lie in memory
    Index size() const { return size_; }
    Index step() const { return step_; }
    RowScalar scalar() const { return scalar_; }
    /// Return whether the numbers lie side by side in memory.
    bool are_packed() const { return reader_ == nullptr && step_ == 1; }

  private:
    const void* data_ = nullptr;
    const RowReader* reader_ = nullptr;
    Index size_ = 0;
    Index step_ = 1;
    RowScalar scalar_ = RowScalar::f32;
};

class IdsView;

/// What kernels do with a list of ids. A list names the functions of its type, so that a program compiles them for the
/// types that it has, and for none without sparse rows.
struct IdFunctions {
    Index (*id)(const IdsView& ids, Index place);
    Index (*place_of)(const IdsView& ids, Index id);
    Index (*first_from)(const IdsView& ids, Index id, Index from);
    bool (*are_ordered)(const IdsView& ids);
    /// Write the places in `ids` of the ids that `other` has at [first, first + count); -1 for an id that is not there.
    void (*write_places)(const IdsView& ids, const IdsView& other, Index first, Index count, std::int32_t* places);
};

/// The functions of a type; defined below.
template <class Id>
const IdFunctions& id_functions();

/// Ids in memory, of any integral type, a fixed step apart; borrowed. It is made implicitly of a list of them.
class IdsView {
  public:
    /// View no list: a row that has every id.
    IdsView() = default;

    /// @param data   the first id
    /// @param size   how many there are
    /// @param step   how many ids lie from one to the next
    /// @throws       std::invalid_argument for ids at null or at an unaligned address, or for a negative size
    template <detail::Integer T>
    IdsView(const T* data, Index size, Index step = 1)
        : data_(data), size_(size), step_(step), functions_(&detail::id_functions<T>()) {
        detail::require(size >= 0, "Row", "size", size, "at least 0");
        detail::require_memory("Row", "data", data, static_cast<std::size_t>(size));
    }

    /// View a list.
    template <class List>
        requires(detail::lies_in_memory<std::remove_cvref_t<List>>)
    IdsView(List&& list)
        : IdsView(detail::address_of(list), static_cast<Index>(std::size(list)),
                  detail::step_of<std::remove_cvref_t<List>>(list)) {
        static_assert(std::is_lvalue_reference_v<List> || !detail::owns<std::remove_cvref_t<List>>,
                      "specsample::Row: the ids are borrowed, and a temporary would be gone before they are read; "
                      "give it a name that lives until the round ends");
    }

    /// Refuse a pointer.
    template <class Pointer>
        requires std::is_pointer_v<std::remove_cvref_t<Pointer>>
    IdsView(Pointer&&) {
        static_assert(!sizeof(std::remove_cvref_t<Pointer>*),
                      "specsample::Row: a pointer does not say how many ids there are; write {ids, size}");
    }

    const void* data() const { return data_; }
    Index size() const { return size_; }  ///< -1 if there is no list
    Index step() const { return step_; }
    const IdFunctions& functions() const { return *functions_; }

  private:
    const void* data_ = nullptr;
    Index size_ = -1;
    Index step_ = 1;
    const IdFunctions* functions_ = nullptr;
};

/// Write the places in a list of the ids that another list has at [first, first + count); -1 for an id that is not
/// there.
/// @param other   other(place) -> the id in the other list
template <class Id, class Other>
void write_places_in(const IdList<Id>& list, const Other& other, Index first, Index count, std::int32_t* places) {
    for (Index i = 0, place = 0; i < count; ++i) {
        const Index id = other(first + i);
        if (place < list.size(0) && list.id(place) < id) place = list.first_from(id, place + 1);
        const bool is_there = place < list.size(0) && list.id(place) == id;
        places[i] = is_there ? static_cast<std::int32_t>(place) : -1;
        place += is_there ? 1 : 0;
    }
}

/// Return a view whose ids are known to be of type Id as a list.
template <class Id>
IdList<Id> typed(const IdsView& ids) {
    return {static_cast<const Id*>(ids.data()), ids.size(), ids.step()};
}

template <class Id>
const IdFunctions& id_functions() {
    static constexpr IdFunctions functions{
        .id = [](const IdsView& ids, Index place) { return typed<Id>(ids).id(place); },
        .place_of = [](const IdsView& ids, Index id) { return typed<Id>(ids).place_of(id); },
        .first_from = [](const IdsView& ids, Index id, Index from) { return typed<Id>(ids).first_from(id, from); },
        .are_ordered = [](const IdsView& ids) { return typed<Id>(ids).are_ordered(); },
        .write_places =
            [](const IdsView& ids, const IdsView& other, Index first, Index count, std::int32_t* places) {
                const IdFunctions& others = other.functions();
                if (&others == &ids.functions())  // without a call per id
                    return write_places_in(
                        typed<Id>(ids), [&](Index i) { return typed<Id>(other).id(i); }, first, count, places);
                write_places_in(
                    typed<Id>(ids), [&](Index i) { return others.id(other, i); }, first, count, places);
            }};
    return functions;
}

}  // namespace detail

}}  // namespace specsample
