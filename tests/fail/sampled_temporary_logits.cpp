// A distribution over logits that own their numbers and are gone at the end of the line.
// expect: error: .*deleted.*Sampled
#include <specsample/specsample.hpp>

int main() {
    Eigen::VectorXf row = Eigen::VectorXf::Constant(4, 2);
#ifdef FIXED
    const specsample::Logits logits(std::move(row), .8);
    const specsample::Sampled distribution(logits);
#else
    const specsample::Sampled distribution(specsample::Logits(std::move(row), .8));
#endif
    return distribution.weight(0) > 0 ? 0 : 1;
}
