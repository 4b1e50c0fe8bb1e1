// Logit bias: constants that are added to the logits of some tokens.
#pragma once

#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <specsample/core/contract.hpp>
#include <specsample/core/number.hpp>
#include <specsample/shaping/change.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

namespace filters {

/// A token and the number that is added to its logit: -infinity bans it.
using Bias = std::pair<Token, double>;

}  // namespace filters

namespace detail {

inline void check_bias(const filters::Bias& bias) {
    require(bias.first >= 0, "LogitBias", "a token", bias.first, "at least 0");
    require(is_finite(bias.second) || bias.second == -std::numeric_limits<double>::infinity(), "LogitBias", "a bias",
            bias.second, "a finite number, or -inf for a ban");
}

/// Adds biases, which it borrows.
struct AddBiases {
    std::span<const filters::Bias> biases;

    template <class Value>
    void operator()(filters::Candidates<Value>& row, std::span<const Token>) const {
        for (const auto& [id, bias] : biases)
            if (const Index place = row.place_of(id); place < 0) {
                continue;
            } else if (is_finite(bias)) {
                add_to_logit(row, place, bias);
            } else {
                logit_at(row, place) = -std::numeric_limits<Value>::infinity();
            }
    }

    void foresee(auto& outlook, std::span<const Token>) const {
        for (const filters::Bias& bias : biases) outlook.change(bias.first);
    }
};

}  // namespace detail

namespace filters {

/// Add numbers to the logits of some tokens: LogitBias{{{50256, -100}, {11, 2.5}}}. In a row of probabilities the
/// numbers are added to ln p. A token given twice gets both; a token outside the vocabulary is ignored. An impossible
/// token stays impossible.
///
/// @cost   O(biases), and one copy of a row that is still in the model's memory
/// @edge   a sum that the row's scalar cannot hold is cut to a finite number that it can hold (3e32 for float, 1e302
///         for double): only -inf bans
class LogitBias {
  public:
    /// @throws std::invalid_argument for a negative token, and for a bias that is NaN or +inf
    explicit LogitBias(std::vector<Bias> biases) : biases_(std::move(biases)) {
        for (const Bias& bias : biases_) detail::check_bias(bias);
    }

    template <class Value>
    void operator()(Candidates<Value>& row, std::span<const Token> context) const {
        detail::AddBiases{biases_}(row, context);
    }

    /// Tell `outlook` what this filter does to logits.
    void foresee(auto& outlook, std::span<const Token> context) const {
        detail::AddBiases{biases_}.foresee(outlook, context);
    }

  private:
    std::vector<Bias> biases_;
};

}  // namespace filters

}}  // namespace specsample
