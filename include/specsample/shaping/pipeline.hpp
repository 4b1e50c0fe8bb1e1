// Shapers in order, as one value.
#pragma once

#include <concepts>
#include <span>
#include <tuple>
#include <utility>

#include <specsample/concepts.hpp>
#include <specsample/shaping/candidates.hpp>

namespace specsample {
namespace detail {

/// Shapers that are plain values are checked when something is made of them.
template <class S>
void check_shaper(const S& shaper) {
    if constexpr (requires { shaper.check(); }) shaper.check();
}

/// A shaper but for this, that it may change when it is called; behind std::ref as well.
template <class S>
concept Changing =
    !Shaper<Unwrapped<S>> && (std::invocable<Unwrapped<S>&, filters::Candidates<float>&, std::span<const Token>> ||
                              std::invocable<Unwrapped<S>&, filters::Candidates<double>&, std::span<const Token>>);

template <class S>
concept ShaperOrChanging = Shaper<S> || Changing<S>;

/// The sentence for one that does. Contexts come in any order: drafts are rejected, rounds dropped, trees branch.
template <class S>
struct Rewindability {
    static constexpr bool holds = !Changing<S>;
    static_assert(
        holds,
        "specsample::shaped: a shaper that changes when it is called cannot be rewound to the context before; "
        "make it a function of the context, with a const call operator, or a cursor with accept(token) and "
        "rollback(n), or copies, in a Grammar{cursor, start}");
};

}  // namespace detail

/// Apply shapers one after another, first to last: Pipeline{TopK{40}, TopP{0.95}, Temperature{0.8}}.
template <detail::ShaperOrChanging... Shapers>
class Pipeline {
    static_assert((detail::Rewindability<Shapers>::holds && ...));

  public:
    explicit Pipeline(Shapers... shapers) : shapers_(std::move(shapers)...) { check(); }

    void check() const {
        std::apply([](const auto&... shaper) { (detail::check_shaper(shaper), ...); }, shapers_);
    }

    template <class Value>
        requires(std::invocable<const Shapers&, filters::Candidates<Value>&, std::span<const Token>> && ...)
    void operator()(filters::Candidates<Value>& row, std::span<const Token> context) const {
        std::apply([&](const auto&... shaper) { (shaper(row, context), ...); }, shapers_);
    }

  private:
    std::tuple<Shapers...> shapers_;
};

template <class... Shapers>
Pipeline(Shapers...) -> Pipeline<Shapers...>;

}  // namespace specsample
