// Everything that a user may plug in, as concepts.
//
//   part            concept       to write
//   --------------  ------------  -------------------------------------------------------------------------------
//   model           RowModel      model(prefix) -> row           the next token's probabilities
//                   TokenModel    model(prefix) -> Token         a draft model that returns the token itself
//   batch model     BatchModel    model(prefix, n) -> n rows     the last n positions in one pass
//   tree model      TreeModel     model(prefix, tree) -> rows    a prefix and a token tree after it in one pass
//     with a cache  Rewindable    model.rollback(length)         called where a prefix does not extend the last one
//     with memory                 Model::stable_rows = true      returned views stay valid until the round ends
//     that skips prompts          model.begin_text(prompt_size)  called before each text; drafters may have it, too
//   drafter         Drafter       drafter.propose(prefix, rng, draft tree), with a member type Distribution
//   stop            DraftStop     stop.before(row), stop.after(prob): where a drafted chain ends
//   length          Length        length.next(most), length.record(counts): how many tokens to draft
//   shaper          Shaper        shaper(candidates, context): temperature, top-k, penalties and the like
//   cursor          Cursor        cursor.mask(), accept(token), rollback(n): a grammar's matcher
//   rule            Rule          rule(context) -> Outcome, with a constant `lossless`: which drafted tokens are kept
//   random source   RandomSource  source.at(purpose, node) -> the random numbers of that address
//
// `prefix` is a std::span<const Token>; a `const std::vector<Token>&` works as well. A row is probabilities of any type
// (RowLike, core/row_kinds.hpp), or a Row (rows/row.hpp); heads on the target are a heads::HeadsModel
// (drafters/heads.hpp). Types of other parts are only declared here: a program that uses one includes the header of
// that part. This header does without Eigen.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <type_traits>

#include <specsample/core/rule_claim.hpp>
#include <specsample/core/tree.hpp>
#include <specsample/models/ask.hpp>
#include <specsample/rows/returned.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

// The types that the concepts mention, each with the header that defines it.

enum class Purpose : std::uint32_t;  // random/address.hpp
class RoundRng;                      // random/rng.hpp
struct SharedNoise;                  // tree/point_mass.hpp
class Origin;                        // tree/origin.hpp
struct RoundCounts;                  // core/tally.hpp
namespace filters {
template <std::floating_point Value>
class Candidates;  // shaping/candidates.hpp
}  // namespace filters

// ---- Models ---------------------------------------------------------------------------------------------------------

/// A model that can be called with a prefix.
template <class M>
concept Model = detail::takes_span<M> || detail::takes_vector<M>;

/// A model whose call model(prefix) returns the next token's probabilities: a row that is a type, or a Row.
template <class M>
concept RowModel = Model<M> && detail::ReturnedRow<detail::Answer<M>>;

/// A model whose call model(prefix) returns the next token itself.
template <class M>
concept TokenModel = Model<M> && detail::Integer<std::remove_cvref_t<detail::Answer<M>>>;

namespace detail {

/// A model that can be called for the last n positions of a prefix.
template <class M>
concept ManyModel = detail::takes_span<M, Index> || detail::takes_vector<M, Index>;

}  // namespace detail

/// A model that scores the last n positions of a prefix in one pass.
///
/// model(prefix, n) returns a row-major matrix of n rows, or anything indexed [i] that gives a row. Row i is the
/// distribution of the token that follows prefix.first(prefix.size() - n + 1 + i), so the last row equals
/// model(prefix).
template <class M>
concept BatchModel = detail::ManyModel<M> && detail::ReturnedRows<detail::Answer<M, Index>>;

namespace detail {

/// A model that can be called with a prefix and a tree after it.
template <class M>
concept TreeCallable = detail::takes_span<M, Tree<Token, Index>> || detail::takes_vector<M, Tree<Token, Index>>;

/// The result of a TreeCallable: Answer<M, Tree<Token, Index>>, which g++ 12 takes for Answer<M, Index> where a concept
/// names both.
template <class M>
struct TreeAnswer : std::type_identity<Answer<M, Tree<Token, Index>>> {};

}  // namespace detail

/// A model that scores a prefix and every node of a token tree after it in one pass.
///
/// model(prefix, tree) returns a row-major matrix of tree.tokens.size() + 1 rows, or anything indexed [i] that gives a
/// row. Row 0 is the distribution of the token that follows the prefix, row i + 1 of the token that follows node i,
/// given the prefix and the tokens on the node's path, and no other node. tree/attention.hpp has the masks and
/// positions for that.
///
/// The row after a drafted token that ends the text is part of the result like any other, but nobody reads it.
///
/// The model is not told which nodes were kept: the next prefix shows it. rollback(length), if the model has it,
/// counts tokens of prefixes only, never nodes.
template <class M>
concept TreeModel = detail::TreeCallable<M> && detail::ReturnedRows<typename detail::TreeAnswer<M>::type>;

