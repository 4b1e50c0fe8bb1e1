// A matcher behind a callable of the context: it moves forward, and nobody takes it back.
// expect: error: static assertion failed.*specsample::filters::TokenMask: a callable that changes when it is called
// cannot be re
#include <specsample/shaping.hpp>

using namespace specsample;
using namespace specsample::filters;

int main() {
    std::vector<std::uint32_t> words{3};
#ifdef FIXED
    const TokenMask mask([words](std::span<const Token>) { return words; });
#else
    const TokenMask mask([words](std::span<const Token>) mutable { return words[0] ^= 1, words; });
#endif
    auto model = shaped([](std::span<const Token>) { return std::vector<float>{.5f, .5f}; }, mask);
    return static_cast<int>(model(std::span<const Token>{}).size());
}
