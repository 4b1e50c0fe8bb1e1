// A cursor whose mask has words of another size.
// expect: error: static assertion failed.*specsample::Grammar: a cursor must have mask.., which returns the words
#include <array>
#include <cstdint>

#include <specsample/shaping/grammar.hpp>

using namespace specsample;

struct Matcher {
#ifdef FIXED
    std::array<std::uint32_t, 1> mask() { return {3}; }
#else
    std::array<std::uint64_t, 1> mask() { return {3}; }
#endif
    void accept(Token) {}
};

int main() {
    const Grammar grammar{Matcher{}};
    return sizeof grammar > 0;
}
