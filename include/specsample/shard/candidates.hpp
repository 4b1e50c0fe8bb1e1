// The candidates that a pipeline begins with when shape() is given a split row.
#pragma once

#include <optional>
#include <span>

#include <specsample/shaping/outlook.hpp>
#include <specsample/shaping/shape.hpp>
#include <specsample/shard/row_gather.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace shard::detail {

/// Gather the candidates that the pipeline can leave, or the whole row. Every rank has them afterwards.
template <class Value, class Scalar, class R, class P>
filters::Candidates<Value> gathered_candidates(RowState<Scalar>& state, const R& row, const P& pipeline,
                                               std::span<const Token> context,
                                               specsample::detail::ShapedNumbers<Value>& memory,
                                               specsample::detail::ShapingScratch<Value>& scratch) {
    using View = specsample::detail::row_view_t<R>;
    constexpr bool are_logits = specsample::detail::form_of<R>.logits;
    const auto candidates = [&](Index count, std::optional<double> total) {
        constexpr auto kind = are_logits ? filters::NumberKind::logits : filters::NumberKind::probabilities;
        return filters::Candidates<Value>(std::span<const Value>(memory.numbers).first(static_cast<std::size_t>(count)),
                                          kind, row.size(), count < row.size(),
                                          specsample::detail::stored_tolerance<View>, memory, scratch, total);
    };
    const auto gathered = [&] {
        if constexpr (are_logits) {
            filters::Outlook outlook(row.temperature(), scratch.places, scratch.prompt_size);
            specsample::detail::for_each_stage(pipeline, [&](const auto& stage) { outlook.ask(stage, context); });
            return state.gather(outlook, context, memory.numbers, memory.ids, [&](Index count) {
                filters::Candidates<Value> few = candidates(count, {});
                few.heat_row(row.temperature());
                specsample::detail::change_logits(pipeline, few, context, {row.temperature(), scratch.places, scratch.prompt_size});
            });
        } else {
            return state.gather_all(context, memory.numbers);
        }
    }();
    return candidates(gathered.count, gathered.total);
}

}}}  // namespace specsample::shard::detail
