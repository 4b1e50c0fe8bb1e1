// A ratio rule with another chance of acceptance than min(1, s/Q).
#pragma once

#include <specsample/verify/commit.hpp>

namespace specsample {

/// A node whose children are accepted with chance(min(1, s/Q)) instead. What a rejection leaves is what it would be
/// under the exact rule: max(0, s - taken Q), with taken = 1.
template <class T, class Chance>
class RelaxedTarget : public SubTarget<T> {
  public:
    RelaxedTarget(const T& trial, Index node, const Chance& chance, double taken)
        : SubTarget<T>(trial, node), chance_(chance), taken_(taken) {}

    Ratio ratio(Index child) { return chance_(SubTarget<T>::ratio(child)); }

    void reject(Index child) {
        SubTarget<T>::reject(child);
        this->trial().state(child).factor *= taken_;
    }

  private:
    const Chance& chance_;
    double taken_;
};

/// The commit walk on such nodes.
/// @param chance   chance(Ratio) -> Ratio
/// @param taken    how much of a rejected child's law comes off what is left
template <class T, class Chance>
Outcome commit_relaxed(const T& trial, const Chance& chance, double taken = 1) {
    return commit(trial, [&](Index node) { return RelaxedTarget<T, Chance>(trial, node, chance, taken); });
}

}  // namespace specsample
