// The end of a text, for a draft model whose context is shorter than the target's.
#pragma once

#include <span>

#include <specsample/core/contract.hpp>
#include <specsample/core/types.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace vocabularies {

/// Shows a model the end of a text, as the translation of prefix_mapped.
///
///     Sampler sampler(prefix_mapped(draft, ShortContext(2048)), target, options);
///
/// The text that is shown begins later in steps of half the context, so that a model with a cache reads it anew once
/// per step and not with every token. A drafter that should rather decline where it cannot see all of the text returns
/// an empty row there.
class ShortContext {
  public:
    /// @param most   the largest number of tokens that the model reads
    /// @throws       std::invalid_argument if most < 2
    explicit ShortContext(Index most) : most_(most) {
        detail::require(most >= 2, "ShortContext", "most", most, "at least 2");
    }

    /// Return the last tokens of a prefix: all if they are few enough, else `most` or down to half as many.
    std::span<const Token> operator()(std::span<const Token> prefix) const {
        const Index step = most_ / 2, over = std::ssize(prefix) - most_;
        const Index hidden = over <= 0 ? 0 : (over + step - 1) / step * step;
        return prefix.subspan(static_cast<std::size_t>(hidden));
    }

  private:
    Index most_;
};

}}}  // namespace specsample::vocabularies
