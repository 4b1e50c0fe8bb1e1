// A draft for a beam search that names its token, so that nothing can be ranked.
// expect: error: static assertion failed.*specsample::beam::BeamSearch: draft.prefix. must return a row of
// probabilities
#include <specsample/sampler.hpp>

using specsample::Token;
using Prefix = std::span<const Token>;

int main() {
    const auto good = [](Prefix) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(4, .25f); };
#ifdef FIXED
    const auto draft = good;
#else
    const auto draft = [](Prefix) -> Token { return 0; };
#endif
    specsample::beam::BeamSearch search(draft, good);
    return static_cast<int>(search.generate({1, 2, 3}).beams.size());
}
