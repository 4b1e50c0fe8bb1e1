// A draft that returns an expression of arrays.
// expect: error: static assertion failed.*specsample::Sampler: draft.prefix. returns an Eigen expression, .*\.eval
#include <specsample/sampler.hpp>

using specsample::Index;
using specsample::Token;
using Prefix = std::span<const Token>;

int main() {
    const auto good = [](Prefix) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(4, .25f); };
#ifdef FIXED
    const auto draft = [](Prefix) -> Eigen::ArrayXf {
        const Eigen::ArrayXf row = Eigen::ArrayXf::Constant(4, .5f);
        return row * row;
    };
#else
    const auto draft = [](Prefix) {
        const Eigen::ArrayXf row = Eigen::ArrayXf::Constant(4, .5f);
        return row * row;
    };
#endif
    specsample::Sampler sampler(draft, good);
    return static_cast<int>(sampler.generate({1, 2, 3}).tokens.size());
}
