// Lattices: what a block drafter computes in one pass, candidate ids for several positions at once, and every drafter
// on top of it.
//
// DFlash, arXiv:2602.06036, and DSpark, arXiv:2607.05147: a pass over masked positions gives candidates for each, and a
// cheap score of neighbouring tokens makes paths of them.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <specsample/core/contract.hpp>
#include <specsample/drafters/united.hpp>
#include <specsample/rows/logits.hpp>
#include <specsample/rows/sparse.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {
namespace lattice {

/// The candidates of several positions after a text, `width` of them at each. Borrowed.
template <std::floating_point Value>
struct Block {
    std::span<const Token> ids{};     ///< [positions x width] row-major, in any order, none twice at a position
    std::span<const Value> logits{};  ///< [positions x width] their logits
    Index width = 0;                  ///< candidates of a position
};

}  // namespace lattice

namespace detail {

/// The type of a block's logits.
template <class Answer>
struct BlockValue {
    static_assert(!sizeof(Answer*),
                  "specsample::lattice::Model: the first argument must be a callable of a text, "
                  "std::span<const Token>, that returns a lattice::Block<float> or <double>");
    using type = float;
};
template <class Value>
struct BlockValue<lattice::Block<Value>> {
    using type = Value;
};

/// What a pass returns; void for what is no pass.
template <class Pass>
struct AnswerOf {
    using type = void;
};
template <std::invocable<std::span<const Token>> Pass>
struct AnswerOf<Pass> {
    using type = std::remove_cvref_t<std::invoke_result_t<Pass, std::span<const Token>>>;
};

}  // namespace detail

namespace lattice {

/// Leaves the logits of a block as they are: tokens do not depend on the token before them.
struct NoScores {
    void operator()(Index, Token, std::span<const Token>, auto) const {}
};

/// A block as a model of rows: the row after a path of n tokens holds the candidates of position n, with their logits
/// and the scores of their following the path's last token.
///
///     lattice::Model model([&](std::span<const Token> text) { return block_after(text); }, vocab, temperature,
///                          [&](Index position, Token previous, std::span<const Token> ids, std::span<float> logits) {
///                              for (..) logits[i] += bias(previous, ids[i]);
///                          });
///
/// Drafter asks for a block where a draft begins. The rows are rows like any other: a token that is drawn from one is
/// judged by it, so drafts are lossless whatever the block and the scores are.
///
/// @tparam Pass     pass(text) returns a Block<float> or Block<double>, which is valid until the next call
/// @tparam Scores   scores(position, previous, ids, logits) adds to the logits of the ids, which ascend; `previous`
///                  is the token before them, -1 where there is none
/// @cost            a sort of the candidates per block, and O(width) per row
template <class Pass, class Scores = NoScores>
class Model {
    using Value = typename detail::BlockValue<typename detail::AnswerOf<detail::Unwrapped<Pass>&>::type>::type;

  public:
    /// @param vocab         the size of the vocabulary
    /// @param temperature   of the logits, >= 0
    /// @throws              std::invalid_argument for a number out of range
    Model(Pass pass, Index vocab, double temperature = 1, Scores scores = {})
        : pass_(std::move(pass)), vocab_(vocab), temperature_(temperature), scores_(std::move(scores)) {
        detail::require(vocab >= 1, "lattice::Model", "vocab", vocab, "at least 1");
        static_cast<void>(Logits(std::span<const Value>(), temperature));  // which checks it
    }

    /// Compute the block after a text.
    /// @throws   std::invalid_argument for a block whose sizes do not agree
    void begin(std::span<const Token> text) {
        constexpr auto where = "lattice::Model";
        const Block<Value> block = static_cast<detail::Unwrapped<Pass>&>(pass_)(text);
        const Index size = std::ssize(block.ids);
        detail::require(block.width >= 1, where, "block.width", block.width, "at least 1");
        detail::require(std::ssize(block.logits) == size && size % block.width == 0, where, "the number of logits",
                        std::ssize(block.logits), "that of ids, `width` for each position");
        width_ = block.width;
        begun_ = std::ssize(text);
        ids_.resize(block.ids.size());
        logits_.resize(ids_.size());
        order_.resize(static_cast<std::size_t>(width_));
        for (Index first = 0; first < size; first += width_) sort_position(block, static_cast<std::size_t>(first));
    }

