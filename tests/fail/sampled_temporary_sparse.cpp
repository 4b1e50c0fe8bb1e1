// A law over a sparse row that owns its numbers and is gone at the end of the line.
// expect: error: .*deleted.*Sampled
#include <specsample/specsample.hpp>

int main() {
#ifdef FIXED
    const specsample::Sparse row(std::vector<int>{1}, std::vector<float>{1}, 4);
    const specsample::Sampled law(row);
#else
    const specsample::Sampled law(specsample::Sparse(std::vector<int>{1}, std::vector<float>{1}, 4));
#endif
    return law.weight(1) > 0 ? 0 : 1;
}
