// The numbers of a row in a pipeline: where they lie, what they wait for, and the largest of them.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <specsample/core/eigen.hpp>
#include <specsample/core/ids.hpp>
#include <specsample/kernels/argmax.hpp>
#include <specsample/kernels/inspect.hpp>
#include <specsample/kernels/logarithm.hpp>
#include <specsample/kernels/select_above.hpp>
#include <specsample/shaping/lowering.hpp>
#include <specsample/shaping/memory.hpp>
#include <specsample/shaping/scan.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

namespace filters {

/// The kind of a row's numbers.
enum class NumberKind { probabilities, logits };

}  // namespace filters

namespace detail {

using filters::NumberKind;

/// The numbers of the tokens that are still possible. They stay in the model's own memory until all of them change.
template <std::floating_point Value>
class CandidateNumbers {
  public:
    CandidateNumbers(std::span<const Value> numbers, NumberKind kind, Index vocab, bool is_sparse, double tolerance,
                     ShapedNumbers<Value>& memory, ShapingScratch<Value>& scratch)
        : given_(numbers),
          numbers_(numbers),
          kind_(kind),
          vocab_(vocab),
          is_sparse_(is_sparse),
          tolerance_(tolerance),
          memory_(memory),
          scratch_(scratch) {
        scratch.windows.begin();
        scratch.lowerings.clear();
    }

    Index vocab() const { return vocab_; }
    bool holds_every_id() const { return !is_sparse_; }
    NumberKind kind() const { return kind_; }

    /// Return how many leading tokens of the context are the prompt; 0 where nobody has told.
    Index prompt_size() const { return scratch_.prompt_size; }

    /// Return the number of candidates left.
    Index size() {
        look();
        return std::ssize(numbers_);
    }

    /// Return the candidates' numbers by place, valid until the next change.
    /// @cost   a pass over the row at the first call
    std::span<const Value> numbers() {
        settle();
        return numbers_;
    }

    /// Return the id at a place. place_of(id) returns the place of an id, or -1 if it is no candidate.
    Index id(Index place) const { return is_sparse_ ? memory_.ids[static_cast<std::size_t>(place)] : place; }
    Index place_of(Index id) { return id < 0 || id >= vocab_ || size() == 0 ? -1 : ids().place_of(id); }

    /// Return the candidates' ids, by place.
    IdList<Token> ids() const {
        return is_sparse_ ? IdList<Token>(memory_.ids.data(), std::ssize(left()), 1) : IdList<Token>();
    }

    /// Return the largest number; -inf if there is no candidate.
    double maximum() {
        settle();
        if (!maximum_) maximum_ = block_max(std::ssize(maxima()), maxima().data());
        return *maximum_;
    }

    /// Let a penalty on the tokens of a window wait until the numbers are needed.
    /// @param window   the place of its counts in scratch().windows
    /// @returns        whether it waits; otherwise it is to be applied now
    bool lower(std::size_t window, const Penalty& penalty) {
        if (is_sparse_ || kind_ != NumberKind::logits) return false;
        if (size() > 0) scratch_.lowerings.add(window, penalty), forget();
        return true;
    }
    /// Make the tokens impossible that a mask forbids, in a row that holds every id.
    /// @param share   the share of the tokens that the mask allows
    void forbid(const MaskBits& mask, double share) {
        if (size() > 0) scratch_.lowerings.forbid(mask, share, impossible()), forget();
    }

    /// Make a token impossible, if it is a candidate.
    void forbid(Token token) {
        const Index place = place_of(token);
        if (place < 0) return;
        if (is_sparse_)
            change()[at(place)] = impossible();
        else
            scratch_.lowerings.forbid(token, vocab_, impossible()), forget();
    }

    /// Return the numbers in the row's own memory, writable until any other member is called.
    /// @cost   one copy, at the first call
    std::span<Value> change() {
        settle();
        const std::size_t size = numbers_.size();
        if (size == 0) return {};
        if (numbers_.data() != memory_.numbers.data()) {
            grow(memory_.numbers, size);
            std::copy_n(numbers_.data(), size, memory_.numbers.data());
            numbers_ = {memory_.numbers.data(), size};
        }
        forget();
        has_maxima_ = false;
        return {memory_.numbers.data(), size};
    }

