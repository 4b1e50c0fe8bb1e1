// What a pipeline works on: the tokens that are still possible after a prefix, with a number each.
//
//   Candidates   the numbers and their ids; dense until the first filter, afterwards only what is left
//
// A Shaper (concepts.hpp) is a callable of them and of the prefix: shaper(row, context).
//
// Nothing is computed that no shaper asks for. A temperature waits beside the numbers, for all but two filters can work
// with it unapplied; probabilities are made of the candidates that are left by then. Numbers are the model's own memory
// for as long as nobody changes them.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>
#include <optional>
#include <span>

#include <specsample/concepts.hpp>
#include <specsample/kernels/inspect.hpp>
#include <specsample/kernels/logits.hpp>
#include <specsample/shaping/memory.hpp>
#include <specsample/shaping/scan.hpp>

namespace specsample {

namespace filters {

/// What the numbers of a row are.
enum class NumberKind { probabilities, logits };

/// A row on its way through a pipeline. Numbers have places 0 .. size() - 1, in the order of their ids.
///
/// A row that cannot be one (a NaN, +inf, a negative probability, a sum that is not 1) has no candidates for anybody to
/// work on, and comes out as it went in: its fault names what the model returned.
///
/// @tparam Value   float or double
template <std::floating_point Value>
class Candidates {
  public:
    /// Weights of the candidates, and their sum.
    struct Weighed {
        std::span<const Value> values;
        double total = 0;
    };

    /// @param numbers     borrowed; in memory.numbers where they are not the model's own
    /// @param is_sparse   do they belong to memory.ids, or to every id?
    /// @param tolerance   how far from 1 the sum of probabilities may be
    Candidates(std::span<const Value> numbers, NumberKind kind, Index vocab, bool is_sparse, double tolerance,
               detail::ShapedNumbers<Value>& memory, detail::ShapingScratch<Value>& scratch)
        : given_(numbers),
          numbers_(numbers),
          kind_(kind),
          vocab_(vocab),
          is_sparse_(is_sparse),
          tolerance_(tolerance),
          memory_(memory),
          scratch_(scratch) {}

    Index vocab() const { return vocab_; }
    bool holds_every_id() const { return !is_sparse_; }
    NumberKind kind() const { return kind_; }

    /// The temperature that is still to be applied to the numbers.
    double temperature() const { return temperature_; }

    /// How many candidates are left.
    Index size() { return std::ssize(numbers()); }

    /// Their numbers, by place, valid until the next change.
    /// @cost   a pass over the row when it is asked for first
    std::span<const Value> numbers() {
        look();
        return numbers_;
    }

    /// The id at a place, and the place of an id, -1 for one that is not there.
    Index id(Index place) const { return is_sparse_ ? memory_.ids[static_cast<std::size_t>(place)] : place; }
    Index place_of(Index id) { return id < 0 || id >= vocab_ || size() == 0 ? -1 : ids().place_of(id); }

    detail::IdList<Token> ids() const {
        return is_sparse_ ? detail::IdList<Token>(memory_.ids.data(), std::ssize(left()), 1) : detail::IdList<Token>();
    }

    /// The largest number, -inf if there is none.
    double maximum() {
        look();
        if (!maximum_) maximum_ = detail::largest(detail::Blocks(view()), 0, size());
        return *maximum_;
    }

    /// What the candidates weigh, the temperature applied: probabilities, not normalised.
    /// @cost   O(size): an exponential each, and a logarithm for probabilities at a temperature
    Weighed weights() {
        look();
        if (!is_weighed_) weigh();
        if (!total_) total_ = detail::wide_sum(weights_.data(), std::ssize(weights_));
        return {weights_, *total_};
    }

    /// Their probabilities, normalised over what is left; none where they add up to nothing.
    std::span<const Value> probabilities() {
        const auto [values, total] = weights();
        if (!detail::is_positive(total)) return {};
        detail::grow(scratch_.weights, values.size());
        array(scratch_.weights.data()) = array(values.data()) * static_cast<Value>(1 / total);
        weights_ = {scratch_.weights.data(), values.size()};
        total_.reset();
        return weights_;
    }

