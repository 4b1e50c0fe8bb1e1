// Shapers in order, as one value.
#pragma once

#include <tuple>

#include <specsample/shaping/scratch.hpp>

namespace specsample {

/// Apply shapers one after another, first to last: Pipeline{Temperature{0.8}, TopP{0.95}}.
template <Shaper... Shapers>
class Pipeline {
  public:
    explicit Pipeline(Shapers... shapers) : shapers_(std::move(shapers)...) {}

    template <class Derived>
    void operator()(Eigen::ArrayBase<Derived>& probs, ShapingScratch& scratch) const {
        std::apply([&](const auto&... shaper) { (shaper(probs.derived(), scratch), ...); }, shapers_);
    }

  private:
    std::tuple<Shapers...> shapers_;
};

template <class... Shapers>
Pipeline(Shapers...) -> Pipeline<Shapers...>;

}  // namespace specsample
