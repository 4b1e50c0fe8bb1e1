// A random source over a generator that an engine already owns: any std::uniform_random_bit_generator. The header random
// of the standard library, which is heavy, is not needed.
#pragma once

#include <concepts>
#include <functional>
#include <type_traits>

#include <specsample/kernels/draw.hpp>
#include <specsample/random/address.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

namespace detail {

/// The standard's uniform random bit generators.
template <class G>
concept BitGenerator = std::invocable<G&> && std::unsigned_integral<std::invoke_result_t<G&>> && requires {
    { G::min() } -> std::same_as<std::invoke_result_t<G&>>;
    { G::max() } -> std::same_as<std::invoke_result_t<G&>>;
};

}  // namespace detail

/// A random source over a generator that the caller owns. Addresses are ignored, so the text of a request depends on
/// the numbers that were taken before it.
/// @cost   every random draw (a drafted token, an acceptance, a last token, a token of a match rule) takes `draws`
///         numbers from the generator: 1 from a 64-bit one, 2 from a 32-bit one
template <detail::BitGenerator Generator>
class GeneratorRng {
  public:
    /// Numbers taken per random draw: as many as hold 53 bits.
    static constexpr int draws = [] {
        int count = 0;
        const double range = static_cast<double>(Generator::max() - Generator::min()) + 1;
        for (double values = 1; values < 0x1p53; values *= range) ++count;
        return count;
    }();

    /// @param generator   borrowed
    explicit GeneratorRng(Generator& generator) noexcept : generator_(&generator) {}

    /// Return the source itself, because addresses are ignored.
    GeneratorRng at(Purpose, Index) const noexcept { return *this; }
    GeneratorRng split(Index) const noexcept { return *this; }

    /// Return a uniform number in [0, 1).
    double uniform() const {
        const double range = static_cast<double>(Generator::max() - Generator::min()) + 1;
        double u = 0;
        for (int i = 0; i < draws; ++i) u = (u + static_cast<double>((*generator_)() - Generator::min())) / range;
        return u < 1 ? u : 1 - 0x1p-53;  // the sum may round up to 1
    }

    // An acceptance takes its numbers even where it is certain. So the counts of a round of TokenVerification on a
    // chain tell how many numbers the round took: one draw per evaluated token, and one for a last token. Where a
    // predicate has cut the round, the tokens that it cut may have taken numbers as well; and other rules may draw
    // more, or less, than they count.
    bool accept(double s, double q) const { return detail::is_accepted(uniform(), s, q); }
    template <kernels::Weights W>
    kernels::Drawn draw(const W& weights) const {
        const double u = uniform();
        return kernels::draw_index(weights, [u] { return u; });
    }

  private:
    Generator* generator_;
};

}}  // namespace specsample
