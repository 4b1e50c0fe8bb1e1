// A drafter that draws with the target's own noise, in a Sampler with a rule that judges by a ratio.
// expect: error: static assertion failed.*specsample::verify: a token .* .SharedNoise. has no ratio; judge it by a
// match rule
#include <vector>

#include <specsample/drafters.hpp>
#include <specsample/sampler.hpp>
#include <specsample/verify.hpp>

using namespace specsample;
using namespace specsample::kernels;

struct SharedNoiseDraft {
    using Distribution = SharedNoise;
    std::vector<float> row{.5f, .5f};

    template <class Source>
    void propose(std::span<const Token>, const Source& rng, DraftTree<SharedNoise>& draft_tree) {
        Index node = root_node;
        while (draft_tree.grows(node)) {
            const auto random = rng.at(Purpose::race, draft_tree.depth(node));
            node = draft_tree.add(node, race(random, RowWeights(detail::as_row(row))), SharedNoise{});
        }
    }
};

int main() {
    const auto target = [](std::span<const Token>) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(2, .5f); };
#ifdef FIXED
    Sampler sampler(SharedNoiseDraft{}, target, {}, GumbelMatch{});
#else
    Sampler sampler(SharedNoiseDraft{}, target, {}, BlockVerification{});
#endif
    return static_cast<int>(sampler.generate({1, 0}).tokens.size());
}
