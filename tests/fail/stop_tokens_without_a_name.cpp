// Stop tokens that are gone before the round begins.
// expect: error: static assertion failed.*specsample: this list is borrowed, and a temporary would be gone before it is
// read; give the list a name
#include <specsample/specsample.hpp>

using namespace specsample;

int main() {
#ifdef FIXED
    const std::vector<Token> stops{2};
    const RoundLimits limits{.stop_tokens = stops};
#else
    const RoundLimits limits{.stop_tokens = std::vector<Token>{2}};
#endif
    return limits.stops(2) ? 0 : 1;
}
