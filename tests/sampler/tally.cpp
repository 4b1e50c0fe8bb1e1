// The counters of real runs, against the tokens that they wrote, and the part of a cache that stays valid after a
// round.
#include <algorithm>

#include <specsample/theory.hpp>

#include "exactness/cases.hpp"
#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::kernels;
using namespace specsample::metrics;
using namespace specsample::theory;
using namespace specsample::testing;

namespace {

const ContextModel draft(5, 81), target(5, 82);

/// A model that keeps the last prefix it saw, as its cache would hold it.
template <class... Count>
struct Shown {
    ContextModel model;
    std::vector<Token> shown = {};

    auto operator()(std::span<const Token> prefix, Count... count) {
        shown.assign(prefix.begin(), prefix.end());
        return model(prefix, count...);
    }

    /// The length of the common beginning of `text` and of what was shown.
    Index common_with(const std::vector<Token>& text) const {
        const auto ends = std::mismatch(shown.begin(), shown.end(), text.begin(), text.end());
        return ends.first - shown.begin();
    }
};

void check_sums(const Tally& tally) {
    CHECK(tally.rounds == tally.recovered + tally.bonus + tally.stopped);
    CHECK(tally.tokens == tally.accepted + tally.recovered + tally.bonus);
    CHECK(tally.evaluated == tally.accepted + tally.recovered);
    CHECK(tally.matched == 0);
    Index evaluated = 0, accepted = 0;
    for (const PositionCounts& at : tally.positions) {
        evaluated += at.evaluated;
        accepted += at.accepted;
    }
    CHECK(evaluated == tally.evaluated);
    CHECK(accepted == tally.accepted);
}

}  // namespace

TEST_CASE("the tally of a text is the sum of its rounds made by hand") {
    for (Index lookahead = 0; lookahead <= 4; ++lookahead) {
        Sampler sampler(draft, target, {.lookahead = lookahead, .seed = 1});
        Tally tally;
        Index discarded = 0;  // only who cuts a round afterwards has decided more than it keeps
        std::vector<Token> text;
        while (std::ssize(text) < 60) {
            Round round = sampler.step(text);
            const Index left = 60 - std::ssize(text);
            discarded += std::max<Index>(0, std::ssize(round.tokens) - left);
            round.truncate(left);
            RoundCounts counts = round.counts();
            counts.proposed = counts.depth = std::min(counts.proposed, left);  // who knows the budget drafts no more
            tally.record(counts);
            text.insert(text.end(), round.tokens.begin(), round.tokens.end());
        }
        const Generation made = sampler.generate({}, {.max_new_tokens = 60});
        CHECK(made.tokens == text);
        CHECK(tally.discarded == discarded);
        CHECK(made.tally.discarded == 0);
        tally.discarded = 0;
        CHECK(made.tally == tally);
    }
}

TEST_CASE("the counters add up to the tokens written") {
    const Index lookahead = GENERATE(0, 1, 2, 4);
    Sampler sampler(draft, target, {.lookahead = lookahead, .seed = 2});
    Tally all;
    Index tokens = 0;
    for (std::uint64_t request = 0; request < 40; ++request) {
        const auto budget = static_cast<Index>(request);
        const Generation made =
            sampler.generate({1}, {.max_new_tokens = budget, .stop_tokens = {4}, .request = request});
        check_sums(made.tally);
        CHECK(made.tally.tokens == std::ssize(made.tokens));
        all += made.tally;
        tokens += std::ssize(made.tokens);
    }
    CHECK(sampler.tally() == all);
    CHECK(sampler.tally().tokens == tokens);
    CHECK((lookahead == 0 || all.stopped > 0));
}

TEST_CASE("extend counts what generate counts") {
    Sampler sampler(draft, target, {.lookahead = 3, .seed = 2});
    std::vector<Token> text{1};
    (void)sampler.extend(text, {.max_new_tokens = 50});
    CHECK(sampler.tally() ==
          Sampler(draft, target, {.lookahead = 3, .seed = 2}).generate({1}, {.max_new_tokens = 50}).tally);
}

TEST_CASE("every position is decided as often as the one before it was accepted") {
    Sampler sampler(draft, target, {.lookahead = 4, .seed = 3});
    Tally tally;
    for (std::uint64_t request = 0; request < 400; ++request)
        tally.record(sampler.step({}, {.request = request}).counts());
    REQUIRE(tally.positions.size() == 4);
    CHECK(tally.proposed == 4 * tally.rounds);
    CHECK(tally.positions[0].evaluated == tally.rounds);
    for (std::size_t i = 1; i < 4; ++i) CHECK(tally.positions[i].evaluated == tally.positions[i - 1].accepted);
    CHECK(tally.positions[3].accepted == tally.bonus);
    CHECK(tally.positions[3].accepted > 0);
}

// Within five standard deviations at every position: a false alarm in 400000 for all four. Fixed seed.
TEST_CASE("acceptance is the overlap of the two rows, at every position") {
    const double overlap = acceptance(cases::ex3_draft.row, cases::ex3_target.row);
    Sampler sampler(cases::ex3_draft, cases::ex3_target, {.lookahead = 4, .seed = 4});
    const Tally tally = sampler.generate({}, {.max_new_tokens = 30000}).tally;
    for (Index position = 0; position < 4; ++position) {
        const Estimate estimate = tally.acceptance_at(position, 5);
        CHECK(estimate.low < overlap);
        CHECK(estimate.high > overlap);
        CHECK(estimate.high - estimate.low < 0.11);
    }
    CHECK(std::abs(tally.tokens_per_round() - expected_tokens(overlap, 4)) < 0.1);
}

TEST_CASE("keep lengths are how much of each model's last prefix the new text begins with") {
    for (Index lookahead = 0; lookahead <= 4; ++lookahead) {
        Shown<> drafter{draft};
        Shown<Index> scorer{target};
        Sampler sampler(std::ref(drafter), std::ref(scorer), {.lookahead = lookahead, .seed = 5});
        std::vector<Token> text{1, 2};
        std::vector<int> ends(5);
        for (int i = 0; i < 200; ++i) {
            const Index start = std::ssize(text);
            drafter.shown = text;
            const Round round = sampler.step(text);
            text.insert(text.end(), round.tokens.begin(), round.tokens.end());
            CHECK(round.keep_target(start) == scorer.common_with(text));
            CHECK(round.keep_draft(start) == drafter.common_with(text));
            ++ends[static_cast<std::size_t>(round.accepted)];
        }
        CHECK(std::count(ends.begin(), ends.begin() + lookahead + 1, 0) == 0);
    }
}

TEST_CASE("keep lengths of a round that a budget cuts stay inside the text") {
    Sampler sampler(target, target, {.lookahead = 4});
    for (Index budget = 1; budget <= 5; ++budget) {
        const Round round = sampler.step(std::vector<Token>{1, 2}, {.max_new_tokens = budget});
        CHECK(round.keep_target(2) == 2 + std::min<Index>(budget, 4));
        const Index drafted = std::min<Index>(budget, 4);  // the draft has not seen its last token
        CHECK(round.proposed == drafted);
        CHECK(round.keep_draft(2) == 2 + drafted - 1);
    }
}
