// What a program calls on single rows gives for a row that is a value what it gives for the same row as a type.
#include <array>
#include <cmath>
#include <span>
#include <vector>

#include <specsample/drafters/ahead.hpp>
#include <specsample/length/confidence.hpp>
#include <specsample/length/stops.hpp>
#include <specsample/metrics/audit.hpp>
#include <specsample/random/draw.hpp>
#include <specsample/rows/value_kernels.hpp>
#include <specsample/specsample.hpp>
#include <specsample/theory/acceptance.hpp>
#include <specsample/values.hpp>
#include <specsample/verify/batch.hpp>

#include "support/catch.hpp"

using namespace specsample;

namespace {

const std::vector<float> q{.1f, .2f, .3f, .4f}, p{.4f, .1f, .3f, .2f};
const std::vector<double> wide{.1, .2, .3, .4};
const std::vector<int> ids{2, 3, 5, 7};

/// Call check(value, type) with a row in both forms, for several kinds of row.
void of_each_kind(const auto& check) {
    check(Row::probs(q), q);
    check(Row::probs(wide), wide);
    check(Row::logits(q, .5), Logits(std::span(q), .5));
    check(Row::sparse(ids, Row::probs(p), 9), Sparse(std::span(ids), std::span(p), 9));
}

}  // namespace

TEST_CASE("kernels take rows that are values", "[rows]") {
    of_each_kind([](const Row& value, const auto& type) {
        CHECK(kernels::argmax(value) == kernels::argmax(type));
        CHECK(kernels::entropy(value) == kernels::entropy(type));
        std::array<Token, 3> of_value{}, of_type{};
        CHECK(kernels::top_ids(value, of_value) == 3);
        CHECK(kernels::top_ids(type, of_type) == 3);
        CHECK(of_value == of_type);
        CHECK_FALSE(kernels::inspect(value, Side::draft, 0));
    });
    const Row draft = Row::logits(q, .5), target = Row::probs(p);
    const auto typed = Logits(std::span(q), .5);
    CHECK(kernels::overlap(draft, target) == kernels::overlap(typed, p));
    CHECK(theory::acceptance(draft, target) == theory::acceptance(typed, p));
    CHECK(theory::total_variation(draft, target) == theory::total_variation(typed, p));
    CHECK(theory::total_variation(Row::probs(wide), target) == Approx(.3).epsilon(1e-6));
    CHECK_THROWS_AS(kernels::overlap(draft, Row::sparse(ids, target, 9)), std::invalid_argument);
}

TEST_CASE("a bad row that is a value has the fault that it has as a type", "[rows]") {
    const auto check = [](const Row& value, const auto& type, Cause cause, Index id) {
        for (const auto& found : {kernels::inspect(type, Side::draft, 0), kernels::inspect(value, Side::draft, 0)}) {
            REQUIRE(found);
            CHECK(found->cause == cause);
            CHECK(found->id == id);
        }
    };
    const std::vector<int> disordered{2, 5, 3, 7}, outside{2, 3, 5, 9};
    const std::vector<float> negative{.5f, -.5f, .5f, .5f}, none{.1f, -INFINITY, NAN, 0}, masked(4, -INFINITY);
    const auto sparse = [](const auto& list, const auto& numbers) { return Row::sparse(list, Row::probs(numbers), 9); };
    check(sparse(disordered, q), Sparse(std::span(disordered), std::span(q), 9), Cause::unordered_ids, 2);
    check(sparse(outside, q), Sparse(std::span(outside), std::span(q), 9), Cause::id_outside, 3);
    check(sparse(ids, negative), Sparse(std::span(ids), std::span(negative), 9), Cause::negative, 3);
    check(Row::probs(negative), negative, Cause::negative, 1);
    check(Row::logits(none), Logits(std::span(none)), Cause::not_finite, 2);
    check(Row::logits(masked, .5), Logits(std::span(masked), .5), Cause::all_masked, 0);
    check(Row::sparse(ids, Row::logits(none), 9), Sparse(std::span(ids), Logits(std::span(none)), 9),
          Cause::not_finite, 5);
    Row refused = Row::probs(q);
    detail::parts_of(refused).is_refused = true;
    CHECK(kernels::inspect(refused, Side::draft, 0));
}

