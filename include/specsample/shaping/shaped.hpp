// A model behind a pipeline: shaped(model, pipeline) is a model again.
#pragma once

#include <functional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <specsample/concepts.hpp>
#include <specsample/kernels/inspect.hpp>
#include <specsample/kernels/weights.hpp>
#include <specsample/shaping/scratch.hpp>

namespace specsample {

/// A model whose rows go through a pipeline. It offers what the model offers: one row, n rows in one pass, rollback.
/// The shaped rows are the wrapper's own, valid until its next call.
///
/// A row that is no distribution passes through as it is, so that the fault names what the model returned.
template <class M, Shaper P>
class Shaped {
  public:
    Shaped(M model, P pipeline) : model_(std::move(model)), pipeline_(std::move(pipeline)) {}

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
    auto operator()(std::span<const Token> prefix, Index count)
        requires(detail::takes_span<M, Index>)
    {
        return many(prefix, count);
    }
    auto operator()(const std::vector<Token>& prefix, Index count)
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
    static auto scalar() {
        if constexpr (BatchModel<M>) {
            using Rows = std::remove_reference_t<detail::Answer<M, Index>>;
            return detail::Compute<row_scalar_t<detail::Element<Rows>>>{};
        } else {
            return detail::Compute<row_scalar_t<detail::Answer<M>>>{};
        }
    }
    using Scalar = decltype(scalar());
    using Shape = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;

    detail::Unwrapped<M>& model() { return model_; }

    template <class Prefix>
    Eigen::Map<const Shape> one(const Prefix& prefix) {
        if (rows_.empty()) rows_.resize(1);
        auto&& row = std::invoke(model(), prefix);
        shape(row, rows_[0]);
        return {rows_[0].data(), rows_[0].size()};
    }

    template <class Prefix>
    std::span<const Shape> many(const Prefix& prefix, Index count) {
        auto&& rows = std::invoke(model(), prefix, count);
        const auto given = static_cast<std::size_t>(detail::element_count(rows).value_or(count));
        if (rows_.size() < given) rows_.resize(given);
        for (std::size_t i = 0; i < given; ++i) {
            auto&& row = detail::element(rows, static_cast<Index>(i));
            shape(row, rows_[i]);
        }
        return {rows_.data(), given};
    }

    template <Row R>
    void shape(const R& row, Shape& shaped) {
        shaped = as_row(row).template cast<Scalar>().matrix();
        if (inspect(row, Party::target, 0)) return;
        // A row of few bits may be further from 1 than its shaped copy of more bits is allowed to be.
        if constexpr (sum_tolerance<row_scalar_t<R>> > sum_tolerance<Scalar>)
            shaped *= static_cast<Scalar>(1 / RowWeights(as_row(shaped)).sum(0, shaped.size()));
        Eigen::Map<Eigen::Array<Scalar, Eigen::Dynamic, 1>> probs(shaped.data(), shaped.size());
        pipeline_(probs, scratch_);
    }

    M model_;
    P pipeline_;
    std::vector<Shape> rows_;
    ShapingScratch scratch_;
};

/// Wrap a model (or std::ref of one) so that its rows go through a pipeline: one shaper, or Pipeline{...}. Shape the
/// draft and the target alike; the law of the text is the shaped target's.
template <class M, Shaper P>
    requires((Model<M> || ManyModel<M>) && !TokenModel<M>)
auto shaped(M model, P pipeline) {
    return Shaped<M, P>(std::move(model), std::move(pipeline));
}

}  // namespace specsample
