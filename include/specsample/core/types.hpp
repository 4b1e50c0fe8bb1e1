// The basic types: tokens, indices, and the kinds of last token.
#pragma once

#include <cstddef>
#include <cstdint>

#include <specsample/core/config.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

/// A token id. Arguments may have any integral type; inside the library ids have 32 bits.
using Token = std::int32_t;

/// Sizes and positions, signed as in Eigen.
using Index = std::ptrdiff_t;

/// The kind of a round's last token: at most one token follows the accepted ones.
enum class LastToken {
    recovered,  ///< drawn from the residual after a rejection
    bonus,      ///< drawn from the target after every drafted token was accepted
    matched,    ///< the target's own choice, where a match rule left the draft
    stopped     ///< none: the end of the text, a budget or the caller cut the round before it
};

}}  // namespace specsample
