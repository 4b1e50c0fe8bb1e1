// The laws of a stored draft: rows one behind the other, in memory of their own and as bytes.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <specsample/core/number.hpp>
#include <specsample/kernels/sparse.hpp>
#include <specsample/proposal/bytes.hpp>
#include <specsample/proposal/law.hpp>

namespace specsample::detail {

/// What the rows behind a law hold.
template <RowLaw L>
using RowScalar = typename std::remove_cvref_t<decltype(std::declval<const L&>().row())>::Scalar;

/// Laws, copied. All of them are of one type: a dense row is a sparse one that holds every id.
template <Floating Scalar>
class StoredRows {
    using Held = Sparse<IdList<Token>, Column<Scalar>>;
    enum class Kind : std::uint32_t { point, dense, sparse };

    /// A law without its numbers and its ids: those that it lists, then those that could not be drawn.
    struct Slot {
        Kind kind = Kind::point;
        Index vocab = 0;
        Index entries = 0;
        Index without = 0;
        double rest = 1;
        std::size_t first_number = 0;
        std::size_t first_id = 0;

        Index listed() const { return kind == Kind::sparse ? entries : 0; }
    };

  public:
    using Law = Mixed<row_view_t<Held>>;

    void clear() {
        slots_.clear();
        ids_.clear();
        numbers_.clear();
    }

    template <RatioLaw L>
    void add(const L& law) {
        Slot slot{.first_number = numbers_.size(), .first_id = ids_.size()};
        if constexpr (RowLaw<L>) {
            if (!law.is_point()) copy(law, slot);
        }
        slots_.push_back(slot);
    }

    /// A view of law i.
    Law law(Index i) const {
        const Slot& slot = slots_[static_cast<std::size_t>(i)];
        if (slot.kind == Kind::point) return PointMass{};
        const Token* ids = ids_.data() + slot.first_id;
        const auto list = slot.kind == Kind::sparse ? IdList<Token>(ids, slot.entries, 1) : IdList<Token>();
        const Held row(list, Column<Scalar>(numbers_.data() + slot.first_number, slot.entries), slot.vocab);
        return Sampled(row, {ids + slot.listed(), static_cast<std::size_t>(slot.without)}, slot.rest);
    }

    // As bytes: of each law kind 4, vocab 8, entries 8, without 8, rest 8; all ids; all numbers.
    static constexpr std::size_t slot_bytes = 36;

    std::size_t byte_count() const {
        return slots_.size() * slot_bytes + ids_.size() * sizeof(Token) + numbers_.size() * sizeof(Scalar);
    }

    void write(ByteWriter& writer) const {
        for (const Slot& slot : slots_) {
            writer.put(static_cast<std::uint32_t>(slot.kind));
            for (const Index count : {slot.vocab, slot.entries, slot.without})
                writer.put(static_cast<std::uint64_t>(count));
            writer.put(slot.rest);
        }
        writer.put(std::span(ids_));
        writer.put(std::span(numbers_));
    }

    /// Read the laws of some tokens from `left` bytes. Every count is held against the bytes there are.
    /// @returns   false where these cannot be laws of these tokens
    bool read(ByteReader& reader, std::span<const Token> tokens, std::size_t left) {
        clear();
        if (tokens.size() > left / slot_bytes) return false;
        left -= tokens.size() * slot_bytes;
        std::size_t ids = 0, numbers = 0;
        for (const Token token : tokens) {
            Slot slot{.first_number = numbers, .first_id = ids};
            if (!read(reader, slot) || !is_possible(slot, token)) return false;
            numbers += static_cast<std::size_t>(slot.entries);
            ids += static_cast<std::size_t>(slot.listed() + slot.without);
            if (ids > left / sizeof(Token) || numbers > left / sizeof(Scalar)) return false;
            slots_.push_back(slot);
        }
        if (ids * sizeof(Token) + numbers * sizeof(Scalar) != left) return false;
        ids_.resize(ids);
        reader.take(std::span(ids_));
        numbers_.resize(numbers);
        reader.take(std::span(numbers_));
        return std::ranges::all_of(slots_, [&](const Slot& slot) { return has_sound_ids(slot); });
    }

  private:
    template <class L>
    void copy(const L& law, Slot& slot) {
        const Blocks blocks(law.row());
        slot.kind = blocks.holds_every_id() ? Kind::dense : Kind::sparse;
        slot.vocab = law.row().size();
        slot.entries = blocks.size();
        slot.without = std::ssize(law.without());
        slot.rest = law.rest();
        for (Index place = 0; place < slot.listed(); ++place)  // an id of more bits becomes one that is as wrong
            ids_.push_back(static_cast<Token>(std::clamp<Index>(blocks.id(place), -1, 0x7fffffff)));
        ids_.insert(ids_.end(), law.without().begin(), law.without().end());
        numbers_.resize(slot.first_number + static_cast<std::size_t>(slot.entries));
        copy_numbers(blocks, numbers_.data() + slot.first_number);
    }

    template <class View>
    static void copy_numbers(const Blocks<View>& blocks, Scalar* numbers) {
        if constexpr (std::same_as<typename Blocks<View>::Value, Scalar>) {
            typename Blocks<View>::Buffer buffer;
            for_blocks(0, blocks.size(), [&](Index first, Index count) {
                std::copy_n(blocks.read(first, count, buffer), count, numbers + first);
            });
        } else {
            for (Index place = 0; place < blocks.size(); ++place) numbers[place] = static_cast<Scalar>(blocks[place]);
        }
    }

    static bool read(ByteReader& reader, Slot& slot) {
        slot.kind = static_cast<Kind>(reader.take<std::uint32_t>());
        for (Index* each : {&slot.vocab, &slot.entries, &slot.without}) {
            const auto count = reader.take<std::uint64_t>();
            if (count > 0x7fff'ffff) return false;
            *each = static_cast<Index>(count);
        }
        slot.rest = reader.take<double>();
        return is_positive(slot.rest);
    }

    static bool is_possible(const Slot& slot, Token token) {
        switch (slot.kind) {
            case Kind::point:
                return slot.vocab == 0 && slot.entries == 0 && slot.without == 0;
            case Kind::dense:
                return token < slot.vocab && slot.entries == slot.vocab;
            case Kind::sparse:
                return token < slot.vocab && slot.entries <= slot.vocab;
        }
        return false;
    }

    bool has_sound_ids(const Slot& slot) const {
        const auto ids = std::span(ids_).subspan(slot.first_id);
        const auto listed = ids.first(static_cast<std::size_t>(slot.listed()));
        const auto removed = ids.subspan(listed.size(), static_cast<std::size_t>(slot.without));
        const auto is_inside = [&](Token id) { return id >= 0 && id < slot.vocab; };
        return std::ranges::all_of(listed, is_inside) && std::ranges::all_of(removed, is_inside) &&
               std::ranges::adjacent_find(listed, std::greater_equal<>()) == listed.end();
    }

    std::vector<Slot> slots_;
    std::vector<Token> ids_;
    std::vector<Scalar> numbers_;
};

}  // namespace specsample::detail
