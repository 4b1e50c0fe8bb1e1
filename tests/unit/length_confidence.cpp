// What a draft model's confidence is worth, learned from rounds, and drafts that end by it.
#include <specsample/length/confidence.hpp>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include <specsample/specsample.hpp>
#include <specsample/testing.hpp>

#include "support/catch.hpp"
#include "support/uniforms.hpp"

using namespace specsample;
using specsample::confidence::Estimator;
using specsample::confidence::GoodputStop;

namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double logit(double c) { return std::log(c / (1 - c)); }

/// Decide drafts of three tokens, whose confidences are uniform, with probabilities that an estimator can learn.
/// @param truth   truth(position, confidence)
template <class Truth>
void learn(Estimator& estimator, Uniforms& uniform, int rounds, const Truth& truth, std::uint64_t key = 0) {
    for (int i = 0; i < rounds; ++i) {
        const std::vector<double> confidences{uniform(), uniform(), uniform()};
        RoundCounts round{.proposed = 3};
        while (round.evaluated < 3) {
            const auto k = static_cast<std::size_t>(round.evaluated++);
            if (uniform() >= truth(static_cast<Index>(k), confidences[k])) break;
            ++round.accepted;
        }
        estimator.record(confidences, round, key);
    }
}

template <class Truth>
double largest_error(const Estimator& estimator, const Truth& truth, std::uint64_t key = 0) {
    double largest = 0;
    for (Index k = 0; k < 3; ++k)
        for (const double c : {.05, .2, .4, .6, .8, .95})
            largest = std::max(largest, std::abs(estimator.acceptance(k, c, key) - truth(k, c)));
    return largest;
}

}  // namespace

TEST_CASE("the confidence of a row is its largest probability", "[length]") {
    const std::vector<double> probs{.2, .5, .3};
    CHECK(confidence::of(probs) == .5);
    const std::vector<float> logits{0, 1, 2};
    CHECK(confidence::of(Logits(logits, .5)) == Approx(1 / (1 + std::exp(-2.) + std::exp(-4.))).epsilon(1e-6));
    CHECK(confidence::of(Logits(std::vector<float>{1, std::numeric_limits<float>::infinity()})) == 0);
    CHECK(confidence::of(std::vector<double>{}) == 0);
}

TEST_CASE("an estimator begins with the confidence itself, and learns what it is worth at each position", "[length]") {
    Estimator estimator(20000);
    CHECK(estimator.acceptance(2, .3) == Approx(.3).epsilon(1e-12));
    CHECK(estimator.acceptance(0, 1) == Approx(sigmoid(5)));
    CHECK(estimator.acceptance(0, 0) == Approx(sigmoid(-5)));
    const auto truth = [](Index k, double c) { return sigmoid(.6 * logit(c) + 1 - .7 * static_cast<double>(k)); };
    CHECK(largest_error(estimator, truth) > .2);
    Uniforms uniform{3};
    learn(estimator, uniform, 20000, truth);
    CHECK(largest_error(estimator, truth) < .03);
}

TEST_CASE("an estimator follows a text that changes", "[length]") {
    Estimator estimator(300);
    const auto before = [](Index, double c) { return c; };
    const auto after = [](Index, double c) { return sigmoid(logit(c) - 2); };
    Uniforms uniform{4};
    learn(estimator, uniform, 20000, before);
    CHECK(largest_error(estimator, before) < .12);
    learn(estimator, uniform, 1000, after);
    CHECK(largest_error(estimator, after) < .12);
}

TEST_CASE("what is learned under a key stays there until it is forgotten", "[length]") {
    Estimator estimator;
    Uniforms uniform{5};
    learn(
        estimator, uniform, 500, [](Index, double) { return .05; }, 7);
    CHECK(estimator.acceptance(0, .9, 7) < .4);
    CHECK(estimator.acceptance(0, .9) == Approx(.9).epsilon(1e-12));
    CHECK(estimator.acceptance(0, .9, 8) == Approx(.9).epsilon(1e-12));
    estimator.forget(7);
    CHECK(estimator.acceptance(0, .9, 7) == Approx(.9).epsilon(1e-12));
}

