// The encodings that a round keeps: the normaliser of a row of logits is found once, where it is needed first.
#pragma once

#include <type_traits>

#include <specsample/core/eigen.hpp>
#include <specsample/kernels/draw.hpp>
#include <specsample/verify/round.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

/// Return the probabilities of a row that may have logits.
/// @param kept   where the encoding is looked for first, and kept
/// @param sums   receives the running sums of the row, if a pass finds the normaliser
/// @cost         one pass over logits whose normaliser is neither stated nor kept
/// @edge         the encoding of logits that define no distribution is not kept
template <class R>
auto read_kept(const R& row, KeptEncoding& kept, kernels::RunningSums* sums = nullptr) {
    using Encoding = std::remove_cvref_t<decltype(row.weights().encoding())>;
    if (kept.factor < 0) return row.encoded(Encoding::peak(static_cast<Index>(kept.pivot)));
    if (kept.factor > 0) return row.encoded({kept.pivot, kept.scale, kept.factor});
    if (row.is_normalised()) return row.probs();
    const auto weights = row.weights();
    const auto encoding = weights.encoding();
    if (encoding.is_bad()) return row.encoded(encoding);
    if (encoding.is_peak()) {
        kept = {static_cast<double>(encoding.peak()), 0, -1};
    } else {
        kept = {encoding.pivot(), encoding.scale(), encoding.factor()};
        if (sums != nullptr) sums->become(weights.sums(), encoding.factor());
    }
    return row.encoded(encoding);
}

}}}  // namespace specsample::detail