    /// Divide what the numbers mean by a temperature > 0; 0 keeps the largest alone, the lowest id on ties.
    void heat(double temperature) {
        if (temperature == 1) return;
        if (temperature == 0) {
            const auto best = static_cast<Token>(kernels::argmax(detail::Column<Value>(numbers().data(), size())));
            keep({&best, best < 0 ? 0u : 1u});
            temperature_ = 1;
        } else {
            temperature_ = std::clamp(temperature_ * temperature, std::numeric_limits<double>::denorm_min(),
                                      std::numeric_limits<double>::max());
        }
        is_weighed_ = false;
    }

    /// Keep some places only, given in ascending order.
    void keep(std::span<const Token> places) {
        look();
        if (places.size() == numbers_.size()) return;
        if (is_weighed_ && weights_.data() == scratch_.weights.data()) {
            for (std::size_t i = 0; i < places.size(); ++i) scratch_.weights[i] = weights_[at(places[i])];
            weights_ = weights_.first(places.size());
        } else {
            is_weighed_ = false;
        }
        // What is kept moves to the front of where it was, if that is here.
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

    /// The numbers, to be changed, until the next call of anything else: in memory of the row's own.
    /// @cost   a copy, once
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

    /// The same as logits; ln p where they were probabilities. To add d to a logit at this point of a pipeline is to
    /// add temperature() * d to its number.
    std::span<Value> change_logits() {
        const auto changed = change();
        if (kind_ == NumberKind::probabilities && !changed.empty()) {
            array(changed.data()) = array(changed.data()).log();
            kind_ = NumberKind::logits;
        }
        return changed;
    }

    /// The number of what is impossible.
    Value impossible() const {
        return kind_ == NumberKind::logits ? -std::numeric_limits<Value>::infinity() : Value{0};
    }

    /// Does scratch().maxima have the largest values of the tiles of numbers()? The first look leaves them.
    bool has_maxima() const { return is_seen_ && !is_changed_; }

    /// Memory for shapers.
    detail::ShapingScratch<Value>& scratch() { return scratch_; }

    // What the row is made of in the end.

    /// Is it, as far as anybody has looked, no row?
    bool is_bad() const { return is_bad_; }

    /// Are these the probabilities that were given?
    bool is_as_given() const {
        return is_bad_ || (!is_changed_ && kind_ == NumberKind::probabilities && temperature_ == 1);
    }

    /// The numbers that it ends with, without a look at them.
    std::span<const Value> left() const { return is_bad_ ? given_ : numbers_; }

  private:
    using Array = Eigen::Array<Value, Eigen::Dynamic, 1>;

    static std::size_t at(Index place) { return static_cast<std::size_t>(place); }
    detail::Column<Value> view() const { return {numbers_.data(), std::ssize(numbers_)}; }
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

    void weigh() {
        is_weighed_ = true;
        total_.reset();
        if (kind_ == NumberKind::probabilities && temperature_ == 1) {
            weights_ = numbers_;
            return;
        }
        detail::grow(scratch_.weights, numbers_.size());
        weights_ = {scratch_.weights.data(), numbers_.size()};
        const Value* logits = numbers_.data();
        double pivot = maximum();
        if (kind_ == NumberKind::probabilities) {
            array(scratch_.weights.data()) = array(logits).log();
            logits = scratch_.weights.data();
            pivot = detail::largest(detail::Blocks(detail::Column<Value>(logits, size())), 0, size());  // to the bit
        }
        const detail::ScaledExp2<Value> power(static_cast<Value>(detail::is_finite(pivot) ? pivot : 0),
                                              static_cast<Value>(detail::exponent_scale<Value>(temperature_)));
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

    double temperature_ = 1;
    bool is_seen_ = false;
    bool is_bad_ = false;
    bool is_changed_ = false;
    bool is_weighed_ = false;
    std::optional<double> maximum_;
    std::span<const Value> weights_;
    std::optional<double> total_;
};
}  // namespace filters

}  // namespace specsample
