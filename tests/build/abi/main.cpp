// A program of files that are compiled differently: each file fails in the way that it was compiled for, and all draw
// the same tokens. Without a namespace per configuration the linker would keep one definition of every function.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "hook.hpp"

int draw_throws(unsigned seed);
int draw_calls(unsigned seed);
int draw_wide(unsigned seed);
int draw_halves(unsigned seed);
void fail_throws();
void fail_calls();

namespace {

bool throws() {
    try {
        fail_throws();
    } catch (const std::invalid_argument&) {
        return true;
    }
    return false;
}

bool can_run_wide() {
#if defined(SPECSAMPLE_WIDE)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");  // and every such processor has F16C
#else
    return false;
#endif
}

bool draws_the_same() {
    for (unsigned seed = 0; seed < 100; ++seed) {
        if (draw_throws(seed) != draw_calls(seed)) return false;
        if (can_run_wide() && draw_throws(seed) != draw_wide(seed)) return false;
        if (can_run_wide() && draw_throws(seed) != draw_halves(seed)) return false;
    }
    return true;
}

}  // namespace

// Ends the program: it must not return, and code without exceptions calls it.
void failed_by_hook(const char*) {
    std::puts("calls");
    std::exit(EXIT_SUCCESS);
}

int main() {
    const bool holds[] = {throws(), draws_the_same()};
    std::printf("throws %d, draws the same %d, wide %d\n", holds[0], holds[1], can_run_wide());
    if (holds[0] && holds[1]) fail_calls();
    return EXIT_FAILURE;
}
