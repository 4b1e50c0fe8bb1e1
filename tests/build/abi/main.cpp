// A program of files that are compiled differently: each file fails in the way that it was compiled for, and all draw
// the same tokens. Without a namespace per configuration the linker would keep one definition of every function.
#include <csetjmp>
#include <cstdio>
#include <stdexcept>

#include "hook.hpp"

std::jmp_buf back;
void failed_by_hook(const char*) { std::longjmp(back, 1); }

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

bool calls() {
    if (setjmp(back) != 0) return true;
    fail_calls();
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

int main() {
    const bool holds[] = {throws(), calls(), draws_the_same()};
    std::printf("throws %d, calls %d, draws the same %d, wide %d\n", holds[0], holds[1], holds[2], can_run_wide());
    return holds[0] && holds[1] && holds[2] ? 0 : 1;
}
