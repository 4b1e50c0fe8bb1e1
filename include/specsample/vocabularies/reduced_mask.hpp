// A mask of target ids as a mask of the draft's own ids, for an engine that masks the rows of a reduced output head
// before they are mapped.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include <specsample/core/contract.hpp>
#include <specsample/shaping/mask.hpp>
#include <specsample/vocabularies/id_map.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace vocabularies {

/// Write the mask of the draft ids whose images a mask of target ids allows.
///
///     reduce_mask(d2t, grammar_words, draft_words);
///
/// A draft row that is masked by it and then mapped is the mapped row masked by `words`, normalised: whether a draft is
/// masked before or after the map changes no draft. A draft id without an image is forbidden.
///
/// @param words   the mask of the target's ids: bit i % 32 of word i / 32 is set where id i is allowed; ids beyond the
///                words are forbidden
/// @param draft   output, [(draft vocab + 31) / 32]
/// @throws        std::invalid_argument for another number of words in `draft`, and for words at null
/// @cost          a look-up per draft id
template <class W>
void reduce_mask(const IdMap& map, const W& words, std::span<std::uint32_t> draft) {
    static_assert(detail::MaskWords<W>,
                  "specsample::vocabularies::reduce_mask: words must be a std::span or a vector of 32-bit integers, "
                  "signed or not");
    constexpr auto where = "vocabularies::reduce_mask";
    constexpr Index width = detail::MaskBits::width;
    const Index count = detail::MaskBits({}, map.draft_vocab()).word_count();
    detail::require(std::ssize(draft) == count, where, "draft.size()", std::ssize(draft),
                    "(draft vocab + 31) / 32, " + detail::to_text(count));
    if constexpr (detail::MaskWords<W>) {
        const detail::MaskBits allowed(detail::words_of(words, where), map.target_vocab());
        std::ranges::fill(draft, 0);
        for (const Token id : map.by_image())
            if (allowed.allows(*map.image(id)))
                draft[static_cast<std::size_t>(id / width)] |= std::uint32_t{1} << id % width;
    }
}

}}}  // namespace specsample::vocabularies
