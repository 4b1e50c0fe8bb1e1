// Rows as values: one type for the distribution of a position, whatever its numbers are and wherever they lie.
//
//   Row    probabilities, logits, or a sparse row of either
//   Rows   several of them by number
#pragma once

#include <concepts>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include <specsample/core/borrowed.hpp>
#include <specsample/core/numbers_view.hpp>
#include <specsample/kernels/encoding.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

class Row;
namespace kernels {
struct LogitSums;
}
namespace detail {

/// What a Row is made of, for the kernels.
struct RowParts {
    NumbersView numbers{};
    IdsView ids{};
    Index vocab = 0;
    double temperature = -1;  ///< of logits; negative for probabilities
    double log_sum_exp = 0;
    bool is_known = false;                     ///< the caller stated log_sum_exp
    bool is_refused = false;                   ///< code that saw more of the row found a fault in it
    const kernels::LogitSums* sums = nullptr;  ///< of the logits, where the caller has them
    std::optional<Encoding<double>> found{};   ///< the encoding with its normaliser, once a draw has found it

    bool are_logits() const { return temperature >= 0; }
};

RowParts& parts_of(Row& row);
const RowParts& parts_of(const Row& row);

}  // namespace detail

/// A row as a value: a small view of probabilities or logits, dense or sparse, of any scalar.
///
///     Row::probs(probabilities)
///     Row::logits(logits, .8)
///     Row::logits({data, Row::Scalar::bf16, vocab}, .8)
///     Row::sparse(ids, Row::logits(logits, .8), vocab)
///
/// The numbers and ids are borrowed: they must outlive the round.
class Row {
  public:
    using Scalar = detail::RowScalar;  ///< f32, f64, f16 (IEEE 754 binary16) or bf16

    /// View probabilities.
    /// @param numbers   [vocab] probabilities
    static Row probs(const detail::NumbersView& numbers) { return Row({.numbers = numbers, .vocab = numbers.size()}); }

    /// View logits at a temperature. Their normaliser is computed where it is needed.
    /// @param numbers       [vocab] logits; -inf is probability 0
    /// @param temperature   >= 0; 0 is the argmax, the lowest id on ties
    /// @throws              std::invalid_argument for a negative or non-finite temperature
    static Row logits(const detail::NumbersView& numbers, double temperature = 1) {
        detail::require(detail::is_finite(temperature) && temperature >= 0, "Row::logits", "temperature", temperature,
                        "a finite number >= 0");
        return Row({.numbers = numbers, .vocab = numbers.size(), .temperature = temperature});
    }
    /// View logits whose normaliser is known, so that no pass computes it.
    /// @param log_sum_exp   ln sum exp(numbers / temperature)
    static Row logits(const detail::NumbersView& numbers, double temperature, double log_sum_exp) {
        Row row = logits(numbers, temperature);
        row.parts_.log_sum_exp = log_sum_exp;
        row.parts_.is_known = true;
        return row;
    }

    /// View logits whose sums are known (kernels/logit_weights.hpp), so that no pass makes them.
    /// @param sums     of these logits, at their temperature; borrowed
    /// @throws         std::invalid_argument for sums of a row of another size
    template <std::same_as<kernels::LogitSums> Sums>
    static Row logits(const detail::NumbersView& numbers, const Sums& sums) {
        detail::require(sums.size == numbers.size(), "Row::logits", "the size of the row of sums", sums.size,
                        "that of the logits, " + detail::to_text(numbers.size()));
        Row row = logits(numbers, sums.temperature);
        row.parts_.sums = &sums;
        return row;
    }
    template <std::same_as<kernels::LogitSums> Sums>
    static Row logits(const detail::NumbersView& numbers, const Sums&&) {
        static_assert(sizeof(Sums) == 0,
                      "specsample::Row::logits: the sums are borrowed, and a temporary would be "
                      "gone: give them a name");
        return logits(numbers);
    }

    /// View a row of some ids; all others have probability 0.
    /// @param ids     [n] strictly increasing, inside the vocabulary: checked when the row is read
    /// @param row     [n] the probabilities or logits of these ids
    /// @param vocab   the number of ids, those without a probability included
    /// @throws        std::invalid_argument if the numbers of ids and of entries differ, for a row that is sparse
    ///                itself, and for more ids than `vocab`
    static Row sparse(const detail::IdsView& ids, const Row& row, Index vocab) {
        const Index count = ids.size();
        detail::require(count >= 0, "Row::sparse", "ids", "{}", "a list");
        if (row.parts_.ids.size() >= 0) detail::invalid("Row::sparse", "row", "sparse itself", "dense, by place");
        if (row.size() != count)
            detail::invalid("Row::sparse", "the number of probabilities", row.size(),
                            "that of ids, " + detail::to_text(count));
        if (count > vocab)
            detail::invalid("Row::sparse", "vocab", vocab, "at least the number of ids, " + detail::to_text(count));
        Row sparse = row;
        sparse.parts_.ids = ids;
        sparse.parts_.vocab = vocab;
        return sparse;
    }

