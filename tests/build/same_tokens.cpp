// Rounds of every exact rule on rows of 12ths, with random numbers that are 12ths too: cumulative sums and what is
// looked up in them tie again and again, so that a decision which depends on the last bit of a number shows. The hashes
// of their tokens must not depend on how this was compiled.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <span>
#include <vector>

#include <specsample/specsample.hpp>
#include <specsample/verify.hpp>

using namespace specsample;
using namespace specsample::kernels;

namespace {

constexpr std::uint64_t parts = 12;

/// A random number: a function of its address, and a multiple of 1/12.
struct GridNumber {
    std::uint64_t bits;
    double uniform() const { return static_cast<double>(bits % parts) / static_cast<double>(parts); }
};

struct GridRng {
    std::uint64_t round;
    GridNumber at(Purpose purpose, Index node) const {
        return {Rng({.seed = round, .purpose = purpose, .node = node}).bits()};
    }
};

/// 12 parts, dealt out to 6 ids, always the same ones.
template <class Scalar>
std::vector<Scalar> random_row(std::uint64_t seed, std::uint64_t vocab) {
    std::vector<int> shares(vocab);
    const Rng random({.seed = seed, .purpose = Purpose::policy});
    for (std::uint32_t left = parts; left > 0;) {
        const std::uint64_t bits = random.bits(left);
        const std::uint32_t share = std::min(left, 1 + static_cast<std::uint32_t>(bits % 4));
        shares[(bits >> 32) % 6 * (vocab / 6)] += static_cast<int>(share);
        left -= share;
    }
    std::vector<Scalar> row;
    for (const int share : shares) row.push_back(static_cast<Scalar>(share) / static_cast<Scalar>(parts));
    return row;
}

/// The hash of all rounds of one rule, Fowler, Noll and Vo's.
class Hash {
  public:
    std::uint64_t value() const { return value_; }

    void add(const Round& round) {
        mix(round.fault ? 1 : 0);
        mix(static_cast<std::uint64_t>(round.accepted));
        for (const Token token : round.tokens) mix(static_cast<std::uint64_t>(token));
    }

  private:
    void mix(std::uint64_t value) { value_ = (value_ ^ value) * 1099511628211u; }

    std::uint64_t value_ = 14695981039346656037u;
};

struct Hashes {
    Hash token, block, k_seq, point_masses, without;
};

/// One round of every rule, for a chain or a tree of three tokens: drawn from one row, independently or without
/// replacement.
template <class Scalar>
void judge(std::uint64_t round, std::uint64_t vocab, Hashes& hashes) {
    static Workspace workspace;
    const std::vector<Index> chain{-1, 0, 1}, siblings{-1, -1, -1}, mixed{-1, -1, 0};
    const GridRng rng{round};
    const auto seed = 8 * round;
    std::vector<std::vector<Scalar>> rows;
    for (std::uint64_t i = 0; i < 4; ++i) rows.push_back(random_row<Scalar>(seed + i, vocab));
    const auto drafted = random_row<Scalar>(seed + 4, vocab);

    std::vector<Token> tokens, distinct;
    for (Index node = 0; node < 3; ++node) {
        const auto draw_from = [&](const auto& weights) {
            return static_cast<Token>(draw(rng.at(Purpose::draft, node), weights).index);
        };
        tokens.push_back(draw_from(RowWeights(detail::as_row(drafted))));
        distinct.push_back(draw_from(WithoutWeights(detail::as_row(drafted), distinct)));
    }
    std::vector<Sampled<detail::row_view_t<std::vector<Scalar>>>> distributions, less;
    for (std::size_t i = 0; i < 3; ++i) {
        distributions.emplace_back(drafted);
        less.emplace_back(drafted, std::span<const Token>(distinct).first(i));
    }
    for (const auto& parents : {chain, siblings, mixed}) {
        const Tree tree{tokens, parents};
        hashes.token.add(verify(tree, distributions, rows, TokenVerification{}, rng, {}, workspace));
        hashes.block.add(verify(tree, distributions, rows, BlockVerification{}, rng, {}, workspace));
        hashes.k_seq.add(verify(tree, distributions, rows, KSeq{}, rng, {}, workspace));
        hashes.point_masses.add(verify(tree, PointMass{}, rows, BlockVerification{}, rng, {}, workspace));
    }
    hashes.without.add(verify(Tree{distinct, siblings}, less, rows, TokenVerification{}, rng, {}, workspace));
    hashes.without.add(verify(Tree{distinct, siblings}, less, rows, BlockVerification{}, rng, {}, workspace));
}

template <class Scalar>
void report(const char* scalar) {
    Hashes hashes;
    for (std::uint64_t round = 0; round < 20000; ++round) judge<Scalar>(round, 100 + round % 3 * 500, hashes);
    for (std::uint64_t round = 0; round < 2000; ++round) judge<Scalar>(round, 4700, hashes);  // drawn by rejection
    const auto print = [&](const char* rule, const Hash& hash) {
        std::printf("%s %s: %016llx\n", scalar, rule, static_cast<unsigned long long>(hash.value()));
    };
    print("token verification", hashes.token);
    print("block verification", hashes.block);
    print("k-seq", hashes.k_seq);
    print("point masses", hashes.point_masses);
    print("without replacement", hashes.without);
}

}  // namespace

int main() {
    report<double>("double");
    report<float>("float");
}
