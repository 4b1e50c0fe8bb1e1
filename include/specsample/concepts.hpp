// Everything that a user may plug in, as concepts.
//
//   part            concept        what you write
//   --------------  -------------  -------------------------------------------------------------------------------
//   model           RowModel       model(prefix) -> row              the next token's probabilities
//                   TokenModel     model(prefix) -> Token            a draft model that names its token
//   batch model     BatchModel     model(prefix, n) -> n rows        the last n positions in one pass
//   tree model      TreeModel      model(prefix, tree) -> rows       a prefix and a token tree after it in one pass
//     with a cache  Rewindable     model.rollback(length)            told where the next prefix leaves the last one
//     with memory   StableRows     Model::stable_rows = true         returned views stay valid until the round ends
//   drafter         Drafter        drafter.propose(prefix, rng, draft tree), with a member type Distribution
//   length          Length         length.next(most), length.record(counts): how many tokens to draft
//   shaper          Shaper         shaper(candidates, context): temperature, top-k, penalties and the like
//   cursor          Cursor         cursor.mask(), accept(token), rollback(n): a grammar's matcher
//   rule            Rule           rule(context) -> Outcome, with a constant `lossless`: which drafted tokens are kept
//   random source   RandomSource     source.at(purpose, node) -> random numbers of that address
//
// `prefix` is a std::span<const Token>; a `const std::vector<Token>&` works as well. Types of other parts are only
// declared here: a program that uses one includes the part's own header.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <type_traits>

#include <specsample/core/ask.hpp>
#include <specsample/core/tree.hpp>

