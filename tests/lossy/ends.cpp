// No lossy rule reads a row past the end of a text.
#include <specsample/lossy.hpp>

#include "support/catch.hpp"
#include "support/random_round.hpp"

using namespace specsample;
using namespace specsample::lossy;

namespace {

bool ends(Token token) { return token % 2 == 1; }

/// Judge random drafts, with every row and without those past an end.
template <class Rule>
void check(const char* name, const Rule& rule) {
    INFO(name);
    int ended = 0;
    for (std::uint64_t seed = 0; seed < 240; ++seed) {
        const auto draft = random_round::draft_of(seed);
        const auto blind = draft.over_after(ends);
        Workspace memory, blind_memory;
        for (const StopDecision stop : {StopDecision::include, StopDecision::exclude}) {
            Index asked = 0;
            const auto until = [&](std::span<const Token> tokens) {
                CHECK(std::none_of(tokens.begin(), tokens.end() - 1, ends));
                ++asked;
                return ends(tokens.back()) ? stop : StopDecision::go_on;
            };
            const Round whole = draft.judge(rule, {.until = until}, memory);
            asked = 0;
            const Round round = blind.judge(rule, {.until = until}, blind_memory);
            CHECK(asked <= draft.size() + 1);
            REQUIRE(round);
            CHECK(std::ranges::equal(round.tokens, whole.tokens));
            CHECK(round.counts() == whole.counts());
            CHECK(round.end == whole.end);
            ended += round.end == RoundEnd::none ? 0 : 1;
        }
    }
    CHECK(ended > 50);
}

}  // namespace

TEST_CASE("no lossy rule reads a row past the end of a text") {
    check("lenience", Lenience{.l = .5});
    check("uniform bound", UniformBound{.b = 1.5});
    check("ratio threshold", RatioThreshold{.t = .8});
    check("cactus", Cactus{.delta = .02});
    check("typical", TypicalAcceptance{});
    check("big little", BigLittle{});
    check("relaxed", RelaxedTopN{.n = 2, .delta = .3});
    check("runner-up", RunnerUp{.margin = .8});
    check("classified", Classified([](DraftedToken& x) { return x.p() > .1; }));
    check("tree thresholds", TreeThresholds{.accumulated = .9});
    check("the best path", PathHeuristic{});
    check("sampled paths", PathHeuristic{.paths = Paths::sampled});
    check("mentored", Transformed(Mentored{.05}));
    check("mentored, block", Transformed(Mentored{.05, JensenShannon{}}, BlockVerification{}));
}
