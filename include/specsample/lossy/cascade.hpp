// Transforms that follow the draft where a test allows it, and the target elsewhere: speculative cascades, and fuzzy
// decoding.
//
// Narasimhan et al.: "Faster cascades via speculative decoding", ICLR 2025 (arXiv:2405.19261).
// Holsman et al.: "Fuzzy speculative decoding for a tunable accuracy-runtime tradeoff", 2025 (arXiv:2502.20704): Fuzzy.
//
//   rule      the whole position is deferred to the target if
//   Chow      max q < 1 - a                  the draft is not confident
//   Diff      max q < max p - a              the target is more confident by more than a
//   Opt       max q < max p - a TV(p, q)     the same, with a price on the expected rejections
//   Fuzzy     D(p, q) >= threshold           the two are far apart
//
//   rule      the draft keeps the ids x with
//   TokenV1   q(x) >= max p - a
//   TokenV2   p(x) >= max p - a
//   TokenV3   p(x) >= (1 - a) max p
//
// The first four have pi = q or pi = p. The token-wise rules have, with T the set of ids that the draft keeps,
//
//     pi = q 1_T + p q(not T)
//
// A larger a follows the draft more. At a = infinity nothing is deferred. At a = -infinity everything is deferred,
// which is lossless; a = 0 is not lossless. Each costs a few passes over both rows.
#pragma once

#include <specsample/core/number.hpp>
#include <specsample/kernels/entries.hpp>
#include <specsample/lossy/distribution.hpp>
#include <specsample/lossy/divergence.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

namespace detail {

inline void require_number(std::string_view where, double alpha) {
    require(!is_nan(alpha), where, "alpha", alpha, "a number");
}

/// Return p if the draft defers, else q.
template <class Q, class P>
auto deferred(bool defers, const Q& q, const P& p) {
    const double target = defers ? 1 : 0;
    return target * doubles(p) + (1 - target) * doubles(q);
}

/// Return q on the ids where `row` is at least `bar`, plus p times the mass of q on all other ids.
template <class Q, class P, class R>
auto tokenwise(const Q& q, const P& p, const R& row, double bar) {
    const auto target = doubles(p);
    const auto draft = doubles(q);
    const auto allowed = (doubles(row) >= bar).template cast<double>();
    const double left = ((1 - allowed) * draft).sum();
    return allowed * draft + left * target;
}

template <class R>
double largest(const R& row) {
    const Blocks numbers(as_row(row));
    return largest(numbers, 0, numbers.size());
}

}  // namespace detail

namespace lossy {

/// The cascade that defers to the target where the draft is not confident: max q < 1 - alpha.
/// @source Narasimhan et al. 2025, arXiv:2405.19261
struct Chow {
    double alpha = 0;  ///< any number; the larger, the more the draft writes

    void check() const { detail::require_number("Chow", alpha); }

    /// Return the row pi.
    template <RowLike Q, RowLike P>
    auto operator()(const Q& q, const P& p) const {
        return detail::deferred(detail::largest(q) < 1 - alpha, q, p);
    }
};

/// The cascade that defers to the target where p is more confident than q by more than alpha: max q < max p - alpha.
/// @source Narasimhan et al. 2025, arXiv:2405.19261
struct Diff {
    double alpha = 0;  ///< any number; the larger, the more the draft writes

    void check() const { detail::require_number("Diff", alpha); }

    /// Return the row pi.
    template <RowLike Q, RowLike P>
    auto operator()(const Q& q, const P& p) const {
        return detail::deferred(detail::largest(q) < detail::largest(p) - alpha, q, p);
    }
};

/// The cascade that defers where the confidence gained is worth the rejections: max q < max p - alpha TV(p, q).
/// @source Narasimhan et al. 2025, arXiv:2405.19261
struct Opt {
    double alpha = 0;  ///< any number; the larger, the more the draft writes

    void check() const { detail::require_number("Opt", alpha); }

    /// Return the row pi.
    /// @edge   p = q: alpha TV(p, q) counts as 0 for an infinite alpha too
    template <RowLike Q, RowLike P>
    auto operator()(const Q& q, const P& p) const {
        const double apart = TotalVariation{}(detail::doubles(p), detail::doubles(q));
        const double price = apart > 0 ? alpha * apart : 0;
        return detail::deferred(detail::largest(q) < detail::largest(p) - price, q, p);
    }
};

/// The token-wise cascade that keeps q on the ids with q(x) >= max p - alpha, and spreads the other mass as p.
/// @source Narasimhan et al. 2025, arXiv:2405.19261
struct TokenV1 {
    double alpha = 0;  ///< any number; the larger, the more the draft writes

    void check() const { detail::require_number("TokenV1", alpha); }

    /// Return the row pi.
    template <RowLike Q, RowLike P>
    auto operator()(const Q& q, const P& p) const {
        return detail::tokenwise(q, p, q, detail::largest(p) - alpha);
    }
};

/// The token-wise cascade that keeps q on the ids with p(x) >= max p - alpha, and spreads the other mass as p.
/// @source Narasimhan et al. 2025, arXiv:2405.19261
struct TokenV2 {
    double alpha = 0;  ///< any number; the larger, the more the draft writes

    void check() const { detail::require_number("TokenV2", alpha); }

    /// Return the row pi.
    template <RowLike Q, RowLike P>
    auto operator()(const Q& q, const P& p) const {
        return detail::tokenwise(q, p, p, detail::largest(p) - alpha);
    }
};

/// The token-wise cascade that keeps q on the ids with p(x) >= (1 - alpha) max p, and spreads the other mass as p.
/// @source Narasimhan et al. 2025, arXiv:2405.19261
struct TokenV3 {
    double alpha = 0;  ///< any number; the larger, the more the draft writes

    void check() const { detail::require_number("TokenV3", alpha); }

    /// Return the row pi.
    template <RowLike Q, RowLike P>
    auto operator()(const Q& q, const P& p) const {
        return detail::tokenwise(q, p, p, (1 - alpha) * detail::largest(p));
    }
};

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
    template <RowLike Q, RowLike P>
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
