// A draft model with a vocabulary of its own, as a model over the target's ids: mapped(model, map).
#pragma once

#include <concepts>
#include <functional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <specsample/concepts.hpp>
#include <specsample/shaping/id_map.hpp>
#include <specsample/shaping/mapped_row.hpp>

namespace specsample {

/// A model whose rows go through a map of ids. It offers one row, and rollback if the model does. The prefix is handed
/// over as it is, in target ids. Rows view the wrapper's memory and the model's, until its next call.
///
/// @tparam Map   IdMap, or a reference wrapper of one that several share
template <class M, class Map>
class Mapped {
    using Value = detail::ShapedValue<std::remove_cvref_t<detail::Answer<M>>>;

  public:
    Mapped(M model, Map map) : model_(std::move(model)), map_(std::move(map)) {}

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
    void rollback(Index length)
        requires Rewindable<M>
    {
        model().rollback(length);
    }

  private:
    detail::Unwrapped<M>& model() { return model_; }
    const IdMap& map() const { return map_; }

    template <class Prefix>
    auto one(const Prefix& prefix) {
        return push_forward(map(), std::invoke(model(), prefix), memory_);
    }

    M model_;
    Map map_;
    ShapedMemory<Value> memory_;
};

/// Wrap a draft model (or std::ref of one) that has a vocabulary of its own, so that a Sampler, and whatever else takes
/// a model, sees the target's ids.
///
///     mapped(draft, IdMap::from_offsets(d2t, target_vocab))        a reduced output head: it reads target ids
///     mapped(prefix_mapped(draft, retokenise), map)                another tokenizer: it reads ids of its own
///     shaped(mapped(draft, map), pipeline)                         either of them, shaped like the target
///
/// @param model   draft(prefix) -> row of the draft's vocabulary, as push_forward takes it
/// @param map     an IdMap, or std::cref of one
/// @law           the text has the target's law under every lossless rule; tests/law/vocabularies.cpp
template <RowModel M, class Map>
    requires std::convertible_to<const Map&, const IdMap&>
auto mapped(M model, Map map) {
    return Mapped<M, Map>(std::move(model), std::move(map));
}

}  // namespace specsample
