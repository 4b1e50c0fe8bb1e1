// A draft that wants to write to the prefix.
// expect: error: static assertion failed.*specsample::Sampler: draft must be callable with a token prefix; write
#include <specsample/sampler.hpp>

using specsample::Index;
using specsample::Token;
using Prefix = std::span<const Token>;

int main() {
    const auto good = [](Prefix) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(4, .25f); };
#ifdef FIXED
    const auto draft = [](Prefix) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(4, .25f); };
#else
    const auto draft = [](std::span<Token>) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(4, .25f); };
#endif
    specsample::Sampler sampler(draft, good);
    return static_cast<int>(sampler.generate({1, 2, 3}).tokens.size());
}