    /// Return the row after the text of the block and some tokens of a path; one without ids after its last position.
    auto operator()(std::span<const Token> prefix) {
        const Index position = std::ssize(prefix) - begun_;
        const bool is_there = position >= 0 && position * width_ < std::ssize(ids_);
        const auto first = static_cast<std::size_t>(is_there ? position * width_ : 0);
        const auto count = static_cast<std::size_t>(is_there ? width_ : 0);
        const std::span<const Token> ids = std::span(ids_).subspan(first, count);
        scored_.assign(logits_.begin() + static_cast<Index>(first),
                       logits_.begin() + static_cast<Index>(first + count));
        if (is_there) scores_(position, prefix.empty() ? Token{-1} : prefix.back(), ids, std::span(scored_));
        return Sparse(ids, Logits(std::span<const Value>(scored_), temperature_), vocab_);
    }

    /// Call visit on the pass, for SharedModels.
    [[gnu::always_inline]] void each_model(const auto& visit) { visit(pass_); }
    /// Forget the tokens after the first `length`, if the pass remembers a text.
    void rollback(Index length)
        requires requires(detail::Unwrapped<Pass>& pass) { pass.rollback(length); }
    {
        static_cast<detail::Unwrapped<Pass>&>(pass_).rollback(length);
    }

  private:
    /// Copy the candidates of a position in the order of their ids.
    void sort_position(const Block<Value>& block, std::size_t first) {
        std::iota(order_.begin(), order_.end(), first);
        std::ranges::sort(order_, {}, [&](std::size_t i) { return block.ids[i]; });
        for (std::size_t i = 0; i < order_.size(); ++i) {
            ids_[first + i] = block.ids[order_[i]];
            logits_[first + i] = block.logits[order_[i]];
        }
    }

    Pass pass_;
    Index vocab_;
    double temperature_;
    Scores scores_;
    Index width_ = 1, begun_ = 0;
    std::vector<Token> ids_{};
    std::vector<Value> logits_{}, scored_{};
    std::vector<std::size_t> order_{};
};

/// Drafts from one block per round by any drafter of models:
///
///     lattice::Drafter(model, [](auto rows) { return ChainDrafter(rows); })                    a path, token by token
///     lattice::Drafter(model, [](auto rows) { return TreeDrafter(rows, {3, 2, 1}); })          a tree, drawn at random
///     lattice::Drafter(model, [](auto rows) { return DynamicTreeDrafter(rows, {8, 30}); })     the likeliest paths
///     lattice::Drafter(model, [](auto rows) { return BeamDrafter(rows, 1); })                  the likeliest path
///
/// @tparam M      a lattice::Model
/// @draws         as the drafter draws
/// @cost          one pass of the model, and what the drafter costs over rows of `width` ids
/// @edge          no token is drafted after the last position
template <class M, class Make>
class Drafter {
    using Inner = std::invoke_result_t<const Make&, std::reference_wrapper<M>>;

  public:
    using Distribution = typename Inner::Distribution;
    static constexpr bool branches = detail::may_branch<Inner>;

    /// @param make   make(std::ref(model)) returns a drafter
    Drafter(M model, const Make& make)
        : model_(std::make_shared<M>(std::move(model))), inner_(make(std::ref(*model_))) {}

    Index depth() const { return detail::depth_of(inner_); }

    template <class Source, class L>
        requires detail::Fills<Inner, L>
    void propose(std::span<const Token> prefix, const Source& rng, DraftTree<L>& draft_tree) {
        if (!draft_tree.grows(root_node)) return;
        model_->begin(prefix);
        inner_.propose(prefix, rng, draft_tree);
    }

    void rollback(Index length)
        requires requires(M& model) { model.rollback(length); }
    {
        model_->rollback(length);
    }
    /// Call visit on the model, for SharedModels.
    [[gnu::always_inline]] void each_model(const auto& visit) { visit(*model_); }

  private:
    std::shared_ptr<M> model_;  // which the inner drafter refers to
    Inner inner_;
};

}
}}  // namespace specsample::lattice
