// A model behind a pipeline: shaped(model, pipeline) is a model again.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <specsample/concepts.hpp>
#include <specsample/shaping/shape.hpp>

namespace specsample {
namespace detail {

/// What a model returned, for as long as shaped rows may view it: the thing itself, or where it is.
template <class Answer>
class HeldAnswer {
    static constexpr bool is_borrowed = std::is_lvalue_reference_v<Answer>;
    using R = std::remove_reference_t<Answer>;

  public:
    R& hold(Answer&& answer) {
        if constexpr (is_borrowed) {
            return *(held_ = &answer);
        } else {
            return held_.emplace(std::forward<Answer>(answer));
        }
    }
    R& operator*() { return *held_; }

  private:
    std::conditional_t<is_borrowed, R*, std::optional<R>> held_{};
};

/// A prefix, kept where texts grow by a round at a time.
inline void remember(std::span<const Token> prefix, std::vector<Token>& context) {
    if (context.capacity() < prefix.size()) context.reserve(2 * prefix.size() + 1024);
    context.assign(prefix.begin(), prefix.end());
}

/// The last answer of a model to a question about n positions, and its rows as far as they are shaped.
template <class Answer>
class ShapedAnswer {
    using Raw = Element<std::remove_reference_t<Answer>>;
    using Value = ShapedValue<std::remove_cvref_t<Raw>>;

  public:
    using Shaped = ShapedRow<Raw>;

    /// @param prefix   of the last of `count` positions
    void hold(Answer&& answer, std::span<const Token> prefix, Index count) {
        auto& rows = answer_.hold(std::forward<Answer>(answer));
        remember(prefix, context_);
        count_ = count;
        size_ = static_cast<std::size_t>(element_count(rows).value_or(count));
        rows_.clear();
        rows_.resize(size_);
        if (memory_.size() < size_) memory_.resize(size_);
    }

    std::size_t size() const { return size_; }

    template <Shaper P>
    const Shaped& row(std::size_t i, const P& pipeline, ShapingScratch<Value>& scratch) {
        if (!rows_[i]) {
            const auto before =
                std::min(std::ssize(context_), std::ssize(context_) - count_ + 1 + static_cast<Index>(i));
            const auto context = std::span<const Token>(context_).first(static_cast<std::size_t>(before));
            rows_[i].emplace(
                detail::shape(element(*answer_, static_cast<Index>(i)), pipeline, context, memory_[i], scratch));
        }
        return *rows_[i];
    }

  private:
    HeldAnswer<Answer> answer_;
    std::vector<Token> context_;
    Index count_ = 0;
    std::size_t size_ = 0;
    std::vector<std::optional<Shaped>> rows_;
    std::vector<ShapedNumbers<Value>> memory_;
};

/// What there is to keep of a model that cannot be asked so.
struct NoAnswer {};
template <class M, bool asked>
struct OneAnswer {
    using type = NoAnswer;
};
template <class M>
struct OneAnswer<M, true> {
    using type = HeldAnswer<Answer<M>>;
};
template <class M, bool asked>
struct ManyAnswer {
    using type = NoAnswer;
};
template <class M>
struct ManyAnswer<M, true> {
    using type = ShapedAnswer<Answer<M, Index>>;
};

}  // namespace detail

/// A model whose rows go through a pipeline. It offers what the model offers: one row, n rows in one pass, rollback.
///
/// Of n rows each is shaped when it is first asked for, with the prefix of its own position as context: what comes
/// after the first rejection never is. Rows view the wrapper's memory and the model's, until its next call.
///
/// A row that is no distribution passes through as it is, so that the fault names what the model returned.
template <class M, Shaper P>
class Shaped {
    static auto value() {
        if constexpr (BatchModel<M>) {
            using Rows = std::remove_reference_t<detail::Answer<M, Index>>;
            return detail::ShapedValue<std::remove_cvref_t<detail::Element<Rows>>>{};
        } else {
            return detail::ShapedValue<std::remove_cvref_t<detail::Answer<M>>>{};
        }
    }
    using Value = decltype(value());

  public:
    /// n rows by position, shaped when they are asked for. They can be called as well, which is how verify knows that
    /// they are computed: even a check of every row looks at those alone that are.
    class Rows {
      public:
        explicit Rows(Shaped& model) : model_(&model) {}

        std::size_t size() const { return model_->many_.size(); }
        auto operator[](std::size_t i) const { return model_->many_.row(i, model_->pipeline_, model_->scratch_); }
        auto operator()(Index i) const { return (*this)[static_cast<std::size_t>(i)]; }

      private:
        Shaped* model_;
    };

    Shaped(M model, P pipeline) : model_(std::move(model)), pipeline_(std::move(pipeline)) {
        detail::check_shaper(pipeline_);
    }

    auto operator()(std::span<const Token> prefix)
        requires(detail::takes_span<M>)
    {
        return one(prefix);
    }
    auto operator()(const std::vector<Token>& prefix)
        requires(!detail::takes_span<M> && detail::takes_vector<M>)
    {
        return one(prefix);
    }
    Rows operator()(std::span<const Token> prefix, Index count)
        requires(detail::takes_span<M, Index>)
    {
        return many(prefix, count);
    }
    Rows operator()(const std::vector<Token>& prefix, Index count)
        requires(!detail::takes_span<M, Index> && detail::takes_vector<M, Index>)
    {
        return many(prefix, count);
    }
    void rollback(Index length)
        requires Rewindable<M>
    {
        model().rollback(length);
    }

  private:
    detail::Unwrapped<M>& model() { return model_; }

    template <class Prefix>
    auto one(const Prefix& prefix) {
        auto& row = one_.hold(std::invoke(model(), prefix));
        return detail::shape(row, pipeline_, std::span<const Token>(prefix), memory_, scratch_);
    }

    template <class Prefix>
    Rows many(const Prefix& prefix, Index count) {
        many_.hold(std::invoke(model(), prefix, count), std::span<const Token>(prefix), count);
        return Rows(*this);
    }

    M model_;
    P pipeline_;
    typename detail::OneAnswer<M, Model<M>>::type one_;
    typename detail::ManyAnswer<M, ManyModel<M>>::type many_;
    ShapedNumbers<Value> memory_;
    ShapingScratch<Value> scratch_;
};

/// Wrap a model (or std::ref of one) so that its rows go through a pipeline: a Shaping{...}, one shaper, or a
/// Pipeline{...}. Shape the draft and the target alike, or only the target; the law of the text is the shaped target's.
///
/// A shaper is asked about contexts in any order, so it must be a function of them. One that changes when it is called
/// is refused; a state that the tokens of a context decide goes into a Grammar.
template <class M, detail::ShaperOrChanging P>
    requires((Model<M> || ManyModel<M>) && !TokenModel<M>)
auto shaped(M model, P pipeline) {
    if constexpr (detail::Rewindability<P>::holds) return Shaped<M, P>(std::move(model), std::move(pipeline));
}

}  // namespace specsample
