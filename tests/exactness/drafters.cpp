// Every drafter is exact under the walks of both directions: enumeration on small models.
#include <specsample/drafters/beam.hpp>
#include <specsample/drafters/heads.hpp>
#include <specsample/drafters/heads_tree.hpp>
#include <specsample/drafters/united.hpp>
#include <specsample/sampler/staged.hpp>
#include <specsample/tree/sparse_tree.hpp>

#include "exactness/trees.hpp"
#include "support/catch.hpp"

using namespace cases;
using namespace specsample::heads;

namespace {

/// Any drafter whose distributions are point masses or rows of the test's models: one type, so that a rule is compiled
/// once.
class AnyDrafter {
  public:
    using Distribution = Mixed<RememberedView>;

    template <class Drafter>
        requires(!std::same_as<Drafter, AnyDrafter>)
    AnyDrafter(Drafter drafter)
        : propose_(
              [drafter](std::span<const Token> prefix, const EnumeratedRng& rng,
                        DraftTree<Distribution>& draft_tree) mutable { drafter.propose(prefix, rng, draft_tree); }) {}

    void propose(std::span<const Token> prefix, const EnumeratedRng& rng, DraftTree<Distribution>& draft_tree) {
        propose_(prefix, rng, draft_tree);
    }
    void propose(std::span<const Token>, const RoundRng&, DraftTree<Distribution>&) {
        FAIL("these random draws are not enumerated");
    }

  private:
    std::function<void(std::span<const Token>, const EnumeratedRng&, DraftTree<Distribution>&)> propose_;
};

/// Heads from one model, which continue as if every token were token 0.
struct Heads {
    Remembered model;
    std::size_t count;

    std::vector<Eigen::VectorXd> operator()(std::span<const Token> prefix) const {
        std::vector<Eigen::VectorXd> rows;
        std::vector<Token> text(prefix.begin(), prefix.end());
        for (; rows.size() < count; text.push_back(0)) rows.push_back(model(text));
        return rows;
    }
};

struct Named {
    const char* name;
    AnyDrafter drafter;
};

/// The drafters made of two models, a and b.
std::vector<Named> drafters(const Remembered& a, const Remembered& b) {
    return {{"chain", ChainDrafter(a)},
            {"heads", HeadsDrafter(Heads{a, 3}, 3)},
            {"one head", HeadsDrafter(Heads{a, 1}, 1)},
            {"hybrid", HybridDrafter(a, Heads{b, 2}, {1, 2})},
            {"hybrid of all tokens", HybridDrafter(a, Heads{b, 3}, {3, 3, 3})},
            {"a tree of heads", HeadsTreeDrafter(Heads{a, 2}, expansion_tree({2, 2}))},
            {"a sparse tree", TreeDrafter(a, sparse_tree(std::vector<double>{.6, .3}, 5))},
            {"beams", BeamDrafter(a, 2)},
            {"dynamic tree", DynamicTreeDrafter(a, {.width = 3, .nodes = 4})},
            {"two chains", United(a, b)},
            {"two chains, one model", United(a, a)},
            {"a tree and a chain", United(TreeDrafter(a, {2, 1}), b)},
            {"beams and a chain", United(BeamDrafter(b, 2), a)},
            {"the first of two", FirstOf(BeamDrafter(a, 1), b)},
            {"staged", StagedDrafter(a, b, 1)},
            {"staged, two at a time", StagedDrafter(a, b, 2, BlockVerification{})},
            {"staged tree", StagedDrafter(United(a, BeamDrafter(a, 2)), b, 2)},
            {"two stages", StagedDrafter(StagedDrafter(a, b, 1), a, 2)}};
}

}  // namespace

TEST_CASE("every drafter is exact", "[distribution]") {
    double worst = 0;
    long cases_seen = 0;
    const auto check = [&](const auto& rule, const AnyDrafter& drafter, const Remembered& target, Index depth) {
        const Seen seen = see(rule, drafter, target, depth);
        CHECK(seen.distance < 1e-12);
        CHECK(std::abs(seen.certainty - 1) < 1e-12);
        worst = std::max(worst, seen.distance);
        ++cases_seen;
    };
    for (const auto& [vocab, depth] : {std::pair<Index, Index>{2, 3}, {3, 2}}) {
        const Remembered spanning = ContextModel(vocab, 61, Rows::spanning);
        std::vector<Pair> models = pairs(vocab);
        models.push_back({"from 1e-300 to 1", spanning, ContextModel(vocab, 62, Rows::spanning)});
        models.push_back({"from 1e-300 to 1, smooth", spanning, ContextModel(vocab, 63)});
        for (const Pair& pair : models)
            for (const Named& named : drafters(pair.draft, Remembered(ContextModel(vocab, 99)))) {
                INFO(named.name << ", V = " << vocab << ": " << pair.name);
                check(RecursiveRejection{}, named.drafter, pair.target, depth);
                check(TraversalVerification{}, named.drafter, pair.target, depth);
            }
    }
    WARN("largest total variation " << worst << " over " << cases_seen << " cases");
}

TEST_CASE("rounds of composed drafters share no noise with the rounds after them", "[distribution]") {
    const ContextModel a(3, 1), b(3, 2), target(3, 3);
    const Heads heads{Remembered(b), 2};
    // False alarms: 1e-9 each.
    CHECK(rounds(BlockVerification{}, StagedDrafter(a, b, 2), target, 3, 4, 20000).holds());
    CHECK(rounds(TokenVerification{}, StagedDrafter(a, b, 1, BlockVerification{}), target, 2, 4, 20000).holds());
    CHECK(rounds(TraversalVerification{}, United(a, b), target, 2, 4, 20000).holds());
    CHECK(rounds(TraversalVerification{}, HybridDrafter(a, heads, {1, 2}), target, 2, 4, 20000).holds());
}
