// A target for a beam search that names its token: the sentence is that of a sampler, and the only one.
// expect: error: static assertion failed.*specsample::Sampler: target.prefix. must return a row of probabilities
#include <specsample/sampler.hpp>

using specsample::Token;
using Prefix = std::span<const Token>;

int main() {
    const auto good = [](Prefix) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(4, .25f); };
#ifdef FIXED
    const auto target = good;
#else
    const auto target = [](Prefix) -> Token { return 0; };
#endif
    specsample::beam::BeamSearch search(good, target);
    return static_cast<int>(search.generate({1, 2, 3}).beams.size());
}