    /// Return the numbers as change() does, but as logits: probabilities become ln p. To add d to a logit at this point
    /// of a pipeline, add temperature() * d to its number.
    std::span<Value> change_logits() {
        const auto changed = change();
        if (kind_ == NumberKind::probabilities && !changed.empty()) {
            take_logarithms(changed.data(), size(), changed.data());
            kind_ = NumberKind::logits;
        }
        return changed;
    }

    /// Return the number of an impossible token: -inf as a logit, 0 as a probability.
    Value impossible() const {
        return kind_ == NumberKind::logits ? -std::numeric_limits<Value>::infinity() : Value{0};
    }

    /// Return scratch memory for shapers.
    ShapingScratch<Value>& scratch() { return scratch_; }

    /// Return whether the row is known to be invalid, which the first look at the row shows.
    bool is_bad() const { return is_bad_; }

    /// Return the final numbers, without a look at the row.
    std::span<const Value> left() const { return is_bad_ ? given_ : numbers_; }

  protected:
    /// Return the numbers without what they wait for. lowered(place) returns one with it.
    std::span<const Value> waiting() {
        look();
        return numbers_;
    }

    /// Return the largest value of each tile of the numbers, without what they wait for.
    const std::vector<Value>& maxima() {
        if (!std::exchange(has_maxima_, true)) tile_maxima(numbers_, scratch_.maxima);
        return scratch_.maxima;
    }

    /// Return how often the numbers have changed.
    Index changes() const { return changes_; }

    /// Return the number at a place, after what it waits for.
    Value lowered(Token place) const {
        const Value number = numbers_[at(place)];
        return scratch_.lowerings.empty() ? number : scratch_.lowerings.lowered(place, number, scratch_.windows);
    }

    /// Look at the row, and write the numbers that wait for penalties or a mask.
    void settle() {
        look();
        settle_waiting();
    }
    void settle_waiting() {
        if (scratch_.lowerings.empty()) return;
        grow(memory_.numbers, numbers_.size());
        scratch_.lowerings.apply(numbers_, scratch_.windows, memory_.numbers.data());
        scratch_.lowerings.clear();
        numbers_ = {memory_.numbers.data(), numbers_.size()};
        has_maxima_ = false;
    }

    /// Forget what followed from the numbers: they change.
    void forget() {
        ++changes_;
        maximum_.reset();
    }

    void look() {
        if (is_seen_) return;
        is_seen_ = has_maxima_ = true;
        const auto seen = kind_ == NumberKind::logits ? scan_logits(numbers_, scratch_.maxima)
                                                      : scan_probabilities(numbers_, tolerance_, scratch_.maxima);
        maximum_ = seen.maximum;
        is_bad_ = !seen.is_sound || inspect_ids(ids(), vocab_, Side::target, 0);
        if (is_bad_) numbers_ = {};
    }

    /// Return the place of the largest number, -1 if no token is possible.
    Index peak() {
        const Index best = kernels::argmax(Column<Value>(numbers().data(), size()));
        return best >= 0 && numbers_[at(best)] > impossible() ? best : -1;
    }

    /// Keep some of the places.
    void take(std::span<const Token> places) {
        // Places ascend, so numbers that lie in this memory already can move to its front one by one.
        grow(memory_.numbers, places.size());
        grow(memory_.ids, places.size());
        for (std::size_t i = 0; i < places.size(); ++i) {
            memory_.numbers[i] = lowered(places[i]);
            memory_.ids[i] = static_cast<Token>(id(places[i]));
        }
        numbers_ = {memory_.numbers.data(), places.size()};
        scratch_.lowerings.clear();
        is_sparse_ = true;
        has_maxima_ = false;
        forget();
    }

  private:
    static std::size_t at(Index place) { return static_cast<std::size_t>(place); }

    std::span<const Value> given_;
    std::span<const Value> numbers_;
    NumberKind kind_;
    Index vocab_;
    bool is_sparse_;
    double tolerance_;
    ShapedNumbers<Value>& memory_;
    ShapingScratch<Value>& scratch_;

    bool is_seen_ = false;
    bool is_bad_ = false;
    bool has_maxima_ = false;
    Index changes_ = 0;
    std::optional<double> maximum_;
};

}  // namespace detail

}}  // namespace specsample
