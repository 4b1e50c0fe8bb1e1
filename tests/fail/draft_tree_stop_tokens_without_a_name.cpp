// A draft tree keeps its stop tokens until the next draft, so they must outlive this line.
// expect: error: static assertion failed.*specsample: this list is borrowed, and a temporary would be gone before it is
// read
#include <specsample/specsample.hpp>

using namespace specsample;

int main() {
    DraftTree<PointMass> draft_tree;
#ifdef FIXED
    const std::vector<Token> stops{2};
    draft_tree.open(4, stops, 10);
#else
    draft_tree.open(4, std::vector<Token>{2}, 10);
#endif
    return draft_tree.is_stop(2) ? 0 : 1;
}
