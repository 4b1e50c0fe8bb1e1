// A target that returns one Eigen vector where it is asked for n rows.
// expect: error: static assertion failed.*specsample::Sampler: target.prefix, n. must return n rows of probabilities
#include <specsample/sampler.hpp>

using specsample::Index;
using specsample::Token;
using Prefix = std::span<const Token>;

int main() {
    const auto good = [](Prefix) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(4, .25f); };
#ifdef FIXED
    const auto target = [](Prefix, Index n) -> specsample::RowMajorMatrixXf {
        return specsample::RowMajorMatrixXf::Constant(n, 4, .25f);
    };
#else
    const auto target = [](Prefix, Index) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(4, .25f); };
#endif
    specsample::Sampler sampler(good, target);
    return static_cast<int>(sampler.generate({1, 2, 3}).tokens.size());
}
