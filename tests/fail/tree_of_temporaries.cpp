// A tree over lists that are gone at the end of the line.
// expect: error: static assertion failed.*specsample: this list is borrowed, and a temporary would be gone before it is
// read
#include <specsample/specsample.hpp>

using namespace specsample;

int main() {
    const std::vector<Token> tokens{1, 2};
#ifdef FIXED
    const std::vector<int> parents{-1, 0};
    const Tree tree{tokens, parents};
#else
    const Tree tree{tokens, std::vector<int>{-1, 0}};
#endif
    return static_cast<int>(tree.parents.size());
}
