// What is drawn from are weights: a bare row does not say which.
// expect: error: no matching function for call to .draw
#include <specsample/specsample.hpp>

using namespace specsample;

int main() {
    const std::vector<float> row{.5f, .5f};
    const auto view = as_row(row);
    const Coin coin = Coins(1, 2, 3).at(Purpose::last, 0);
#ifdef FIXED
    return static_cast<int>(draw(coin, RowWeights(view)).index);
#else
    return static_cast<int>(draw(coin, view).index);
#endif
}
