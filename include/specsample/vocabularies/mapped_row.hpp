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
template <class Source, class Value>
Value merged(const Source& row, std::span<const Value> numbers, std::span<const Token> places) {
    return row.are_logits() ? logit_at(numbers, places, row.temperature()) : sum_at(numbers, places);
}

/// Return the images of a map as the ids of a row.
inline IdList<Token> image_list(const vocabularies::IdMap& map) {
    const auto images = map.images();
    if (std::ssize(images) == map.target_vocab()) return {};
    return {images.data(), std::ssize(images), 1};
}

/// Normalise the numbers of a row at ids with an image, if the row was valid. Logits need no normalisation.
/// @returns   false if these numbers have no weight, because ids without an image had all of it
template <class Source, class Value>
bool make_whole(const Source& row, std::span<Value> numbers) {
    if (row.are_logits()) {
        const bool has_weight =
            std::ranges::any_of(numbers, [](const Value& z) { return is_finite(static_cast<double>(z)); });
        return has_weight || !row.is_sound();
    }
    if (!row.is_sound()) return true;
    const double sum = wide_sum(numbers.data(), std::ssize(numbers));
    if (sum < std::numeric_limits<double>::min()) return false;  // its inverse may be infinite
    Eigen::Map<Eigen::Array<Value, Eigen::Dynamic, 1>> all(numbers.data(), std::ssize(numbers));
    all = (all.template cast<double>() * (1 / sum)).template cast<Value>();
    return true;
}

/// Gather a row's numbers, one per image.
/// @param places   the places to gather, in the order of their images
/// @returns        the number of images; `memory` has their numbers, and their ids unless the row holds every id and
///                 the map is injective
template <class Source, class Value>
std::size_t gather(const vocabularies::IdMap& map, const Source& row, std::span<const Token> places,
                   ShapedNumbers<Value>& memory, ShapingScratch<Value>& scratch) {
    const auto numbers = row.numbers(true, scratch.weights);
    const auto number = [&](Token place) { return numbers[static_cast<std::size_t>(place)]; };
    grow(memory.numbers, places.size());
    if (row.ids().holds_every_id() && map.is_injective()) {
        std::ranges::transform(places, memory.numbers.begin(), number);
        return places.size();
    }
    grow(memory.ids, places.size());
    const auto image = [&, ids = row.ids()](Token place) { return *map.image(ids.id(place)); };
    std::size_t count = 0;
    for (std::size_t i = 0, end = 0; i < places.size(); i = end, ++count) {
        memory.ids[count] = image(places[i]);
        for (end = i + 1; end < places.size() && image(places[end]) == memory.ids[count];) ++end;
        const auto group = places.subspan(i, end - i);
        memory.numbers[count] = group.size() == 1 ? number(group[0]) : merged(row, numbers, group);
    }
    return count;
}

/// The numbers of a mapped row, and the target ids that they belong to.
template <class Value>
struct MappedNumbers {
    IdList<Token> ids;
    std::span<const Value> numbers;
};

/// Send the numbers of a row through a map.
/// @tparam Source   MappableRow, or MappableValue for rows that are values
template <class Source, class Value>
MappedNumbers<Value> push_numbers(const vocabularies::IdMap& map, const Source& row, ShapedNumbers<Value>& memory,
                                  ShapingScratch<Value>& scratch) {
    if (row.size() == 0) return {IdList<Token>(memory.ids.data(), 0, 1), {}};
    if (row.size() < map.draft_vocab())
        invalid("push_forward", "the size of the row", row.size(),
                "at least the draft vocabulary of the map, " + to_text(map.draft_vocab()));

    memory.open(static_cast<std::size_t>(std::max(row.size(), map.target_vocab())));
    const bool is_exact = row.are_logits() || row.tolerance() <= kernels::sum_tolerance<Value>;
    const auto places = places_by_image(map, row.ids(), row.count(), scratch.places);
    const bool is_dense = row.ids().holds_every_id(), is_whole = is_exact && std::ssize(places) == row.count();
    const bool is_in_order = is_dense && map.is_total() && map.is_injective() && map.is_monotone();
    if (is_in_order && (row.are_logits() || is_whole))
        return {image_list(map), row.numbers(row.may_stay(), memory.numbers).first(places.size())};

    const std::size_t count = gather(map, row, places, memory, scratch);
    const std::span<Value> numbers(memory.numbers.data(), count);
    if (!is_whole && !make_whole(row, numbers)) {
        // q has no weight on ids with an image, so no choice is better than another: uniform over the images.
        const std::size_t all = map.images().size();
        grow(memory.numbers, all);
        const double number = row.are_logits() ? 0 : 1 / static_cast<double>(all);
        std::fill_n(memory.numbers.begin(), all, static_cast<Value>(number));
        return {image_list(map), std::span<const Value>(memory.numbers).first(all)};
    }
    const IdList<Token> images(memory.ids.data(), static_cast<Index>(count), 1);
    return {is_dense ? image_list(map) : images, numbers};
}

