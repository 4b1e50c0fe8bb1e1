// Stop tokens in braces, which Limits would own and RoundLimits would not.
// expect: error: static assertion failed.*specsample: this list is borrowed, and elements in braces would be gone
// before they are read
#include <specsample/specsample.hpp>

using namespace specsample;

int main() {
#ifdef FIXED
    static constexpr Token stops[] = {2, 3};
    const RoundLimits limits{.stop_tokens = stops};
#else
    const RoundLimits limits{.stop_tokens = {2, 3}};
#endif
    return limits.stops(2) ? 0 : 1;
}
