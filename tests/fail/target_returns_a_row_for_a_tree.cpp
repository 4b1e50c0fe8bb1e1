// A target of trees that returns one row.
// expect: error: static assertion failed.*specsample::Sampler: target\(prefix, tree\) must return a row of
// probabilities
#include <vector>

#include <specsample/sampler.hpp>

using namespace specsample;

int main() {
    const auto draft = [](std::span<const Token>) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(2, .5f); };
#ifdef FIXED
    const auto target = [](std::span<const Token>, Tree<Token, Index> tree) {
        return RowMajorMatrixXf(RowMajorMatrixXf::Constant(std::ssize(tree.tokens) + 1, 2, .5f));
    };
#else
    const auto target = [](std::span<const Token>, Tree<Token, Index>) {
        return Eigen::VectorXf(Eigen::VectorXf::Constant(2, .5f));
    };
#endif
    Sampler sampler(draft, target);
    return static_cast<int>(sampler.generate({1, 0}).tokens.size());
}