/// A model with a cache: after model.rollback(length) it is as if it had been shown exactly `length` tokens.
template <class M>
concept Rewindable = requires(detail::Unwrapped<M>& model, Index length) { model.rollback(length); };

namespace detail {

/// A model that says that the views of rows that it returns stay valid until the round ends, so that none is copied.
template <class M>
concept StableRows = requires { requires bool(Unwrapped<M>::stable_rows); };

/// A model that drafters of trees can ask: about one position at a time, or about a tree, so that one call serves a
/// whole level.
template <class M>
concept SearchedModel = RowModel<M> || TreeModel<M>;

}  // namespace detail

// ---- Drafters -------------------------------------------------------------------------------------------------------

namespace detail {

/// A draft distribution Q of one token, as rules that compare probabilities read it: Q(x) = weight(x) / rest(). A point
/// mass has no row behind it.
template <class L>
concept RatioDistribution = requires(const L& distribution, Index token) {
    { distribution.weight(token) } -> std::convertible_to<double>;
    { distribution.rest() } -> std::convertible_to<double>;
    { distribution.is_point() } -> std::convertible_to<bool>;
};

/// A draft distribution that may have a row behind it, so that the row is checked before it is used.
template <class L>
concept RowDistribution = RatioDistribution<L> && requires(const L& distribution) {
    { distribution.row() } -> RowLike;
    { distribution.without() } -> std::convertible_to<std::span<const Token>>;
    { distribution.knows_rest() } -> std::convertible_to<bool>;
};

}  // namespace detail

/// The draft distribution q of one token. tree/distribution.hpp has the usual distributions; few programs need another.
template <class L>
concept DraftDistribution = detail::RatioDistribution<L> || std::same_as<L, SharedNoise>;

namespace detail {

/// What a draft tree keeps of each node: a draft distribution, or an Origin, which is one as a value.
template <class L>
concept NodeDistribution = DraftDistribution<L> || std::same_as<L, Origin>;

}  // namespace detail

template <detail::NodeDistribution L>
class DraftTree;  // tree/draft_tree.hpp

/// A drafter: drafter.propose(prefix, rng, draft tree) adds nodes to an open `DraftTree<Distribution>`, where
/// `Distribution` is a member type of the drafter.
///
/// Every node carries the distribution that its token was drawn from; the rows behind distributions stay where they
/// are until the next call. Whether a node gets children may depend on the tokens on its path, never on the token to
/// be added: dropping a drafted token by its own identity is lossy. So a drafter that has nothing to offer after a text
/// adds nothing there, and never ends a text.
///
/// Optional members:
///   rollback(length)        for a drafter that remembers the text: called, as for models, where a prefix does not
///                           extend the last one
///   Index depth() const     for drafts with a depth of their own: the tokens on the longest path. A Sampler whose
///                           lookahead would cut them is refused
///   branches = false        static constexpr bool, for chains only. A round with a target that scores many positions
///                           in one pass then does without the code for trees, which is half of it
///   cut_is_prefix = true    static constexpr bool, for a chain that under a depth limit is the beginning of the chain
///                           under a larger one. No tokens are then drafted that a budget leaves no room for, where
///                           the rule allows that
///
/// A drafter whose `propose` takes a `DraftTree<L>` of any L that `Distribution` converts to can be one of several
/// drafters. One whose `propose` takes a `DraftTree<SharedNoise>` can draft for rules that share the target's noise.
///
/// @draws at most one at (Purpose::draft, node) per drafted token, `node` being that token's node or another number
///        that no other token uses; in a `DraftTree<SharedNoise>` one at (Purpose::race, depth), depth 0 the first
template <class D>
concept Drafter = requires { typename detail::Unwrapped<D>::Distribution; } &&
                  requires(detail::Unwrapped<D>& drafter, std::span<const Token> prefix, const RoundRng& rng,
                           DraftTree<typename detail::Unwrapped<D>::Distribution>& draft_tree) {
                      drafter.propose(prefix, rng, draft_tree);
                  };

namespace detail {

/// A row of probabilities as a stop is shown it: Eigen::ArrayXf.
using PlainRow = Eigen::Array<float, -1, 1, 0, -1, 1>;

}  // namespace detail

