// A row that is pushed forward views the map's images, so the map must not be a temporary.
// expect: error: (use of|call to) deleted function
#include <specsample/specsample.hpp>

using namespace specsample;
using namespace specsample::vocabularies;

int main() {
    filters::ShapedMemory<float> memory;
    const std::vector<float> row{.5f, .5f};
#ifdef FIXED
    const IdMap map = IdMap::same_ids(2, 3);
    return static_cast<int>(push_forward(map, row, memory).size());
#else
    push_forward(IdMap::same_ids(2, 3), row, memory);
#endif
}
