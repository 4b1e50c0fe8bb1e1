// The measurements of pass_costs: all work is timed in turn, round after round, so that other load on the machine meets
// all of it alike; then the median over the rounds of each ratio within a round.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

#include "engine/model.hpp"
#include "generate/stopwatch.hpp"

namespace pass_costs {

struct Costs {
    double read = 0;              ///< seconds of a plain read of as many bytes as a pass reads
    double pass = 0;              ///< seconds of a pass over one position
    double share_of_read = 0;     ///< read / pass
    std::vector<double> curve{};  ///< [n - 1]: time of a pass over n positions / time over one
    double line = 0;              ///< seconds until a thread sees what another one wrote; 0 for one thread
};

inline double median(std::vector<double> values) {
    const auto middle = values.begin() + std::ssize(values) / 2;
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

/// Memory as large as the weights, read by a team.
class Memory {
  public:
    explicit Memory(std::size_t bytes)
        : numbers_(Eigen::ArrayXf::Ones(static_cast<engine::Index>(bytes / sizeof(float)))) {}

    /// Sums the memory in pieces, each from eight places at once: a single stream waits for memory.
    double read(engine::Team& team) const {
        const engine::Index pieces = 4 * team.size();
        std::vector<double> sums(static_cast<std::size_t>(pieces));
        team.run(pieces, [&](engine::Index piece, engine::Index) {
            const engine::Index size = numbers_.size() / pieces / 8;
            const auto part = [&](engine::Index i) { return numbers_.segment((8 * piece + i) * size, size); };
            const float sum = (part(0) + part(1) + part(2) + part(3) + part(4) + part(5) + part(6) + part(7)).sum();
            sums[static_cast<std::size_t>(piece)] = static_cast<double>(sum);
        });
        return std::accumulate(sums.begin(), sums.end(), 0.0);
    }

  private:
    Eigen::ArrayXf numbers_;
};

/// The time of `work` in seconds.
template <class Work>
double seconds(Work&& work) {
    const Stopwatch watch;
    work();
    return watch.seconds();
}

/// How long a cache line takes from one thread of a team to another: a multiple where their processors share no cache.
/// Passes over more positions hand on more lines.
inline double line_seconds(engine::Team& team) {
    constexpr int turns = 400;
    std::atomic<int> turn{0};
    double start = 0;
    const Stopwatch watch;
    team.run(2, [&](engine::Index piece, engine::Index) {  // each by a member of its own, as both must be begun
        for (auto i = static_cast<int>(piece); i < turns; i += 2) {
            for (int looks = 1; turn.load(std::memory_order_acquire) != i; ++looks)
                if (looks % 10000 == 0) std::this_thread::yield();  // where the members share a processor
            if (i == turns / 2) start = watch.seconds();            // by now both are at work
            turn.store(i + 1, std::memory_order_release);
        }
    });
    return (watch.seconds() - start) / (turns / 2);
}

/// Measures at the end of a text that is an eighth of the context long and holds passes of up to `positions`.
inline Costs measure(const std::shared_ptr<const engine::Weights>& weights, engine::Index threads,
                     engine::Index positions) {
    const auto team = std::make_shared<engine::Team>(threads);
    engine::Model model(weights, nullptr, team);
    std::vector<engine::Token> text(static_cast<std::size_t>(
        std::min(model.context(), std::max(model.context() / 8, engine::Model::max_pass + 1))));
    for (std::size_t i = 0; i < text.size(); ++i) {
        text[i] = static_cast<engine::Token>(static_cast<engine::Index>(i * 97) % model.vocab());
    }
    const Memory memory(weights->bytes_per_pass());
    const double sum = memory.read(*team);
    model.score(text, positions);

    constexpr int rounds = 51;
    std::vector<double> reads, passes, shares, lines;
    std::vector<std::vector<double>> curve(static_cast<std::size_t>(positions));
    for (int round = 0; round < rounds; ++round) {
        memory.read(*team);  // makes the caches as warm as after a pass
        reads.push_back(seconds([&] {
            if (memory.read(*team) != sum) throw std::runtime_error("memory has changed while it was read");
        }));
        model.score(text, 1);
        for (engine::Index n = 1; n <= positions; ++n) {
            const double pass = seconds([&] { model.score(text, n); });
            if (n == 1) passes.push_back(pass);
            curve[static_cast<std::size_t>(n - 1)].push_back(pass / passes.back());
        }
        shares.push_back(reads.back() / passes.back());
        lines.push_back(threads > 1 ? line_seconds(*team) : 0);
    }
    Costs costs{.read = median(reads), .pass = median(passes), .share_of_read = median(shares), .line = median(lines)};
    for (const auto& ratios : curve) costs.curve.push_back(median(ratios));
    return costs;
}

}  // namespace pass_costs
