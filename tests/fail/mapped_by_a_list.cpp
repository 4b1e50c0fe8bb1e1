// A list of ids has no inverse by which the draft could be shown a text.
// expect: error: static assertion failed.*specsample::vocabularies::mapped: map must be an IdMap, or std::cref of
// one.*write mapped
#include <specsample/specsample.hpp>

using namespace specsample;
using namespace specsample::vocabularies;

int main() {
    const std::vector<Token> ids{1, 0};
    const auto draft = [](std::span<const Token>) { return std::vector<float>{.5f, .5f}; };
#ifdef FIXED
    auto model = mapped(draft, IdMap(ids, 2));
#else
    auto model = mapped(draft, ids);
#endif
    return static_cast<int>(model(std::span<const Token>{}).size());
}
