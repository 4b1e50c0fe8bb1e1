// A drafter says what its tokens are drawn from.
// expect: error: static assertion failed.*specsample::Sampler: draft has propose, but no member type Law.*write .using
// Law
#include <specsample/sampler.hpp>

using namespace specsample;

struct Zeros {
#ifdef FIXED
    using Law = PointMass;
#endif
    void propose(std::span<const Token>, const auto&, Proposal<PointMass>& proposal) {
        for (Index node = root_node; proposal.grows(node);) node = proposal.add(node, 0, PointMass{});
    }
};

int main() {
    const auto target = [](std::span<const Token>) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(2, .5f); };
    Sampler sampler(Zeros{}, target);
    return static_cast<int>(sampler.generate({1, 0}).tokens.size());
}
