// Sparse rows, as top-k and top-p leave them: only the ids that have a probability are stored.
#pragma once

#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <specsample/rows/logits.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {
namespace detail {

/// View ids in memory: contiguous, or one field of an array of structs.
template <class Ids>
auto list_of(const Ids& ids) {
    if constexpr (EigenMatrix<Ids>) {
        require_memory("Sparse", "the address of the ids", ids.data(), static_cast<std::size_t>(ids.size()));
        return IdList<typename Ids::Scalar>(ids.data(), ids.size(), ids.innerStride());
    } else {
        const auto all = std::span(ids);
        require_memory("Sparse", "the address of the ids", all);
        return IdList<std::remove_cv_t<typename decltype(all)::value_type>>(all.data(), static_cast<Index>(all.size()),
                                                                            1);
    }
}
template <class Id>
IdList<Id> list_of(const IdList<Id>& ids) {
    return ids;
}
template <class Ids>
using ListOf = decltype(list_of(std::declval<const std::remove_cvref_t<Ids>&>()));

/// Return the encoding of the row inside a sparse row: the encoding of its logits, or plain probabilities.
template <class R>
auto encoding_of(const R& row) {
    if constexpr (form_of<R>.logits)
        return row.encoding();
    else
        return Encoding<Compute<row_scalar_t<R>>>();
}
template <class R>
auto numbers_of(const R& row) {
    static_assert(!form_of<R>.split,
                  "specsample::Row: a row that is split over ranks cannot be the row inside of another, and cannot be "
                  "mapped to another vocabulary; make the whole row first, and split that");
    if constexpr (form_of<R>.logits)
        return row.numbers();
    else
        return as_row(row);
}

}  // namespace detail

/// A row that stores some ids only; all others have probability 0.
///
///     Sparse(ids, probs, vocab)
///     Sparse(member(candidates, &Candidate::id), member(candidates, &Candidate::p), vocab)
///     Sparse(ids, Logits(logits, 0.8), vocab)      normalised over the stored ids
///
/// The cost of every operation is proportional to the number of stored ids. Candidates that are not in the order of
/// their ids must be sorted first: std::ranges::sort(candidates, {}, &Candidate::id).
///
/// @tparam Ids, R   owners (moved in), views, or `const Owner&` for viewed owners
template <class Ids, class R>
class Sparse {
    using StoredIds = std::conditional_t<detail::borrows<Ids>, detail::ListOf<Ids>, Ids>;
    using StoredRow = detail::StoredAs<R>;
    using Value = detail::Compute<detail::row_scalar_t<StoredRow>>;

  public:
    static constexpr detail::RowForm form{.logits = detail::form_of<StoredRow>.logits, .listed = true};
    /// Whether this row owns its ids or its numbers, so that they are gone with it.
    static constexpr bool owns = detail::owns_part<Ids> || detail::owns_part<R>;
    /// Whether this row views its ids or its numbers.
    static constexpr bool borrows = detail::borrows<Ids> || detail::borrows<R>;
    /// Whether the function that makes the row may return it.
    static constexpr bool outlives_its_making =
        !std::is_reference_v<Ids> && !std::is_reference_v<R> && detail::ReturnedRow<R>;
    using Owned =
        Sparse<std::vector<typename detail::ListOf<Ids>::value_type>, typename detail::CopyOf<StoredRow>::type>;

    Sparse() = default;

    /// Make a row with the given probabilities or logits at the given ids.
    /// @param ids     [n] strictly increasing, of any integral type, inside the vocabulary: checked when read
    /// @param row     [n] the probabilities of these ids, or Logits
    /// @param vocab   the size of the vocabulary, ids without a probability included
    /// @throws        std::invalid_argument if the numbers of ids and of entries differ, for a negative `vocab`, for
    ///                more ids than `vocab`, or for ids or entries at null
    template <class GivenIds, class GivenRow>
    Sparse(GivenIds&& ids, GivenRow&& row, Index vocab)
        : ids_(store_ids(std::forward<GivenIds>(ids))),
          row_(detail::store_row<R>(std::forward<GivenRow>(row))),
          vocab_(vocab) {
        const Index count = this->ids().size(vocab);
        if (detail::row_size(row_) != count)
            detail::invalid("Sparse", "the number of probabilities", detail::row_size(row_),
                            "that of ids, " + detail::to_text(count));
        detail::require(vocab >= 0, "Sparse", "vocab", vocab, "at least 0");
        if (count > vocab)
            detail::invalid("Sparse", "vocab", vocab, "at least the number of ids, " + detail::to_text(count));
    }

