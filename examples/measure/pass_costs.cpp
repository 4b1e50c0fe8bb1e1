// Measures the cost of a pass of the example engine on this machine: relative to a plain read of the weights, and over
// several positions relative to one. Speculation pays where verifying a few tokens costs little more than one.
//
//   pass_costs [--target F] [--threads N] [--positions N]

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "engine/model.hpp"
#include "pass_costs/arguments.hpp"
#include "pass_costs/measure.hpp"

namespace {

void print(const pass_costs::Costs& costs, engine::Index threads, double bytes) {
    const double gigabytes = bytes * 1e-9;
    std::printf("%lld thread%s\n", static_cast<long long>(threads), threads == 1 ? "" : "s");
    std::printf("  plain read     %8.3f ms  %6.2f GB/s\n", costs.read * 1e3, gigabytes / costs.read);
    std::printf("  one position   %8.3f ms  %6.2f GB/s  %.2f of the plain read's speed\n", costs.pass * 1e3,
                gigabytes / costs.pass, costs.share_of_read);
    if (costs.line > 0) std::printf("  a line between threads %.0f ns\n", costs.line * 1e9);
    std::printf("  n positions over one");
    for (std::size_t n = 1; n <= costs.curve.size(); ++n) std::printf("  %zu: %.2f", n, costs.curve[n - 1]);
    std::printf("\n");
}

void run(const pass_costs::Arguments& arguments) {
    const auto weights = engine::Weights::load(arguments.target);
    const auto bytes = static_cast<double>(weights->bytes_per_pass());
    std::printf("%s: %.1f M parameters, %.1f MB a pass\n", arguments.target.filename().c_str(),
                static_cast<double>(weights->parameters()) * 1e-6, bytes * 1e-6);
    std::vector<engine::Index> sizes{1};
    if (arguments.threads > 1) sizes.push_back(arguments.threads);
    for (const engine::Index threads : sizes) {
        print(pass_costs::measure(weights, threads, arguments.positions), threads, bytes);
    }
}

}  // namespace

int main(int count, char** words) try {
    run(pass_costs::parse({words + 1, words + count}));
} catch (const std::exception& error) {
    std::fprintf(stderr, "pass_costs: %s\n", error.what());
    return EXIT_FAILURE;
}
