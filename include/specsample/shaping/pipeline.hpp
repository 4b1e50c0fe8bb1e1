// Several shapers in order, as one shaper.
#pragma once

#include <concepts>
#include <span>
#include <tuple>
#include <utility>

#include <specsample/concepts.hpp>
#include <specsample/shaping/candidates.hpp>
#include <specsample/shaping/temperature.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {
namespace detail {

/// Return the temperature of rows after a pipeline, given their temperature `before`; 1 means none.
/// @throws std::invalid_argument if a temperature is given twice
template <class P>
double temperature_after(const P& pipeline, double before) {
    for_each_stage(pipeline, [&]<class Stage>(const Stage& stage) {
        if constexpr (std::same_as<Stage, filters::Temperature>) before = heated_once(before, stage.temperature());
    });
    return before;
}

/// Check the settings of a shaper that is a plain value; the other shapers check their settings in their
/// constructors.
template <class S>
void check_shaper(const S& shaper) {
    if constexpr (requires { shaper.check(); }) shaper.check();
}

/// A shaper whose call changes it: its call operator is not const, also behind std::ref. Such a shaper is refused,
/// because contexts come in any order.
template <class S>
concept Changing =
    !Shaper<Unwrapped<S>> && (std::invocable<Unwrapped<S>&, filters::Candidates<float>&, std::span<const Token>> ||
                              std::invocable<Unwrapped<S>&, filters::Candidates<double>&, std::span<const Token>>);

template <class S>
concept ShaperOrChanging = Shaper<S> || Changing<S>;

/// Refuses a shaper whose call changes it. Contexts come in any order: drafts are rejected, rounds dropped, trees
/// branch.
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

/// Apply shapers one after another, first to last: Pipeline{filters::TopK{40}, filters::TopP{0.95}}.
///
/// Give shapers that change logits first: then they change the model's logits. After a Temperature{T} they change
/// logits divided by T. A row with a temperature of its own (Logits) takes a pipeline without one: the row's
/// temperature divides the logits that the pipeline leaves.
template <detail::ShaperOrChanging... Shapers>
class Pipeline {
    static_assert((detail::Rewindability<Shapers>::holds && ...));

  public:
    explicit Pipeline(Shapers... shapers) : shapers_(std::move(shapers)...) { check(); }

    /// Check the settings of every shaper.
    /// @throws   std::invalid_argument for a setting out of range, or a second temperature
    void check() const {
        std::apply([](const auto&... shaper) { (detail::check_shaper(shaper), ...); }, shapers_);
        detail::temperature_after(*this, 1);
    }

    template <class Value>
        requires(std::invocable<const Shapers&, filters::Candidates<Value>&, std::span<const Token>> && ...)
    void operator()(filters::Candidates<Value>& row, std::span<const Token> context) const {
        std::apply([&](const auto&... shaper) { (shaper(row, context), ...); }, shapers_);
    }

    /// Call f with every shaper in order.
    template <class F>
    void for_each_stage(const F& f) const {
        std::apply([&](const auto&... shaper) { (detail::for_each_stage(shaper, f), ...); }, shapers_);
    }

  private:
    std::tuple<Shapers...> shapers_;
};

template <class... Shapers>
Pipeline(Shapers...) -> Pipeline<Shapers...>;

}}  // namespace specsample