    Index size() const { return vocab_; }
    auto ids() const { return every_id_ ? detail::ListOf<Ids>() : detail::list_of(ids_); }

    /// Return the stored row: probabilities or Logits, by place.
    const StoredRow& held() const { return row_; }

    /// Return the probabilities by id, as an expression.
    /// @cost   O(1); a pass over the stored entries if they are logits
    auto probs() const& {
        const auto encoding = detail::encoding_of(row_);
        return encoded(is_refused_ ? encoding.as_refused() : encoding);
    }

    /// Mark this row as bad: using it is a fault, even where the entries that are read are good.
    void refuse() { is_refused_ = true; }
    bool is_refused() const { return is_refused_; }

    static constexpr bool has_logits() { return form.logits; }
    /// Return whether probs() finds no normaliser; nobody needs that of a refused row.
    bool is_normalised() const
        requires(form.logits)
    {
        return is_refused_ || row_.is_normalised();
    }

    /// Return the weights that a token is drawn from, if the row holds logits.
    /// @cost   one pass over the stored entries
    auto weights() const&
        requires(form.logits)
    {
        return kernels::LogitWeights(row_.numbers(), row_.temperature(), vocab_, ids());
    }

    /// Return the row for a race, which needs no normaliser, if it holds logits.
    auto unnormalised() const&
        requires(form.logits)
    {
        return encoded(row_.unnormalised_encoding());
    }

    /// Return the row under an encoding that was computed before.
    auto encoded(const detail::Encoding<Value>& encoding) const& {
        return detail::Entries(detail::numbers_of(row_), ids(), vocab_, encoding).row();
    }

    // Deleted for a temporary that owns its numbers: the views would dangle.
    void probs() && requires(owns) = delete;
    void unnormalised() && requires(owns) = delete;
    void encoded(const detail::Encoding<Value>&) && requires(owns) = delete;
    void weights() && requires(owns) = delete;

    /// Return the id with the largest number, the lowest id on ties; -1 if there is none.
    Index argmax() const {
        const Index place = specsample::kernels::argmax(detail::numbers_of(row_));
        return place < 0 ? -1 : ids().id(place);
    }

    /// Copy this row to one that owns its memory.
    void copy_to(Owned& copy) const {
        const auto list = ids();
        copy.every_id_ = list.holds_every_id();  // then no id is stored
        copy.ids_.resize(copy.every_id_ ? 0 : static_cast<std::size_t>(list.size(vocab_)));
        for (std::size_t i = 0; i < copy.ids_.size(); ++i)
            copy.ids_[i] = static_cast<typename detail::ListOf<Ids>::value_type>(list.id(static_cast<Index>(i)));
        detail::copy_row(row_, copy.row_);
        copy.vocab_ = vocab_;
        copy.is_refused_ = is_refused_;
    }

  private:
    template <class, class>
    friend class Sparse;

    template <class Given>
    static StoredIds store_ids(Given&& ids) {
        if constexpr (detail::borrows<Ids>)
            return detail::list_of(ids);
        else
            return std::forward<Given>(ids);
    }
    StoredIds ids_;
    StoredRow row_;
    Index vocab_ = 0;
    bool every_id_ = false;
    bool is_refused_ = false;
};

template <class Ids, class R>
Sparse(Ids&&, R&&, Index) -> Sparse<detail::Part<Ids>, detail::Part<R>>;

}}  // namespace specsample
