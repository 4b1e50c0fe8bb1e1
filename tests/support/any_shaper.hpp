// Shapers behind one type, so that a sampler is compiled once for all of them.
#pragma once

#include <concepts>
#include <functional>
#include <span>

#include <specsample/shaping/candidates.hpp>

namespace any {

using namespace specsample;
using namespace specsample::filters;

/// Any shaper of rows of doubles; copies share the state that copies of the shaper share.
class Shaper {
  public:
    template <class S>
        requires(!std::same_as<S, Shaper>)
    Shaper(S shaper)
        : shape_([shaper](Candidates<double>& row, std::span<const Token> context) { shaper(row, context); }) {}

    void operator()(Candidates<double>& row, std::span<const Token> context) const { shape_(row, context); }

  private:
    std::function<void(Candidates<double>&, std::span<const Token>)> shape_;
};

}  // namespace any
