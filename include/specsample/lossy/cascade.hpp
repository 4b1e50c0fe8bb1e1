// Speculative cascades: the draft writes where it may, and defers to the target where it may not.
//
// Narasimhan et al.: "Faster cascades via speculative decoding", ICLR 2025 (arXiv:2405.19261).
//
//   Chow      defers where the draft is not sure:                  max q < 1 - a
//   Diff      where the target is surer, by more than a:           max q < max p - a
//   Opt       the same, a being the price of what they disagree:   max q < max p - a TV(p, q)
//   TokenV1   token by token: the draft writes the ids             q(x) >= max p - a
//   TokenV2                                                        p(x) >= max p - a
//   TokenV3                                                        p(x) >= (1 - a) max p
//
// The first three are pi = q or pi = p; the others, with T the ids that the draft may write,
//
//     pi = q 1_T + p q(not T)
//
// Larger a, more draft. Nothing is deferred at a = infinity, and all of it at a = -infinity, which is lossless; a = 0
// is not. Cost: a few passes.
#pragma once

#include <specsample/core/number.hpp>
#include <specsample/lossy/distribution.hpp>
#include <specsample/lossy/divergence.hpp>

namespace specsample {
namespace detail {

inline void require_number(std::string_view where, double alpha) {
    require(!is_nan(alpha), where, "alpha", alpha, "a number");
}

/// p where the draft defers, else q.
template <class Q, class P>
auto deferred(bool defers, const Q& q, const P& p) {
    const double target = defers ? 1 : 0;
    return target * doubles(p) + (1 - target) * doubles(q);
}

/// q where `row` reaches `bar`, and p in proportion to what that leaves.
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
    return doubles(row).maxCoeff();
}

}  // namespace detail

namespace lossy {

/// A cascade that asks the target where the draft is not sure: max q < 1 - alpha.
/// @source Narasimhan et al. 2025, arXiv:2405.19261
struct Chow {
    double alpha = 0;  ///< any number; the larger, the more the draft writes

    void check() const { detail::require_number("Chow", alpha); }

    template <Row Q, Row P>
    auto operator()(const Q& q, const P& p) const {
        return detail::deferred(detail::largest(q) < 1 - alpha, q, p);
    }
};

/// A cascade that asks the target where that is surer than the draft: max q < max p - alpha.
/// @source Narasimhan et al. 2025, arXiv:2405.19261
struct Diff {
    double alpha = 0;  ///< any number; the larger, the more the draft writes

    void check() const { detail::require_number("Diff", alpha); }

    template <Row Q, Row P>
    auto operator()(const Q& q, const P& p) const {
        return detail::deferred(detail::largest(q) < detail::largest(p) - alpha, q, p);
    }
};

/// A cascade that asks the target where the confidence gained pays for the rejections: max q < max p - alpha TV(p, q).
/// @source Narasimhan et al. 2025, arXiv:2405.19261
struct Opt {
    double alpha = 0;  ///< any number; the larger, the more the draft writes

    void check() const { detail::require_number("Opt", alpha); }

    /// @edge p = q costs nothing at any price: the same rows
    template <Row Q, Row P>
    auto operator()(const Q& q, const P& p) const {
        const double apart = TotalVariation{}(detail::doubles(p), detail::doubles(q));
        const double price = apart > 0 ? alpha * apart : 0;
        return detail::deferred(detail::largest(q) < detail::largest(p) - price, q, p);
    }
};

/// A cascade token by token: the draft writes the ids with q(x) >= max p - alpha, and the target shares out the rest.
/// @source Narasimhan et al. 2025, arXiv:2405.19261
struct TokenV1 {
    double alpha = 0;  ///< any number; the larger, the more the draft writes

    void check() const { detail::require_number("TokenV1", alpha); }

    template <Row Q, Row P>
    auto operator()(const Q& q, const P& p) const {
        return detail::tokenwise(q, p, q, detail::largest(p) - alpha);
    }
};

/// A cascade token by token: the draft writes the ids with p(x) >= max p - alpha, and the target shares out the rest.
/// @source Narasimhan et al. 2025, arXiv:2405.19261
struct TokenV2 {
    double alpha = 0;  ///< any number; the larger, the more the draft writes

    void check() const { detail::require_number("TokenV2", alpha); }

    template <Row Q, Row P>
    auto operator()(const Q& q, const P& p) const {
        return detail::tokenwise(q, p, p, detail::largest(p) - alpha);
    }
};

/// A cascade token by token: the draft writes the ids with p(x) >= (1 - alpha) max p, and the target shares out the
/// rest.
/// @source Narasimhan et al. 2025, arXiv:2405.19261
struct TokenV3 {
    double alpha = 0;  ///< any number; the larger, the more the draft writes

    void check() const { detail::require_number("TokenV3", alpha); }

    template <Row Q, Row P>
    auto operator()(const Q& q, const P& p) const {
        return detail::tokenwise(q, p, p, (1 - alpha) * detail::largest(p));
    }
};
}  // namespace lossy

}  // namespace specsample
