// A prefix that is translated already must not be translated by the map as well.
// expect: error: static assertion failed.*specsample::vocabularies::mapped: model translates its prefix already.*write
// mapped
#include <specsample/specsample.hpp>

using namespace specsample;
using namespace specsample::vocabularies;

int main() {
    const IdMap map = IdMap::same_ids(2, 2);
    const auto retokenise = [](std::span<const Token> text) { return std::vector<Token>(text.begin(), text.end()); };
    const auto draft = [](std::span<const Token>) { return std::vector<float>{.5f, .5f}; };
#ifdef FIXED
    auto model = mapped(draft, map, retokenise);
#else
    auto model = mapped(prefix_mapped(draft, retokenise), map);
#endif
    return static_cast<int>(model(std::span<const Token>{}).size());
}
