// A target that views rows which are not contiguous.
// expect: error: static assertion failed.*specsample::Sampler: target.prefix, n. returns a column-major
// matrix.*RowMajorMatrixXf
#include <specsample/sampler.hpp>

using specsample::Index;
using specsample::Token;
using Prefix = std::span<const Token>;

int main() {
    const auto good = [](Prefix) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(4, .25f); };
#ifdef FIXED
    const auto target = [](Prefix, Index n) {
        static const specsample::RowMajorMatrixXf rows = specsample::RowMajorMatrixXf::Constant(8, 4, .25f);
        return Eigen::Map<const specsample::RowMajorMatrixXf>(rows.data(), n, 4);
    };
#else
    const auto target = [](Prefix, Index n) {
        static const Eigen::MatrixXf rows = Eigen::MatrixXf::Constant(8, 4, .25f);
        return Eigen::Map<const Eigen::MatrixXf>(rows.data(), n, 4);
    };
#endif
    specsample::Sampler sampler(good, target);
    return static_cast<int>(sampler.generate({1, 2, 3}).tokens.size());
}
