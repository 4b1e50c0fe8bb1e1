// Wrappers of a model for drafters and the sampler: they call the model, roll it back, and keep its rows.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <specsample/concepts.hpp>
#include <specsample/rows/rows.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

/// Make `context` equal to `text`, with room for `more` tokens. The first `known` tokens are equal already.
/// @cost   O(size - known); when full, it grows to twice the size and 1024 tokens, because texts grow by one round at a
///         time
inline void follow(std::vector<Token>& context, std::span<const Token> text, Index known, Index more) {
    const auto needed = text.size() + static_cast<std::size_t>(more);
    if (context.capacity() <= needed) context.reserve(2 * needed + 1024);
    context.resize(static_cast<std::size_t>(std::min(known, std::ssize(context))));
    context.insert(context.end(), text.begin() + std::ssize(context), text.end());
}

/// The prefix that a stateful model or drafter was last shown; rollbacks follow from it.
class Shown {
  public:
    /// Roll `who` back, before it is shown `prefix`, to the tokens that `prefix` shares with the previous prefix, but
    /// not into the last `count` positions of `prefix`, which must be computed again. If `who` was never called from
    /// here, or its last call threw, it may remember anything after those tokens, so it is always rolled back.
    /// @param known   leading tokens of prefix that are the same as at the last call
    template <class Who>
    void rewind(Who& who, std::span<const Token> prefix, Index known, Index count) {
        const auto from = std::min({known, std::ssize(shown_), std::ssize(prefix)});
        const auto common = std::mismatch(shown_.begin() + from, shown_.end(), prefix.begin() + from, prefix.end());
        const Index keep =
            std::max<Index>(0, std::min<Index>(common.first - shown_.begin(), std::ssize(prefix) - count));
        if (!settled_ || keep < std::ssize(shown_)) who.rollback(keep);
        settled_ = false;
        shown_.resize(static_cast<std::size_t>(keep));
    }

    /// Remember, after the call, that `prefix` was shown.
    void settle(std::span<const Token> prefix) {
        shown_.insert(shown_.end(), prefix.begin() + std::ssize(shown_), prefix.end());
        settled_ = true;
    }

  private:
    std::vector<Token> shown_;
    bool settled_ = false;  ///< true if the model remembers exactly `shown_`
};

/// A model, or a std::ref of one, that is rolled back when its prefix does not extend what it was last shown.
template <class M>
class Host {
  public:
    explicit Host(M model) : model_(std::move(model)) {}

    /// Call model(prefix), model(prefix, count) or model(prefix, tree).
    /// @param known   leading tokens of prefix that are the same as at the last call
    template <class... Rest>
    decltype(auto) ask_about(const std::vector<Token>& prefix, Index known, Rest... rest) {
        if constexpr (!Rewindable<M>) {
            return ask(model_, prefix, rest...);
        } else {
            Unwrapped<M>& model = model_;
            shown_.rewind(model, prefix, known, (Index{1} * ... * positions(rest)));
            decltype(auto) answer = ask(model_, prefix, rest...);
            shown_.settle(prefix);
            return answer;
        }
    }

    /// Call visit on each model that is held here, for SharedModels.
    [[gnu::always_inline]] void each_model(const auto& visit) { visit(model_); }

  private:
    /// Count the positions of the prefix whose rows are asked for.
    static Index positions(Index count) { return count; }
    template <class Tree>
    static Index positions(const Tree&) {
        return 1;
    }

    M model_;
    Shown shown_;
};

/// The rows of one lookahead. A row that is put is kept until the round ends: moved in if it is returned by value,
/// copied if it is returned as a view, unless the model promises that its views stay valid. A row that is shown is read
/// before the model's next call, so it is not copied.
/// @tparam R   a row as the model returns it
template <class M, class R>
class SlotsOf {
    using Slot = std::conditional_t<detail::StableRows<M>, RowRef<R>, OwnedRow<R>>;
    static constexpr bool needs_copies = !detail::StableRows<M> && borrows<R>;

  public:
    /// Begin a lookahead of at most `count` rows. No row moves before the next lookahead, because draft distributions
    /// point at the rows.
    void open(Index count) {
        if (std::ssize(slots_) < count) slots_.resize(static_cast<std::size_t>(count));
    }

    void put(Index i, R&& row) {
        const auto at = static_cast<std::size_t>(i);
        if constexpr (detail::StableRows<M>) {
            slots_[at].emplace(std::forward<R>(row));
        } else {
            if (!slots_[at]) slots_[at].emplace();
            slots_[at]->keep(std::forward<R>(row));
        }
    }

    /// Hold a row until the next one is shown, and return it.
    const auto& show(R&& row) {
        if constexpr (needs_copies) {
            return shown_.emplace(std::forward<R>(row)).row();
        } else {
            open(1);
            put(0, std::forward<R>(row));
            return this->row(0);
        }
    }

    /// Return row i as the model returned it; view(i) reads it as probabilities.
    const auto& row(Index i) const { return slots_[static_cast<std::size_t>(i)]->row(); }
    decltype(auto) view(Index i) const { return slots_[static_cast<std::size_t>(i)]->view(); }

  private:
    std::vector<std::optional<Slot>> slots_;
    std::conditional_t<needs_copies, std::optional<RowRef<R>>, std::type_identity<void>> shown_;
};

/// The rows that a model returns one at a time. Empty for a model that returns no row.
template <class M>
class RowSlots {};
template <RowModel M>
class RowSlots<M> : public SlotsOf<M, Answer<M>> {};

/// The type of the row that a drafter of trees gets from a model: its answer, or one row of it if the model scores
/// trees.
template <class M>
struct SearchedRow : std::type_identity<Answer<M>> {};
template <TreeModel M>
struct SearchedRow<M> : std::type_identity<Element<std::remove_reference_t<typename TreeAnswer<M>::type>>> {};

}}}  // namespace specsample::detail
