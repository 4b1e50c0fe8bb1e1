// Penalties and masks that a row's numbers wait for.
//
// They only lower logits. So the k largest logits are among those that are large before, and nothing else of the row
// has to be changed for a top-k: the row stays where it lies. Where a step needs all numbers, they are copied and
// lowered together.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <specsample/core/eigen.hpp>
#include <specsample/core/number.hpp>
#include <specsample/shaping/mask_bits.hpp>
#include <specsample/shaping/token_counts.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

/// Return a logit after change(logit); -inf stays. A result too large for the row's scalar is clamped to a finite
/// number that leaves room for a temperature: the token stays possible, and the row valid.
template <std::floating_point Value, class Change>
Value changed_logit(Value logit, const Change& change) {
    const auto z = static_cast<double>(logit);
    const double most = std::max(double{std::numeric_limits<Value>::max()} * 0x1p-20, std::abs(z));
    return is_finite(z) ? static_cast<Value>(std::clamp<double>(change(z), -most, most)) : logit;
}

/// A penalty on a token that a window has.
struct Penalty {
    enum class Kind { repetition, frequency, presence, growing };

    Kind kind;
    double amount;
    double temperature;  ///< by which the logit has been divided
    double base = 1;     ///< growing: the factor of each count
    Index first = 0;     ///< growing: the count that is lowered by `amount`

    /// Return whether the penalty raises no logit.
    bool only_lowers() const { return amount >= (kind == Kind::repetition ? 1 : 0); }

    /// Return the new logit of a token that the window has `count` times.
    double operator()(double z, Index count) const {
        if (kind == Kind::repetition) return z > 0 ? z / amount : z * amount;
        return z + rounded(temperature * (-amount * times(count)));
    }

  private:
    double times(Index count) const {
        if (kind == Kind::growing) return std::min(std::pow(base, static_cast<double>(count - first)), 1e30);
        return kind == Kind::frequency ? static_cast<double>(count) : 1;
    }
};

/// What a row's numbers wait for: penalties in order, and one mask, which may come before or after them.
template <std::floating_point Value>
class Lowerings {
  public:
    bool empty() const { return penalties_.empty() && allowed_.empty(); }
    void clear() { penalties_.clear(), allowed_.clear(); }

    /// Add a penalty on the tokens of a window, given by the place of its counts.
    void add(std::size_t window, const Penalty& penalty) { penalties_.push_back({window, penalty}); }

    /// Give the tokens that a mask forbids the number of an impossible token.
    /// @param share   the share of the tokens that the mask allows
    void forbid(const MaskBits& mask, double share, Value impossible) {
        if (allowed_.empty()) allowed_.assign(static_cast<std::size_t>(mask.word_count()), ~std::uint32_t{0});
        mask.forbid_in(allowed_);
        share_ = share;
        impossible_ = impossible;
    }

    /// Give one token the number of an impossible token.
    void forbid(Token token, Index vocab, Value impossible) {
        if (allowed_.empty()) {
            allowed_.assign(static_cast<std::size_t>(MaskBits({}, vocab).word_count()), ~std::uint32_t{0});
            share_ = 1;
        }
        allowed_[static_cast<std::size_t>(token) / MaskBits::width] &= ~(std::uint32_t{1} << token % MaskBits::width);
        impossible_ = impossible;
    }

    /// Return how many of the k largest numbers may be expected to be lowered so far that others take their places.
    std::size_t expected(Index k) const {
        constexpr double penalised = 16;  // a text has often the tokens of the largest logits
        const double forbidden = allowed_.empty() ? 0 : static_cast<double>(k) * (1 / share_ - 1);
        return empty() ? 0 : static_cast<std::size_t>(penalised + forbidden);
    }

    /// Return the number of one token.
    Value lowered(Token id, Value number, const WindowCounts& windows) const {
        const auto at = static_cast<std::size_t>(id);
        if (!allowed_.empty() && (allowed_[at / MaskBits::width] >> at % MaskBits::width & 1) == 0) return impossible_;
        for (const auto& [window, penalty] : penalties_)
            if (const Index count = windows[window][id]; count > 0) number = after(penalty, number, count);
        return number;
    }

    /// Write the numbers of all tokens; `to` may be where they are.
    /// @cost   one pass, and O(1) per token of a window
    void apply(std::span<const Value> numbers, const WindowCounts& windows, Value* to) const {
        if (!allowed_.empty()) {
            copy_allowed(numbers, to);
        } else if (numbers.data() != to) {
            std::copy(numbers.begin(), numbers.end(), to);
        }
        for (const auto& [window, penalty] : penalties_)
            windows[window].for_each([&, by = penalty](Token id, Index count) {
                if (id < std::ssize(numbers)) to[id] = after(by, to[id], count);
            });
    }

  private:
    static Value after(const Penalty& penalty, Value number, Index count) {
        return changed_logit(number, [&](double z) { return penalty(z, count); });
    }

    void copy_allowed(std::span<const Value> numbers, Value* to) const {
        constexpr std::size_t width = MaskBits::width;
        for (std::size_t first = 0; first < numbers.size(); first += width)
            blend(allowed_[first / width], numbers.subspan(first, std::min(width, numbers.size() - first)), to + first);
    }

    /// Write at most 32 numbers where their bits are set, and that of an impossible token elsewhere.
    void blend(std::uint32_t bits, std::span<const Value> numbers, Value* to) const {
#ifdef EIGEN_VECTORIZE_AVX512
        if constexpr (std::is_same_v<Value, float>) {
            if (numbers.size() == MaskBits::width) {
                const __m512 other = _mm512_set1_ps(impossible_);
                for (int i = 0; i < MaskBits::width; i += 16, bits >>= 16)
                    _mm512_storeu_ps(to + i, _mm512_mask_blend_ps(static_cast<__mmask16>(bits), other,
                                                                  _mm512_loadu_ps(numbers.data() + i)));
                return;
            }
        }
#endif
        for (std::size_t i = 0; i < numbers.size(); ++i) to[i] = bits >> i & 1 ? numbers[i] : impossible_;
    }

    std::vector<std::pair<std::size_t, Penalty>> penalties_;  ///< in order, each with the place of its window's counts
    std::vector<std::uint32_t> allowed_;                      ///< empty if there is no mask
    double share_ = 1;                                        ///< of the tokens that are allowed
    Value impossible_ = 0;
};

}}}  // namespace specsample::detail
