// Draft and target the wrong way round: a model that names its token cannot be the target.
// expect: error: static assertion failed.*specsample::Sampler: target.prefix. must return a row of probabilities
#include <specsample/sampler.hpp>

using specsample::Token;
using Prefix = std::span<const Token>;

int main() {
    const auto draft = [](Prefix) -> Token { return 0; };
    const auto target = [](Prefix) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(4, .25f); };
#ifdef FIXED
    specsample::Sampler sampler(draft, target);
#else
    specsample::Sampler sampler(target, draft);
#endif
    return static_cast<int>(sampler.generate({1, 2, 3}).tokens.size());
}
