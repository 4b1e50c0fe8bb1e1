// A target that names its token: only a draft may.
// expect: error: static assertion failed.*specsample::Sampler: target.prefix. must return a row of probabilities
#include <specsample/sampler.hpp>

using specsample::Index;
using specsample::Token;
using Prefix = std::span<const Token>;

int main() {
    const auto good = [](Prefix) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(4, .25f); };
#ifdef FIXED
    const auto target = [](Prefix) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(4, .25f); };
#else
    const auto target = [](Prefix) -> Token { return 0; };
#endif
    specsample::Sampler sampler(good, target);
    return static_cast<int>(sampler.generate({1, 2, 3}).tokens.size());
}
