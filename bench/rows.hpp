// What the benchmarks read: pairs of probability rows, in a pool larger than the caches.
#pragma once

#include <string>

#include <specsample/core.hpp>

namespace bench {

using specsample::Index;
using Row = Eigen::Map<const Eigen::ArrayXf>;

/// The target's and the draft's probabilities at one position.
struct Pair {
    Row target;
    Row draft;
};

/// What a benchmark is measured at.
struct Setting {
    Index vocab = 0;
    int alpha = 70;     ///< sum min(p, q) of every pair, in percent
    bool cold = false;  ///< rows out of memory, or the same rows again
};

inline constexpr Index vocabs[] = {32000, 128256, 262144};

/// Call f(setting) for every vocabulary, with hot and with cold rows.
template <class F>
void for_settings(const F& f) {
    for (const Index vocab : vocabs)
        for (const bool cold : {false, true}) f(Setting{.vocab = vocab, .cold = cold});
}

/// "kernel/rows/V:32000/...": how the benchmarks are called.
inline std::string name(const std::string& kernel, const Setting& setting, const std::string& arguments = {}) {
    return kernel + "/V:" + std::to_string(setting.vocab) + arguments + (setting.cold ? "/cold" : "/hot");
}

/// Positions of one vocabulary and acceptance rate, one after the other in memory. All hold the same numbers:
/// memory does not know, and every contestant of a race meets the same work.
class Pool {
  public:
    Pool(Index vocab, int alpha);

    Index vocab() const { return vocab_; }
    int alpha() const { return alpha_; }

    /// The rows at any position, counted round and round, also backwards.
    Pair operator[](Index position) const {
        const Index place = (position % positions_ + positions_) % positions_;
        const float* target = memory_.data() + 2 * place * vocab_;
        return {Row(target, vocab_), Row(target + vocab_, vocab_)};
    }

  private:
    Index vocab_;
    int alpha_;
    Index positions_;
    Eigen::ArrayXf memory_;
};

/// The pool of a setting: made when it is first needed, kept until another one is.
const Pool& pool(const Setting& setting);

}  // namespace bench
