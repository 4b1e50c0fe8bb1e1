// A map of offsets says what an output head means, and not which ids the model reads.
// expect: error: static assertion failed.*specsample::vocabularies::mapped: a map of offsets .* write mapped.model,
// map, TargetIds
#include <specsample/specsample.hpp>

using namespace specsample;
using namespace specsample::vocabularies;

int main() {
    const auto map = IdMap::from_offsets(std::vector{1, 1}, 3);
    const auto head = [](std::span<const Token>) { return std::vector<float>{.5f, .5f}; };
#ifdef FIXED
    auto model = mapped(head, map, TargetIds{});
#else
    auto model = mapped(head, map);
#endif
    return static_cast<int>(model(std::span<const Token>{}).size());
}
