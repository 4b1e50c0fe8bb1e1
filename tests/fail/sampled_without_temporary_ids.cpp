// A distribution that names the ids which could not be drawn by a list that is gone at the end of the line.
// expect: error: static assertion failed.*specsample: this list is borrowed, and a temporary would be gone before it is
// read
#include <specsample/specsample.hpp>

using namespace specsample;

int main() {
    const std::vector<float> row{.5f, .25f, .25f};
#ifdef FIXED
    const std::vector<Token> drawn{0};
    const Sampled distribution(row, drawn);
#else
    const Sampled distribution(row, std::vector<Token>{0});
#endif
    return distribution.weight(1) > 0 ? 0 : 1;
}
