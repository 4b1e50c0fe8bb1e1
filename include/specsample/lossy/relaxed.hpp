// A ratio rule with another chance of acceptance than min(1, s/Q).
#pragma once

#include <specsample/verify/top_down.hpp>

namespace specsample {

namespace lossy {

/// A node whose children are accepted with chance(min(1, s/Q)) instead. What a rejection leaves is what it would be
/// under the exact rule: max(0, s - taken Q), with taken = 1.
template <class T, class Chance>
class RelaxedTarget : public walks::ResidualTarget<T> {
  public:
    RelaxedTarget(const T& context, Index node, const Chance& chance, double taken)
        : walks::ResidualTarget<T>(context, node), chance_(chance), taken_(taken) {}

    walks::Ratio ratio(Index child) { return chance_(walks::ResidualTarget<T>::ratio(child)); }

    void reject(Index child) {
        walks::ResidualTarget<T>::reject(child);
        this->context().state(child).factor *= taken_;
    }

  private:
    const Chance& chance_;
    double taken_;
};

/// The top-down walk on such nodes.
/// @param chance   chance(Ratio) -> Ratio
/// @param taken    how much of a rejected child's distribution comes off what is left
template <class T, class Chance>
Outcome top_down_relaxed(const T& context, const Chance& chance, double taken = 1) {
    return walks::top_down(context, [&](Index node) { return RelaxedTarget<T, Chance>(context, node, chance, taken); });
}
}  // namespace lossy

}  // namespace specsample