/// A row that is a type, as push_numbers reads it.
template <RowLike R>
class MappableRow {
    using Value = ShapedValue<R>;

  public:
    MappableRow(const R& row, bool may_stay) : row_(row), may_stay_(may_stay) {}

    Index size() const { return row_size(row_); }
    Index count() const { return numbers_of(inner_row(row_)).size(); }
    auto ids() const {
        if constexpr (form_of<R>.listed) {
            return row_.ids();
        } else {
            return EveryId{};
        }
    }
    static constexpr bool are_logits() { return form_of<R>.logits; }
    double temperature() const {
        if constexpr (are_logits()) return inner_row(row_).temperature();
        return 1;
    }
    static constexpr double tolerance() { return stored_tolerance<row_view_t<R>>; }
    bool is_sound() const { return !kernels::inspect(inner_row(row_), Side::draft, 0); }
    bool may_stay() const { return may_stay_; }
    std::span<const Value> numbers(bool in_place, std::vector<Value>& memory) const {
        return in_memory<Value>(numbers_of(inner_row(row_)), in_place, memory);
    }

  private:
    const R& row_;
    bool may_stay_;  ///< the numbers are not gone with the row
};

template <class R, class Value>
ShapedRow<R> push_forward(const vocabularies::IdMap& map, R&& row, ShapedNumbers<Value>& memory,
                          ShapingScratch<Value>& scratch) {
    using Plain = std::remove_cvref_t<R>;
    const MappableRow<Plain> given(row, std::is_lvalue_reference_v<R> || !owns<Plain>);
    const auto [ids, numbers] = push_numbers(map, given, memory, scratch);
    const Column<Value> column(numbers.data(), std::ssize(numbers));
    auto mapped = [&, list = ids]() -> ShapedRow<R> {
        if constexpr (form_of<Plain>.logits) {
            return {list, Logits(column, given.temperature()), map.target_vocab()};
        } else {
            return {list, column, map.target_vocab()};
        }
    }();
    if (is_refused(row)) mapped.refuse();
    return mapped;
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
template <detail::AnyRow R>
double mapped_mass(const IdMap& map, const R& row) {
    return detail::with_row(row, [&](const auto& draft) {
        const kernels::RowWeights weights(detail::as_row(draft));
        double mass = 0;
        for (Index place = 0; place < weights.size(); ++place)
            if (map.image(weights.id(place))) mass += weights[place];
        return mass;
    });
}

/// Sum the probability of a target's row over the images of a map.
/// @returns   an upper bound of acceptance: sum min(p, q') is at most this, whatever the draft
/// @throws    std::invalid_argument if the row is not as long as the target's vocabulary
template <detail::AnyRow R>
double covered_mass(const IdMap& map, const R& target) {
    if (detail::row_size(target) != map.target_vocab())
        detail::invalid("covered_mass", "the size of the row", detail::row_size(target),
                        "the target vocabulary of the map, " + detail::to_text(map.target_vocab()));
    return detail::with_row(target, [&](const auto& whole) {
        const auto row = detail::as_row(whole);
        double mass = 0;
        for (const Token id : map.images()) mass += static_cast<double>(row.coeff(id));
        return mass;
    });
}

}  // namespace vocabularies

}}  // namespace specsample
