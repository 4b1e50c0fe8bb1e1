// Adaptors that change a model's rows one by one, as shaped(model, pipeline) and mapped(model, map) do.
//
//   Contexts           the prefix of every row that a call asks for
//   ChangedRow(s)      the answer of a model, and its changed rows
//   RowAdaptor         a model whose rows are changed when they are first read
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <specsample/models/adaptor.hpp>
#include <specsample/rows/rows.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

/// The prefix of every row that a call asks for, including the tokens drafted before the row's position.
class Contexts {
  public:
    /// Hold the contexts of the last `count` positions of a prefix.
    void of(std::span<const Token> prefix, Index count) {
        remember(prefix, context_);
        size_ = count;
        start_ = std::ssize(prefix) - count + 1;
        is_tree_ = false;
    }

    /// Hold the contexts of a prefix, and of each node of a tree after it.
    void of(std::span<const Token> prefix, Tree<Token, Index> tree) {
        remember(prefix, context_);
        tokens_.assign(tree.tokens.begin(), tree.tokens.end());
        parents_.assign(tree.parents.begin(), tree.parents.end());
        size_ = std::ssize(tokens_) + 1;
        start_ = std::ssize(prefix);
        is_tree_ = true;
    }

    Index size() const { return size_; }

    /// Return the context of row i, valid until the next call.
    std::span<const Token> operator[](Index i) {
        if (!is_tree_)
            return std::span<const Token>(context_).first(
                static_cast<std::size_t>(std::min(std::ssize(context_), start_ + i)));
        context_.resize(static_cast<std::size_t>(start_));
        for (Index node = i - 1; node != root_node; node = parents_[static_cast<std::size_t>(node)])
            context_.push_back(tokens_[static_cast<std::size_t>(node)]);
        std::reverse(context_.begin() + start_, context_.end());
        return context_;
    }

  private:
    std::vector<Token> context_;
    std::vector<Token> tokens_;
    std::vector<Index> parents_;
    Index size_ = 0;
    Index start_ = 0;
    bool is_tree_ = false;
};

/// The last answer of a model to a question about one position.
template <class Change, class Answer>
class ChangedRow {
    using Types = typename Change::template Types<Answer>;

  public:
    typename Types::Row hold(Answer&& answer, std::span<const Token> prefix, const Change& change) {
        return change(answer_.hold(std::forward<Answer>(answer)), prefix, memory_, scratch_);
    }

  private:
    LastAnswer<Answer> answer_;
    typename Types::Memory memory_;
    typename Types::Scratch scratch_;
};

/// The last answer of a model to a question about several positions, and the changed rows that were read so far.
template <class Change, class Answer>
class ChangedRows {
    using Types = typename Change::template Types<Element<std::remove_reference_t<Answer>>>;
    using Changed = typename Types::Row;

  public:
    /// @param asked   the number of positions, or the tree
    template <class Asked>
    void hold(Answer&& answer, std::span<const Token> prefix, Asked asked) {
        auto& rows = answer_.hold(std::forward<Answer>(answer));
        contexts_.of(prefix, asked);
        rows_.clear();
        rows_.resize(static_cast<std::size_t>(element_count(rows, contexts_.size())));
        if (memory_.size() < rows_.size()) memory_.resize(rows_.size());
    }

    std::size_t size() const { return rows_.size(); }

    const Changed& row(Index i, const Change& change) {
        const auto at = static_cast<std::size_t>(i);
        if (!rows_[at]) rows_[at].emplace(change(element(*answer_, i), contexts_[i], memory_[at], scratch_));
        return *rows_[at];
    }

  private:
    LastAnswer<Answer> answer_;
    Contexts contexts_;
    std::vector<std::optional<Changed>> rows_;
    std::vector<typename Types::Memory> memory_;
    typename Types::Scratch scratch_;
};

/// Memory for the answers to one kind of call; empty if the model does not offer that call.
template <template <class, class> class Memory, bool asked, class Change, class M, class... Rest>
struct MemoryFor {
    struct type {};
};
template <template <class, class> class Memory, class Change, class M, class... Rest>
struct MemoryFor<Memory, true, Change, M, Rest...> {
    using type = Memory<Change, Answer<M, Rest...>>;
};

/// Several rows by position, each changed when it is first read. They are callable as well, which tells verify that
/// they are computed, so that even a check of every row reads only the rows that a walk reaches.
template <class Memory, class Change>
class RowsOnDemand {
  public:
    RowsOnDemand(Memory& memory, const Change& change) : memory_(&memory), change_(&change) {}

    std::size_t size() const { return memory_->size(); }
    auto operator()(Index i) const { return memory_->row(i, *change_); }
    auto operator[](Integer auto i) const { return (*this)(static_cast<Index>(i)); }

  private:
    Memory* memory_;
    const Change* change_;
};

/// A model whose rows are changed. Each of several rows is changed when it is first read, with the prefix of its own
/// position as context, so a row that no walk reaches is never changed. The rows point into memory of the adaptor and
/// of the model, until the adaptor's next call.
///
/// @tparam Change   change(row, context, memory, scratch) -> changed row, which may view the row and its memory.
///                  change.temperature_after(T) is the temperature of changed rows that had temperature T before.
///                  Change::Types<R> names the types Row, Memory and Scratch for given rows R
template <class M, class Change>
class RowAdaptor : public Adaptor<RowAdaptor<M, Change>, M> {
    friend class Adaptor<RowAdaptor, M>;

  public:
    /// @throws std::invalid_argument if the rows would be given a second temperature
    RowAdaptor(M model, Change change) : Adaptor<RowAdaptor, M>(std::move(model)), change_(std::move(change)) {
        temperature_of_rows();
    }

    /// Take the size of the prompt of the texts to come.
    void begin_text(Index prompt_size)
        requires requires(Change& change) { change.begin_text(prompt_size); }
    {
        change_.begin_text(prompt_size);
    }

    /// Return the temperature of the rows: see temperature_of.
    double temperature_of_rows() const {
        return change_.temperature_after(Adaptor<RowAdaptor, M>::temperature_of_rows());
    }

  private:
    template <class Prefix>
    auto ask(const Prefix& prefix) {
        return row_.hold(std::invoke(this->model(), prefix), prefix, change_);
    }
    template <class Prefix>
    auto ask(const Prefix& prefix, Index count) {
        return several(many_, prefix, count);
    }
    template <class Prefix>
    auto ask(const Prefix& prefix, Tree<Token, Index> tree) {
        return several(tree_, prefix, tree);
    }

    template <class Memory, class Prefix, class Asked>
    auto several(Memory& memory, const Prefix& prefix, Asked asked) {
        memory.hold(std::invoke(this->model(), prefix, asked), prefix, asked);
        return RowsOnDemand(memory, change_);
    }

    Change change_;
    typename MemoryFor<ChangedRow, Model<M>, Change, M>::type row_;
    typename MemoryFor<ChangedRows, ManyModel<M>, Change, M, Index>::type many_;
    typename MemoryFor<ChangedRows, TreeCallable<M>, Change, M, Tree<Token, Index>>::type tree_;
};

}}}  // namespace specsample::detail