/// Decides where a chain ends before its depth limit. stop.before(row) ends it before a token is drawn from `row`;
/// stop.after(prob) ends it after a token that was drawn with this probability, and the token stays in the draft. Both
/// are lossless: `before` looks only at the text before the token, and `after` drops nothing. Dropping a drafted token
/// because it is improbable is lossy (total variation 3/20 on three tokens), and a stop cannot ask for it.
/// If it has stop.begin(), that is called where a draft begins. A stop that also learns from rounds, as a Length, is
/// given to both by std::ref.
template <class S>
concept DraftStop = requires(const detail::Unwrapped<S>& stop, const detail::PlainRow& row, double prob) {
    { stop.before(row) } -> std::convertible_to<bool>;
    { stop.after(prob) } -> std::convertible_to<bool>;
};

/// A draft length: length.next(most) returns how many tokens the next round may draft, in [0, most], and
/// length.record(counts) is called after every committed round.
///
/// `next` is a function of what was recorded: without a record in between, two calls agree. It uses no clock and no
/// random numbers, so that a text can be reproduced. A round may draft fewer tokens: drafters stop by themselves and
/// where the text ends. The length may depend on all committed tokens: every round is exact for every lookahead.
template <class L>
concept Length = requires(L& length, const L& known, Index most, const RoundCounts& round) {
    { known.next(most) } -> std::convertible_to<Index>;
    length.record(round);
};

// ---- Shaping --------------------------------------------------------------------------------------------------------

/// A step of a shaping pipeline: shaper(candidates, context) changes the candidates for the token that follows
/// `context`, which is the whole prefix, including the tokens drafted before that position.
template <class S>
concept Shaper = std::invocable<const S&, filters::Candidates<float>&, std::span<const Token>> ||
                 std::invocable<const S&, filters::Candidates<double>&, std::span<const Token>>;

namespace detail {

/// The words of a bit mask: 32 bits each, signed or not.
template <class W>
concept MaskWords = requires(const W& words) { std::span(words); } &&
                    std::integral<typename decltype(std::span(std::declval<const W&>()))::value_type> &&
                    sizeof(typename decltype(std::span(std::declval<const W&>()))::value_type) == 4;

template <class C, class Value>
concept MasksRow = requires(C& cursor, filters::Candidates<Value>& row) { cursor.mask(row); };
template <class C>
concept GivesWords = requires(C& cursor) {
    { cursor.mask() } -> MaskWords;
};
template <class C>
concept Masks = GivesWords<C> || MasksRow<C, float> || MasksRow<C, double>;

/// The results that accept(token) may have. An int is refused: C interfaces return 0 for success.
template <class T>
concept VoidOrBool = std::is_void_v<T> || std::same_as<T, bool>;
template <class C>
concept Accepts = requires(C& cursor, Token token) {
    { cursor.accept(token) } -> VoidOrBool;
};

template <class C>
concept RollsBack = requires(C& cursor, Index tokens) { cursor.rollback(tokens); };
template <class C>
concept GoesBack = RollsBack<C> || std::copy_constructible<C>;

}  // namespace detail

/// A state that follows a text token by token and can be taken back: a grammar's matcher, or any processor whose state
/// is a function of the tokens.
///
///   cursor.mask()          returns a bit mask of the tokens that may come next, its words as TokenMask takes them; or
///   cursor.mask(row)       makes the others impossible in Candidates<float> or Candidates<double>, or shapes them in
///                          any other way. Neither moves the cursor
///   cursor.accept(token)   moves on by one token. Returns nothing, or false where it refuses the token; a cursor that
///                          refuses or throws stays where it was
///   cursor.rollback(n)     takes the last n accepted tokens back: as many as a round drafts while a text grows, all
///                          of them for another text. A cursor without it is copied instead, and a copy must share no
///                          state with the original
template <class C>
concept Cursor = detail::Masks<C> && detail::Accepts<C> && detail::GoesBack<C>;

// ---- Rules ----------------------------------------------------------------------------------------------------------

/// A source of random numbers: source.at(purpose, node) returns the RNG of one address.
///
/// That RNG has uniform(), a double in [0, 1), and for races open_uniform(lane), in (0, 1); or it decides itself, by
/// members accept, draw and race like the functions in random/draw.hpp. One that has uniform(lane) and from(lane), the
/// RNG whose lanes begin at that lane, spares recovered tokens a pass. The same address and lane give the same number,
/// and two of them give independent ones.
template <class C>
concept RandomSource = requires(const C& rng, Purpose purpose, Index node) { rng.at(purpose, node); };

/// A rule decides which drafted tokens are accepted, and draws the token after them. verify/rule.hpp documents what a
/// rule is given, what it may draw and what it must return, with an example.
template <class R>
concept Rule = detail::RuleClaim<R> && detail::RuleFor<R, detail::PlainContext>;

}}  // namespace specsample
