// What a draft reads is a translation, not the id that stands for unknown tokens alone.
// expect: error: static assertion failed.*specsample::vocabularies::mapped: the third argument says what the draft is
// shown
#include <specsample/specsample.hpp>

using namespace specsample;
using namespace specsample::vocabularies;

int main() {
    const IdMap map = IdMap::same_ids(2, 3);
    const auto draft = [](std::span<const Token>) { return std::vector<float>{.5f, .5f}; };
#ifdef FIXED
    auto model = mapped(draft, map, OwnIds(map, 1));
#else
    auto model = mapped(draft, map, 1);
#endif
    return static_cast<int>(model(std::span<const Token>{}).size());
}
