// A distribution over a sparse row that owns its numbers and is gone at the end of the line.
// expect: error: .*deleted.*Sampled
#include <specsample/specsample.hpp>

int main() {
#ifdef FIXED
    const specsample::Sparse row(std::vector<int>{1}, std::vector<float>{1}, 4);
    const specsample::Sampled distribution(row);
#else
    const specsample::Sampled distribution(specsample::Sparse(std::vector<int>{1}, std::vector<float>{1}, 4));
#endif
    return distribution.weight(1) > 0 ? 0 : 1;
}
