// Every drafter is exact under the walks of both directions: enumeration on small models.
#include "exactness/all_drafters.hpp"
#include "support/catch.hpp"

using namespace cases;
using namespace specsample::heads;

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
        const Remembered spanning = ContextModel(vocab, 61, RowKind::spanning);
        std::vector<Pair> models = pairs(vocab);
        models.push_back({"from 1e-300 to 1", spanning, ContextModel(vocab, 62, RowKind::spanning)});
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
