// Token verification with an acceptance probability other than the exact min(1, s/Q).
#pragma once

#include <specsample/verify/token.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace lossy {

/// A node whose children are accepted with a probability computed from the exact s/Q. A rejection leaves max(0, s -
/// taken Q), which is the residual of the exact rule if taken = 1.
template <class T, class Chance>
class RelaxedTarget : public walks::ResidualTarget<T> {
  public:
    RelaxedTarget(const T& context, Index node, const Chance& chance, double taken)
        : walks::ResidualTarget<T>(context, node), chance_(chance), taken_(taken) {}

    walks::Ratio ratio(Index child) {
        this->weigh(child);
        return chance_(walks::ResidualTarget<T>::ratio(child));
    }

    void reject(Index child) {
        walks::ResidualTarget<T>::reject(child);
        this->context().state(child).factor *= taken_;
    }

  private:
    const Chance& chance_;
    double taken_;
};

/// Walk top-down with an acceptance probability other than the exact min(1, s/Q).
///
/// @param context   the round
/// @param chance    chance(Ratio) -> Ratio: turns the exact s/Q into the ratio that decides
/// @param taken     the factor on a rejected child's distribution when it is subtracted
/// @draws           as TokenVerification: one accept draw per child tried, one last-token draw
/// @cost            the cost of TokenVerification, plus one pass for each row of probabilities whose sum is not known
template <class T, class Chance>
Outcome top_down_relaxed(const T& context, const Chance& chance, double taken = 1) {
    return walks::top_down(context, [&](Index node) { return RelaxedTarget<T, Chance>(context, node, chance, taken); });
}

}  // namespace lossy

}}  // namespace specsample
