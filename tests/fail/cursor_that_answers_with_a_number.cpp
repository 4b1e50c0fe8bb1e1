// accept as C interfaces have it, where 0 says that all went well.
// expect: error: static assertion failed.*specsample::Grammar: a cursor must have accept.token., which returns nothing
#include <array>
#include <cstdint>

#include <specsample/shaping/grammar.hpp>

using namespace specsample;

struct Matcher {
    std::array<std::uint32_t, 1> mask() { return {3}; }
#ifdef FIXED
    bool accept(Token) { return true; }
#else
    int accept(Token) { return 0; }
#endif
};

int main() {
    const Grammar grammar{Matcher{}};
    return sizeof grammar > 0;
}
