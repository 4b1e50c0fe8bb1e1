// A map from draft ids to target ids, for two models with vocabularies of their own.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <specsample/core/contract.hpp>
#include <specsample/core/row.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {
namespace detail {

/// Integers in memory: a vector, an array or a span of any integral type.
template <class List>
concept Integers = requires(const List& list) { std::span(list); } &&
                   Integer<std::remove_cv_t<typename decltype(std::span(std::declval<const List&>()))::value_type>>;

}  // namespace detail

namespace vocabularies {

class ReducedIdMap;

/// Maps each draft id to its image, the target id of the same token. Some ids may have no image, and several may share
/// one.
///
///     IdMap map(to_target, target_vocab);                       an id each, -1 for none
///     auto map = IdMap::from_offsets(d2t, target_vocab);        the reduced output head of an EAGLE-3 checkpoint
///     IdMap map = IdMap::same_ids(151936, 152064);              one vocabulary under two paddings
///     IdMap map = vocabulary_intersection(draft_texts, target_texts);
///
/// A wrong map costs acceptance but never changes the output distribution: the text stays exact.
class IdMap {
  public:
    /// @param to_target      [draft vocab] the target id of each draft id, -1 for none
    /// @param target_vocab   entries of the target's rows, padding included
    /// @throws               std::invalid_argument for an empty list, a vocabulary size that is not a positive 31-bit
    ///                       number, an id outside [0, target_vocab) other than -1, or a list without an image
    /// @cost                 O(n log n), and 12 bytes per draft id
    template <detail::Integers List>
    IdMap(const List& to_target, Index target_vocab) : target_vocab_(target_vocab) {
        const std::span all(to_target);
        detail::require_memory("IdMap", "to_target", all);
        open(all.size());
        for (const auto id : all) {
            if (!std::cmp_equal(id, none) && (std::cmp_less(id, 0) || std::cmp_greater_equal(id, target_vocab)))
                refuse(detail::to_text(id));
            to_target_.push_back(static_cast<Token>(id));
        }
        close();
    }

    /// Make the map from a table of offsets, the d2t of EAGLE-3 checkpoints: target id = draft id + offsets[draft id].
    /// @throws   std::invalid_argument as the constructor; here every target id must be in [0, target_vocab)
    template <detail::Integers List>
    static ReducedIdMap from_offsets(const List& offsets, Index target_vocab);

    /// Make the map of one vocabulary that is padded to two sizes: each draft id maps to the same target id, if it
    /// exists.
    static IdMap same_ids(Index draft_vocab, Index target_vocab) {
        IdMap map(target_vocab);
        map.open(static_cast<std::size_t>(std::max<Index>(draft_vocab, 0)));
        for (Index id = 0; id < draft_vocab; ++id)
            map.to_target_.push_back(id < target_vocab ? static_cast<Token>(id) : none);
        map.close();
        return map;
    }

    Index draft_vocab() const { return std::ssize(to_target_); }
    Index target_vocab() const { return target_vocab_; }

    /// Return the image of a draft id; nothing for an id without an image or outside the vocabulary, such as the
    /// padding of a row.
    std::optional<Token> image(Index draft) const {
        if (draft < 0 || draft >= draft_vocab() || to_target_[static_cast<std::size_t>(draft)] == none) return {};
        return to_target_[static_cast<std::size_t>(draft)];
    }

    /// Return the draft ids that have an image, ordered by their images; draft ids of equal images are in ascending
    /// order.
    std::span<const Token> by_image() const { return by_image_; }

    /// Return the target ids that are images, in ascending order.
    std::span<const Token> images() const { return images_; }

    /// Tell whether every draft id has an image.
    bool is_total() const { return by_image_.size() == to_target_.size(); }

    /// Tell whether no two draft ids have the same image.
    bool is_injective() const { return images_.size() == by_image_.size(); }

    /// Tell whether a higher draft id never has a lower image.
    bool is_monotone() const { return is_monotone_; }

  private:
    static constexpr Token none = -1;

    explicit IdMap(Index target_vocab) : target_vocab_(target_vocab) {}

