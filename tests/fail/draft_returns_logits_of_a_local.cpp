// A draft that returns logits over its own named row.
// expect: error: static assertion failed.*specsample::Sampler: draft.prefix. returns Logits or Sparse
// expect: row that would be gone; write Logits.std::move.row., temperature
#include <specsample/sampler.hpp>

using specsample::Logits;
using specsample::Token;
using Prefix = std::span<const Token>;

int main() {
    const auto good = [](Prefix) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(4, .25f); };
#ifdef FIXED
    const auto draft = [](Prefix) {
        Eigen::VectorXf row = Eigen::VectorXf::Constant(4, 2);
        return Logits(std::move(row), .8);
    };
#else
    const auto draft = [](Prefix) {
        Eigen::VectorXf row = Eigen::VectorXf::Constant(4, 2);
        return Logits(row, .8);
    };
#endif
    specsample::Sampler sampler(draft, good);
    return static_cast<int>(sampler.generate({1, 2, 3}).tokens.size());
}
