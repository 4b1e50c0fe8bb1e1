// A model of logits as a model of probabilities: from_logits(model, temperature).
#pragma once

#include <functional>
#include <type_traits>
#include <utility>

#include <specsample/core/contract.hpp>
#include <specsample/models/adaptor.hpp>
#include <specsample/rows/logits.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

namespace detail {

/// A model whose plain rows are logits: it returns them as Logits. It offers the calls that the model offers; nothing
/// is copied and nothing is computed.
template <class M>
class FromLogits : public detail::Adaptor<FromLogits<M>, M> {
    friend class detail::Adaptor<FromLogits, M>;

  public:
    static constexpr bool stable_rows = detail::StableRows<M>;

    FromLogits(M model, double temperature)
        : detail::Adaptor<FromLogits, M>(std::move(model)), temperature_(temperature) {
        detail::require(is_finite(temperature) && temperature >= 0, "from_logits", "temperature", temperature,
                        "a finite number >= 0");
    }

    /// Return the temperature of the rows, for detail::temperature_of.
    double temperature_of_rows() const { return temperature_; }

  private:
    template <class Prefix>
    auto ask(const Prefix& prefix) {
        using Answer = decltype(std::invoke(this->model(), prefix));
        if constexpr (std::is_lvalue_reference_v<Answer>) {
            return Logits(as_row(std::invoke(this->model(), prefix)), temperature_);  // the model keeps the row: a view
        } else {
            return Logits(std::invoke(this->model(), prefix), temperature_);
        }
    }
    template <class Prefix, class Asked>
    auto ask(const Prefix& prefix, Asked asked) {
        return logits_of(std::invoke(this->model(), prefix, asked), temperature_);
    }

    double temperature_;
};

}  // namespace detail

/// Take the rows of a model (or std::ref of one) as logits, so that all readers read probabilities.
///
/// @param temperature   >= 0; 0 is the argmax
/// @returns             a model with the calls of `model`
/// @throws              std::invalid_argument for a negative or non-finite temperature
template <class M>
auto from_logits(M model, double temperature = 1) {
    constexpr bool is_model = detail::TypedRowsModel<M>;
    static_assert(
        is_model,
        "specsample::from_logits: the first argument must be a model that returns rows, as logits; for one "
        "row of them write Logits(row, temperature); a Row says by itself what it holds: return Row::logits(row, "
        "temperature)");
    if constexpr (is_model) return detail::FromLogits<M>(std::move(model), temperature);
}

}}  // namespace specsample