namespace specsample {

// What the concepts mention.

enum class Purpose : std::uint32_t;  // random/address.hpp
class RoundRng;                      // random/rng.hpp
struct PointMass;                    // tree/distribution.hpp
struct SharedNoise;                  //
namespace detail {
class Chain;  // tree/chain.hpp
}  // namespace detail
struct RoundCounts;  // metrics/tally.hpp
namespace filters {
template <std::floating_point Value>
class Candidates;  // shaping/candidates.hpp
}  // namespace filters
struct Outcome;  // verify/round_context.hpp
template <class S, class Distributions, class Rows, class Source>
struct RoundContext;  //

// ---- Models ---------------------------------------------------------------------------------------------------------

/// A model that can be asked about a prefix.
template <class M>
concept Model = detail::takes_span<M> || detail::takes_vector<M>;

/// model(prefix) returns the next token's probabilities.
template <class M>
concept RowModel = Model<M> && detail::ReturnedRow<detail::Answer<M>>;

/// model(prefix) returns the next token itself.
template <class M>
concept TokenModel = Model<M> && detail::Integer<std::remove_cvref_t<detail::Answer<M>>>;

namespace detail {

/// A model that can be asked about the last n positions of a prefix.
template <class M>
concept ManyModel = detail::takes_span<M, Index> || detail::takes_vector<M, Index>;
}  // namespace detail

/// model(prefix, n) returns a row-major matrix of n rows, or anything indexed [i] that gives a row. Row i is the
/// distribution of the token that follows prefix.first(prefix.size() - n + 1 + i), so the last row equals
/// model(prefix).
template <class M>
concept BatchModel = detail::ManyModel<M> && detail::ReturnedRows<detail::Answer<M, Index>>;

namespace detail {

/// A model that can be asked about a prefix and a tree after it.
template <class M>
concept TreeCallable = detail::takes_span<M, Tree<Token, Index>> || detail::takes_vector<M, Tree<Token, Index>>;
}  // namespace detail

/// model(prefix, tree) returns a row-major matrix of tree.tokens.size() + 1 rows, or anything indexed [i] that gives a
/// row. Row 0 is the distribution of the token that follows the prefix, row i + 1 of that which follows node i: given
/// the prefix and the tokens on the node's path, and no other node. attention.hpp has masks and positions for that.
///
/// The row after a drafted stop token is asked for with the others, and no walk reads it.
///
/// What it computes for nodes is its own affair: the next prefix says which of them were kept. rollback(length), if the
/// model has it, is told of prefixes alone.
template <class M>
concept TreeModel = detail::TreeCallable<M> && detail::ReturnedRows<detail::Answer<M, Tree<Token, Index>>>;

/// model.rollback(length): afterwards the model is as if it had been shown exactly `length` tokens.
template <class M>
concept Rewindable = requires(detail::Unwrapped<M>& model, Index length) { model.rollback(length); };

/// The rows that a model returns as views stay valid until the round ends.
template <class M>
concept StableRows = requires { requires bool(detail::Unwrapped<M>::stable_rows); };

namespace detail {

/// A row that is an Eigen expression over a callable's own temporaries.
template <class R>
concept DanglingRow = EigenRow<std::remove_cvref_t<R>> && !detail::ReturnedRow<R>;
}  // namespace detail

// ---- Drafters -------------------------------------------------------------------------------------------------------

namespace detail {

/// A distribution Q that a drafted token was drawn from, as a ratio rule reads it: Q(x) = weight(x) / rest(). A point
/// mass has no row behind it.
template <class L>
concept RatioDistribution = requires(const L& distribution, Index token) {
    { distribution.weight(token) } -> std::convertible_to<double>;
    { distribution.rest() } -> std::convertible_to<double>;
    { distribution.is_point() } -> std::convertible_to<bool>;
};

/// One that may have a row behind it, which can be bad.
template <class L>
concept RowDistribution = RatioDistribution<L> && requires(const L& distribution) {
    { distribution.row() } -> Row;
    { distribution.without() } -> std::convertible_to<std::span<const Token>>;
};
}  // namespace detail

/// What a drafted token was drawn from: tree/distribution.hpp has all of them, and few programs need another.
template <class L>
concept DraftDistribution = detail::RatioDistribution<L> || std::same_as<L, SharedNoise>;

template <DraftDistribution L>
class DraftTree;  // tree/draft_tree.hpp

/// drafter.propose(prefix, rng, draft tree) adds nodes to an open draft tree of its `Distribution`.
///
/// A drafter draws with rng.at(Purpose::draft, node), the node that the token will be, and gives each token the
/// distribution it was drawn from; rows behind distributions stay where they are until its next call. Whether it grows
/// may depend on the tokens above a node, never on the token to be added: dropping a drafted token by its own identity
/// is lossy.
///
/// One that remembers the text offers rollback(length), and is told like a model when its prefix does not extend what
/// it was last shown. One whose `propose` takes a DraftTree of any distribution that its own converts to can be one of
/// several.
///
/// One that only proposes chains says so: static constexpr bool branches = false. A target that scores many positions
/// in one pass is then spared the code for trees, which is half of a round's.
///
/// One whose drafts have a depth of their own says it: `Index depth() const`, the tokens on the longest path. A Sampler
/// whose lookahead would cut them is refused.
///
/// One whose chain under a depth limit is the beginning of its chain under a larger one says so: static constexpr bool
/// cut_is_prefix = true. It is then not asked for tokens that a budget leaves no room for, where the rule allows that.
///
/// One that can also fill a DraftTree<SharedNoise> draws with rng.at(Purpose::race, depth) there, depth 0 the first.
template <class D>
concept Drafter = requires { typename detail::Unwrapped<D>::Distribution; } &&
                  requires(detail::Unwrapped<D>& drafter, std::span<const Token> prefix, const RoundRng& rng,
                           DraftTree<typename detail::Unwrapped<D>::Distribution>& draft_tree) {
                      drafter.propose(prefix, rng, draft_tree);
                  };

/// length.next(most) says how many tokens the next round may draft, in [0, most], and length.record(counts) is called
/// after every committed round.
///
/// `next` is a function of what was recorded: without a record in between, two calls agree. It uses no clock and no
/// random draws, so that a text can be written again. A round may draft fewer than it may: the draft's own stop, a stop
/// token. What is drafted next may depend on all that was committed and stays lossless, as every round is exact for
/// every lookahead.
template <class L>
concept Length = requires(L& length, const L& known, Index most, const RoundCounts& round) {
    { known.next(most) } -> std::convertible_to<Index>;
    length.record(round);
};

// ---- Shaping --------------------------------------------------------------------------------------------------------

/// A step of a pipeline: changes the candidates of the token that follows `context`, which is the whole prefix, the
/// tokens drafted before that position included.
template <class S>
concept Shaper = std::invocable<const S&, filters::Candidates<float>&, std::span<const Token>> ||
                 std::invocable<const S&, filters::Candidates<double>&, std::span<const Token>>;

namespace detail {

/// Words of a mask: 32 bits each, signed or not.
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

/// A C interface says 0 for success: only a bool says what it means.
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

/// What follows a text token by token, and can be taken back: a grammar's matcher, or any processor whose state its
/// tokens alone decide.
///
///   cursor.mask()          the words of a bit mask, as TokenMask takes them, of the tokens that may come next; or
///   cursor.mask(row)       makes the others impossible in Candidates<float> or Candidates<double>, or shapes them in
///                          any other way. Neither moves the cursor
///   cursor.accept(token)   one token on. Returns nothing; or false where it refuses the token, and stays where it was,
///                          as it does where it throws
///   cursor.rollback(n)     the last n accepted tokens back: as many as a round drafts while a text grows, all of them
///                          for another text. Without it the cursor is copied, and a copy must share no state with the
///                          original; where it has both, it is not copied
template <class C>
concept Cursor = detail::Masks<C> && detail::Accepts<C> && detail::GoesBack<C>;

// ---- Rules ----------------------------------------------------------------------------------------------------------

/// source.at(purpose, node) gives the random numbers of one address. They have uniform(), a double in [0, 1), and for
/// races open_uniform(lane), in (0, 1); or they decide themselves, by members accept, draw and race like the functions
/// in random/draw.hpp. The same address gives the same numbers, and two addresses give independent ones.
template <class C>
concept RandomSource = requires(const C& rng, Purpose purpose, Index node) { rng.at(purpose, node); };

namespace detail {

template <class R, class T>
concept RuleCall = std::invocable<const R&, const T&>;

/// rule(context) for this very type of context.
template <class R, class T>
concept RuleFor = RuleCall<R, T> && std::same_as<std::invoke_result_t<const R&, const T&>, Outcome>;

template <class R>
concept RuleClaim = requires {
    { R::lossless } -> std::convertible_to<bool>;
};

/// A chain of named tokens before dense rows: a context that every rule takes.
using PlainTrial = RoundContext<Chain, const PointMass, const RowMajorMatrix<float>, RoundRng>;

}  // namespace detail

/// A rule decides which drafted tokens are kept, and draws the token after them. verify/rule.hpp is its page: what a
/// rule is given, what it may ask and draw, what it must return, and an example.
template <class R>
concept Rule = detail::RuleClaim<R> && detail::RuleFor<R, detail::PlainTrial>;

}  // namespace specsample
