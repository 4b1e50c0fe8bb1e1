// Shapers in order, as one value.
#pragma once

#include <tuple>
#include <utility>

#include <specsample/shaping/candidates.hpp>

namespace specsample {
namespace detail {

/// Shapers that are plain values are checked when something is made of them.
template <class S>
void check_shaper(const S& shaper) {
    if constexpr (requires { shaper.check(); }) shaper.check();
}

}  // namespace detail

/// Apply shapers one after another, first to last: Pipeline{TopK{40}, TopP{0.95}, Temperature{0.8}}.
template <Shaper... Shapers>
class Pipeline {
  public:
    explicit Pipeline(Shapers... shapers) : shapers_(std::move(shapers)...) { check(); }

    void check() const {
        std::apply([](const auto&... shaper) { (detail::check_shaper(shaper), ...); }, shapers_);
    }

    template <class Value>
        requires(std::invocable<const Shapers&, Candidates<Value>&, std::span<const Token>> && ...)
    void operator()(Candidates<Value>& row, std::span<const Token> context) const {
        std::apply([&](const auto&... shaper) { (shaper(row, context), ...); }, shapers_);
    }

  private:
    std::tuple<Shapers...> shapers_;
};

template <class... Shapers>
Pipeline(Shapers...) -> Pipeline<Shapers...>;

}  // namespace specsample
