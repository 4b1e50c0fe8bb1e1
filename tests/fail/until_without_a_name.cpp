// A stop predicate that is gone before the round begins.
// expect: error: static assertion failed.*`until` is borrowed, and a temporary would be gone before it is called
#include <specsample/specsample.hpp>

using namespace specsample;

int main() {
#ifdef FIXED
    const auto until = [](std::span<const Token>) { return StopDecision::go_on; };
    const RoundLimits limits{.until = until};
#else
    const RoundLimits limits{.until = [](std::span<const Token>) { return StopDecision::go_on; }};
#endif
    return limits.stops(0) ? 1 : 0;
}
