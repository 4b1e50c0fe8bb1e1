// What a round on sliced rows costs, beside one that gathers its rows first: no models, rows of random logits.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <span>
#include <stdexcept>
#include <vector>

#include <specsample/shaping.hpp>

#include "generate/stopwatch.hpp"
#include "mpi/communicator.hpp"

namespace mpi {

using namespace specsample;
using View = std::span<const float>;

/// The logits of a round: the draft model's whole, as every rank has them, and of the target's a rank's slice.
struct RoundLogits {
    shard::SliceBounds slice;
    std::vector<std::vector<float>> draft, target{}, gathered{};

    RoundLogits(Index vocab, Index lookahead, const MpiRanks& mpi)
        : slice(shard::even_slice(vocab, mpi.rank(), mpi.size())),
          draft(static_cast<std::size_t>(lookahead), std::vector<float>(static_cast<std::size_t>(vocab))) {
        std::mt19937 random(1);  // the same numbers on every rank
        std::normal_distribution<float> normal;
        for (Index i = 0; i <= lookahead; ++i) {
            std::vector<float> row(static_cast<std::size_t>(vocab));
            for (float& logit : row) logit = 3 * normal(random);
            if (i < lookahead)
                std::ranges::transform(row, draft[static_cast<std::size_t>(i)].begin(),
                                       [&](float logit) { return logit + normal(random); });
            target.emplace_back(row.begin() + slice.first, row.begin() + slice.first + slice.count);
            gathered.emplace_back(row.size());
        }
    }
};

/// Gather rows as engines do without the library: MPI_Allgatherv writes each in its place.
class RowGatherer {
  public:
    RowGatherer(Index vocab, Index ranks) {
        for (Index rank = 0; rank < ranks; ++rank) {
            const auto slice = shard::even_slice(vocab, rank, ranks);
            begins_.push_back(static_cast<int>(slice.first));
            counts_.push_back(static_cast<int>(slice.count));
        }
    }
    void operator()(RoundLogits& logits) const {
        for (std::size_t i = 0; i < logits.target.size(); ++i)
            MPI_Allgatherv(logits.target[i].data(), static_cast<int>(logits.slice.count), MPI_FLOAT,
                           logits.gathered[i].data(), counts_.data(), begins_.data(), MPI_FLOAT, MPI_COMM_WORLD);
    }

