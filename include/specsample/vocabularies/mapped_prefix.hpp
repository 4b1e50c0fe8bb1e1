// A model that reads a translation of the text, in its own ids: prefix_mapped(model, translate).
#pragma once

#include <algorithm>
#include <concepts>
#include <functional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <specsample/concepts.hpp>
#include <specsample/models/adaptor.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {
namespace detail {

template <class F>
using Translated = std::remove_cvref_t<std::invoke_result_t<F&, std::span<const Token>>>;

/// A callable that turns a prefix into another: it returns a vector, a span or an array of tokens.
template <class F>
concept PrefixTranslation =
    std::invocable<F&, std::span<const Token>> && std::convertible_to<const Translated<F>&, std::span<const Token>>;

/// A callable that turns each token into another, whatever is before it.
template <class F>
concept TokenTranslation = !std::invocable<F&, std::span<const Token>> && std::invocable<F&, Token> &&
                           std::convertible_to<std::invoke_result_t<F&, Token>, Token>;

}  // namespace detail

namespace vocabularies {

/// A model that reads a translation of each token of a text. Positions do not change, so it offers the same calls as
/// the wrapped model: one row, n rows, the rows of a tree, rollback.
template <class M, class Translate>
class TokenMapped : public detail::Adaptor<TokenMapped<M, Translate>, M> {
    friend class detail::Adaptor<TokenMapped, M>;

  public:
    static constexpr bool stable_rows = detail::StableRows<M>;

    TokenMapped(M model, Translate translate)
        : detail::Adaptor<TokenMapped, M>(std::move(model)), translate_(std::move(translate)) {}

  private:
    template <class Prefix, class... Asked>
    decltype(auto) ask(const Prefix& prefix, Asked... asked) {
        put(prefix, prefix_);
        return detail::ask(this->model(), prefix_, own(asked)...);
    }

    static Index own(Index count) { return count; }
    Tree<Token, Index> own(Tree<Token, Index> tree) {
        put(tree.tokens, nodes_);
        return {nodes_, tree.parents};
    }

    void put(std::span<const Token> tokens, std::vector<Token>& memory) {
        detail::remember(tokens, memory);
        for (Token& token : memory) token = static_cast<Token>(translate_(token));
    }

    Translate translate_;
    std::vector<Token> prefix_;
    std::vector<Token> nodes_;
};

/// A model that reads a translation of the whole prefix. Positions of the two texts do not correspond, so it offers one
/// row at a time and nothing else. A length in target ids is useless to a model that caches the translated text, so
/// this wrapper calls the model's rollback itself.
template <class M, class Translate>
class PrefixMapped {
  public:
    static constexpr bool stable_rows = detail::StableRows<M>;

    PrefixMapped(M model, Translate translate) : model_(std::move(model)), translate_(std::move(translate)) {}

    /// Call visit on the wrapped model; see SharedModels.
    [[gnu::always_inline]] void each_model(const auto& visit) { visit(model_); }

    decltype(auto) operator()(std::span<const Token> prefix) {
        const auto& text = std::invoke(translate_, prefix);
        if constexpr (Rewindable<M>) rewind(text);
        detail::remember(text, shown_);
        is_settled_ = false;
        decltype(auto) row = detail::ask(model_, shown_);
        is_settled_ = true;
        return row;
    }

    /// Return the temperature of the model's rows; see temperature_of.
    double temperature_of_rows() const { return detail::temperature_of(model_); }

  private:
    /// Roll the model back to the common prefix of its last text and `text`, without the last token of `text`, because
    /// the model must compute that position. A model that was never called from here, or whose last call threw, may
    /// hold any text, so it is always rolled back.
    void rewind(std::span<const Token> text) {
        const auto common = std::ranges::mismatch(shown_, text).in1 - shown_.begin();
        const Index keep = std::max<Index>(0, std::min<Index>(common, std::ssize(text) - 1));
        detail::Unwrapped<M>& model = model_;
        if (!is_settled_ || keep < std::ssize(shown_)) model.rollback(keep);
    }

    M model_;
    Translate translate_;
    std::vector<Token> shown_;
    bool is_settled_ = false;  ///< true if the model holds exactly `shown_`
};

/// Wrap a model (or std::ref of one) so that it reads every text in the translation of `translate`. For a draft with a
/// vocabulary of its own write mapped(draft, map), or mapped(draft, map, translate). The translation affects acceptance
/// only; the text has the target's distribution in any case.
///
/// @param translate   one of two kinds: translate(token) -> token replaces ids one by one; the wrapper then offers all
///                    calls of the model. translate(prefix) -> tokens is called with the whole prefix, for example to
///                    decode and tokenise it again; it returns a vector, or a view of memory that lasts until its next
///                    call. The wrapper then offers one row at a time
/// @cost              O(prefix) per call, besides the translation, which may cache its last result
template <class M, detail::TokenTranslation Translate>
    requires(Model<M> || detail::ManyModel<M> || detail::TreeCallable<M>)
auto prefix_mapped(M model, Translate translate) {
    return TokenMapped<M, Translate>(std::move(model), std::move(translate));
}
template <Model M, detail::PrefixTranslation Translate>
auto prefix_mapped(M model, Translate translate) {
    return PrefixMapped<M, Translate>(std::move(model), std::move(translate));
}

}  // namespace vocabularies

}}  // namespace specsample
