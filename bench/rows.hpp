// What the benchmarks read: pairs of rows, in a pool larger than the caches.
//
// The target's logits are N(0, 3^2), the draft's are the same with noise, so that the two overlap as asked for. That is
// a flat distribution, whose nucleus of .95 is a tenth of the vocabulary; a peaked one has a nucleus of about 20
// tokens.
#pragma once

#include <cstddef>
#include <string>

#include <specsample/core.hpp>

namespace bench {

using specsample::Index;

template <class Scalar>
using RowOf = Eigen::Map<const Eigen::Array<Scalar, Eigen::Dynamic, 1>>;
using Row = RowOf<float>;

/// The target's and the draft's row at one position.
template <class Scalar>
struct PairOf {
    RowOf<Scalar> target;
    RowOf<Scalar> draft;
};
using Pair = PairOf<float>;

/// What rows hold. Mixed: the target's logits and the draft's probabilities.
enum class Numbers { probs, logits, mixed };

/// What a benchmark is measured at.
struct Setting {
    Numbers numbers = Numbers::probs;
    int alpha = 70;       ///< sum min(p, q) of every pair, in percent
    bool peaked = false;  ///< or flat
    Index vocab = 0;
    bool cold = false;  ///< rows out of memory, or the same rows again
};

inline constexpr Index vocabs[] = {32000, 128256, 262144};

/// Bytes of the pool: four times the last cache, because some read one row of every pair; at least 320 MB, at most 2
/// GB.
std::size_t pool_bytes();

/// The distributions behind the rows of a setting, and the memory that holds them.
struct Contents {
    Eigen::ArrayXd target, draft;          ///< probabilities of the very numbers stored
    double target_log_sum, draft_log_sum;  ///< ln sum exp of the numbers, where they are logits
    Index positions;
};

/// There is one pool: what was in it before is gone.
template <class Scalar>
const Contents& fill_pool(const Setting& setting);

/// The pool's memory, for rows of another kind: write the first position, then let it repeat.
std::byte* pool_memory();
/// @param bytes   of a position
/// @returns       how many positions there are
Index repeat_position(std::size_t bytes);

/// The position where nobody was for the longest time: whoever goes there moves it on.
Index& coldest_position();

/// Positions go round and round, also backwards.
inline Index around(Index position, Index positions) { return (position % positions + positions) % positions; }

/// Positions of one setting, one after the other in memory. All hold the same numbers: memory does not know, and every
/// contestant of a race meets the same work.
template <class Scalar>
class PoolOf {
  public:
    explicit PoolOf(const Setting& setting)
        : contents_(&fill_pool<Scalar>(setting)),
          memory_(reinterpret_cast<const Scalar*>(pool_memory())),
          vocab_(setting.vocab),
          positions_(contents_->positions) {}

    const Contents& contents() const { return *contents_; }
    Index positions() const { return positions_; }

    /// The rows at any position.
    PairOf<Scalar> operator[](Index position) const {
        const Scalar* target = memory_ + 2 * around(position, positions_) * vocab_;
        return {{target, vocab_}, {target + vocab_, vocab_}};
    }

  private:
    const Contents* contents_;
    const Scalar* memory_;
    Index vocab_;
    Index positions_;
};
using Pool = PoolOf<float>;

/// The same bytes as floats, for plain reads.
template <class Scalar>
Row as_floats(const RowOf<Scalar>& row) {
    constexpr Index per_float = sizeof(float) / sizeof(Scalar);
    return {reinterpret_cast<const float*>(row.data()), row.size() / per_float};
}

}  // namespace bench
