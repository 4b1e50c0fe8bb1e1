// The rows that the benchmarks read: pairs in a pool larger than the caches.
//
// The target's logits are N(0, 3^2); the draft's are the same with as much noise as gives the wanted overlap. Such a
// distribution is flat: its .95 nucleus is a tenth of the vocabulary. That of a peaked one has about 20 tokens.
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

/// The contents of rows; mixed: the target's logits and the draft's probabilities.
enum class Numbers { probs, logits, mixed };

/// The conditions of a measurement.
struct Setting {
    Numbers numbers = Numbers::probs;
    int alpha = 70;       ///< sum min(p, q) of every pair, in percent
    bool peaked = false;  ///< else flat
    Index vocab = 0;
    bool cold = false;  ///< rows come from memory; else the same rows are read again
};

inline constexpr Index vocabs[] = {32000, 128256, 262144};

/// Bytes of the pool: four times the last cache, because some kernels read one row of every pair only; at least 320 MB,
/// at most 2 GB.
std::size_t pool_bytes();

/// The distributions behind the rows of a setting, and the memory that holds them.
struct Contents {
    Eigen::ArrayXd target, draft;          ///< probabilities by the numbers as stored
    double target_log_sum, draft_log_sum;  ///< ln sum exp of the numbers, if they are logits
    double draft_sum;                      ///< of the probabilities
    Index positions;
};

/// Fill the pool with rows of a setting. There is one pool: its former contents are overwritten.
template <class Scalar>
const Contents& fill_pool(const Setting& setting);

/// The pool's memory, for rows of another kind: write the first position, then call repeat_position.
std::byte* pool_memory();
/// Tell whether the pool, once it is filled, lies in pages of 2 MB.
bool has_huge_pages();
/// Copy the first position over the whole pool.
/// @param bytes   bytes per position
/// @returns       the number of positions
Index repeat_position(std::size_t bytes);

/// The position that was read the longest time ago. Code that reads positions from there on must move it past them.
Index& coldest_position();

/// The position modulo the number of positions; negative ones wrap around, too.
inline Index around(Index position, Index positions) { return (position % positions + positions) % positions; }

/// Positions of one setting, one after the other in memory. All hold the same numbers: reading them costs the same, and
/// every contestant of a race has the same work.
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

/// The bytes of a row as floats, for plain reads.
template <class Scalar>
Row as_floats(const RowOf<Scalar>& row) {
    constexpr Index per_float = sizeof(float) / sizeof(Scalar);
    return {reinterpret_cast<const float*>(row.data()), row.size() / per_float};
}

}  // namespace bench
