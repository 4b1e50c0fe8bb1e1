// Random numbers have addresses: a source of them is none.
// expect: error: static assertion failed.*specsample::draw: the first argument must be the random numbers of one
// address
#include <specsample/specsample.hpp>

using namespace specsample;

int main() {
    const std::vector<float> row{.5f, .5f};
#ifdef FIXED
    const auto rng = RoundRng(1, 2, 3).at(Purpose::last, 0);
#else
    const auto rng = RoundRng(1, 2, 3);
#endif
    return static_cast<int>(draw(rng, row).index);
}
