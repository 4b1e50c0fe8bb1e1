// A draft that returns a sparse row over its own named ids.
// expect: error: static assertion failed.*specsample::Sampler: draft.prefix. returns Logits or Sparse
// expect: row that would be gone; write Logits.std::move.row., temperature
#include <specsample/specsample.hpp>

using specsample::Sparse;
using specsample::Token;
using Prefix = std::span<const Token>;

int main() {
    const auto good = [](Prefix) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(4, .25f); };
#ifdef FIXED
    const auto draft = [](Prefix) {
        std::vector<int> ids{1, 3};
        return Sparse(std::move(ids), std::vector<float>{.5f, .5f}, 4);
    };
#else
    const auto draft = [](Prefix) {
        std::vector<int> ids{1, 3};
        return Sparse(ids, std::vector<float>{.5f, .5f}, 4);
    };
#endif
    specsample::Sampler sampler(draft, good);
    return static_cast<int>(sampler.generate({1, 2, 3}).tokens.size());
}
