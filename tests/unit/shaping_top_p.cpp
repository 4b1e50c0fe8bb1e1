// TopP against a full sort.
#include <specsample/shaping/top_p.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

#include <specsample/random/coins.hpp>

#include "support/catch.hpp"

using namespace specsample;

namespace {

template <class Scalar>
using Array = Eigen::Array<Scalar, Eigen::Dynamic, 1>;

/// A row with many equal entries and some zeros.
template <class Scalar>
Array<Scalar> row_of(Index size, std::uint64_t seed) {
    Array<Scalar> row(size);
    for (Index i = 0; i < size; ++i)
        row[i] = static_cast<Scalar>(std::floor(5 * Coin({.seed = seed}).uniform(static_cast<std::uint32_t>(i))));
    if (row.sum() == 0) row[0] = 1;
    return row / row.sum();
}

/// The definition: sort by probability, then by id; keep until the sum reaches p.
template <class Scalar>
Array<double> reference(const Array<Scalar>& probs, double top_p) {
    std::vector<Index> ids(static_cast<std::size_t>(probs.size()));
    std::iota(ids.begin(), ids.end(), Index{0});
    std::stable_sort(ids.begin(), ids.end(), [&](Index a, Index b) { return probs[a] > probs[b]; });
    Array<double> kept = Array<double>::Zero(probs.size());
    double sum = 0;
    for (const Index id : ids) {
        if (sum >= top_p) break;
        sum += kept[id] = static_cast<double>(probs[id]);
    }
    return kept / sum;
}

template <class Scalar>
Array<Scalar> top_p(double p, Array<Scalar> probs) {
    ShapingScratch scratch;
    TopP{p}(probs, scratch);
    return probs;
}

}  // namespace

TEMPLATE_TEST_CASE("the nucleus is that of a full sort, ties and all", "[shaping]", float, double) {
    const double tolerance = std::is_same_v<TestType, float> ? 1e-6 : 1e-14;
    for (const Index size : {1, 2, 3, 10, 33, 1000})
        for (std::uint64_t seed = 0; seed < 20; ++seed)
            for (const double p : {1e-9, .1, .25, .5, .9, .95, .999}) {
                const auto probs = row_of<TestType>(size, seed);
                const auto shaped = top_p<TestType>(p, probs);
                const auto expected = reference<TestType>(probs, p);
                INFO("size " << size << ", seed " << seed << ", p " << p);
                REQUIRE(((shaped > 0) == (expected > 0)).all());
                REQUIRE((shaped.template cast<double>() - expected).abs().maxCoeff() < tolerance);
            }
}

TEST_CASE("the token that reaches p is kept, the next is not", "[shaping]") {
    const Eigen::Array4d probs(.125, .5, .25, .125);
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
    CHECK((top_p<float>(1, probs) == probs).all());
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
        CHECK(std::abs(top_p<TestType>(p, row_of<TestType>(32000, 4)).template cast<double>().sum() - 1) < 1e-6);
}

TEST_CASE("the same scratch serves rows of any size", "[shaping]") {
    ShapingScratch scratch;
    for (const Index size : {100, 3, 50, 1}) {
        auto probs = row_of<double>(size, 5);
        const auto expected = reference<double>(probs, .6);
        TopP{.6}(probs, scratch);
        CHECK((probs - expected).abs().maxCoeff() < 1e-14);
    }
}

TEST_CASE("p that is not above 0 and at most 1 cannot be built", "[shaping]") {
    CHECK_THROWS_AS(TopP(0), std::invalid_argument);
    CHECK_THROWS_WITH(TopP(0), "specsample::TopP: top_p is 0, but must be in (0, 1]");
    CHECK_THROWS_WITH(TopP(1.01), "specsample::TopP: top_p is 1.01, but must be in (0, 1]");
    CHECK_THROWS_WITH(TopP(-.5), "specsample::TopP: top_p is -0.5, but must be in (0, 1]");
    CHECK_THROWS_AS(TopP(std::nan("")), std::invalid_argument);
}
