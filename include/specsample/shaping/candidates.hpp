// The state of a row in a pipeline: the tokens that are still possible after a prefix, with a number each.
//
//   Candidates   the numbers and their ids; dense until the first filter, then only the candidates left
//
// A Shaper (concepts.hpp) is called with it and with the prefix: shaper(row, context).
//
// Everything is computed when a shaper asks for it. A temperature is stored beside the numbers, because all but two
// filters can work before it is applied; probabilities are computed only for the candidates that are left then. The
// numbers stay in the model's own memory until a shaper changes them. A temperature of the row's own divides the logits
// at the end: shapers change the logits that the model gave.
#pragma once

#include <algorithm>
#include <concepts>
#include <limits>
#include <optional>
#include <span>

#include <specsample/concepts.hpp>
#include <specsample/core/eigen.hpp>
#include <specsample/kernels/inspect.hpp>
#include <specsample/rows/logits.hpp>
#include <specsample/shaping/memory.hpp>
#include <specsample/shaping/scan.hpp>
#include <specsample/shaping/stages.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace filters {

/// The kind of a row's numbers.
enum class NumberKind { probabilities, logits };

/// A row on its way through a pipeline. Its numbers have places 0 .. size() - 1, in the order of their ids.
///
/// An invalid row (a NaN, +inf, a negative probability, a sum that is not 1) has no candidates and leaves the pipeline
/// as it came, so that its fault names what the model returned.
///
/// @tparam Value   float or double
template <std::floating_point Value>
class Candidates {
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
        : given_(numbers),
          numbers_(numbers),
          kind_(kind),
          vocab_(vocab),
          is_sparse_(is_sparse),
          tolerance_(tolerance),
          memory_(memory),
          scratch_(scratch),
          given_total_(total) {}

    Index vocab() const { return vocab_; }
    bool holds_every_id() const { return !is_sparse_; }
    NumberKind kind() const { return kind_; }

    /// Return the temperature of weights() and probabilities(), set by the row or by the pipeline; 0 is the argmax.
    double temperature_of_weights() const { return temperature_; }
    /// Return whether the temperature is 0. No filter is needed then: every filter keeps the largest number, which is
    /// chosen at the end.
    bool is_greedy() const { return temperature_ == 0; }

    /// Return the temperature that a logit has been divided by at this point of the pipeline: to add d to a logit, add
    /// temperature() * d to its number. It is 1 before the pipeline's own temperature, whatever the row's temperature,
    /// and after a temperature of 0, which divides nothing.
    double temperature() const { return is_own_ || temperature_ == 0 ? 1 : temperature_; }

    /// Return the number of candidates left.
    Index size() { return std::ssize(numbers()); }

    /// Return the candidates' numbers by place, valid until the next change.
    /// @cost   a pass over the row at the first call
    std::span<const Value> numbers() {
        look();
        return numbers_;
    }

    /// Return the id at a place. place_of(id) returns the place of an id, or -1 if it is no candidate.
    Index id(Index place) const { return is_sparse_ ? memory_.ids[static_cast<std::size_t>(place)] : place; }
    Index place_of(Index id) { return id < 0 || id >= vocab_ || size() == 0 ? -1 : ids().place_of(id); }

    /// Return the candidates' ids, by place.
    detail::IdList<Token> ids() const {
        return is_sparse_ ? detail::IdList<Token>(memory_.ids.data(), std::ssize(left()), 1) : detail::IdList<Token>();
    }

    /// Return the largest number; -inf if there is no candidate.
    double maximum() {
        look();
        if (!maximum_) maximum_ = detail::block_max(size(), numbers_.data());
        return *maximum_;
    }

    /// Return the weights of the candidates: probabilities at the temperature, not normalised.
    /// @cost   O(size): an exponential each, and a logarithm each for probabilities at a temperature other than 1
    Weighed weights() {
        look();
        if (!is_weighed_) weigh();
        if (!total_)
            total_ = given_total_ ? *given_total_ : detail::sum_by_block(weights_.data(), std::ssize(weights_));
        return {weights_, *total_};
    }

    /// Return the candidates' probabilities, normalised over the candidates; empty if their sum is not positive.
    std::span<const Value> probabilities() {
        const auto [values, total] = weights();
        if (!detail::is_positive(total)) return {};
        detail::grow(scratch_.weights, values.size());
        detail::normalise(values, total, scratch_.weights.data());
        weights_ = {scratch_.weights.data(), values.size()};
        total_.reset();
        return weights_;
    }

    /// Divide the logits that the numbers stand for by a temperature. At 0 the end of the pipeline chooses the largest
    /// number.
    /// @throws std::invalid_argument if both this temperature and one of the row or of an earlier step are not 1
    void heat(double temperature) {
        temperature_ = detail::heated_once(temperature_, temperature);
        is_own_ = is_own_ && temperature == 1;
        is_weighed_ = false;
    }
    /// Give the row a temperature of its own, which divides the logits at the end of the pipeline.
    void heat_row(double temperature) {
        temperature_ = temperature;
        is_own_ = true;
    }

    /// Keep only some places, given in ascending order.
    void keep(std::span<const Token> places) {
        look();
        if (given_total_) total_.reset();
        given_total_.reset();
        if (places.size() == numbers_.size()) return;
        if (is_weighed_ && weights_.data() == scratch_.weights.data()) {
            for (std::size_t i = 0; i < places.size(); ++i) scratch_.weights[i] = weights_[at(places[i])];
            weights_ = weights_.first(places.size());
        } else {
            is_weighed_ = false;
        }
        // Places ascend, so numbers that lie in this memory already can move to its front one by one.
        detail::grow(memory_.numbers, places.size());
        detail::grow(memory_.ids, places.size());
        for (std::size_t i = 0; i < places.size(); ++i) {
            memory_.numbers[i] = numbers_[at(places[i])];
            memory_.ids[i] = static_cast<Token>(id(places[i]));
        }
        numbers_ = {memory_.numbers.data(), places.size()};
        is_sparse_ = is_changed_ = true;
        maximum_.reset();
        total_.reset();
    }

