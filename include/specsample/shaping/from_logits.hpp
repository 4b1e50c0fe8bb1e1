// A model of logits as a model of probabilities: from_logits(model, temperature).
#pragma once

#include <functional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <specsample/concepts.hpp>
#include <specsample/core/contract.hpp>
#include <specsample/kernels/logits.hpp>

namespace specsample {

/// A model whose plain rows are meant as logits: it returns them as Logits. It offers what the model offers. Nothing is
/// copied, and nothing computed.
template <class M>
class FromLogits {
  public:
    static constexpr bool stable_rows = StableRows<M>;

    FromLogits(M model, double temperature) : model_(std::move(model)), temperature_(temperature) {
        detail::require(is_finite(temperature) && temperature >= 0, "from_logits", "temperature", temperature,
                        "a finite number >= 0");
    }

    auto operator()(std::span<const Token> prefix)
        requires(detail::takes_span<M>)
    {
        return one(prefix);
    }
    auto operator()(const std::vector<Token>& prefix)
        requires(!detail::takes_span<M> && detail::takes_vector<M>)
    {
        return one(prefix);
    }
    auto operator()(std::span<const Token> prefix, Index count)
        requires(detail::takes_span<M, Index>)
    {
        return logits_of(std::invoke(model(), prefix, count), temperature_);
    }
    auto operator()(const std::vector<Token>& prefix, Index count)
        requires(!detail::takes_span<M, Index> && detail::takes_vector<M, Index>)
    {
        return logits_of(std::invoke(model(), prefix, count), temperature_);
    }
    void rollback(Index length)
        requires Rewindable<M>
    {
        model().rollback(length);
    }

  private:
    detail::Unwrapped<M>& model() { return model_; }

    template <class Prefix>
    auto one(const Prefix& prefix) {
        using Answer = decltype(std::invoke(model(), prefix));
        if constexpr (std::is_lvalue_reference_v<Answer>) {
            return Logits(as_row(std::invoke(model(), prefix)), temperature_);  // the model keeps it: a view
        } else {
            return Logits(std::invoke(model(), prefix), temperature_);
        }
    }

    M model_;
    double temperature_;
};

/// Take the rows of a model (or std::ref of one) as logits: whatever reads them reads probabilities.
///
/// @param temperature   >= 0; 0 is the argmax
/// @throws              std::invalid_argument for a negative or non-finite temperature
template <class M>
    requires((Model<M> || ManyModel<M>) && !TokenModel<M>)
auto from_logits(M model, double temperature = 1) {
    return FromLogits<M>(std::move(model), temperature);
}

}  // namespace specsample
