// A drafter fills a draft tree of its own Distribution.
// expect: error: static assertion failed.*specsample::Sampler: draft.propose cannot be called with a prefix, a
// expect: a prefix, a random source and a DraftTree of its Distribution
#include <specsample/sampler.hpp>

using namespace specsample;

struct Zeros {
    using Distribution = PointMass;
#ifdef FIXED
    void propose(std::span<const Token>, const auto&, DraftTree<PointMass>& draft_tree){
#else
    void propose(std::span<const Token>, const auto&, DraftTree<SharedNoise>& draft_tree) {
#endif
        for (Index node = root_node; draft_tree.grows(node);) node = draft_tree.add(node, 0, PointMass{});
}
}
;

int main() {
    const auto target = [](std::span<const Token>) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(2, .5f); };
    Sampler sampler(Zeros{}, target);
    return static_cast<int>(sampler.generate({1, 0}).tokens.size());
}
