// Drafts made ahead: which outcomes are guessed, and that the draft after each is found.
#include <specsample/drafters/ahead.hpp>

#include <cmath>
#include <vector>

#include <specsample/random.hpp>
#include <specsample/rows/logits.hpp>
#include <specsample/verify.hpp>

#include "support/catch.hpp"

using namespace specsample;
using ahead::likely_outcomes;
using ahead::OutcomeTable;
using ahead::RoundOutcome;

namespace {

using Vector = std::vector<double>;

const std::vector<Vector> rows{{.5, .3, .2}, {.1, .6, .3}, {.2, .2, .6}};
const std::vector<Token> tokens{0, 1};

std::vector<RoundOutcome> likely(Index row_count, double acceptance, Index most) {
    std::vector<RoundOutcome> outcomes{{7, 7, 7}};  // what another round left
    likely_outcomes(tokens, rows, row_count, acceptance, most, outcomes);
    return outcomes;
}

}  // namespace

TEST_CASE("the outcomes of a draft add up to 1, and are those of a round on its own rows", "[draft]") {
    const double a = .7;
    std::vector<RoundOutcome> outcomes = likely(3, a, 100);
    REQUIRE(outcomes.size() == 7);  // two tokens at each of two rejections, three after both
    double sum = 0;
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
        sum += outcomes[i].probability;
        if (i > 0) CHECK(outcomes[i - 1].probability >= outcomes[i].probability);
        const auto at = static_cast<std::size_t>(outcomes[i].accepted),
                   last = static_cast<std::size_t>(outcomes[i].last);
        const double expected = at == 2 ? a * a * rows[2][last]
                                        : std::pow(a, static_cast<double>(at)) * (1 - a) * rows[at][last] /
                                              (1 - rows[at][static_cast<std::size_t>(tokens[at])]);
        CHECK(outcomes[i].probability == Approx(expected).epsilon(1e-12));
        if (at < 2) CHECK(outcomes[i].last != tokens[at]);
    }
    CHECK(sum == Approx(1).epsilon(1e-12));
}

TEST_CASE("the most probable outcomes are taken, the bonus token only where its row is known", "[draft]") {
    const std::vector<RoundOutcome> two = likely(3, .9, 2);
    REQUIRE(two.size() == 2);
    CHECK(two[0].accepted == 2);
    CHECK(two[0].last == 2);
    for (const RoundOutcome& outcome : likely(2, .9, 100)) CHECK(outcome.accepted < 2);
    CHECK(likely(3, .5, 0).empty());
    const std::vector<RoundOutcome> certain = likely(3, 1, 3);
    for (const RoundOutcome& outcome : certain) CHECK(outcome.accepted == 2);
    CHECK(certain.size() == 3);
    std::vector<RoundOutcome> of_logits;
    const auto logits = [](Index i) {
        Vector row = rows[static_cast<std::size_t>(i)];
        for (double& x : row) x = std::log(x) + 3;
        return Logits(std::move(row));
    };
    likely_outcomes(tokens, logits, 3, .7, 7, of_logits);
    const std::vector<RoundOutcome> of_probs = likely(3, .7, 7);
    REQUIRE(of_logits.size() == of_probs.size());
    for (std::size_t i = 0; i < of_probs.size(); ++i)
        CHECK(of_logits[i].probability == Approx(of_probs[i].probability).epsilon(1e-12));
}

TEST_CASE("a token that the drafter thought certain has no other outcome there", "[draft]") {
    std::vector<RoundOutcome> outcomes;
    likely_outcomes(std::vector<Token>{1}, std::vector<Vector>{{0, 1, 0}}, 1, .5, 5, outcomes);
    CHECK(outcomes.empty());
    likely_outcomes(std::vector<Token>{5}, std::vector<Vector>{{.5, .5}}, 1, .5, 5, outcomes);  // of another vocabulary
    CHECK(outcomes.size() == 2);
}

TEST_CASE("drafts are found by their outcome, stay where they are, and are reused", "[draft]") {
    OutcomeTable<std::vector<int>> table;
    std::vector<std::vector<int>*> drafts;
    for (Index accepted = 0; accepted < 40; ++accepted)
        for (const Token last : {3, 4}) {
            std::vector<int>& draft = table.add({accepted, last, .1});
            draft.assign(1, static_cast<int>(10 * accepted) + last);
            drafts.push_back(&draft);
        }
    CHECK(table.size() == 80);
    std::size_t i = 0;
    for (Index accepted = 0; accepted < 40; ++accepted)
        for (const Token last : {3, 4}) {
            REQUIRE(table.find(accepted, last) == drafts[i++]);
            REQUIRE(table.find(accepted, last)->front() == static_cast<int>(10 * accepted) + last);
        }
    CHECK(table.find(40, 3) == nullptr);
    CHECK(table.find(0, 5) == nullptr);
    OutcomeTable<std::vector<int>> other;
    std::swap(table, other);
    CHECK(other.find(7, 4) == drafts[15]);
    CHECK(table.find(7, 4) == nullptr);
    other.clear();
    CHECK(other.find(7, 4) == nullptr);
    CHECK(&other.add({1, 1, 1}) == drafts[0]);
    CHECK(drafts[0]->size() == 1);  // its memory is kept
}

TEST_CASE("wrong arguments of likely_outcomes are refused", "[draft]") {
    CHECK_THROWS_WITH(likely(3, 1.5, 3),
                      "specsample::ahead::likely_outcomes: acceptance is 1.5, but must be in [0, 1]");
    CHECK_THROWS_WITH(likely(1, .5, 3),
                      "specsample::ahead::likely_outcomes: row_count is 1, but must be the number of "
                      "tokens, or one more");
    std::vector<RoundOutcome> outcomes;
    CHECK_THROWS_WITH(likely_outcomes(tokens, std::vector<Vector>{rows[0]}, 2, .5, 3, outcomes),
                      "specsample::ahead::likely_outcomes: the number of rows is 1, but must be at least row_count, 2");
    CHECK_THROWS_WITH(likely(3, .5, -1), "specsample::ahead::likely_outcomes: most is -1, but must be at least 0");
}
