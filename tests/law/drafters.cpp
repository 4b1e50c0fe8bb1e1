// Every drafter is exact under the walks of both directions: enumeration on small models.
#include <specsample/draft/beam.hpp>
#include <specsample/draft/heads.hpp>
#include <specsample/draft/heads_tree.hpp>
#include <specsample/draft/united.hpp>
#include <specsample/proposal/sparse_tree.hpp>
#include <specsample/sampler/staged.hpp>

#include "law/trees.hpp"
#include "support/catch.hpp"

using namespace cases;

namespace {

/// Any drafter whose laws are point masses or rows of the test's models: one type, so that a rule is compiled once.
class AnyDrafter {
  public:
    using Law = Mixed<RememberedView>;

    template <class Drafter>
        requires(!std::same_as<Drafter, AnyDrafter>)
    AnyDrafter(Drafter drafter)
        : propose_([drafter](std::span<const Token> prefix, const EnumeratedCoins& coins,
                             Proposal<Law>& proposal) mutable { drafter.propose(prefix, coins, proposal); }) {}

    void propose(std::span<const Token> prefix, const EnumeratedCoins& coins, Proposal<Law>& proposal) {
        propose_(prefix, coins, proposal);
    }
    void propose(std::span<const Token>, const Coins&, Proposal<Law>&) { FAIL("these coins are not enumerated"); }

  private:
    std::function<void(std::span<const Token>, const EnumeratedCoins&, Proposal<Law>&)> propose_;
};

/// Heads of a model that go on as if every token were the lowest.
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
    return {{"chain", ChainDraft(a)},
            {"heads", HeadsDraft(Heads{a, 3}, 3)},
            {"one head", HeadsDraft(Heads{a, 1}, 1)},
            {"hybrid", HybridDraft(a, Heads{b, 2}, {1, 2})},
            {"hybrid of all tokens", HybridDraft(a, Heads{b, 3}, {3, 3, 3})},
            {"a tree of heads", HeadsTreeDraft(Heads{a, 2}, expansion_tree({2, 2}))},
            {"a sparse tree", TreeDraft(a, sparse_tree(std::vector<double>{.6, .3}, 5))},
            {"beams", BeamDraft(a, 2)},
            {"dynamic tree", DynamicTreeDraft(a, {.width = 3, .nodes = 4})},
            {"two chains", United(a, b)},
            {"two chains, one model", United(a, a)},
            {"a tree and a chain", United(TreeDraft(a, {2, 1}), b)},
            {"beams and a chain", United(BeamDraft(b, 2), a)},
            {"the first of two", FirstOf(BeamDraft(a, 1), b)},
            {"staged", StagedDraft(a, b, 1)},
            {"staged, two at a time", StagedDraft(a, b, 2, BlockVerification{})},
            {"staged tree", StagedDraft(United(a, BeamDraft(a, 2)), b, 2)},
            {"two stages", StagedDraft(StagedDraft(a, b, 1), a, 2)}};
}

}  // namespace

TEST_CASE("every drafter is exact", "[law]") {
    double worst = 0;
    long cases_seen = 0;
    const auto check = [&](const auto& rule, const AnyDrafter& drafter, const Remembered& target, Index depth) {
        const Seen seen = see(rule, drafter, target, depth);
        CHECK(seen.distance < 1e-12);
        CHECK(std::abs(seen.certainty - 1) < 1e-12);
        worst = std::max(worst, seen.distance);
        ++cases_seen;
    };
    for (const auto& [vocab, depth] : {std::pair<Index, Index>{2, 3}, {3, 2}})
        for (const Pair& pair : pairs(vocab))
            for (const Named& named : drafters(pair.draft, Remembered(ContextModel(vocab, 99)))) {
                INFO(named.name << ", V = " << vocab << ": " << pair.name);
                check(RecursiveRejection{}, named.drafter, pair.target, depth);
                check(TraversalVerification{}, named.drafter, pair.target, depth);
            }
    WARN("largest total variation " << worst << " over " << cases_seen << " cases");
}

TEST_CASE("rounds of composed drafters share no noise with the rounds after them", "[law]") {
    const ContextModel a(3, 1), b(3, 2), target(3, 3);
    const Heads heads{Remembered(b), 2};
    // False alarms: 1e-9 each.
    CHECK(rounds(BlockVerification{}, StagedDraft(a, b, 2), target, 3, 4, 20000).holds());
    CHECK(rounds(TokenVerification{}, StagedDraft(a, b, 1, BlockVerification{}), target, 2, 4, 20000).holds());
    CHECK(rounds(TraversalVerification{}, United(a, b), target, 2, 4, 20000).holds());
    CHECK(rounds(TraversalVerification{}, HybridDraft(a, heads, {1, 2}), target, 2, 4, 20000).holds());
}
