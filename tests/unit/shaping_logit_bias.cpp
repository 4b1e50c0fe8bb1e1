// LogitBias against its definition.
#include <specsample/shaping/logit_bias.hpp>

#include <cmath>

#include <specsample/shaping/pipeline.hpp>
#include <specsample/shaping/temperature.hpp>
#include <specsample/shaping/truncation.hpp>

#include "support/catch.hpp"
#include "unit/shaping_rows.hpp"

using namespace shaping_rows;
using namespace specsample::filters;

namespace {

const Array<double> logits = Eigen::Array4d(1, 2, 3, 4);

}  // namespace

TEST_CASE("a bias is added to the logit of its token", "[shaping]") {
    const auto expected = softmax_of(Array<double>(Eigen::Array4d(1, 4.5, 3, 3)));
    const LogitBias bias{{{1, 2.5}, {3, -1}}};
    CHECK(distance(through(bias, Logits(logits)), expected) < 1e-15);
    CHECK(distance(through(bias, softmax_of(logits)), expected) < 1e-14);
}

TEST_CASE("a bias of -inf bans, a bias of -100 nearly does, one of 100 forces", "[shaping]") {
    for (const auto& shaped : {through(LogitBias{{{3, -infinity}}}, Logits(logits)),
                               through(LogitBias{{{3, -infinity}}}, softmax_of(logits))}) {
        CHECK(shaped[3] == 0);
        CHECK(shaped.sum() == Approx(1));
    }
    CHECK(through(LogitBias{{{3, -100}}}, Logits(logits))[3] < 1e-40);
    CHECK(through(LogitBias{{{0, 100}}}, Logits(logits))[0] > 1 - 1e-12);
    const Array<float> probs = softmax_of(logits).cast<float>();
    CHECK(through(LogitBias{{{0, 100}}}, probs)[0] == 1);
    CHECK(through(LogitBias{{{0, -100}}}, probs)[0] < 1e-30);
}

TEST_CASE("a token given twice gets both, one outside the vocabulary is passed over", "[shaping]") {
    CHECK(distance(through(LogitBias{{{1, 1}, {1, 2}, {4, 50}, {1000000, 50}}}, Logits(logits)),
                   through(LogitBias{{{1, 3}}}, Logits(logits))) == 0);
}

TEST_CASE("a bias after a temperature is one on the logits at that temperature", "[shaping]") {
    const auto expected = softmax_of(Array<double>(Eigen::Array4d(1, 1, 1.5, 2)));
    CHECK(distance(through(Pipeline{Temperature{2}, LogitBias{{{0, .5}}}}, Logits(logits)), expected) < 1e-15);
}

TEST_CASE("a bias on what a filter has taken out, or a mask made impossible, does nothing", "[shaping]") {
    CHECK(possible(through(Pipeline{TopK{1}, LogitBias{{{0, 100}}}}, Logits(logits))) == std::vector<Index>{3});
    const Array<double> masked = Eigen::Array3d(1, -infinity, 0);
    CHECK(through(LogitBias{{{1, 100}}}, Logits(masked))[1] == 0);
    CHECK(through(LogitBias{{{1, 100}}}, softmax_of(masked))[1] == 0);
}

TEST_CASE("no bias leaves the model's own memory", "[shaping]") {
    filters::ShapedMemory<double> memory;
    CHECK(shape(Logits(logits), LogitBias{{}}, {}, memory).held().numbers().data() == logits.data());
}

TEST_CASE("biases out of range cannot be built", "[shaping]") {
    CHECK_THROWS_WITH(LogitBias({{-1, 1}}), "specsample::LogitBias: a token is -1, but must be at least 0");
    CHECK_THROWS_WITH(LogitBias({{1, infinity}}),
                      "specsample::LogitBias: a bias is inf, but must be a finite number, or -inf for a ban");
    CHECK_THROWS_AS(LogitBias({{1, std::nan("")}}), std::invalid_argument);
}
