// A target that returns an expression over its own local rows.
// expect: error: static assertion failed.*specsample::Sampler: target.prefix, n. must return n rows of probabilities
#include <specsample/sampler.hpp>

using specsample::Index;
using specsample::Token;
using Prefix = std::span<const Token>;

int main() {
    const auto good = [](Prefix) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(4, .25f); };
#ifdef FIXED
    const auto target = [](Prefix, Index n) {
        const specsample::RowMajorMatrixXf rows = specsample::RowMajorMatrixXf::Constant(n, 4, .5f);
        return (rows * .5f).eval();
    };
#else
    const auto target = [](Prefix, Index n) {
        const specsample::RowMajorMatrixXf rows = specsample::RowMajorMatrixXf::Constant(n, 4, .5f);
        return rows * .5f;
    };
#endif
    specsample::Sampler sampler(good, target);
    return static_cast<int>(sampler.generate({1, 2, 3}).tokens.size());
}
