// specsample_bench: every kernel and the whole round, beside a plain read of the same bytes and the textbook's form.
//
//   kernel/rows/K:lookahead/V:vocabulary/alpha:acceptance in percent/hot or cold
//
//   x_read       our time / that of the fastest plain read: 1 is the limit
//   x_textbook   the textbook's time / ours
//   median_ns    our time; "Time" is the mean, interruptions included
//   rows         rows of floats that the plain read reads
//
// The options are those of Google Benchmark; --benchmark_filter selects by name. specsample_bench_table writes a table.
#include <benchmark/benchmark.h>

#include <vector>

#include "kernels.hpp"

namespace bench { namespace {

void run(benchmark::State& state, const Kernel& kernel, const Setting& setting) {
    const Race race = kernel.race(setting);
    if (race.refused != nullptr) return state.SkipWithError(race.refused);
    Laps laps(race);
    while (state.KeepRunningBatch(static_cast<std::int64_t>(race.cases))) state.SetIterationTime(laps.lap() * 1e-9);
    const Figures figures = laps.figures();
    state.counters["median_ns"] = figures.ours;
    state.counters["x_read"] = figures.x_read();
    if (race.textbook) state.counters["x_textbook"] = figures.x_textbook();
    state.counters["rows"] = race.bytes / sizeof(float) / static_cast<double>(setting.vocab);
    state.SetBytesProcessed(static_cast<std::int64_t>(static_cast<double>(state.iterations()) * race.bytes));
}

void register_all() {
    for (const Kernel& kernel : all_kernels()) {
        for (const Index vocab : vocabs) {
            for (const bool cold : {false, true}) {
                Setting setting = kernel.at;
                setting.vocab = vocab;
                setting.cold = cold;
                const std::string name = kernel.name + "/V:" + std::to_string(vocab) +
                                         "/alpha:" + std::to_string(setting.alpha) + (cold ? "/cold" : "/hot");
                benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
                    run(state, kernel, setting);
                })->UseManualTime();
            }
        }
    }
}

}  // namespace
}  // namespace bench

int main(int count, char** values) {
    // A lap also runs the other contestants, so less time of our own is enough. A given option overrides this one.
    char shorter[] = "--benchmark_min_time=0.05";
    std::vector<char*> arguments(values, values + count);
    arguments.insert(arguments.begin() + 1, shorter);
    count = static_cast<int>(arguments.size());

    bench::register_all();
    benchmark::Initialize(&count, arguments.data());
    if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 1;
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
}