    /// Return the size of the vocabulary.
    Index size() const { return parts_.vocab; }
    bool are_logits() const { return parts_.are_logits(); }
    /// Return the type of the numbers.
    Scalar scalar() const { return parts_.numbers.scalar(); }

  private:
    friend class Rows;
    friend detail::RowParts& detail::parts_of(Row& row);
    friend const detail::RowParts& detail::parts_of(const Row& row);

    explicit Row(const detail::RowParts& parts) : parts_(parts) {}

    detail::RowParts parts_;
};

namespace detail {

inline RowParts& parts_of(Row& row) { return row.parts_; }
inline const RowParts& parts_of(const Row& row) { return row.parts_; }

}  // namespace detail

/// Several rows by number: a list, the rows of a matrix in memory, or a callable that makes them when they are needed.
///
///     Rows(list)                                          a span or vector of rows
///     Rows(Row::logits({data, V}, temperature), K + 1)    rows one after the other in memory
///     Rows(row_of)                                        row_of(i) returns a Row
///
/// The list, the memory and the callable are borrowed.
class Rows {
  public:
    template <class List>
        requires std::convertible_to<const List&, std::span<const Row>>
    Rows(const List& list) : list_(std::span<const Row>(list).data()), count_(std::ssize(list)) {}

    /// @param first    row 0: dense, in memory, without a stated normaliser, which every row would have of its own
    /// @param count    how many rows there are
    /// @param stride   how many numbers lie from one row to the next, at least the size of a row; by default its size
    /// @throws         std::invalid_argument for a first row that is not of this kind, a negative count, or a shorter
    ///                 stride
    Rows(const Row& first, Index count, std::optional<Index> stride = {})
        : first_(first), count_(count), stride_(stride.value_or(first.size())) {
        const detail::RowParts& parts = first.parts_;
        detail::require(count >= 0, "Rows", "count", count, "at least 0");
        if (parts.numbers.reader() != nullptr || parts.numbers.step() != 1 || parts.ids.size() >= 0 || parts.is_known)
            detail::invalid("Rows", "the first row", "of another kind",
                            "dense, in memory without steps, and without a stated normaliser");
        if (stride_ < first.size())
            detail::invalid("Rows", "stride", stride_, "at least the size of a row, " + detail::to_text(first.size()));
    }

    /// @param row_of   returns the row of an Index; what the row views must last until the round ends, or until
    ///                 the next call if the rule reads each row once (Rule::reads_once)
    template <class RowOf>
        requires std::is_invocable_r_v<Row, RowOf&, Index>
    Rows(RowOf& row_of)
        : source_(detail::address_of_any(row_of)),
          call_([](void* source, Index i) -> Row { return detail::any_at<RowOf>(source)(i); }) {}

    /// Return row i where it lies in a list; null if it has to be made.
    const Row* listed(Index i) const { return list_ == nullptr ? nullptr : list_ + i; }
    /// Return row i, of any integral type.
    Row operator[](detail::Integer auto i) const {
        const auto at = static_cast<Index>(i);
        if (call_ != nullptr) return call_(source_, at);
        if (list_ != nullptr) return list_[at];
        Row row = *first_;
        const detail::NumbersView& numbers = row.parts_.numbers;
        const Index bytes = at * stride_ * detail::bytes_of(numbers.scalar());
        row.parts_.numbers = {static_cast<const char*>(numbers.data()) + bytes, numbers.scalar(), numbers.size()};
        return row;
    }

    /// Return the number of rows; -1 if a callable makes them.
    Index count() const { return count_; }

    /// Return the rows [begin, begin + count), as a request of a batch has them.
    /// @throws   std::invalid_argument for rows that are not there, or that a callable makes
    Rows slice(Index begin, Index count) const {
        if (call_ != nullptr)
            detail::invalid("Rows::slice", "the rows", "made by a callable", "in a list or in memory");
        if (begin < 0 || count < 0 || count > count_ - begin)
            detail::invalid("Rows::slice", "begin + count", begin + count,
                            "at most the number of rows, " + detail::to_text(count_));
        if (list_ != nullptr) return Rows(std::span(list_ + begin, static_cast<std::size_t>(count)));
        return {count == 0 ? *first_ : (*this)[begin], count, stride_};
    }

  private:
    const Row* list_ = nullptr;
    std::optional<Row> first_{};
    Index count_ = -1;
    Index stride_ = 0;
    void* source_ = nullptr;
    Row (*call_)(void*, Index) = nullptr;
};

}}  // namespace specsample
