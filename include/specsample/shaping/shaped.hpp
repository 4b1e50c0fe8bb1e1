// A model whose rows go through a pipeline: shaped(model, pipeline) is a model again.
#pragma once

#include <span>
#include <utility>

#include <specsample/models/row_adaptor.hpp>
#include <specsample/shaping/shape.hpp>
#include <specsample/shaping/shape_value.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {
namespace detail {

/// Sends a row through a pipeline.
template <Shaper P>
class ShapeRow : public ShapedTypes {
  public:
    explicit ShapeRow(P pipeline) : pipeline_(std::move(pipeline)) { check_shaper(pipeline_); }

    template <class R, class Value>
    auto operator()(R&& row, std::span<const Token> context, ShapedNumbers<Value>& memory,
                    ShapingScratch<Value>& scratch) const {
        scratch.prompt_size = prompt_size_;
        return shape(std::forward<R>(row), pipeline_, context, memory, scratch);
    }
    /// Shape a row that is a value.
    template <RowValue R>
    R operator()(const R& row, std::span<const Token> context, filters::ShapedMemory<R>& memory, NoScratch&) const {
        memory.begin_text(prompt_size_);
        return shape(row, pipeline_, context, memory);
    }

    void begin_text(Index prompt_size) { prompt_size_ = prompt_size; }

    double temperature_after(double before) const { return detail::temperature_after(pipeline_, before); }

  private:
    P pipeline_;
    Index prompt_size_ = 0;  ///< of the contexts to come
};

/// A model whose rows go through a pipeline. It offers the calls that the model offers: one row, n rows in one pass,
/// the rows of a tree in one pass, rollback.
///
/// Where a call returns several rows, each row is shaped when it is first read. Its context is the prefix of its own
/// position, which in a tree ends with the path of its own node. Rows view memory of the wrapper and of the model,
/// until the wrapper's next call.
///
/// An invalid row passes through unchanged, so that its fault names what the model returned.
template <class M, Shaper P>
using Shaped = detail::RowAdaptor<M, detail::ShapeRow<P>>;

/// Checks the arguments of shaped, with one sentence per error.
template <class M, class P>
struct Shapeable {
    static constexpr bool model = RowsModel<M>;
    static constexpr bool pipeline = !model || ShaperOrChanging<P>;
    static constexpr bool all = [] {
        if constexpr (model && ShaperOrChanging<P>) return Rewindability<P>::holds;
        return false;
    }();

    static_assert(model,
                  "specsample::shaped: the first argument must be a model that returns rows, which have a number for "
                  "every id; a model that returns the token itself has nothing to shape");
    static_assert(
        pipeline,
        "specsample::shaped: the second argument must be a SamplingParams, a shaper or a Pipeline of shapers; "
        "write shaped(model, SamplingParams{.temperature = 0.8, .top_p = 0.95})");
};

}  // namespace detail

/// Wrap a model (or std::ref of one) so that its rows go through a pipeline: a SamplingParams{...}, one shaper, or a
/// Pipeline{...}. Shape the draft and the target alike, or only the target; the shaped target alone defines the output
/// distribution.
///
/// A shaper is called with contexts in any order, so it must be a function of them. The compiler refuses a shaper whose
/// call changes it; a state that the tokens of a context decide goes into a Grammar.
///
/// @returns   a model with the calls of `model`; see detail::Shaped for the lifetime of its rows
/// @throws    std::invalid_argument for a setting of the pipeline that is out of range, or if both the pipeline and the
///            model's rows have a temperature (1 is none). Where only the rows state their temperature, the error comes
///            when a row is shaped
template <class M, class P>
auto shaped(M model, P pipeline) {
    if constexpr (detail::Shapeable<M, P>::all)
        return detail::Shaped<M, P>(std::move(model), detail::ShapeRow<P>(std::move(pipeline)));
}

}}  // namespace specsample
