// A split row as a row that is a value: its numbers are gathered on every rank.
#pragma once

#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include <specsample/core/row.hpp>
#include <specsample/rows/row.hpp>
#include <specsample/shard/sharded.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace shard {

/// The numbers of a row split over ranks, for a Row: each rank gives its slice, and the first read sends every slice to
/// every rank.
///
///     shard::GatheredNumbers numbers(my_logits(prefix), my_first_id, vocab, ranks);
///     Row::logits({numbers, numbers.scalar()}, .8)
///
/// The round is that of the whole row, to the bit, under every rule. What Sharded says of the calls that all ranks must
/// make holds here, too. Sharded costs less: it sends sums and some ids of a row, where this sends the row.
///
/// @tparam Slice   contiguous numbers, probabilities or logits: an owner (moved in), a view, or `const Owner&`
/// @cost           one exchange per row, at its first read, however often it is read; one more for the first row of the
///                 Ranks, which tells who holds what
/// @edge           if the ranks disagree, the numbers are NaN, and fault() says why
template <class Slice>
class GatheredNumbers final : public RowReader {
    static constexpr bool are_numbers = RowLike<Slice> && !specsample::detail::StatedRow<std::remove_cvref_t<Slice>>;
    static_assert(are_numbers,
                  "specsample::shard::GatheredNumbers: slice must be plain numbers, as in std::vector<float>; say what "
                  "they are where the Row is made: Row::logits({gathered, gathered.scalar()}, temperature)");
    using Scalar = specsample::detail::row_scalar_t<std::remove_cvref_t<Slice>>;

  public:
    /// @param slice      [n] the numbers of this rank's ids
    /// @param first_id   the id of the slice's first number
    /// @param vocab      the size of the vocabulary
    /// @param ranks      the ranks that hold the other slices; borrowed
    template <class Given>
    GatheredNumbers(Given&& slice, Index first_id, Index vocab, Ranks& ranks)
        : row_(std::forward<Given>(slice), first_id, vocab, ranks) {}

    /// Return the scalar to read the numbers as.
    static constexpr specsample::detail::RowScalar scalar() { return specsample::detail::scalar_of<Scalar>; }
    /// Return what the ranks disagree about, once the numbers were read.
    const std::optional<RowFault>& fault() const { return row_.state().fault(); }

    Index size() const override { return row_.size(); }
    void read(Index first, std::span<float> out) const override { copy(first, out); }
    void read_wide(Index first, std::span<double> out) const override { copy(first, out); }

  private:
    template <class Number>
    void copy(Index first, std::span<Number> out) const {
        const auto [numbers, begin] = row_.state().numbers_from(first);
        for (Number& number : out) number = static_cast<Number>(numbers[first++ - begin]);
    }

    Sharded<Slice> row_;
};

template <class Given>
GatheredNumbers(Given&&, Index, Index, Ranks&) -> GatheredNumbers<specsample::detail::Part<Given>>;

}}}  // namespace specsample::shard
