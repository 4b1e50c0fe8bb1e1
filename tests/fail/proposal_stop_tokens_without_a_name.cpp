// A proposal keeps its stop tokens until the next draft, so they must outlive this line.
// expect: error: static assertion failed.*specsample: this list is borrowed, and a temporary would be gone before it is
// read
#include <specsample/specsample.hpp>

using namespace specsample;

int main() {
    Proposal<PointMass> proposal;
#ifdef FIXED
    const std::vector<Token> stops{2};
    proposal.open(4, stops, 10);
#else
    proposal.open(4, std::vector<Token>{2}, 10);
#endif
    return proposal.is_stop(2) ? 0 : 1;
}