TEST_CASE("draws and races take rows that are values", "[rows]") {
    of_each_kind([](const Row& value, const auto& type) {
        for (Index node = 0; node < 20; ++node) {
            const RoundRng rng(3, 0, 0);
            const kernels::Drawn of_value = draw(rng.at(Purpose::last, node), value);
            const kernels::Drawn of_type = draw(rng.at(Purpose::last, node), type);
            CHECK(of_value.index == of_type.index);
            CHECK(of_value.sum == of_type.sum);
            CHECK(race(rng.at(Purpose::race, node), value) == race(rng.at(Purpose::race, node), type));
            std::array<Token, 2> few{}, same{};
            CHECK(race(rng.at(Purpose::race, node), value, few) == 2);
            CHECK(race(rng.at(Purpose::race, node), type, same) == 2);
            CHECK(few == same);
        }
    });
}

TEST_CASE("an audit observes rows that are values", "[rows]") {
    metrics::Audit of_values, of_types;
    const auto typed = Logits(std::span(q), .5);
    for (int i = 0; i < 30; ++i) {
        of_values.observe(Row::logits(q, .5), Row::probs(p), i % 4);
        of_types.observe(typed, p, i % 4);
        of_values.observe(Row::probs(wide), 3);
        of_types.observe(wide, 3);
    }
    CHECK(of_values.log_evidence() == of_types.log_evidence());
    CHECK(of_values.log_evidence() != 0);
    CHECK_THROWS_AS(of_values.observe(Row::probs(p), 4), std::invalid_argument);
}

TEST_CASE("a batch judges requests whose rows are values", "[rows]") {
    const RoundRng rng(3, 0, 0);
    const std::vector<Row> rows{Row::probs(p), Row::probs(q)}, bad{Row::probs(p)};
    const auto [token, origin] = draft_token(TokenVerification{}, rng, 0, Row::probs(q));
    const std::vector tokens{token};
    const std::vector origins{origin};
    BatchWorkspace memory;
    std::vector requests{Request(std::span(tokens), std::span(origins), Rows(rows), TokenVerification{}, rng)};
    requests.push_back({std::span(tokens), std::span(origins), Rows(bad), TokenVerification{}, rng});
    const auto rounds = verify_batch(requests, memory);
    Workspace workspace;
    const Round alone = verify(tokens, origins, rows, TokenVerification{}, rng, {}, workspace);
    REQUIRE(rounds[0]);
    CHECK(std::vector(rounds[0].tokens.begin(), rounds[0].tokens.end()) ==
          std::vector(alone.tokens.begin(), alone.tokens.end()));
    CHECK(rounds[1].fault->cause == Cause::wrong_count);

    std::vector refused{Request(std::span(tokens), std::span(origins), Rows(rows), GumbelMatch{}, rng)};
    const auto none = verify_batch(refused, memory);
    CHECK(none[0].fault->cause == Cause::broken_contract);
    CHECK(message(none[0]) ==
          "specsample::verify: origins[0] is sampled, for a rule that shares the target's noise, but must be that of "
          "draft_token(rule, ..), or named");
}

TEST_CASE("stops of an engine's drafts, and guesses of its rounds, take rows that are values", "[rows]") {
    of_each_kind([](const Row& value, const auto& type) {
        const double nats = kernels::entropy(type);
        CHECK(EntropyStop(std::sqrt(nats) - .01).before(value));
        CHECK_FALSE(EntropyStop(std::sqrt(nats) + .01).before(value));
        CHECK_FALSE(ConfidenceStop().before(value));
        CHECK(confidence::of(value) == confidence::of(type));
        for (const double cost : {0., .1, .4, 1.}) {
            confidence::Estimator estimator;
            const auto steps = [&](const auto& row) {
                const confidence::GoodputStop stop(
                    estimator, [](Index n) { return .9 + .1 * static_cast<double>(n); }, cost);
                stop.begin();
                Index drafted = 0;
                while (drafted < 20 && !stop.before(row)) ++drafted;
                return drafted;
            };
            CHECK(steps(value) == steps(type));
        }
    });
    const std::vector<Token> drafted{3, 1};
    std::vector<ahead::RoundOutcome> of_values, of_types;
    ahead::likely_outcomes(drafted, std::array{Row::probs(q), Row::probs(p)}, 2, .6, 5, of_values);
    ahead::likely_outcomes(drafted, std::array{q, p}, 2, .6, 5, of_types);
    REQUIRE(of_values.size() == 5);
    for (std::size_t i = 0; i < 5; ++i) {
        CHECK(of_values[i].last == of_types[i].last);
        CHECK(of_values[i].probability == of_types[i].probability);
    }
}
