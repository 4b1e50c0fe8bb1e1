// TopP against a full sort.
#include <specsample/shaping/truncation.hpp>

#include <cmath>
#include <random>
#include <span>

#include <specsample/shaping/pipeline.hpp>
#include <specsample/shaping/temperature.hpp>

#include "support/catch.hpp"
#include "unit/shaping_rows.hpp"

using namespace shaping_rows;
using namespace specsample::kernels;
using namespace specsample::filters;

namespace {

/// The definition: sort by probability, then by id; keep until the sum reaches p.
Array<double> reference(const Array<double>& probs, double top_p) {
    std::vector<Index> ids;
    double sum = 0;
    for (const Index id : sorted(probs)) {
        if (sum >= top_p) break;
        sum += probs[id];
        ids.push_back(id);
    }
    return only(probs, ids);
}

/// The nucleus by the weights of all tokens.
struct NucleusOfAll {
    double top_p;

    template <class Value>
    void operator()(Candidates<Value>& row, std::span<const Token>) const {
        auto& scratch = row.scratch();
        const auto [weights, total] = row.weights();
        select_mass(weights, total, top_p, scratch.places, scratch.selection);
        row.keep(scratch.places);
    }
};

template <class Scalar>
Array<double> top_p(double p, const Array<Scalar>& probs) {
    return through(TopP{p}, probs);
}

}  // namespace

TEMPLATE_TEST_CASE("the nucleus is that of a full sort, ties and all", "[shaping]", float, double) {
    const double tolerance = std::is_same_v<TestType, float> ? 1e-6 : 1e-14;
    for (const Index size : {1, 2, 3, 10, 33, 1000})
        for (std::uint64_t seed = 0; seed < 20; ++seed)
            for (const double p : {1e-9, .1, .25, .5, .9, .95, .999}) {
                const auto probs = row_of<TestType>(size, seed);
                const auto shaped = top_p<TestType>(p, probs);
                const auto expected = reference(probs.template cast<double>(), p);
                INFO("size " << size << ", seed " << seed << ", p " << p);
                REQUIRE(((shaped > 0) == (expected > 0)).all());
                REQUIRE(distance(shaped, expected) < tolerance);
            }
}

TEST_CASE("the token that reaches p is kept, the next is not", "[shaping]") {
    const Array<double> probs = Eigen::Array4d(.125, .5, .25, .125);
    CHECK((top_p<double>(.5, probs) > 0).count() == 1);
    CHECK((top_p<double>(std::nextafter(.5, 1.), probs) > 0).count() == 2);
    CHECK((top_p<double>(.75, probs) > 0).count() == 2);
    CHECK((top_p<double>(.76, probs) > 0).count() == 3);
    CHECK((top_p<double>(.88, probs) > 0).count() == 4);
}

TEST_CASE("of equals the lower ids are kept", "[shaping]") {
    const auto shaped = top_p<double>(.5, Array<double>::Constant(8, .125));
    for (Index i = 0; i < 8; ++i) CHECK(shaped[i] == (i < 4 ? .25 : 0));
}

TEST_CASE("the tokens kept are in their old proportions", "[shaping]") {
    const auto shaped = top_p<double>(.7, Eigen::Array4d(.4, .1, .3, .2));
    CHECK(shaped[0] == Approx(4. / 7).epsilon(1e-15));
    CHECK(shaped[2] == Approx(3. / 7).epsilon(1e-15));
    CHECK(shaped[1] == 0);
    CHECK(shaped[3] == 0);
}

TEST_CASE("p = 1 changes nothing, not even the last bit", "[shaping]") {
    const auto probs = row_of<float>(500, 3);
    CHECK((top_p<float>(1, probs) == probs.cast<double>()).all());
}

TEST_CASE("a tiny p is the argmax, lowest id on ties", "[shaping]") {
    const auto shaped = top_p<double>(1e-300, Eigen::Array4d(.1, .4, .4, .1));
    CHECK(shaped[1] == 1);
    CHECK(shaped.sum() == 1);
}

