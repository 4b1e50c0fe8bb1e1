// A row of integers is neither probabilities nor weights.
// expect: error: static assertion failed.*specsample::draw: the second argument must be a row.*or weights; write draw
#include <specsample/specsample.hpp>

using namespace specsample;

int main() {
    const Rng rng = RoundRng(1, 2, 3).at(Purpose::last, 0);
#ifdef FIXED
    const std::vector<float> row{.5f, .5f};
#else
    const std::vector<int> row{1, 1};
#endif
    return static_cast<int>(draw(rng, row).index);
}
