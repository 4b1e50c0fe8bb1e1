// The state of a row in a pipeline: the tokens that are still possible after a prefix, with a number each.
//
//   Candidates   the numbers and their ids; dense until the first filter, then only the candidates left
//
// A Shaper (concepts.hpp) is called with it and with the prefix: shaper(row, context).
//
// Everything is computed when a shaper asks for it. A temperature is stored beside the numbers, because all but two
// filters can work before it is applied; probabilities are computed only for the candidates that are left then. The
// numbers stay in the model's own memory until a shaper changes them; penalties and masks wait until a step needs all
// numbers. A temperature of the row's own divides the logits at the end: shapers change the logits that the model gave.
#pragma once

#include <algorithm>
#include <concepts>
#include <optional>
#include <span>

#include <specsample/concepts.hpp>
#include <specsample/kernels/logarithm.hpp>
#include <specsample/kernels/select_above.hpp>
#include <specsample/kernels/select_top.hpp>
#include <specsample/rows/logits.hpp>
#include <specsample/shaping/candidate_numbers.hpp>
#include <specsample/shaping/stages.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace filters {

/// A row on its way through a pipeline. Its numbers have places 0 .. size() - 1, in the order of their ids.
///
/// An invalid row (a NaN, +inf, a negative probability, a sum that is not 1) has no candidates and leaves the pipeline
/// as it came, so that its fault names what the model returned.
///
/// @tparam Value   float or double
template <std::floating_point Value>
class Candidates : public detail::CandidateNumbers<Value> {
    using Base = detail::CandidateNumbers<Value>;

  public:
    /// The weights of the candidates, not normalised, and their sum.
    struct Weighed {
        std::span<const Value> values;
        double total = 0;
    };

    /// @param numbers     borrowed; in memory.numbers unless they are the model's own
    /// @param is_sparse   true if the numbers belong to memory.ids, false if they belong to every id
    /// @param tolerance   largest allowed distance of the sum of probabilities from 1
    /// @param total       given where the numbers are only the largest of a row: the sum of all its weights, once
    ///                    logits have been changed. A filter that keeps candidates drops it
    Candidates(std::span<const Value> numbers, NumberKind kind, Index vocab, bool is_sparse, double tolerance,
               detail::ShapedNumbers<Value>& memory, detail::ShapingScratch<Value>& scratch,
               std::optional<double> total = {})
        : Base(numbers, kind, vocab, is_sparse, tolerance, memory, scratch), given_total_(total) {}

    /// Return the temperature of weights() and probabilities(), set by the row or by the pipeline; 0 is the argmax.
    double temperature_of_weights() const { return temperature_; }
    /// Return whether the temperature is 0. No filter is needed then: every filter keeps the largest number, which is
    /// chosen at the end.
    bool is_greedy() const { return temperature_ == 0; }

    /// Return the temperature that a logit has been divided by at this point of the pipeline: to add d to a logit, add
    /// temperature() * d to its number. It is 1 before the pipeline's own temperature, whatever the row's temperature,
    /// and after a temperature of 0, which divides nothing.
    double temperature() const { return is_own_ || temperature_ == 0 ? 1 : temperature_; }

    /// Return the weights of the candidates: probabilities at the temperature, not normalised.
    /// @cost   O(size): an exponential each, and a logarithm each for probabilities at a temperature other than 1
    Weighed weights() {
        this->settle();
        if (!is_weighed()) weigh();
        if (!total_)
            total_ = given_total_ ? *given_total_ : detail::sum_by_block(weights_.data(), std::ssize(weights_));
        return {weights_, *total_};
    }

    /// Return the candidates' probabilities, normalised over the candidates; empty if their sum is not positive.
    std::span<const Value> probabilities() {
        const auto [values, total] = weights();
        if (!detail::is_positive(total)) return {};
        auto& memory = this->scratch().weights;
        detail::grow(memory, values.size());
        detail::normalise(values, total, memory.data());
        weights_ = {memory.data(), values.size()};
        total_.reset();
        return weights_;
    }

