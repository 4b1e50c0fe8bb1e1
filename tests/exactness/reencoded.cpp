// Drafts of another tokenizer, tokenised again in the target's, keep the target's distribution.
#include <specsample/vocabularies/reencoded.hpp>

#include <specsample/drafters/tree.hpp>

#include "exactness/trees.hpp"
#include "support/catch.hpp"
#include "support/two_tokenizers.hpp"

using namespace cases;
using namespace specsample::walks;
using namespace two_tokenizers;
using specsample::vocabularies::Reencoded;

TEST_CASE("drafts that are tokenised again have the target's joint distribution") {
    long cases_seen = 0, drafted = 0;
    for (std::uint64_t seed = 0; seed < 3; ++seed)
        for (const RowKind kind : {RowKind::smooth, RowKind::with_zeros}) {
            const Remembered target = ContextModel(4, 70 + seed, kind), draft = ContextModel(3, 80 + seed, kind);
            const auto check = [&](const auto& rule, auto inner) {
                const Reencoded drafter(inner, to_draft, to_target);
                for (const Index lookahead : {1, 2}) {
                    if (lookahead < drafter.depth()) continue;
                    INFO("seed " << seed << ", K = " << lookahead);
                    CHECK(distance_from_target(rule, drafter, target, lookahead, {{}, {3, 0}}) < 1e-12);
                    ++cases_seen;
                    for_rounds(rule, drafter, target, lookahead,
                               [&](const Round& round, const Enumerator&) { drafted += round.proposed; });
                }
            };
            check(TokenVerification{}, draft);
            check(BlockVerification{}, ChainDrafter(draft));
            check(TraversalVerification{}, TreeDrafter(draft, {2, 1}));
            check(RecursiveRejection{}, TreeDrafter(draft, {2, 1}));
            check(SampleMatch{}, draft);
            check(GumbelMatch{}, draft);
        }
    CHECK(cases_seen == 3 * 2 * (4 * 2 + 2));
    CHECK(drafted > 1000);
}
