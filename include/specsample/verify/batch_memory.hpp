// Batches as engines lay them out in memory: the rows of all requests in one list, and tokens padded to one width.
//
//   slice(rows, begin, end)          the rows (or distributions) of one request: [begin, end) of the batch's list
//   write_padded(rounds, ids, pad)   the tokens of all rounds, [requests x width] ids
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

#include <specsample/core/contract.hpp>
#include <specsample/rows/rows.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {
namespace detail {

/// Elements [begin, end) of a list, or of a callable that computes them.
template <class Source>
class Slice {
  public:
    Slice(Source&& source, Index begin, Index end)
        : source_(std::forward<Source>(source)), begin_(begin), size_(end - begin) {}

    std::size_t size() const { return static_cast<std::size_t>(size_); }

    decltype(auto) operator[](std::size_t i) const&
        requires(is_supplied<Source>)
    {
        return element(source_, begin_ + static_cast<Index>(i));
    }
    /// Refuse a temporary slice: the element would belong to a list that is destroyed with the slice.
    void operator[](std::size_t i) &&
        requires(is_supplied<Source> && owns_rows<Source>)
    = delete;
    decltype(auto) operator()(Index i)
        requires(!is_supplied<Source>)
    {
        return element(source_, begin_ + i);
    }

  private:
    Source source_;
    Index begin_;
    Index size_;
};
template <class Source>
inline constexpr bool owns_rows<Slice<Source>> = owns_rows<Source>;

}  // namespace detail

/// Take rows [begin, end) of a batch's list as rows 0, 1, .. of one request. Distributions work the same way.
///
///     const auto flat = logits_of(rows_in_memory(logits, total, vocab, stride), temperature);
///     slice(flat, cu_num_logits[i], cu_num_logits[i + 1])
///
/// @param source   a matrix, anything indexed [i], or a callable of i. An lvalue is borrowed, an rvalue moved
/// @throws         std::invalid_argument unless 0 <= begin <= end <= the number of elements, where that is known
template <class Source>
detail::Slice<Source> slice(Source&& source, Index begin, Index end) {
    detail::require(begin >= 0, "slice", "begin", begin, "at least 0");
    if (end < begin) detail::invalid("slice", "end", end, "at least begin, " + detail::to_text(begin));
    if (const auto count = detail::element_count(source); count && end > *count)
        detail::invalid("slice", "end", end, "at most the number of elements, " + detail::to_text(*count));
    return {std::forward<Source>(source), begin, end};
}

/// Write the tokens of rounds as a padded, row-major matrix [rounds x width].
///
/// @param rounds   [B] what verify_batch returned, or any other list of rounds. The row of a round with a fault is
///                 all padding
/// @param ids      [B * width] ids of any integral type, in contiguous memory; width K + 1 has room for every round of
///                 K drafted tokens
/// @param pad      the id that fills a row after its tokens
/// @throws         std::invalid_argument if the number of ids is no multiple of the number of rounds, a round is longer
///                 than the width, or a token does not fit into an id. Then only the rows of earlier rounds are written
template <class Rounds, class Ids, class Id = typename decltype(std::span(std::declval<Ids&>()))::value_type>
    requires detail::Integer<Id>
void write_padded(const Rounds& rounds, Ids&& ids, std::type_identity_t<Id> pad = static_cast<Id>(-1)) {
    const std::span<Id> out(ids);
    detail::require_memory("write_padded", "ids", out);
    const std::size_t count = std::size(rounds);
    const std::size_t width = count == 0 ? 0 : out.size() / count;
    if (width * count != out.size())
        detail::invalid("write_padded", "the number of ids", out.size(),
                        "a multiple of the number of rounds, " + detail::to_text(count));
    std::size_t begin = 0;
    for (const auto& round : rounds) {
        const auto row = out.subspan(begin, width);
        if (round.tokens.size() > width)
            detail::invalid("write_padded", "the number of tokens of a round", round.tokens.size(),
                            "at most the width, " + detail::to_text(width));
        for (const Token token : round.tokens)
            detail::require(std::in_range<Id>(token), "write_padded", "a token", token, "inside the range of the ids");
        const auto end =
            std::ranges::transform(round.tokens, row.begin(), [](Token token) { return static_cast<Id>(token); }).out;
        std::fill(end, row.end(), pad);
        begin += width;
    }
}

}}  // namespace specsample
