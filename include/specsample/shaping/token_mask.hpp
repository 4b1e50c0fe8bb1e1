// A mask of the tokens that are allowed after a context, by words or by a callable that returns them.
#pragma once

#include <concepts>
#include <functional>
#include <span>
#include <utility>

#include <specsample/concepts.hpp>
#include <specsample/shaping/mask.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace filters {

/// Allow only the tokens of a mask: TokenMask{f}, where f(context) returns the words of a bit mask as xgrammar and
/// llguidance fill them, or TokenMask{words} for one mask everywhere. Bit i % 32 of word i / 32 is set where token i is
/// allowed. Ids beyond a mask that is too short are forbidden.
///
/// f is called for every position that is drafted or judged, and not in the order of the text: after a rejection the
/// context branches off before the end of the last context. A matcher that moves with the text belongs in a Grammar.
///
/// @tparam Source   a callable of the context, kept by value, that returns words, or the words themselves: a vector, a
///                  span or an array of 32-bit integers
/// @cost            vocab / 32, and O(allowed) if few tokens are allowed, a copy of the row otherwise
/// @edge            a row in which nothing is allowed is a fault of the target (Cause::all_masked); a draft ends there
template <class Source>
class TokenMask {
    static_assert(
        detail::MaskWords<Source> || !std::invocable<detail::Unwrapped<Source>&, std::span<const Token>> ||
            std::invocable<const detail::Unwrapped<Source>&, std::span<const Token>>,
        "specsample::filters::TokenMask: a callable that changes when it is called cannot be rewound to the context "
        "before; make it a function of the context, with a const call operator, or a matcher a "
        "Grammar{cursor, start}");

  public:
    explicit TokenMask(Source source) : source_(std::move(source)) {}

    template <class Value>
        requires detail::MaskWords<Source> || std::invocable<const Source&, std::span<const Token>>
    void operator()(Candidates<Value>& row, std::span<const Token> context) const {
        if constexpr (detail::MaskWords<Source>) {
            detail::apply_mask(row, {detail::words_of(source_), row.vocab()});
        } else {
            const auto& words = std::invoke(source_, context);
            detail::apply_mask(row, {detail::words_of(words), row.vocab()});
        }
    }

  private:
    Source source_;
};

}}}  // namespace specsample::filters
