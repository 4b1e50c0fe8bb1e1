// A target with its arguments the wrong way round.
// expect: error: static assertion failed.*specsample::Sampler: target must be callable with a token prefix, or with a
// prefix and a count
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
    const auto target = [](Index n, Prefix) -> specsample::RowMajorMatrixXf {
        return specsample::RowMajorMatrixXf::Constant(n, 4, .25f);
    };
#endif
    specsample::Sampler sampler(good, target);
    return static_cast<int>(sampler.generate({1, 2, 3}).tokens.size());
}
