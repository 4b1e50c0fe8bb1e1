// A target that returns logits over its own matrix with a name.
// expect: error: static assertion failed.*specsample::Sampler: target.prefix, n. returns logits of rows
// expect: rows that would be gone; write logits_of.std::move.rows., temperature
#include <specsample/sampler.hpp>

using specsample::Index;
using specsample::Token;
using Prefix = std::span<const Token>;

int main() {
    const auto good = [](Prefix) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(4, .25f); };
#ifdef FIXED
    const auto target = [](Prefix, Index n) {
        specsample::RowMajorMatrixXf rows = specsample::RowMajorMatrixXf::Constant(n, 4, 2);
        return specsample::logits_of(std::move(rows), .8);
    };
#else
    const auto target = [](Prefix, Index n) {
        specsample::RowMajorMatrixXf rows = specsample::RowMajorMatrixXf::Constant(n, 4, 2);
        return specsample::logits_of(rows, .8);
    };
#endif
    specsample::Sampler sampler(good, target);
    return static_cast<int>(sampler.generate({1, 2, 3}).tokens.size());
}
