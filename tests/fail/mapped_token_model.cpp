// A draft that names its token has no row to map.
// expect: error: static assertion failed.*specsample::vocabularies::mapped: model must return rows, which have a number
// for every id
#include <specsample/specsample.hpp>

using namespace specsample;
using namespace specsample::vocabularies;

int main() {
    const IdMap map = IdMap::same_ids(2, 2);
#ifdef FIXED
    auto model = mapped([](std::span<const Token>) { return std::vector<float>{.5f, .5f}; }, map);
#else
    auto model = mapped([](std::span<const Token>) -> Token { return 0; }, map);
#endif
    return static_cast<int>(model(std::span<const Token>{}).size());
}
