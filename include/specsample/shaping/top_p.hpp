// Nucleus sampling.
//
// Holtzman et al.: "The curious case of neural text degeneration", ICLR 2020 (arXiv:1904.09751), section 3.1.
#pragma once

#include <algorithm>
#include <numeric>

#include <specsample/core/contract.hpp>
#include <specsample/shaping/scratch.hpp>

namespace specsample {

/// Keep the nucleus: the fewest most probable tokens whose probabilities sum to at least p, the one that reaches p
/// included, lower ids first among equals; renormalise them. p = 1 keeps everything.
class TopP {
  public:
    /// @throws std::invalid_argument unless 0 < top_p <= 1
    explicit TopP(double top_p) : top_p_(top_p) {
        detail::require(top_p > 0 && top_p <= 1, "TopP", "top_p", top_p, "in (0, 1]");
    }

    /// Shape a distribution in place. Sums in double, as in the order of a full sort.
    template <class Derived>
    void operator()(Eigen::ArrayBase<Derived>& probs, ShapingScratch& scratch) const {
        using Scalar = typename Derived::Scalar;
        if (top_p_ == 1) return;
        std::vector<Token>& ids = scratch.ids;
        ids.resize(static_cast<std::size_t>(probs.size()));
        std::iota(ids.begin(), ids.end(), Token{0});
        std::ranges::sort(ids, [&](Token a, Token b) {
            return probs.coeff(a) > probs.coeff(b) || (probs.coeff(a) == probs.coeff(b) && a < b);
        });
        double kept = 0;
        auto end = ids.begin();
        while (end != ids.end() && kept < top_p_) kept += static_cast<double>(probs.coeff(*end++));
        for (auto id = end; id != ids.end(); ++id) probs.coeffRef(*id) = Scalar{0};
        probs *= static_cast<Scalar>(1 / kept);
    }

  private:
    double top_p_;
};

}  // namespace specsample
