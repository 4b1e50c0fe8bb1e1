// specsample_bench: every kernel and the whole round, beside a plain read of the same bytes and a textbook's form.
//
//   kernel/rows/V:vocabulary/K:lookahead/alpha:acceptance in percent/hot or cold
//
// The options are those of Google Benchmark; --benchmark_filter picks by name.
#include <benchmark/benchmark.h>

#include <vector>

#include "bench.hpp"

int main(int count, char** values) {
    // A turn of ours brings along the others', so less of our own time will do. An option given overrides it.
    char shorter[] = "--benchmark_min_time=0.05";
    std::vector<char*> arguments(values, values + count);
    arguments.insert(arguments.begin() + 1, shorter);
    count = static_cast<int>(arguments.size());

    bench::register_reads();
    bench::register_kernels();
    bench::register_rounds();
    bench::register_rules();
    benchmark::Initialize(&count, arguments.data());
    if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 1;
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
}
