// A drafter says what its tokens are drawn from.
// expect: error: static assertion failed.*specsample::Sampler: draft has propose, but no member type
// Distribution.*write .using Distribution
#include <specsample/sampler.hpp>

using namespace specsample;

struct Zeros {
#ifdef FIXED
    using Distribution = PointMass;
#endif
    void propose(std::span<const Token>, const auto&, DraftTree<PointMass>& draft_tree) {
        for (Index node = root_node; draft_tree.grows(node);) node = draft_tree.add(node, 0, PointMass{});
    }
};

int main() {
    const auto target = [](std::span<const Token>) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(2, .5f); };
    Sampler sampler(Zeros{}, target);
    return static_cast<int>(sampler.generate({1, 0}).tokens.size());
}
