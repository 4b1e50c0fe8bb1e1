// Drafts from one block of candidates per round keep the target's distribution, as chains and trees, drawn and named.
#include <specsample/drafters/lattice.hpp>

#include <specsample/drafters/beam.hpp>
#include <specsample/drafters/tree.hpp>

#include "exactness/trees.hpp"
#include "support/catch.hpp"

using namespace cases;
using namespace specsample::walks;

namespace {

/// A block of three positions with two candidates each, which do not ascend. A function of the text.
class ToyBlock {
  public:
    explicit ToyBlock(std::uint64_t seed, Index vocab) : seed_(seed), vocab_(vocab) {}

    lattice::Block<double> operator()(std::span<const Token> text) const {
        Index sum = 0;
        for (const Token token : text) sum = 3 * sum + token + 1;
        ids_.clear(), logits_.clear();
        for (Index position = 0; position < 3; ++position) {
            const Rng random({.seed = seed_, .position = 8 * sum + position});
            const auto high = static_cast<Token>(1 + random.uniform(0) * static_cast<double>(vocab_ - 1));
            const auto low = static_cast<Token>(random.uniform(1) * high);
            ids_.insert(ids_.end(), {high, low});
            for (std::uint32_t i = 2; i < 4; ++i) logits_.push_back(4 * random.uniform(i));
        }
        return {.ids = ids_, .logits = logits_, .width = 2};
    }

  private:
    std::uint64_t seed_;
    Index vocab_;
    mutable std::vector<Token> ids_{};
    mutable std::vector<double> logits_{};
};

/// A pair of tokens that are alike is likely.
struct AlikeIsLikely {
    void operator()(Index, Token previous, std::span<const Token> ids, std::span<double> logits) const {
        for (std::size_t i = 0; i < ids.size(); ++i)
            if (ids[i] == previous) logits[i] += 1.5;
    }
};

}  // namespace

TEST_CASE("drafts from a block have the target's joint distribution, as paths and trees of every kind") {
    long cases_seen = 0, drafted = 0;
    for (const Index vocab : {2, 3})
        for (std::uint64_t seed = 0; seed < 4; ++seed) {
            const Remembered target = ContextModel(vocab, 90 + seed);
            const auto check = [&](const auto& rule, const auto& make, double temperature) {
                const lattice::Model model(ToyBlock(seed, vocab), vocab, temperature, AlikeIsLikely{});
                const lattice::Drafter drafter(model, make);
                for (const Index lookahead : {1, 3, 4}) {
                    if (lookahead < drafter.depth()) continue;
                    INFO("vocab " << vocab << ", seed " << seed << ", K = " << lookahead);
                    CHECK(distance_from_target(rule, drafter, target, lookahead) < 1e-12);
                    ++cases_seen;
                    for_rounds(rule, drafter, target, lookahead,
                               [&](const Round& round, const Enumerator&) { drafted += round.proposed; });
                }
            };
            for (const double temperature : {1., .3}) {
                const auto chain = [](auto rows) { return ChainDrafter(rows); };
                check(TokenVerification{}, chain, temperature);
                check(BlockVerification{}, chain, temperature);
                const auto tree = [](auto rows) { return TreeDrafter(rows, {2, 1}); };
                check(RecursiveRejection{}, tree, temperature);
                check(TraversalVerification{}, tree, temperature);
                const auto likeliest = [](auto rows) { return DynamicTreeDrafter(rows, {.width = 2, .nodes = 4}); };
                check(TraversalVerification{}, likeliest, temperature);
                const auto best = [](auto rows) { return BeamDrafter(rows, 1); };
                check(BlockVerification{}, best, temperature);
            }
        }
    CHECK(cases_seen == 2 * 4 * 2 * (4 * 3 + 2 * 2));
    CHECK(drafted > 10000);
}