    /// Return the numbers in the row's own memory, writable until any other member is called.
    /// @cost   one copy, at the first call
    std::span<Value> change() {
        look();
        const std::size_t size = numbers_.size();
        if (size == 0) return {};
        if (numbers_.data() != memory_.numbers.data()) {
            detail::grow(memory_.numbers, size);
            std::copy_n(numbers_.data(), size, memory_.numbers.data());
            numbers_ = {memory_.numbers.data(), size};
        }
        is_changed_ = true;
        is_weighed_ = false;
        maximum_.reset();
        total_.reset();
        return {memory_.numbers.data(), size};
    }

    /// Return the numbers as change() does, but as logits: probabilities become ln p. To add d to a logit at this point
    /// of a pipeline, add temperature() * d to its number.
    std::span<Value> change_logits() {
        const auto changed = change();
        if (kind_ == NumberKind::probabilities && !changed.empty()) {
            detail::take_logarithms(changed.data(), size(), changed.data());
            kind_ = NumberKind::logits;
        }
        return changed;
    }

    /// Return the number of an impossible token: -inf as a logit, 0 as a probability.
    Value impossible() const {
        return kind_ == NumberKind::logits ? -std::numeric_limits<Value>::infinity() : Value{0};
    }

    /// Return whether scratch().maxima still has the largest value of each tile of numbers(), from the first look at
    /// the row.
    bool has_maxima() const { return is_seen_ && !is_changed_; }

    /// Return scratch memory for shapers.
    detail::ShapingScratch<Value>& scratch() { return scratch_; }

    // The result, which the end of a pipeline reads.

    /// At temperature 0, keep only the largest number, the lowest id on ties.
    void choose() {
        if (!is_greedy()) return;
        const auto best = static_cast<Token>(peak());
        keep({&best, best < 0 ? 0u : 1u});
    }

    /// Return whether the row is known to be invalid, which the first look at the row shows.
    bool is_bad() const { return is_bad_; }

    /// Return whether the numbers are still those that were given and need no change at the end.
    bool is_as_given() const {
        return is_bad_ || (!is_changed_ && kind_ == NumberKind::probabilities && temperature_ == 1);
    }

    /// Return the final numbers, without a look at the row.
    std::span<const Value> left() const { return is_bad_ ? given_ : numbers_; }

  private:
    using Array = Eigen::Array<Value, Eigen::Dynamic, 1>;

    static std::size_t at(Index place) { return static_cast<std::size_t>(place); }
    Eigen::Map<Array> array(Value* memory) const { return {memory, std::ssize(numbers_)}; }
    Eigen::Map<const Array> array(const Value* memory) const { return {memory, std::ssize(numbers_)}; }

    void look() {
        if (is_seen_) return;
        is_seen_ = true;
        const auto seen = kind_ == NumberKind::logits
                              ? detail::scan_logits(numbers_, scratch_.maxima)
                              : detail::scan_probabilities(numbers_, tolerance_, scratch_.maxima);
        maximum_ = seen.maximum;
        is_bad_ = !seen.is_sound || detail::inspect_ids(ids(), vocab_, Side::target, 0);
        if (is_bad_) numbers_ = {};
    }

    /// Return the place of the largest number, -1 if no token is possible.
    Index peak() {
        const Index best = kernels::argmax(detail::Column<Value>(numbers().data(), size()));
        return best >= 0 && numbers_[at(best)] > impossible() ? best : -1;
    }

    void weigh() {
        is_weighed_ = true;
        total_.reset();
        if (kind_ == NumberKind::probabilities && temperature_ == 1) {
            weights_ = numbers_;
            return;
        }
        detail::grow(scratch_.weights, numbers_.size());
        weights_ = {scratch_.weights.data(), numbers_.size()};
        if (is_greedy()) {
            array(scratch_.weights.data()).setZero();
            if (const Index best = peak(); best >= 0) scratch_.weights[at(best)] = 1;
            return;
        }
        const Value* logits = numbers_.data();
        double pivot = maximum();
        if (kind_ == NumberKind::probabilities) {
            detail::take_logarithms(logits, size(), scratch_.weights.data());
            logits = scratch_.weights.data();
            pivot = detail::block_max(size(), logits);  // of the logarithms themselves
        }
        const auto power = detail::power_at<Value>(pivot, temperature_);
        array(scratch_.weights.data()) = array(logits).unaryExpr(detail::ByReference(power));
    }

    std::span<const Value> given_;
    std::span<const Value> numbers_;
    NumberKind kind_;
    Index vocab_;
    bool is_sparse_;
    double tolerance_;
    detail::ShapedNumbers<Value>& memory_;
    detail::ShapingScratch<Value>& scratch_;
    std::optional<double> given_total_;

    double temperature_ = 1;
    bool is_own_ = true;  ///< whether the temperature is the row's own
    bool is_seen_ = false;
    bool is_bad_ = false;
    bool is_changed_ = false;
    bool is_weighed_ = false;
    std::optional<double> maximum_;
    std::span<const Value> weights_;
    std::optional<double> total_;
};

}}}  // namespace specsample::filters
