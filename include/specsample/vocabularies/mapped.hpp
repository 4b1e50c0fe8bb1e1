// A draft model with a vocabulary of its own, as a model over the target's ids: mapped(model, map).
#pragma once

#include <concepts>
#include <functional>
#include <span>
#include <type_traits>
#include <utility>

#include <specsample/concepts.hpp>
#include <specsample/models/row_adaptor.hpp>
#include <specsample/shaping/shape.hpp>
#include <specsample/vocabularies/id_map.hpp>
#include <specsample/vocabularies/mapped_prefix.hpp>
#include <specsample/vocabularies/mapped_row.hpp>
#include <specsample/vocabularies/mapped_value.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {
namespace detail {

/// Sends a row through a map of ids.
/// @tparam Map   IdMap, or a reference wrapper of an IdMap that several models share
template <class Map>
class MapRow : public ShapedTypes {
  public:
    explicit MapRow(Map map) : map_(std::move(map)) {}

    template <class R, class Value>
    auto operator()(R&& row, std::span<const Token>, ShapedNumbers<Value>& memory,
                    ShapingScratch<Value>& scratch) const {
        const vocabularies::IdMap& map = map_;
        return push_forward(map, std::forward<R>(row), memory, scratch);
    }
    /// Map a row that is a value.
    template <RowValue R>
    R operator()(const R& row, std::span<const Token>, filters::ShapedMemory<R>& memory, NoScratch&) const {
        const vocabularies::IdMap& map = map_;
        return push_forward(map, row, memory);
    }

    static double temperature_after(double before) { return before; }

  private:
    Map map_;
};

template <class M>
inline constexpr bool is_prefix_mapped = false;
template <class M, class Translate>
inline constexpr bool is_prefix_mapped<vocabularies::TokenMapped<M, Translate>> = true;
template <class M, class Translate>
inline constexpr bool is_prefix_mapped<vocabularies::PrefixMapped<M, Translate>> = true;

/// Checks the arguments of mapped, with one sentence per error.
template <class M, class Map>
struct Mappable {
    static constexpr bool model = RowsModel<M>;
    static constexpr bool map = std::convertible_to<const Map&, const vocabularies::IdMap&>;
    static constexpr bool is_read_once = !is_prefix_mapped<Unwrapped<M>>;
    static constexpr bool all = model && map && is_read_once;

    static_assert(
        model,
        "specsample::vocabularies::mapped: model must return rows, which have a number for every id; a model that "
        "names its token must name one of the target's ids itself");
    static_assert(map,
                  "specsample::vocabularies::mapped: map must be an IdMap, or std::cref of one, because the draft is "
                  "shown its own "
                  "ids by its inverse; write mapped(model, IdMap(target_ids, target_vocab))");
    static_assert(is_read_once,
                  "specsample::vocabularies::mapped: model translates its prefix already, from the target's ids; write "
                  "mapped(model, "
                  "map, translate) instead of mapped(prefix_mapped(model, translate), map)");
};

}  // namespace detail

namespace vocabularies {

/// A model whose rows go through a map of ids. It offers the same calls as the model: one row, n rows in one pass, the
/// rows of a tree in one pass, rollback. Rows view the memory of the wrapper and of the model; they are valid until the
/// next call.
template <class M, class Map>
using Mapped = detail::RowAdaptor<M, detail::MapRow<Map>>;

/// Wrap a draft model as mapped(model, map) does, and say in which ids the model reads a text.
///
///     mapped(draft, map, OwnIds(map, unknown))      its own ids; `unknown` for target ids without a draft id
///     mapped(draft, map, retokenise)                another tokenizer: the whole text, decoded and tokenised again
///     mapped(head, d2t, TargetIds{})                a reduced output head, which reads the target's ids
///
/// @param reads   translate(token) -> token or translate(prefix) -> tokens, from target ids: see prefix_mapped. With
///                translate(prefix) the wrapper offers one row at a time, because positions of the two texts do not
///                correspond
template <class M, class Map, class Reads>
auto mapped(M model, Map map, Reads reads) {
    constexpr bool is_translation = detail::TokenTranslation<Reads> || detail::PrefixTranslation<Reads>;
    static_assert(is_translation,
                  "specsample::vocabularies::mapped: the third argument says what the draft is shown of a text; give "
                  "OwnIds(map), "
                  "TargetIds{}, or a callable of a token that returns a token or of a prefix that returns tokens");
    if constexpr (detail::Mappable<M, Map>::all && is_translation) {
        auto reader = prefix_mapped(std::move(model), std::move(reads));
        return Mapped<decltype(reader), Map>(std::move(reader), detail::MapRow<Map>(std::move(map)));
    }
}

/// Wrap a draft model (or std::ref of one) that has a vocabulary of its own as a model over the target's ids, for a
/// Sampler or anything else that takes a model. The draft reads its own ids: OwnIds(map) translates each token of a
/// text.
///
///     mapped(draft, IdMap(ids, target_vocab))             its own ids in, the target's out
///     shaped(mapped(draft, map), pipeline)                shaped like the target
///
/// @param model   draft(prefix) -> row of the draft's vocabulary, as push_forward takes it
/// @param map     an IdMap, or std::cref of one. A map of offsets (ReducedIdMap) does not say which ids the model
///                reads, so it needs the third argument
/// @returns       a model with the calls of `model`; its rows are valid until its next call
/// @cost          beyond the cost of the model, O(prefix) per call and the cost of push_forward
/// @edge          a target id that is no image is shown as draft id 0; OwnIds(map, unknown) chooses another id
template <class M, class Map>
auto mapped(M model, Map map) {
    constexpr bool is_inverse_known = !std::convertible_to<const Map&, const ReducedIdMap&>;
    static_assert(
        is_inverse_known,
        "specsample::vocabularies::mapped: a map of offsets is of an output head, and does not say which ids the model "
        "reads; write mapped(model, map, TargetIds{}) where it reads the target's, as EAGLE-3's heads do, or "
        "mapped(model, map, OwnIds(map)) where it reads its own");
    if constexpr (detail::Mappable<M, Map>::all && is_inverse_known) {
        const IdMap& ids = map;
        OwnIds reads(ids);
        return mapped(std::move(model), std::move(map), std::move(reads));
    }
}

}  // namespace vocabularies

}}  // namespace specsample
