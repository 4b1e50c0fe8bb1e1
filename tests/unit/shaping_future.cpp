// FutureWeights: what single rows become.
#include <cmath>
#include <limits>
#include <vector>

#include <specsample/shaping.hpp>
#include <specsample/shaping/future.hpp>
#include <specsample/specsample.hpp>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::filters;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

/// The shaped row's probabilities by id.
template <class R, class F, class Value = detail::ShapedValue<R>>
std::vector<double> shaped_by(const R& row, const F& weight) {
    ShapedMemory<Value> memory;
    const auto result = shape(row, Pipeline{FutureWeights(weight)}, {}, memory);
    std::vector<double> probs(static_cast<std::size_t>(detail::row_size(row)));
    const auto entries = result.probs();
    for (Index id = 0; id < std::ssize(probs); ++id)
        probs[static_cast<std::size_t>(id)] = static_cast<double>(entries.coeff(id));
    return probs;
}

auto weights_of(std::vector<double> logs) {
    return
        [logs = std::move(logs)](std::span<const Token>, Token token) { return logs[static_cast<std::size_t>(token)]; };
}

}  // namespace

TEMPLATE_TEST_CASE("weights multiply probabilities, whatever the row is made of", "[shaping]", float, double) {
    const Eigen::Array<TestType, 4, 1> p(.5, .25, .125, .125), z = p.log();
    const auto weight = weights_of({std::log(.25), std::log(.5), -inf, 0});
    const std::vector<double> expected{1. / 3, 1. / 3, 0, 1. / 3};  // .125, .125, 0, .125
    const auto check = [&](const std::vector<double>& found) {
        for (std::size_t id = 0; id < 4; ++id) CHECK(found[id] == Approx(expected[id]).margin(1e-6));
    };
    check(shaped_by(p, weight));
    check(shaped_by(Logits(z), weight));
    const Eigen::Array<TestType, 4, 1> halved = z / 2;
    check(shaped_by(Logits(halved, .5), weight));
    // A constant changes nothing, small as all weights may be.
    check(shaped_by(Logits(z), weights_of({std::log(.25) - 900, std::log(.5) - 900, -inf, -900})));
}

TEST_CASE("at temperature 0 the largest logit of positive weight is left", "[shaping]") {
    const Eigen::Array4d z(3, 2, 1, 0);
    CHECK(shaped_by(Logits(z, 0), weights_of({-inf, -5, 0, 0})) == std::vector<double>{0, 1, 0, 0});
}

TEST_CASE("weights are asked for possible candidates alone, with the context", "[shaping]") {
    const Eigen::Array4d z(3, -inf, 1, 0);
    const std::vector<Token> context{7, 8};
    std::vector<Token> asked;
    const Pipeline pipeline{TopK(2), FutureWeights([&](std::span<const Token> given, Token token) {
                                CHECK(std::ranges::equal(given, context));
                                asked.push_back(token);
                                return 0.;
                            })};
    ShapedMemory<double> memory;
    shape(Logits(z), pipeline, context, memory);
    CHECK(asked == std::vector<Token>{0, 2});
}

TEST_CASE("a weight that is none is refused, and no weight at all is a fault of the row", "[shaping]") {
    const Eigen::Array4d z(3, 2, 1, 0);
    const double nan = std::numeric_limits<double>::quiet_NaN();
    CHECK_THROWS_WITH(shaped_by(Logits(z), weights_of({0, nan, 0, 0})),
                      "specsample::FutureWeights: the log weight of token 1 is nan, but must be a finite number or "
                      "-inf");
    CHECK_THROWS_AS(shaped_by(Logits(z), weights_of({0, 0, inf, 0})), std::invalid_argument);

    ShapedMemory<double> memory;
    const auto row = shape(Logits(z), Pipeline{FutureWeights(weights_of({-inf, -inf, -inf, -inf}))}, {}, memory);
    const std::vector rows{row, row};
    const std::vector<Token> token{1};
    Workspace workspace;
    const Round round = verify(token, PointMass{}, rows, TokenVerification(), RoundRng(1, 0, 0), {}, workspace);
    REQUIRE(round.fault);
    CHECK(round.fault->cause == Cause::all_masked);
}

TEST_CASE("a huge weight leaves a finite row", "[shaping]") {
    const Eigen::Array4f z(3e38f, 2, 1, 0);
    const auto found = shaped_by(Logits(z), weights_of({1e300, 0, 0, -1e300}));
    CHECK(found[0] == 1);
}
