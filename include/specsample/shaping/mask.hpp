// Masks of the tokens that are allowed after a context: AnyMask, and what all of them share. TokenMask names its source
// in its type; Grammar takes masks from a matcher that follows the text.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <specsample/concepts.hpp>
#include <specsample/shaping/candidates.hpp>
#include <specsample/shaping/mask_bits.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

namespace filters {

/// Keep the candidates whose ids satisfy allows(id).
template <class Value, std::predicate<Token> Allows>
void keep_where(Candidates<Value>& row, const Allows& allows) {
    auto& places = row.scratch().places;
    places.clear();
    for (Index place = 0; place < row.size(); ++place)
        if (allows(static_cast<Token>(row.id(place)))) places.push_back(static_cast<Token>(place));
    row.keep(places);
}

}  // namespace filters

namespace detail {

/// Make the tokens impossible that a mask forbids. If few tokens are allowed, only these tokens are kept; otherwise the
/// row stays dense.
template <class Value>
void apply_mask(filters::Candidates<Value>& row, const MaskBits& mask) {
    if (!row.holds_every_id()) return filters::keep_where(row, [&](Token id) { return mask.allows(id); });
    constexpr Index dense_from = 8;  // keeping an id costs twice as much as a number
    const Index allowed = mask.count();
    if (allowed == row.vocab()) return;
    if (allowed > row.vocab() / dense_from) {
        return row.forbid(mask, static_cast<double>(allowed) / static_cast<double>(row.vocab()));
    }
    auto& places = row.scratch().places;
    places.clear();
    mask.for_each([&](Index id) { places.push_back(static_cast<Token>(id)); });
    if (row.size() > 0) row.keep(places);
}

/// Return the words of a mask.
/// @param where   who was given them
template <MaskWords W>
std::span<const std::uint32_t> words_of(const W& words, std::string_view where = "TokenMask") {
    const auto all = std::span(words);
    require_memory(where, "the address of the words", all);
    return {reinterpret_cast<const std::uint32_t*>(all.data()), all.size()};  // signed or not: the two types may alias
}

}  // namespace detail

namespace filters {

/// Holds any source of masks that TokenMask takes, by value, in one type. An empty AnyMask allows every token.
///
/// The result of a callable is kept until the mask is applied, so that a returned vector does not leave a dangling
/// view.
class AnyMask {
  public:
    AnyMask() = default;

    /// @param source   words, or a callable of the context that returns words; an empty std::function or a null pointer
    ///                 to a function is no source
    template <class Source>
        requires(!std::same_as<std::remove_cvref_t<Source>, AnyMask>)
    AnyMask(Source&& source) {
        using Kept = std::decay_t<Source>;
        constexpr bool is_source = [] {
            if constexpr (std::invocable<const detail::Unwrapped<Kept>&, std::span<const Token>>)
                return detail::MaskWords<std::invoke_result_t<const detail::Unwrapped<Kept>&, std::span<const Token>>>;
            return detail::MaskWords<Kept>;
        }();
        static_assert(is_source,
                      "specsample::SamplingParams: mask must be a callable of the context that returns the words of a "
                      "bit mask (a std::vector, span or array of 32-bit integers), with a const call operator, because "
                      "contexts come in any order");
        if constexpr (is_source) {
            if constexpr (requires { source == nullptr; })
                if (source == nullptr) return;
            apply_ = [kept = Kept(std::forward<Source>(source))](std::span<const Token> context, const Applied& apply) {
                if constexpr (detail::MaskWords<Kept>) {
                    apply(detail::words_of(kept));
                } else {
                    const auto& words = std::invoke(kept, context);
                    apply(detail::words_of(words));
                }
            };
        }
    }

    /// Return whether there is a source.
    explicit operator bool() const { return static_cast<bool>(apply_); }

    template <class Value>
    void operator()(Candidates<Value>& row, std::span<const Token> context) const {
        if (!apply_) return;
        const auto apply = [&](std::span<const std::uint32_t> words) { detail::apply_mask(row, {words, row.vocab()}); };
        apply_(context, std::cref(apply));
    }

  private:
    using Applied = std::function<void(std::span<const std::uint32_t>)>;

    std::function<void(std::span<const Token>, const Applied&)> apply_{};
};

}  // namespace filters

}}  // namespace specsample
