// The same inside of a pipeline, and behind a std::ref.
// expect: error: static assertion failed.*specsample::shaped: a shaper that changes when it is called cannot be rewound
#include <specsample/shaping.hpp>

using namespace specsample;
using namespace specsample::filters;

/// Adapts to what it has seen.
struct Mirostat {
    double surprise = 3;

#ifdef FIXED
    void operator()(Candidates<float>& row, std::span<const Token>) const { row.heat(surprise); }
#else
    void operator()(Candidates<float>& row, std::span<const Token>) { row.heat(surprise -= .1); }
#endif
};

int main() {
    Mirostat mirostat;
    auto model = shaped(
        [](std::span<const Token>) {
            return std::vector<float>{.5f, .5f};
        },
        Pipeline{TopK{1}, std::ref(mirostat)});
    return static_cast<int>(model(std::span<const Token>{}).size());
}
