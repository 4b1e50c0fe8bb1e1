// A matcher that only goes forward.
// expect: error: static assertion failed.*specsample::Grammar: a cursor that cannot be rewound cannot follow a draft
#include <array>
#include <memory>

#include <specsample/shaping/grammar.hpp>
#include <specsample/shaping/shaped.hpp>

using namespace specsample;

struct Matcher {
    std::unique_ptr<int> state = std::make_unique<int>(3);

    std::array<int, 1> mask() { return {*state}; }
    void accept(Token) { *state ^= 1; }
#ifdef FIXED
    void rollback(Index n) { *state ^= static_cast<int>(n % 2); }
#endif
};

int main() {
    auto model = shaped([](std::span<const Token>) { return std::vector<float>{.5f, .5f}; }, Grammar(Matcher{}));
    return static_cast<int>(model(std::span<const Token>{}).size());
}
