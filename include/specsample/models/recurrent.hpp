// Models with a recurrent state (state-space layers, linear attention, hybrids), which cannot be cut as a cache is cut.
//
//   recurrent::Model     what such a model offers: it reads tokens, copies its state on the way, and takes a copy back
//   recurrent::Rewound   the model for any prefix: it takes back the last copy that fits, and reads the accepted tokens
//                        after it again, in the same pass as the next draft
//
// A state that has read a rejected token is wrong for good, and so is every row after it. The copy is therefore made
// where all tokens are sure, in the pass that goes on to read the draft.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include <specsample/concepts.hpp>
#include <specsample/core/contract.hpp>
#include <specsample/models/ask.hpp>
#include <specsample/rows/owner.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace recurrent {

/// A model with a recurrent state.
///
///     using State = ..;                      copyable; State{} is the state before any token
///     model.read(tokens, n, sure, state)     reads tokens, and returns n rows, as a BatchModel does: row i is the
///                                            distribution after the first tokens.size() - n + 1 + i of them. After the
///                                            first `sure` tokens it copies its state to `state`
///     model.restore(state)                   goes back to a state
///
/// n is at most tokens.size(), but for a text that nothing was read of: then it may be one more, and row 0 is the
/// distribution of the first token.
template <class M>
concept Model = std::copyable<typename detail::Unwrapped<M>::State> &&
                std::default_initializable<typename detail::Unwrapped<M>::State> &&
                requires(detail::Unwrapped<M>& model, std::span<const Token> tokens, Index n,
                         typename detail::Unwrapped<M>::State& state) {
                    { model.read(tokens, n, n, state) } -> detail::ReturnedRows;
                    model.restore(std::as_const(state));
                };

/// A recurrent model as a model that Sampler and drafters take: the rows of one position and of several.
///
///     Sampler sampler(recurrent::Rewound(draft, 6), recurrent::Rewound(target), {.lookahead = 4});
///
/// It compares each prefix with the text that the state has read, so that it needs no rollback, and is right whatever
/// was rejected, dropped or begun anew. Every call keeps a copy of the state where the tokens that may be rejected
/// begin. Where a prefix differs from the text, the longest copy that fits is taken back, and the tokens after it are
/// read again in the same pass.
///
/// @tparam M   a recurrent::Model, or a std::reference_wrapper of one
/// @cost       a copy of the state per call, and a comparison of the prefix. After a rejection the accepted tokens are
///             read again, or the whole text if all copies are longer: keep as many as there are calls in a round
/// @edge       a call that throws leaves an unknown state: the next one takes back a copy
template <class M>
class Rewound {
    static_assert(
        Model<M>,
        "specsample::recurrent::Rewound: the model must have a type State that can be copied and made from "
        "nothing, rows = read(tokens, n, sure, state), and restore(state); write them as recurrent::Model has "
        "them");
    using State = typename detail::Unwrapped<M>::State;
    using Rows = decltype(std::declval<detail::Unwrapped<M>&>().read({}, {}, {}, std::declval<State&>()));

  public:
    /// @param states   copies kept, the newest ones: 2 for a target; lookahead + 2 for a model that is asked token by
    ///                 token
    /// @throws         std::invalid_argument unless states >= 1
    explicit Rewound(M model, Index states = 2) : model_(std::move(model)) {
        detail::require(states >= 1, "recurrent::Rewound", "states", states, "at least 1");
        kept_.resize(static_cast<std::size_t>(states));
    }

    /// Return the rows of the last `count` positions of a prefix.
    /// @throws   std::invalid_argument unless 1 <= count <= prefix.size() + 1
    Rows operator()(std::span<const Token> prefix, Index count) {
        const Index size = std::ssize(prefix);
        detail::require(count >= 1 && count <= size + 1, "recurrent::Rewound", "count", count,
                        "in [1, the size of the prefix + 1]");
        const Index common = std::ranges::mismatch(text_, prefix).in1 - text_.begin();
        const Index begin = begin_at(std::min(common, std::max<Index>(size - count, 0)));
        const Index sure = size - count + 1;
        Kept& copy = room_for(sure);
        is_known_ = false;
        Rows rows = unwrapped().read(prefix.subspan(static_cast<std::size_t>(begin)), count, sure - begin, copy.state);
        is_known_ = true;
        copy.length = sure, ++count_;
        read_ = size, read_again_ += common - begin;
        text_.resize(static_cast<std::size_t>(common));
        text_.insert(text_.end(), prefix.begin() + common, prefix.end());
        return rows;
    }

    /// Return the row of the last position of a prefix, valid until the next call.
    auto operator()(std::span<const Token> prefix) {
        auto& rows = last_.hold((*this)(prefix, 1));
        return detail::store_row<decltype(detail::element(rows, 0))>(detail::element(rows, 0));
    }

    /// Return how many tokens of a text were read a second time so far: the price of rejections, beside the copies.
    Index read_again() const { return read_again_; }

    /// Call visit on each model that is held here, for SharedModels.
    [[gnu::always_inline]] void each_model(const auto& visit) { visit(model_); }

  private:
    struct Kept {
        Index length = 0;
        State state{};
    };

    detail::Unwrapped<M>& unwrapped() { return model_; }

    /// Go back to a state that has read `most` tokens of the text at most, unless the state is one.
    /// @returns   how many it has read
    Index begin_at(Index most) {
        if (is_known_ && read_ <= most) return read_;
        while (count_ > 0 && kept_[count_ - 1].length > most) --count_;
        is_known_ = false;
        unwrapped().restore(count_ > 0 ? kept_[count_ - 1].state : State{});
        is_known_ = true;
        return read_ = count_ > 0 ? kept_[count_ - 1].length : 0;
    }

    /// Return room for a copy of the state after `length` tokens: that of the oldest copy if all is taken.
    Kept& room_for(Index length) {
        if (count_ > 0 && kept_[count_ - 1].length == length) --count_;
        if (count_ == kept_.size()) {
            std::rotate(kept_.begin(), kept_.begin() + 1, kept_.end());
            --count_;
        }
        return kept_[count_];
    }

    M model_;
    std::vector<Token> text_;  ///< what was read, by the state or by the states before it
    std::vector<Kept> kept_;   ///< the shortest text first
    std::size_t count_ = 0;    ///< how many of them are copies of the text's states
    Index read_ = 0;           ///< tokens of the text that the state has read
    bool is_known_ = true;     ///< false if a call threw
    Index read_again_ = 0;
    detail::LastAnswer<Rows> last_;
};

}}}  // namespace specsample::recurrent
