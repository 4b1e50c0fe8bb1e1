// A target that returns a sparse row of logits over its own named row.
// expect: error: static assertion failed.*specsample::Sampler: target.prefix. returns Logits or Sparse
// expect: row that would be gone; write Logits.std::move.row., temperature
#include <specsample/specsample.hpp>

using specsample::Logits;
using specsample::Sparse;
using specsample::Token;
using Prefix = std::span<const Token>;

int main() {
    const auto good = [](Prefix) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(4, .25f); };
#ifdef FIXED
    const auto target = [](Prefix) {
        std::vector<float> row{1, 2};
        return Sparse(std::vector<int>{1, 3}, Logits(std::move(row), .8), 4);
    };
#else
    const auto target = [](Prefix) {
        std::vector<float> row{1, 2};
        return Sparse(std::vector<int>{1, 3}, Logits(row, .8), 4);
    };
#endif
    specsample::Sampler sampler(good, target);
    return static_cast<int>(sampler.generate({1, 2, 3}).tokens.size());
}
