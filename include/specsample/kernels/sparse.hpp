// Sparse rows: the ids that have a probability, and no others. What top-k and top-p leave.
#pragma once

#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <specsample/kernels/logits.hpp>

namespace specsample {
namespace detail {

/// Ids in memory: contiguous, or one field of an array of structs.
template <class Ids>
auto list_of(const Ids& ids) {
    if constexpr (EigenMatrix<Ids>) {
        return IdList<typename Ids::Scalar>(ids.data(), ids.size(), ids.innerStride());
    } else {
        const auto all = std::span(ids);
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

template <class Ids>
inline constexpr bool is_view_of_ids = is_span<Ids> || EigenView<Ids> || std::same_as<Ids, ListOf<Ids>>;

/// As Part, for ids.
template <class Given, class Ids = std::remove_cvref_t<Given>>
using IdsPart = std::conditional_t<is_view_of_ids<Ids>, ListOf<Ids>,
                                   std::conditional_t<std::is_lvalue_reference_v<Given>, const Ids&, Ids>>;

/// One row in another: a row of logits is taken with what its numbers mean.
template <class R>
auto encoding_of(const R& row) {
    if constexpr (requires { row.encoding(); }) {
        return row.encoding();
    } else {
        return Encoding<Compute<row_scalar_t<R>>>();
    }
}
template <class R>
auto numbers_of(const R& row) {
    if constexpr (requires { row.numbers(); }) {
        return row.numbers();
    } else {
        return as_row(row);
    }
}

}  // namespace detail

/// A row that holds some ids only; all others have probability 0.
///
///     Sparse(ids, probs, vocab)
///     Sparse(member(candidates, &Candidate::id), member(candidates, &Candidate::p), vocab)
///     Sparse(ids, Logits(logits, 0.8), vocab)      normalised over the ids that are there
///
/// Whatever is done with it costs what it holds. Candidates in another order than that of their ids are sorted first:
/// std::ranges::sort(candidates, {}, &Candidate::id).
///
/// @tparam IdsOf, R   owners (moved in), views, or `const Owner&` for owners that were only viewed
template <class Ids, class R>
class Sparse {
    using StoredIds = std::conditional_t<std::is_reference_v<Ids>, detail::ListOf<Ids>, Ids>;
    using StoredRow = detail::PartStored<R>;

  public:
    static constexpr bool borrows = std::same_as<StoredIds, detail::ListOf<Ids>> || [] {
        if constexpr (detail::StatedRow<StoredRow>) return StoredRow::borrows;
        return !detail::owns<StoredRow>;
    }();
    static constexpr bool outlives_its_making = !std::is_reference_v<Ids> && !std::is_reference_v<R> && [] {
        if constexpr (detail::StatedRow<StoredRow>) return StoredRow::outlives_its_making;
        return detail::EigenView<StoredRow> || detail::EigenOwner<StoredRow> || detail::ContiguousRow<StoredRow>;
    }();
    using Kept =
        Sparse<std::vector<typename detail::ListOf<Ids>::value_type>, typename detail::OwnedRow<StoredRow>::type>;

    Sparse() = default;

    /// @param ids     [n] strictly increasing, of any integral type, inside the vocabulary: checked when it is read
    /// @param row     [n] their probabilities, or Logits
    /// @param vocab   ids there are, those without a probability included
    /// @throws        std::invalid_argument if there are not as many ids as numbers, or more than the vocabulary has
    template <class GivenIds, class GivenRow>
    Sparse(GivenIds&& ids, GivenRow&& row, Index vocab)
        : ids_(store_ids(std::forward<GivenIds>(ids))),
          row_(detail::store_part<R>(std::forward<GivenRow>(row))),
          vocab_(vocab) {
        const Index count = this->ids().size(vocab);
        if (detail::row_size(row_) != count)
            detail::invalid("Sparse", "the number of probabilities", detail::row_size(row_),
                            "that of ids, " + detail::to_text(count));
        if (count > vocab)
            detail::invalid("Sparse", "vocab", vocab, "at least the number of ids, " + detail::to_text(count));
    }

    Index size() const { return vocab_; }
    auto ids() const { return every_id_ ? detail::ListOf<Ids>() : detail::list_of(ids_); }

    /// What was given as the row: probabilities or Logits, by place.
    const StoredRow& held() const { return row_; }

    /// The probabilities by id, as an expression.
    /// @cost   O(1); a pass over what it holds where that are logits
    auto probs() const {
        const auto encoding = detail::encoding_of(row_);
        return detail::Entries(detail::numbers_of(row_), ids(), vocab_, is_refused_ ? encoding.as_refused() : encoding)
            .row();
    }

    /// Say that this is no row, for who takes it as one: it is a fault wherever it is used, whatever is read of it.
    void refuse() { is_refused_ = true; }
    bool is_refused() const { return is_refused_; }

    /// What is drawn from, where it holds logits.
    auto weights() const
        requires requires(const StoredRow& row) { row.weights(); }
    {
        return kernels::LogitWeights(row_.numbers(), row_.temperature(), vocab_, ids());
    }

    Index argmax() const {
        const Index place = specsample::kernels::argmax(detail::numbers_of(row_));
        return place < 0 ? -1 : ids().id(place);
    }

    void keep_in(Kept& kept) const {
        const auto list = ids();
        kept.every_id_ = list.holds_every_id();  // then none is written down
        kept.ids_.resize(kept.every_id_ ? 0 : static_cast<std::size_t>(list.size(vocab_)));
        for (std::size_t i = 0; i < kept.ids_.size(); ++i)
            kept.ids_[i] = static_cast<typename detail::ListOf<Ids>::value_type>(list.id(static_cast<Index>(i)));
        detail::OwnedRow<StoredRow>::keep(kept.row_, row_);
        kept.vocab_ = vocab_;
        kept.is_refused_ = is_refused_;
    }

  private:
    template <class, class>
    friend class Sparse;

    template <class Given>
    static StoredIds store_ids(Given&& ids) {
        if constexpr (std::same_as<StoredIds, detail::ListOf<Ids>>) {
            return detail::list_of(ids);
        } else {
            return std::forward<Given>(ids);
        }
    }
    StoredIds ids_;
    StoredRow row_;
    Index vocab_ = 0;
    bool every_id_ = false;
    bool is_refused_ = false;
};

template <class Ids, class R>
Sparse(Ids&&, R&&, Index) -> Sparse<detail::IdsPart<Ids>, detail::Part<R>>;

}  // namespace specsample
