// Fuzzy speculative decoding: where draft and target are close, the draft is as good as the target.
//
// Holsman et al.: "Fuzzy speculative decoding for a tunable accuracy-runtime tradeoff", 2025 (arXiv:2502.20704).
#pragma once

#include <specsample/lossy/distribution.hpp>
#include <specsample/lossy/divergence.hpp>

namespace specsample {

namespace lossy {

/// The transform
///
///     pi = q   if D(p, q) < threshold,   else p
///
/// In front of a ratio rule this is the variant that still accepts with min(1, p/q) where the rows are far apart: the
/// same distribution as drawing from p there, and more accepted.
///
/// @param threshold    >= 0, infinity for always; 0 is lossless
/// @param divergence   any of divergence.hpp, or a callable of two arrays
/// @cost               a pass for D
template <class Divergence = JensenShannon>
struct Fuzzy {
    double threshold = 0;
    Divergence divergence{};

    void check() const { detail::require(threshold >= 0, "Fuzzy", "threshold", threshold, "at least 0"); }

    template <Row Q, Row P>
    auto operator()(const Q& q, const P& p) const {
        const auto target = detail::doubles(p);
        const auto draft = detail::doubles(q);
        const double trust = divergence(target, draft) < threshold ? 1 : 0;
        return trust * draft + (1 - trust) * target;
    }
};

Fuzzy(double) -> Fuzzy<>;
template <class Divergence>
Fuzzy(double, Divergence) -> Fuzzy<Divergence>;
}  // namespace lossy

}  // namespace specsample
