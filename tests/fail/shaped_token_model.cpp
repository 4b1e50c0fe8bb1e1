// A draft that names its token has no row to shape.
// expect: error: no matching function for call to .shaped
#include <specsample/specsample.hpp>

using namespace specsample;
using namespace specsample::filters;

int main() {
#ifdef FIXED
    auto model = shaped([](std::span<const Token>) { return std::vector<float>{.5f, .5f}; }, TopP{.9});
#else
    auto model = shaped([](std::span<const Token>) -> Token { return 0; }, TopP{.9});
#endif
    return static_cast<int>(model(std::span<const Token>{}).size());
}
