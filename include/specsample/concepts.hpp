// Floor 0: what a user may plug in, and the sentences for what cannot be.
//
//   RowModel     model(prefix) -> row                 the next token's probabilities
//   TokenModel   model(prefix) -> Token               a drafter that names its token: a point mass
//   BatchModel   model(prefix, n) -> n rows           the last n positions in one pass
//   TreeModel    model(prefix, tree) -> 1 + n rows    the prefix and every node of a token tree in one pass
//   Rewindable   model.rollback(length)               a model with a cache that can be cut back
//   StableRows   Model::stable_rows = true            returned views stay valid until the round ends
//
// `prefix` is a std::span<const Token>; a `const std::vector<Token>&` works as well.
#pragma once

#include <concepts>
#include <functional>
#include <span>
#include <type_traits>
#include <vector>

#include <specsample/core/rows.hpp>
#include <specsample/core/tree.hpp>
#include <specsample/core/types.hpp>

namespace specsample {

namespace detail {

/// std::ref models are looked at as what they refer to.
template <class M>
using Unwrapped = std::remove_reference_t<std::unwrap_reference_t<std::remove_cvref_t<M>>>;

template <class M, class... Rest>
inline constexpr bool takes_span = std::invocable<Unwrapped<M>&, std::span<const Token>, Rest...>;
template <class M, class... Rest>
inline constexpr bool takes_vector = std::invocable<Unwrapped<M>&, const std::vector<Token>&, Rest...>;

/// Call a model in the form it takes.
template <class M, class... Rest>
requires(takes_span<M, Rest...> || takes_vector<M, Rest...>) decltype(auto)
    ask(M& model, const std::vector<Token>& prefix, Rest... rest) {
    Unwrapped<M>& callable = model;
    if constexpr (takes_span<M, Rest...>) {
        return std::invoke(callable, std::span<const Token>(prefix), rest...);
    } else {
        return std::invoke(callable, prefix, rest...);
    }
}

template <class M, class... Rest>
using Answer = decltype(ask(std::declval<std::remove_cvref_t<M>&>(), std::declval<const std::vector<Token>&>(),
                            std::declval<Rest>()...));

/// Does a row hold its numbers itself, so that they are gone with it?
template <class R>
inline constexpr bool owns = EigenOwner<R> || (ContiguousRow<R> && !is_span<R>);
template <StatedRow R>
inline constexpr bool owns<R> = !R::borrows;

/// Rows returned as R borrow memory: they must be copied to outlive the model's next call.
template <class R>
inline constexpr bool borrows = std::is_lvalue_reference_v<R> || !owns<std::remove_cvref_t<R>>;

/// A row that a callable may return: it owns its numbers or views memory that outlives the call.
template <class R>
concept ReturnedRow = Row<R> &&(ContiguousRow<std::remove_cvref_t<R>> || EigenOwner<std::remove_cvref_t<R>> ||
                                EigenView<std::remove_cvref_t<R>> || std::remove_cvref_t<R>::outlives_its_making);

template <class R>
concept RowMajorRows = bool(R::IsRowMajor) && !bool(R::IsVectorAtCompileTime) && Floating<typename R::Scalar> &&
                       (EigenOwner<R> || EigenView<R>);
template <class R>
concept IndexedRows = !EigenMatrix<R> && requires(const R& rows) {
    { rows[std::size_t{}] } -> Row;
};

}  // namespace detail

/// A model that can be asked about a prefix.
template <class M>
concept Model = detail::takes_span<M> || detail::takes_vector<M>;

/// model(prefix) returns the next token's probabilities.
template <class M>
concept RowModel = Model<M> && detail::ReturnedRow<detail::Answer<M>>;

/// model(prefix) returns the next token itself.
template <class M>
concept TokenModel = Model<M> && Integer<std::remove_cvref_t<detail::Answer<M>>>;

/// A model that can be asked about the last n positions of a prefix.
template <class M>
concept ManyModel = detail::takes_span<M, Index> || detail::takes_vector<M, Index>;

/// model(prefix, n) returns a row-major matrix of n rows, or anything indexed [i] that gives a row. Row i is the
/// law of the token that follows prefix.first(prefix.size() - n + 1 + i), so the last row equals model(prefix).
template <class M>
concept BatchModel = ManyModel<M> &&(detail::RowMajorRows<std::remove_cvref_t<detail::Answer<M, Index>>> ||
                                     detail::IndexedRows<std::remove_cvref_t<detail::Answer<M, Index>>>);

/// A model that can be asked about a prefix and a tree after it.
template <class M>
concept TreeCallable = detail::takes_span<M, Tree<Token, Index>> || detail::takes_vector<M, Tree<Token, Index>>;

/// model(prefix, tree) returns a row-major matrix of tree.tokens.size() + 1 rows, or anything indexed [i] that gives a
/// row. Row 0 is the distribution of the token that follows the prefix, row i + 1 of the token that follows node i:
/// given the prefix and the tokens on the node's path, and no other node. proposal/attention.hpp has masks and
/// positions for that.
///
/// The row after a drafted stop token is asked for with the others, and no walk reads it.
///
/// What the model computes for nodes is its own affair: the next prefix says which of them were kept. rollback(length),
/// if the model has it, is told of prefixes alone.
template <class M>
concept TreeModel = TreeCallable<M> &&
    (detail::RowMajorRows<std::remove_cvref_t<detail::Answer<M, Tree<Token, Index>>>> ||
     detail::IndexedRows<std::remove_cvref_t<detail::Answer<M, Tree<Token, Index>>>>);

/// model.rollback(length): afterwards the model is as if it had been shown exactly `length` tokens.
template <class M>
concept Rewindable = requires(detail::Unwrapped<M>& model, Index length) {
    model.rollback(length);
};

/// The rows that a model returns as views stay valid until the round ends.
template <class M>
concept StableRows = requires {
    requires bool(detail::Unwrapped<M>::stable_rows);
};

/// A row that is an Eigen expression over a callable's own temporaries.
template <class R>
concept DanglingRow = EigenRow<std::remove_cvref_t<R>> && !detail::ReturnedRow<R>;

}  // namespace specsample
