// A drafter that draws with the target's own noise, in a Sampler with a rule that judges by a ratio.
// expect: error: static assertion failed.*specsample::verify: a token .* .Raced. has no ratio; judge it by a match rule
#include <vector>

#include <specsample/draft.hpp>
#include <specsample/sampler.hpp>
#include <specsample/verify.hpp>

using namespace specsample;

struct RacedDraft {
    using Law = Raced;
    std::vector<float> row{.5f, .5f};

    template <class Source>
    void propose(std::span<const Token>, const Source& coins, Proposal<Raced>& proposal) {
        Index node = root_node;
        while (proposal.grows(node)) {
            const auto coin = coins.at(Purpose::race, proposal.depth(node));
            node = proposal.add(node, race(coin, RowWeights(as_row(row))), Raced{});
        }
    }
};

int main() {
    const auto target = [](std::span<const Token>) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(2, .5f); };
#ifdef FIXED
    Sampler sampler(RacedDraft{}, target, {}, GumbelMatch{});
#else
    Sampler sampler(RacedDraft{}, target, {}, TokenVerification{});
#endif
    return static_cast<int>(sampler.generate({1, 0}).tokens.size());
}
