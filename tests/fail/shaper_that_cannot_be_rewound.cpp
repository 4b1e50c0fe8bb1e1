// A processor that changes with every call: after a rejection it has seen tokens that are not in the text.
// expect: error: static assertion failed.*specsample::shaped: a shaper that changes when it is called cannot be rewound
#include <specsample/specsample.hpp>

using namespace specsample;

int main() {
    const auto model = [](std::span<const Token>) { return std::vector<float>{.5f, .5f}; };
#ifdef FIXED
    const auto hotter = [](auto& row, std::span<const Token> context) { row.heat(1 + double(context.size())); };
#else
    const auto hotter = [calls = 0](auto& row, std::span<const Token>) mutable { row.heat(++calls); };
#endif
    auto target = shaped(model, hotter);
    return static_cast<int>(Sampler(model, target).generate({0}, {.max_new_tokens = 3}).tokens.size());
}
