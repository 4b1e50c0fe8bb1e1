// A row over the draft's ids as a row over the target's.
//
//     q'(y) = sum of q(x) over the x with image y / q(I),      I = the draft ids that have an image
//
//   push_forward(map, row, memory)   q'
//   mapped_mass(map, row)            q(I): the part of the draft's row that is kept
//   covered_mass(map, target)        p of the images: an upper bound on the acceptance of any draft behind the map
//
// Dividing by q(I) conditions the draw from q on a token with an image; for logits, it masks all other ids before the
// softmax. The token-level intersection of two vocabularies and a reduced vocabulary are the same mechanism.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <specsample/core/eigen.hpp>
#include <specsample/kernels/inspect.hpp>
#include <specsample/kernels/weights.hpp>
#include <specsample/kernels/wide_sum.hpp>
#include <specsample/shaping/shape.hpp>
#include <specsample/vocabularies/id_map.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {
namespace detail {

/// List the places of a row whose ids have an image, in the order of the images.
/// @param memory   memory for the places of a sparse row
template <class Ids>
std::span<const Token> places_by_image(const vocabularies::IdMap& map, const Ids& ids, Index count,
                                       std::vector<Token>& memory) {
    if (ids.holds_every_id()) return map.by_image();
    const auto image = [&](Token place) { return map.image(ids.id(place)); };
    memory.clear();
    for (Token place = 0; place < count; ++place)
        if (image(place)) memory.push_back(place);
    if (!map.is_monotone()) std::ranges::sort(memory, {}, [&](Token place) { return std::pair(*image(place), place); });
    return memory;
}

/// Sum the numbers at some places.
template <class Value>
Value sum_at(std::span<const Value> numbers, std::span<const Token> places) {
    double sum = 0;
    for (const Token place : places) sum += static_cast<double>(numbers[static_cast<std::size_t>(place)]);
    return static_cast<Value>(sum);
}

/// Compute the logit of the summed probability of some places: T ln sum exp(z / T).
template <class Value>
Value logit_at(std::span<const Value> numbers, std::span<const Token> places, double temperature) {
    const auto z = [&](Token place) -> const Value& { return numbers[static_cast<std::size_t>(place)]; };
    const Value& most = z(*std::ranges::max_element(places, {}, z));
    const auto pivot = static_cast<double>(most);
    if (temperature == 0 || !is_finite(pivot)) return most;
    double sum = 0;
    for (const Token place : places) sum += std::exp((static_cast<double>(z(place)) - pivot) / temperature);
    return static_cast<Value>(pivot + temperature * std::log(sum));
}

/// Merge the numbers at places whose ids have the same image: probabilities add up, and so do the exponentials of
/// logits.
template <RowLike R, class Value>
Value merged(const R& row, std::span<const Value> numbers, std::span<const Token> places) {
    if constexpr (form_of<R>.logits) {
        return logit_at(numbers, places, inner_row(row).temperature());
    } else {
        return sum_at(numbers, places);
    }
}

/// Return the ids that a row's numbers belong to.
template <RowLike R>
auto ids_of(const R& row) {
    if constexpr (form_of<R>.listed) {
        return row.ids();
    } else {
        return EveryId{};
    }
}

/// Return the images of a map as the ids of a row.
inline IdList<Token> image_list(const vocabularies::IdMap& map) {
    const auto images = map.images();
    if (std::ssize(images) == map.target_vocab()) return {};
    return {images.data(), std::ssize(images), 1};
}

/// Normalise the numbers of a row at ids with an image, if the row was valid. Logits need no normalisation.
/// @returns   false if these numbers have no weight, because ids without an image had all of it
template <RowLike R, class Value>
bool make_whole(const R& row, std::span<Value> numbers) {
    const auto is_sound = [&] { return !kernels::inspect(inner_row(row), Side::draft, 0); };
    if constexpr (form_of<R>.logits) {
        const bool has_weight =
            std::ranges::any_of(numbers, [](const Value& z) { return is_finite(static_cast<double>(z)); });
        return has_weight || !is_sound();
    } else {
        if (!is_sound()) return true;
        const double sum = wide_sum(numbers.data(), std::ssize(numbers));
        if (sum < std::numeric_limits<double>::min()) return false;  // its inverse may be infinite
        Eigen::Map<Eigen::Array<Value, Eigen::Dynamic, 1>> all(numbers.data(), std::ssize(numbers));
        all = (all.template cast<double>() * (1 / sum)).template cast<Value>();
        return true;
    }
}

/// Gather a row's numbers, one per image.
/// @param places   the places to gather, in the order of their images
/// @returns        the number of images; `memory` has their numbers, and their ids unless the row holds every id and
///                 the map is injective
template <RowLike R, class Value>
std::size_t gather(const vocabularies::IdMap& map, const R& row, std::span<const Token> places,
                   ShapedNumbers<Value>& memory, ShapingScratch<Value>& scratch) {
    const auto numbers = in_memory<Value>(numbers_of(inner_row(row)), true, scratch.weights);
    const auto number = [&](Token place) { return numbers[static_cast<std::size_t>(place)]; };
    grow(memory.numbers, places.size());
    if (ids_of(row).holds_every_id() && map.is_injective()) {
        std::ranges::transform(places, memory.numbers.begin(), number);
        return places.size();
    }
    grow(memory.ids, places.size());
    const auto image = [&, ids = ids_of(row)](Token place) { return *map.image(ids.id(place)); };
    std::size_t count = 0;
    for (std::size_t i = 0, end = 0; i < places.size(); i = end, ++count) {
        memory.ids[count] = image(places[i]);
        for (end = i + 1; end < places.size() && image(places[end]) == memory.ids[count];) ++end;
        const auto group = places.subspan(i, end - i);
        memory.numbers[count] = group.size() == 1 ? number(group[0]) : merged(row, numbers, group);
    }
    return count;
}

/// Make a shaped row with these numbers at these target ids.
template <class R, class Value>
ShapedRow<R> row_of(const vocabularies::IdMap& map, const R& row, const IdList<Token>& ids,
                    std::span<const Value> numbers) {
    const Column<Value> column(numbers.data(), std::ssize(numbers));
    if constexpr (form_of<R>.logits) {
        return {ids, Logits(column, inner_row(row).temperature()), map.target_vocab()};
    } else {
        return {ids, column, map.target_vocab()};
    }
}

template <class R, class Value>
ShapedRow<R> push_forward(const vocabularies::IdMap& map, R&& row, ShapedNumbers<Value>& memory,
                          ShapingScratch<Value>& scratch) {
    using Plain = std::remove_cvref_t<R>;
    constexpr bool is_logits = form_of<Plain>.logits;
    constexpr bool is_exact = is_logits || stored_tolerance<row_view_t<Plain>> <= kernels::sum_tolerance<Value>;
    constexpr bool may_stay = std::is_lvalue_reference_v<R> || !owns<Plain>;
    if (row_size(row) == 0) return row_of(map, row, IdList<Token>(memory.ids.data(), 0, 1), std::span<const Value>());
    if (row_size(row) < map.draft_vocab())
        invalid("push_forward", "the size of the row", row_size(row),
                "at least the draft vocabulary of the map, " + to_text(map.draft_vocab()));

    memory.open(static_cast<std::size_t>(std::max(row_size(row), map.target_vocab())));
    const auto given = numbers_of(inner_row(row));
    const auto ids = ids_of(row);
    const auto places = places_by_image(map, ids, given.size(), scratch.places);
    const bool is_dense = ids.holds_every_id(), is_whole = is_exact && std::ssize(places) == given.size();
    const bool is_in_order = is_dense && map.is_total() && map.is_injective() && map.is_monotone();
    if (is_in_order && (is_logits || is_whole))
        return row_of(map, row, image_list(map),
                      in_memory<Value>(given, may_stay, memory.numbers).first(places.size()));

    const std::size_t count = gather(map, row, places, memory, scratch);
    const std::span<Value> numbers(memory.numbers.data(), count);
    if (!is_whole && !make_whole(row, numbers)) {
        // q has no weight on ids with an image, so no choice is better than another: uniform over the images.
        const std::size_t all = map.images().size();
        grow(memory.numbers, all);
        std::fill_n(memory.numbers.begin(), all, static_cast<Value>(is_logits ? 0 : 1 / static_cast<double>(all)));
        return row_of(map, row, image_list(map), std::span<const Value>(memory.numbers).first(all));
    }
    const IdList<Token> images(memory.ids.data(), static_cast<Index>(count), 1);
    return row_of(map, row, is_dense ? image_list(map) : images, std::span<const Value>(numbers));
}

}  // namespace detail