TEST_CASE("a row that falls short of p by rounding keeps every token it has", "[shaping]") {
    const auto shaped = top_p<float>(.9999, Eigen::Array4f(.4997f, .4997f, 0, 0));
    CHECK(shaped[0] == .5f);
    CHECK(shaped[1] == .5f);
    CHECK(shaped[2] == 0);
}

TEMPLATE_TEST_CASE("a nucleus sums to 1", "[shaping]", float, double) {
    for (const double p : {.3, .9, .99})
        CHECK(std::abs(top_p<TestType>(p, row_of<TestType>(32000, 4)).sum() - 1) < 1e-6);
}

TEST_CASE("the same memory serves rows of any size", "[shaping]") {
    filters::ShapedMemory<double> memory;
    for (const Index size : {100, 3, 50, 1}) {
        const auto probs = row_of<double>(size, 5);
        CHECK(distance(probs_by_id(shape(probs, TopP{.6}, {}, memory)), reference(probs, .6)) < 1e-14);
    }
}

TEST_CASE("the nucleus of logits is that of their probabilities at the temperature so far", "[shaping]") {
    for (const Index size : {1, 2, 10, 300})
        for (std::uint64_t seed = 0; seed < 20; ++seed)
            for (const double temperature : {.3, 1., 2.})
                for (const double p : {.1, .5, .9, .99}) {
                    const auto logits = random_logits(size, seed);
                    INFO("size " << size << ", seed " << seed << ", temperature " << temperature << ", p " << p);
                    const auto expected = reference(softmax_of(logits, temperature), p);
                    const Pipeline pipeline{Temperature{temperature}, TopP{p}};
                    REQUIRE(distance(through(pipeline, Logits(logits)), expected) < 1e-14);
                    REQUIRE(distance(through(pipeline, softmax_of(logits)), expected) < 1e-12);
                }
}

TEMPLATE_TEST_CASE("the nucleus of a peaked row needs no weight of the other tokens", "[shaping]", float, double) {
    std::mt19937_64 random(12);
    ShapedMemory<TestType> memory, other;
    int without = 0;
    for (int round = 0; round < 400; ++round) {
        const Index size = 600 + static_cast<Index>(random() % 6000);
        Array<TestType> logits(size);
        std::normal_distribution<double> normal(0, 1 + static_cast<double>(random() % 3));
        for (Index id = 0; id < size; ++id) logits[id] = static_cast<TestType>(normal(random));
        for (auto count = random() % 30; count > 0; --count)
            logits[static_cast<Index>(random()) % 600 & 511] =
                static_cast<TestType>(4 + static_cast<int>(random() % 24) / 2.);
        const double p = static_cast<double>(1 + random() % 999) / 1000;
        const Temperature temperature(static_cast<double>(1 + random() % 6) / 4);
        const auto row = shape(Logits(logits), Pipeline{temperature, TopP{p}}, {}, memory);
        const auto expected = shape(Logits(logits), Pipeline{temperature, NucleusOfAll{p}}, {}, other);
        without += std::ssize(memory.scratch.weights) < size ? 1 : 0;
        memory.scratch.weights = {};
        const auto& numbers = row.held().numbers();
        REQUIRE(numbers.size() == expected.held().numbers().size());
        for (Index place = 0; place < numbers.size(); ++place) REQUIRE(row.ids().id(place) == expected.ids().id(place));
        REQUIRE((numbers == expected.held().numbers()).all());
    }
    CHECK(without > 100);
    CHECK(without < 300);
}

TEST_CASE("p that is not above 0 and at most 1 cannot be built", "[shaping]") {
    CHECK_THROWS_AS(TopP(0), std::invalid_argument);
    CHECK_THROWS_WITH(TopP(0), "specsample::TopP: top_p is 0, but must be in (0, 1]");
    CHECK_THROWS_WITH(TopP(1.01), "specsample::TopP: top_p is 1.01, but must be in (0, 1]");
    CHECK_THROWS_WITH(TopP(-.5), "specsample::TopP: top_p is -0.5, but must be in (0, 1]");
    CHECK_THROWS_AS(TopP(std::nan("")), std::invalid_argument);
}