  private:
    std::vector<int> begins_, counts_;
};

/// The seconds of run() on the slowest rank; all begin together.
template <class Run>
double slowest(const Run& run) {
    MPI_Barrier(MPI_COMM_WORLD);
    const Stopwatch watch;
    run();
    const double mine = watch.seconds();
    double all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all;
}

inline double median(std::vector<double> values) {
    const auto middle = values.begin() + std::ssize(values) / 2;
    std::ranges::nth_element(values, middle);
    return *middle;
}

/// Measure rounds of one size both ways, and print them.
inline void measure(Index vocab, Index lookahead, MpiRanks& mpi) {
    constexpr Index warm_up = 3, rounds = 51;
    RoundLogits logits(vocab, lookahead, mpi);
    const RowGatherer gather_rows(vocab, mpi.size());
    shard::Ranks ranks(mpi);
    shard::Traffic before;
    Workspace workspace;
    std::vector<double> sliced, gathered;
    for (Index i = 0; i < warm_up + rounds; ++i) {
        const RoundRng rng(1, 0, i);
        std::vector<Token> tokens;
        constexpr TokenVerification rule;
        std::vector<DraftedFrom<Logits<View>, TokenVerification>> distributions;
        for (const auto& row : logits.draft) {
            const auto [token, distribution] = draft_token(rule, rng, std::ssize(tokens), Logits<View>(row));
            tokens.push_back(token);
            distributions.push_back(distribution);
        }
        const auto judge = [&](const auto& rows) {
            const Round round = verify(tokens, distributions, rows, rule, rng, {}, workspace);
            return std::vector<Token>(round.tokens.begin(), round.tokens.end());
        };
        std::vector<Token> of_slices, of_rows;
        if (i == warm_up) before = ranks.traffic();
        sliced.push_back(slowest([&] {
            std::vector<shard::Sharded<Logits<View>>> rows;
            for (const auto& row : logits.target)
                rows.emplace_back(Logits<View>(row), logits.slice.first, vocab, ranks);
            of_slices = judge(rows);
        }));
        gathered.push_back(slowest([&] {
            gather_rows(logits);
            of_rows = judge(logits_of(logits.gathered));
        }));
        if (of_slices != of_rows) throw std::runtime_error("a round on slices differs from the one on whole rows");
    }
    const auto timed = [](const std::vector<double>& all) { return 1e3 * median({all.begin() + warm_up, all.end()}); };
    if (mpi.rank() > 0) return;
    const auto per_round = [](Index after, Index start) { return static_cast<double>(after - start) / rounds; };
    std::printf("%7td %3td %13.2f %9.0f %9.2f %13td %9td %9.2f\n", vocab, lookahead,
                per_round(ranks.traffic().exchanges, before.exchanges), per_round(ranks.traffic().sent, before.sent),
                timed(sliced), lookahead + 1, logits.slice.count * (lookahead + 1) * 4, timed(gathered));
}

/// Print what ranks exchange for a row of logits that falls off as a power of the rank, shaped after 500 tokens.
inline void measure_shaping(const char* name, double power, const SamplingParams& params, MpiRanks& mpi) {
    constexpr Index vocab = 128256;
    const auto slice = shard::even_slice(vocab, mpi.rank(), mpi.size());
    std::mt19937 random(1);  // the same numbers on every rank
    std::normal_distribution<float> normal;
    std::vector<float> row(static_cast<std::size_t>(vocab));
    for (Index i = 0; i < vocab; ++i)
        row[static_cast<std::size_t>(i * 7919 % vocab)] =
            .5f * normal(random) - static_cast<float>(power * std::log(static_cast<double>(i) + 2.7));
    std::vector<Token> context(500);
    for (Token i = 0; i < 500; ++i) context[static_cast<std::size_t>(i)] = i * 250;
    shard::Ranks ranks(mpi);
    filters::ShapedMemory<float> memory;
    const View mine(row.data() + slice.first, static_cast<std::size_t>(slice.count));
    shard::Traffic before;
    Index left = 0;
    for (int round = 0; round < 2; ++round) {  // in the first one ranks learn how the row is split
        before = ranks.traffic();
        const shard::Sharded sliced(Logits<View>(mine), slice.first, vocab, ranks);
        left = shape(sliced, params, context, memory).ids().size(vocab);
    }
    if (mpi.rank() > 0) return;
    std::printf("  %-34s %9td %9td %9td %9td\n", name, left, ranks.traffic().exchanges - before.exchanges,
                ranks.traffic().sent - before.sent, slice.count * 4);
}

inline void measure_shaping(MpiRanks& mpi) {
    if (mpi.rank() == 0)
        std::printf(
            "\nshaped logits, vocabulary 128256: per row, and bytes sent per rank\n\n"
            "                                          left exchanges     bytes     slice\n");
    const auto both = [&](const char* name, const char* penalised, double power, SamplingParams params) {
        measure_shaping(name, power, params, mpi);
        params.repetition_penalty = 1.1;
        measure_shaping(penalised, power, params, mpi);
    };
    both("top-k 40", "after a penalty of 500 tokens", 1.1, {.top_k = 40});
    both("min-p .05", "after a penalty", 1.1, {.min_p = .05});
    both("top-p .95, steep", "after a penalty", 2, {.top_p = .95});
    both("top-p .95", "after a penalty", 1.1, {.temperature = .8, .top_p = .95});
}

inline void measure(MpiRanks& mpi) {
    if (mpi.rank() == 0)
        std::printf(
            "token verification from logits on %td ranks: per round, and bytes sent per rank\n\n"
            "                        rows in slices           rows gathered first\n"
            "  vocab   K     exchanges     bytes        ms     exchanges     bytes        ms\n",
            mpi.size());
    for (const Index vocab : {128256, 262144})
        for (const Index lookahead : {4, 8}) measure(vocab, lookahead, mpi);
    measure_shaping(mpi);
}

}  // namespace mpi
