// A draft model that reads texts in ids of its own: prefix_mapped(model, translate).
#pragma once

#include <algorithm>
#include <concepts>
#include <functional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <specsample/concepts.hpp>
#include <specsample/shaping/shaped.hpp>

namespace specsample {
namespace detail {

template <class F>
using Translated = std::remove_cvref_t<std::invoke_result_t<F&, std::span<const Token>>>;

/// Turns a prefix into another: a callable that returns a vector, a span or an array of tokens.
template <class F>
concept PrefixTranslation =
    std::invocable<F&, std::span<const Token>> && std::convertible_to<const Translated<F>&, std::span<const Token>>;

}  // namespace detail

/// A model that is shown another prefix than the one it is asked about. It caches that one, so its rollback is called
/// from here: lengths in target ids would mean nothing to it.
template <class M, class Translate>
class PrefixMapped {
  public:
    static constexpr bool stable_rows = StableRows<M>;

    PrefixMapped(M model, Translate translate) : model_(std::move(model)), translate_(std::move(translate)) {}

    decltype(auto) operator()(std::span<const Token> prefix) {
        const auto& text = std::invoke(translate_, prefix);
        if constexpr (Rewindable<M>) rewind(text);
        detail::remember(text, shown_);
        is_settled_ = false;
        decltype(auto) row = detail::ask(model_, shown_);
        is_settled_ = true;
        return row;
    }

  private:
    /// Cut the model's cache back to what it shares with `text`, without the last position, which it must compute. A
    /// model that was never asked here, or whose last call threw, may hold anything, so it is always told.
    void rewind(std::span<const Token> text) {
        const auto common = std::ranges::mismatch(shown_, text).in1 - shown_.begin();
        const Index keep = std::max<Index>(0, std::min<Index>(common, std::ssize(text) - 1));
        detail::Unwrapped<M>& model = model_;
        if (!is_settled_ || keep < std::ssize(shown_)) model.rollback(keep);
    }

    M model_;
    Translate translate_;
    std::vector<Token> shown_;
    bool is_settled_ = false;  ///< does the model hold `shown_`, and no more?
};

/// Wrap a draft model (or std::ref of one) so that it reads every text as `translate` puts it: decoded and tokenised
/// again, for a model with another tokenizer. What it guesses is a matter of acceptance; the law is the target's
/// whatever it was shown.
///
/// @param translate   called with the whole prefix in target ids, returns it in the draft's: a vector, or a view of
///                    memory that lasts until its next call
/// @cost              O(prefix) per row beside the translation, which may well remember the last one
template <RowModel M, detail::PrefixTranslation Translate>
auto prefix_mapped(M model, Translate translate) {
    return PrefixMapped<M, Translate>(std::move(model), std::move(translate));
}

}  // namespace specsample