namespace vocabularies {

/// Turn a draft's row into the distribution of the drawn token's image, given that the token has one: a sparse row over
/// the target's ids, for drawing and for judging.
///
///     Sampled(push_forward(map, Logits(head, .8), memory))
///
/// The text stays exact whatever the map, if a token is both drawn from q' and judged by q'. Such a token is accepted
/// with probability sum min(p, q').
///
/// @param row      [draft vocab or more] probabilities, Logits, or a sparse row of either; padding after the map's ids
///                 has no image
/// @param memory   ShapedMemory<float>, or <double> for double rows; one for every row that is in use at the same time
/// @returns        a view of `memory`, of the map's images, and of the row's own numbers if these stay in their order.
///                 Logits stay logits at their temperature: exponentials are computed only for ids that share an image
/// @throws         std::invalid_argument if the row is shorter than the draft's vocabulary, but not empty
/// @cost           O(entries that the row holds). Three more passes to normalise probabilities, if some ids have no
///                 image or the numbers have 16 bits. A sort for a sparse row behind a map that is not monotone. No
///                 allocation once the memory is warm
/// @edge           all of q is on ids without an image: q' is uniform over the images
/// @edge           a row without entries, from a model that has nothing to offer: q' has no ids either
/// @edge           at temperature 0, ties go to the lowest target id
/// @edge           an invalid row stays invalid, and is a fault where it is used, which names target ids; in logits,
///                 wrong numbers at ids without an image are ignored
/// @source         token-level intersection: Timor et al. 2025, arXiv:2502.05202; reduced vocabularies: EAGLE-3,
///                 arXiv:2503.01840
template <class R>
    requires RowLike<R>
detail::ShapedRow<R> push_forward(const IdMap& map, R&& row,
                                  filters::ShapedMemory<detail::ShapedValue<std::remove_cvref_t<R>>>& memory) {
    return detail::push_forward(map, std::forward<R>(row), memory.row, memory.scratch);
}
template <class R, class Memory>
void push_forward(const IdMap&& map, R&& row, Memory& memory) = delete;  // the row would view a map that is gone

/// Sum the probability of a draft's row over the ids with an image: q(I). push_forward divides by it.
/// @cost   O(entries that the row holds); one more pass for logits
template <RowLike R>
double mapped_mass(const IdMap& map, const R& row) {
    const kernels::RowWeights weights(detail::as_row(row));
    double mass = 0;
    for (Index place = 0; place < weights.size(); ++place)
        if (map.image(weights.id(place))) mass += weights[place];
    return mass;
}

/// Sum the probability of a target's row over the images of a map.
/// @returns   an upper bound of acceptance: sum min(p, q') is at most this, whatever the draft
/// @throws    std::invalid_argument if the row is not as long as the target's vocabulary
template <RowLike R>
double covered_mass(const IdMap& map, const R& target) {
    if (detail::row_size(target) != map.target_vocab())
        detail::invalid("covered_mass", "the size of the row", detail::row_size(target),
                        "the target vocabulary of the map, " + detail::to_text(map.target_vocab()));
    const auto row = detail::as_row(target);
    double mass = 0;
    for (const Token id : map.images()) mass += static_cast<double>(row.coeff(id));
    return mass;
}

}  // namespace vocabularies

}}  // namespace specsample
