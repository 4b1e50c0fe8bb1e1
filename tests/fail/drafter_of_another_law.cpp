// A drafter fills a proposal of its own Law.
// expect: error: static assertion failed.*specsample::Sampler: draft.propose cannot be called with a prefix, coins
#include <specsample/sampler.hpp>

using namespace specsample;

struct Zeros {
    using Law = PointMass;
#ifdef FIXED
    void propose(std::span<const Token>, const auto&, Proposal<PointMass>& proposal){
#else
    void propose(std::span<const Token>, const auto&, Proposal<Raced>& proposal) {
#endif
        for (Index node = root_node; proposal.grows(node);) node = proposal.add(node, 0, PointMass{});
}
}
;

int main() {
    const auto target = [](std::span<const Token>) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(2, .5f); };
    Sampler sampler(Zeros{}, target);
    return static_cast<int>(sampler.generate({1, 0}).tokens.size());
}