TEST_CASE("an estimator learns from decided tokens alone", "[length]") {
    Estimator estimator, untold;
    const std::vector<double> confidences{.5, .5, .5};
    estimator.record(confidences, {.proposed = 3, .evaluated = 3, .accepted = 3, .fault = Cause::not_finite});
    estimator.record(confidences, {.proposed = 3, .evaluated = 0});
    CHECK(estimator.acceptance(0, .7) == untold.acceptance(0, .7));
    estimator.record(confidences, {.proposed = 3, .evaluated = 1, .accepted = 1});
    CHECK(estimator.acceptance(0, .5) > .5);
    const double first = estimator.acceptance(0, .5);
    estimator.record(confidences, {.proposed = 3, .evaluated = 2, .accepted = 1});
    CHECK(estimator.acceptance(0, .5) > first);                         // accepted once more
    CHECK(estimator.acceptance(1, .5) < estimator.acceptance(0, .5));   // rejected
    CHECK(estimator.acceptance(2, .5) == estimator.acceptance(9, .5));  // undecided
}

TEST_CASE("a draft ends where a further token would lower the expected tokens per cost", "[length]") {
    const Estimator fresh;
    Estimator estimator;
    const auto cost = [](Index n) { return 1 + .3 * static_cast<double>(n - 1); };
    const GoodputStop stop(estimator, cost, .1);
    Uniforms uniform{6};
    int ended = 0;
    for (int i = 0; i < 200; ++i) {
        stop.begin();
        double tokens = 1, survival = 1;
        for (Index drafted = 0; drafted < 6; ++drafted) {
            const double c = .4 + .6 * uniform();
            const std::vector<double> row{c, 1 - c};
            survival *= fresh.acceptance(drafted, std::max(c, 1 - c));
            const double passes = .1 * static_cast<double>(drafted + 1);
            const bool pays =
                (tokens + survival) / (cost(drafted + 2) + passes) > tokens / (cost(drafted + 1) + passes);
            REQUIRE(stop.before(row) == !pays);
            CHECK_FALSE(stop.after(.01));
            ended += pays ? 0 : 1;
            if (!pays) break;
            tokens += survival;
        }
    }
    CHECK(ended > 50);
}

TEST_CASE("one stop ends the drafts of a sampler and learns from its rounds", "[length]") {
    using testing::ContextModel;
    const auto run = [](double scale) {
        Estimator estimator(100);
        GoodputStop stop(
            estimator, [](Index n) { return 1 + .25 * static_cast<double>(n - 1); }, .05);
        const ContextModel target(4, 2);
        const auto draft = [&](std::span<const Token> prefix) {
            // As sure as the target, or sure of something else.
            Eigen::VectorXd row = target(prefix);
            if (scale < 0) row = row.reverse().eval();
            return row;
        };
        Sampler sampler(ChainDrafter(draft, std::ref(stop)), target, {.lookahead = 6, .seed = 3}, TokenVerification{},
                        std::ref(stop));
        const auto made = sampler.generate({1}, {.max_new_tokens = 2000});
        return static_cast<double>(made.tally.proposed) / static_cast<double>(made.tally.rounds);
    };
    const double good = run(1), bad = run(-1);
    CHECK(good > 2 * bad);
}

TEST_CASE("a stop learns once from each of its drafts, and nothing from the drafts of others", "[length]") {
    Estimator estimator, expected;
    GoodputStop stop(
        estimator, [](Index) { return 1.; }, 0);
    const std::vector<double> row{.6, .4};
    const RoundCounts rejected{.proposed = 1, .evaluated = 1};
    stop.record(rejected);  // before any draft
    CHECK(estimator.acceptance(0, .6) == expected.acceptance(0, .6));
    stop.begin();
    CHECK_FALSE(stop.before(row));
    expected.record(std::vector{.6}, rejected);
    for (int i = 0; i < 3; ++i) {
        stop.record(rejected);
        CHECK(estimator.acceptance(0, .6) == expected.acceptance(0, .6));
    }
}

TEST_CASE("settings of estimators and stops that are out of range are refused", "[length]") {
    const auto refuses = [](auto&& make, const std::string& text) {
        CHECK_THROWS_WITH(make(), Catch::Matchers::Contains(text));
    };
    refuses([] { Estimator(1); },
            "specsample::confidence::Estimator: memory is 1, but must be a finite number above 1");
    Estimator estimator;
    refuses([&] { static_cast<void>(estimator.acceptance(-1, .5)); }, "position is -1, but must be at least 0");
    refuses([&] { static_cast<void>(estimator.acceptance(0, 1.5)); }, "confidence is 1.5, but must be in [0, 1]");
    refuses([&] { estimator.record(std::vector{.5}, {.proposed = 2, .evaluated = 2}); },
            "the number of confidences is 1, but must be at least that of decided tokens");
    const auto cost = [](Index) { return 1.; };
    refuses([&] { GoodputStop(estimator, cost, -1); }, "draft_cost is -1, but must be a finite number >= 0");
}
