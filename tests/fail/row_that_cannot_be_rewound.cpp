// The same for an engine that shapes its own rows.
// expect: error: static assertion failed.*specsample::shaped: a shaper that changes when it is called cannot be rewound
#include <specsample/shaping.hpp>

using namespace specsample;
using namespace specsample::filters;

int main() {
    const std::vector<float> row{.5f, .5f};
    filters::ShapedMemory<float> memory;
#ifdef FIXED
    const auto heat = [](Candidates<float>& rest, std::span<const Token>) { rest.heat(2); };
#else
    const auto heat = [calls = 0](Candidates<float>& rest, std::span<const Token>) mutable { rest.heat(++calls); };
#endif
    return static_cast<int>(shape(row, heat, {}, memory).size());
}