    void open(std::size_t draft_vocab) {
        constexpr Index most = std::numeric_limits<Token>::max();
        const auto size = static_cast<Index>(draft_vocab);
        detail::require(size >= 1 && size <= most, "IdMap", "the draft vocabulary", size, "a positive 31-bit number");
        detail::require(target_vocab_ >= 1 && target_vocab_ <= most, "IdMap", "the target vocabulary", target_vocab_,
                        "a positive 31-bit number");
        to_target_.reserve(draft_vocab);
    }

    [[noreturn]] void refuse(const std::string& image) const {
        detail::invalid("IdMap", "the image of draft id " + detail::to_text(draft_vocab()), image,
                        "in [0, " + detail::to_text(target_vocab_) + "), or -1 in a list of ids for none");
    }

    void close() {
        const auto to_target = [&](Token draft) { return to_target_[static_cast<std::size_t>(draft)]; };
        for (Token draft = 0; draft < draft_vocab(); ++draft)
            if (to_target(draft) != none) by_image_.push_back(draft);
        detail::require(!by_image_.empty(), "IdMap", "the number of draft ids with an image", 0, "at least 1");
        std::ranges::stable_sort(by_image_, {}, to_target);
        is_monotone_ = std::ranges::is_sorted(by_image_);
        for (const Token draft : by_image_)
            if (images_.empty() || images_.back() != to_target(draft)) images_.push_back(to_target(draft));
    }

    Index target_vocab_;
    std::vector<Token> to_target_;
    std::vector<Token> by_image_;
    std::vector<Token> images_;
    bool is_monotone_ = false;
};

/// The map of a reduced output head. Its type says that the model may read a text in other ids than its head writes:
/// EAGLE-3's model reads the target's ids.
class ReducedIdMap : public IdMap {
    friend class IdMap;
    explicit ReducedIdMap(IdMap map) : IdMap(std::move(map)) {}
};

template <detail::Integers List>
ReducedIdMap IdMap::from_offsets(const List& offsets, Index target_vocab) {
    const std::span all(offsets);
    detail::require_memory("IdMap", "offsets", all);
    IdMap map(target_vocab);
    map.open(all.size());
    for (const auto offset : all) {
        const Index id = std::ssize(map.to_target_);
        if (std::cmp_less(offset, -id) || std::cmp_greater_equal(offset, target_vocab - id))
            map.refuse(detail::to_text(id) + " + " + detail::to_text(offset));
        map.to_target_.push_back(static_cast<Token>(id + static_cast<Index>(offset)));
    }
    map.close();
    return ReducedIdMap(std::move(map));
}

/// Maps a target id back to the draft id that the draft reads: the lowest draft id with that image, or `unknown` if
/// there is none. The choice affects acceptance only. Every result is in the draft's vocabulary.
///
/// @cost   4 bytes per target id; one look-up per token of a prefix
class OwnIds {
  public:
    /// @param unknown   a draft id, such as the draft's own token for unknown text
    /// @throws          std::invalid_argument unless `unknown` is in the draft's vocabulary
    explicit OwnIds(const IdMap& map, Token unknown = 0) : unknown_(unknown) {
        if (unknown < 0 || unknown >= map.draft_vocab())
            detail::invalid("OwnIds", "unknown", unknown, "in [0, " + detail::to_text(map.draft_vocab()) + ")");
        own_.assign(static_cast<std::size_t>(map.target_vocab()), unknown);
        const auto drafts = map.by_image();
        for (std::size_t i = drafts.size(); i-- > 0;) own_[static_cast<std::size_t>(*map.image(drafts[i]))] = drafts[i];
    }

    Token operator()(Token target) const {
        return target < 0 || target >= std::ssize(own_) ? unknown_ : own_[static_cast<std::size_t>(target)];
    }

  private:
    std::vector<Token> own_;
    Token unknown_;
};

/// Shows a draft the target's ids unchanged, as a reduced output head on the target's own embedding reads them.
struct TargetIds {
    Token operator()(Token target) const { return target; }
};

}  // namespace vocabularies

}}  // namespace specsample
