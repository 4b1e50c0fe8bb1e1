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
// A larger a follows the draft more.
#pragma once

#include <cstddef>
#include <string_view>

#include <specsample/core/number.hpp>
#include <specsample/kernels/entries.hpp>
#include <specsample/lossy/distribution.hpp>
#include <specsample/lossy/divergence.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

namespace detail {

/// Return `draft` where `trust` is true, else `target`.
template <class Q, class P>
auto chosen(bool trust, const Q& draft, const P& target) {
    const double share = trust ? 1 : 0;
    return share * draft + (1 - share) * target;
}

template <class R>
double largest(const R& row) {
    const Blocks numbers(as_row(row));
    return largest(numbers, 0, numbers.size());
}

enum class CascadeKind { chow, diff, opt, token_v1, token_v2, token_v3 };
inline constexpr std::string_view cascade_names[] = {"Chow", "Diff", "Opt", "TokenV1", "TokenV2", "TokenV3"};

}  // namespace detail

namespace lossy {

/// A cascade by its name below.
///
/// @param alpha   any number; the larger, the more the draft writes. At infinity nothing is deferred; at -infinity
///                everything is, which is lossless, as no other number is
/// @edge          p = q: alpha TV(p, q) counts as 0 for an infinite alpha too
/// @cost          a few passes over both rows
/// @source        Narasimhan et al. 2025, arXiv:2405.19261
template <detail::CascadeKind kind>
struct Cascade {
    double alpha = 0;

    void check() const {
        detail::require(!detail::is_nan(alpha), detail::cascade_names[static_cast<std::size_t>(kind)], "alpha", alpha,
                        "a number");
    }

    /// Return the row pi.
    template <RowLike Q, RowLike P>
    auto operator()(const Q& q, const P& p) const {
        using detail::CascadeKind;
        const auto draft = detail::doubles(q);
        const auto target = detail::doubles(p);
        if constexpr (kind == CascadeKind::chow || kind == CascadeKind::diff || kind == CascadeKind::opt) {
            return detail::chosen(detail::largest(q) >= least_confidence(q, p), draft, target);
        } else {
            const auto kept = (judged(draft, target) >= least(p)).template cast<double>();
            const double left = ((1 - kept) * draft).sum();
            return kept * draft + left * target;
        }
    }

  private:
    /// Return what max q must reach for the draft to write the position.
    template <class Q, class P>
    double least_confidence(const Q& q, const P& p) const {
        if constexpr (kind == detail::CascadeKind::chow) {
            return 1 - alpha;
        } else if constexpr (kind == detail::CascadeKind::diff) {
            return detail::largest(p) - alpha;
        } else {
            const double apart = TotalVariation{}(detail::doubles(p), detail::doubles(q));
            return detail::largest(p) - (apart > 0 ? alpha * apart : 0);
        }
    }

    /// Return the row whose entries decide, token by token, whether the draft writes.
    template <class Q, class P>
    static const auto& judged(const Q& q, const P& p) {
        if constexpr (kind == detail::CascadeKind::token_v1)
            return q;
        else
            return p;
    }
    template <class P>
    double least(const P& p) const {
        const double most = detail::largest(p);
        return kind == detail::CascadeKind::token_v3 ? (1 - alpha) * most : most - alpha;
    }
};

/// Defers to the target where the draft is not confident: max q < 1 - alpha.
using Chow = Cascade<detail::CascadeKind::chow>;
/// Defers where p is more confident than q by more than alpha: max q < max p - alpha.
using Diff = Cascade<detail::CascadeKind::diff>;
/// Defers where the confidence gained is worth the rejections: max q < max p - alpha TV(p, q).
using Opt = Cascade<detail::CascadeKind::opt>;
/// Keeps q on the ids with q(x) >= max p - alpha, and spreads the other mass as p.
using TokenV1 = Cascade<detail::CascadeKind::token_v1>;
/// Keeps q on the ids with p(x) >= max p - alpha, and spreads the other mass as p.
using TokenV2 = Cascade<detail::CascadeKind::token_v2>;
/// Keeps q on the ids with p(x) >= (1 - alpha) max p, and spreads the other mass as p.
using TokenV3 = Cascade<detail::CascadeKind::token_v3>;

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
        return detail::chosen(divergence(target, draft) < threshold, draft, target);
    }
};

Fuzzy(double) -> Fuzzy<>;
template <class Divergence>
Fuzzy(double, Divergence) -> Fuzzy<Divergence>;

}  // namespace lossy

}}  // namespace specsample