    /// Return the logits of the candidates, or ln p for a row of probabilities, undivided by the temperature.
    /// @cost   a logarithm each for probabilities
    std::span<const Value> levels() {
        const std::span<const Value> numbers = this->numbers();
        if (this->kind() == NumberKind::logits) return numbers;
        auto& memory = this->scratch().levels;
        detail::grow(memory, numbers.size());
        detail::take_logarithms(numbers.data(), std::ssize(numbers), memory.data());
        return {memory.data(), numbers.size()};
    }

    /// Divide the logits that the numbers stand for by a temperature. At 0 the end of the pipeline chooses the largest
    /// number.
    /// @throws std::invalid_argument if both this temperature and one of the row or of an earlier step are not 1
    void heat(double temperature) {
        temperature_ = detail::heated_once(temperature_, temperature);
        is_own_ = is_own_ && temperature == 1;
        weighed_after_ = -1;
    }
    /// Give the row a temperature of its own, which divides the logits at the end of the pipeline.
    void heat_row(double temperature) {
        temperature_ = temperature;
        is_own_ = true;
    }

    /// Keep only some places, given in ascending order.
    void keep(std::span<const Token> places) {
        if (given_total_) total_.reset();
        given_total_.reset();
        if (std::ssize(places) == this->size()) return;
        auto& memory = this->scratch().weights;
        const bool keeps_weights = is_weighed() && weights_.data() == memory.data();
        if (keeps_weights) {
            for (std::size_t i = 0; i < places.size(); ++i) memory[i] = weights_[static_cast<std::size_t>(places[i])];
            weights_ = weights_.first(places.size());
            total_.reset();
        }
        this->take(places);
        weighed_after_ = keeps_weights ? this->changes() : -1;
    }

    /// Keep the k largest possible numbers, the lower ids first among equals.
    void keep_top(Index k) {
        const std::span<const Value> row = this->waiting();
        auto& scratch = this->scratch();
        scratch.selection.maxima = this->maxima();
        const auto number = [&](Token place) { return this->lowered(place); };
        detail::select_lowered_top(row, number, scratch.lowerings.expected(k), k, this->impossible(), scratch.places,
                                   scratch.selection);
        keep(scratch.places);
    }

    // The result, which the end of a pipeline reads.

    /// End the pipeline: at temperature 0 only the largest one is left, the lowest id on ties.
    void choose() { is_greedy() ? keep_top(1) : this->settle_waiting(); }

    /// Return whether the numbers are still those that were given and need no change at the end.
    bool is_as_given() const {
        return this->is_bad() ||
               (this->changes() == 0 && this->kind() == NumberKind::probabilities && temperature_ == 1);
    }

  private:
    bool is_weighed() const { return weighed_after_ == this->changes(); }

    void weigh() {
        const std::span<const Value> numbers = this->numbers();
        const Index size = std::ssize(numbers);
        const bool are_logits = this->kind() == NumberKind::logits;
        weighed_after_ = this->changes();
        total_.reset();
        weights_ = numbers;
        if (!are_logits && temperature_ == 1) return;
        auto& memory = this->scratch().weights;
        detail::grow(memory, numbers.size());
        weights_ = {memory.data(), numbers.size()};
        if (is_greedy()) {
            std::fill_n(memory.begin(), size, Value{0});
            if (const Index best = this->peak(); best >= 0) memory[static_cast<std::size_t>(best)] = 1;
            return;
        }
        if (!are_logits) detail::take_logarithms(numbers.data(), size, memory.data());
        const Value* logits = are_logits ? numbers.data() : memory.data();
        const double pivot = are_logits ? this->maximum() : detail::block_max(size, logits);
        detail::weigh(logits, size, detail::power_at<Value>(pivot, temperature_), memory.data());
    }

    std::optional<double> given_total_;

    double temperature_ = 1;
    bool is_own_ = true;        ///< whether the temperature is the row's own
    Index weighed_after_ = -1;  ///< changes before the numbers were weighed; -1 if the weights are not known
    std::span<const Value> weights_;
    std::optional<double> total_;
};

}}}  // namespace specsample::filters
