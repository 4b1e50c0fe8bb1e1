// Fuzzy speculative decoding: the draft's row replaces the target's where the two are close.
//
// Holsman et al.: "Fuzzy speculative decoding for a tunable accuracy-runtime tradeoff", 2025 (arXiv:2502.20704).
#pragma once

#include <specsample/lossy/distribution.hpp>
#include <specsample/lossy/divergence.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace lossy {

/// The transform that takes the draft's row wherever it is close to the target's:
///
///     pi = q   if D(p, q) < threshold,   else p
///
/// Where the rows are far apart, `Transformed` still accepts a token with probability min(1, p/q). The output
/// distribution there is p, as if every token were drawn from p, but more tokens are accepted.
///
/// @param threshold    >= 0; 0 is lossless, infinity always takes q
/// @param divergence   a type of divergence.hpp, or a callable (p, q) of two arrays
/// @cost               one evaluation of D
/// @source             Holsman et al. 2025, arXiv:2502.20704
template <class Divergence = JensenShannon>
struct Fuzzy {
    double threshold = 0;
    Divergence divergence{};

    void check() const { detail::require(threshold >= 0, "Fuzzy", "threshold", threshold, "at least 0"); }

    /// Return the row pi.
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

}}  // namespace specsample
