// Rows of logits: their probabilities against long doubles, at every temperature, and where the pass that does not find
// the largest logit must be repeated.
#include <specsample/rows/logits.hpp>

#include <cmath>
#include <vector>

#include <specsample/kernels/inspect.hpp>
#include <specsample/random/rng.hpp>

#include "support/catch.hpp"
#include "support/numbers.hpp"

using namespace specsample;
using namespace specsample::kernels;
using numbers::Special;

namespace {

#define EVERY_SCALAR float, double, Eigen::half, Eigen::bfloat16

template <class Scalar>
Scalar to(double x) {
    return static_cast<Scalar>(static_cast<std::conditional_t<sizeof(Scalar) == 8, double, float>>(x));
}

/// Logits in [-10, 10), `shift` added to all; one in seven is masked, if `masks`.
template <class Scalar>
std::vector<Scalar> logits(Index size, std::uint64_t seed = 1, bool masks = false, double shift = 0) {
    const Rng noise({.seed = seed});
    std::vector<Scalar> row(static_cast<std::size_t>(size));
    for (std::size_t i = 0; i < row.size(); ++i) {
        row[i] = to<Scalar>(20 * noise.uniform(static_cast<std::uint32_t>(i)) - 10 + shift);
        if (masks && i % 7 == 3) numbers::write(row[i], Special::minus_infinity);
    }
    return row;
}

/// ln sum exp(z / T), and the probabilities, by the definition.
template <class Scalar>
std::pair<double, std::vector<double>> reference(const std::vector<Scalar>& row, double temperature) {
    long double largest = -1e4000L, sum = 0;
    for (const Scalar& z : row)
        if (numbers::is_finite(z)) largest = std::max(largest, static_cast<long double>(z));
    std::vector<long double> weights;
    for (const Scalar& z : row) {
        const bool possible = numbers::is_finite(z);
        weights.push_back(possible ? std::exp((static_cast<long double>(z) - largest) / temperature) : 0);
        sum += weights.back();
    }
    std::vector<double> probs;
    for (const long double weight : weights) probs.push_back(static_cast<double>(weight / sum));
    return {static_cast<double>(largest / temperature + std::log(sum)), probs};
}

template <class R>
double distance(const R& row, const std::vector<double>& expected) {
    const auto probs = detail::as_row(row);
    REQUIRE(probs.size() == static_cast<Index>(expected.size()));
    double sum = 0;
    for (std::size_t i = 0; i < expected.size(); ++i)
        sum += std::abs(static_cast<double>(probs.coeff(static_cast<Index>(i))) - expected[i]);
    return sum / 2;
}

/// An exponent t carries a relative error of 1.3e-7 |t| in floats.
template <class Scalar>
constexpr double tolerance = sizeof(Scalar) == 8 ? 1e-13 : 1e-6;

}  // namespace

TEMPLATE_TEST_CASE("logits have the probabilities of the definition, at every temperature", "[kernels]", EVERY_SCALAR) {
    for (const Index size : {1, 2, 63, 64, 511, 512, 513, 1100, 5000})
        for (const double temperature : {1e-30, 1e-3, .05, .5, 1., 1.3, 10., 1e6, 1e30}) {
            INFO("size " << size << ", temperature " << temperature);
            const auto row = logits<TestType>(size, 1, size > 4);
            const auto probs = reference(row, temperature).second;
            CHECK(distance(Logits(row, temperature), probs) < tolerance<TestType>);
            const auto weights = Logits(row, temperature).weights();
            double off = 0;
            for (std::size_t i = 0; i < row.size(); ++i)
                off += std::abs(weights[static_cast<Index>(i)] / weights.total() - probs[i]);
            CHECK(off / 2 < tolerance<TestType>);
            CHECK(weights.sum(0, size) == Approx(weights.total()).epsilon(1e-12));
        }
}

TEMPLATE_TEST_CASE("a masked logit has probability 0, exactly", "[kernels]", EVERY_SCALAR) {
    for (const double temperature : {0., 1e-30, .7, 1., 1e30, 1e300}) {
        const auto row = logits<TestType>(1100, 2, true);
        const Logits stated(row, temperature);
        const auto probs = detail::as_row(stated);
        const auto weights = stated.weights();
        int wrong = 0;
        for (Index i = 3; i < 1100; i += 7) wrong += numbers::bits_of(probs.coeff(i)) != 0 || weights[i] != 0;
        CHECK(wrong == 0);
        CHECK_FALSE(inspect(stated, Side::target, 0));
    }
}

TEMPLATE_TEST_CASE("temperature 0 is the argmax, the lowest id on ties", "[kernels]", EVERY_SCALAR) {
    for (const Index at : {0, 20, 511, 512, 1099}) {
        auto row = logits<TestType>(1100, 3, true);
        row[static_cast<std::size_t>(at)] = row.back() = to<TestType>(30);
        const Logits cold(row, 0);
        CHECK(cold.argmax() == at);
        CHECK(argmax(cold) == at);
        CHECK(detail::as_row(cold).coeff(at) == 1);
        CHECK(RowWeights(detail::as_row(cold)).sum(0, 1100) == 1);
        CHECK(cold.weights().total() == 1);
        for (const double u : {0., .5, 1 - 0x1p-53}) CHECK(cold.weights().pick(u) == at);
        CHECK_FALSE(inspect(cold, Side::target, 0));
    }
}

TEMPLATE_TEST_CASE("the largest logit may be far above the first block", "[kernels]", float, double, Eigen::bfloat16) {
    for (const double far : {0., 20., 40., 44., 45., 60., 88., 89., 91., 200., 720., 2e4, 1e30})
        for (const double temperature : {.5, 1., 3.}) {
            INFO(far << " above, temperature " << temperature);
            auto row = logits<TestType>(2000, 4);
            for (const std::size_t at : {513u, 700u, 1999u})
                row[at] = to<TestType>(10 + far - .0001 * static_cast<double>(at % 7));
            row[1200] = to<TestType>(8 + far);
            const auto [log_sum, probs] = reference(row, temperature);
            CHECK(distance(Logits(row, temperature), probs) < 2 * tolerance<TestType>);
            if (temperature == 1) CHECK(log_sum_exp(row) == Approx(log_sum).epsilon(1e-6));
        }
}

TEMPLATE_TEST_CASE("the first block may be masked", "[kernels]", float, double, Eigen::bfloat16) {
    for (const double level :
         {-3e38, -1e4, -200., -126., -100., -87., -86., -80., -50., 0., 40., 50., 87., 1e4, 1e30}) {
        INFO("at " << level);
        auto row = std::vector<TestType>(1200, to<TestType>(level));
        for (std::size_t i = 0; i < 600; ++i) numbers::write(row[i], Special::minus_infinity);
        for (std::size_t i = 600; i < 620; ++i) row[i] = to<TestType>(level + .5 * static_cast<double>(i - 600));
        CHECK(distance(Logits(row), reference(row, 1).second) < tolerance<TestType>);
        CHECK(log_sum_exp(row) == Approx(reference(row, 1).first).epsilon(1e-6));
        CHECK_FALSE(inspect(Logits(row), Side::target, 0));
    }
}

TEST_CASE("no number is too large for a logit", "[kernels]") {
    // One large number after another: g++ 12.2 with AVX-512 makes the literal {.5, .5, 0, 0} four times .5.
    const std::vector<float> row{3e38f, -3e38f, 3e38f, 0};
    for (const double temperature : {1e-300, 1., 1e30}) {
        CHECK(distance(Logits(row, temperature), {.5, 0, .5, 0}) == 0);
        CHECK(distance(Logits(std::vector<double>{1e308, -1e308, 1e308}, temperature), {.5, 0, .5}) == 0);
    }
}

TEMPLATE_TEST_CASE("a known normaliser is right at any temperature", "[kernels]", EVERY_SCALAR) {
    const std::vector<TestType> row{to<TestType>(1), to<TestType>(2), to<TestType>(-3), to<TestType>(1)};
    for (const double temperature : {.05, 1., 1e30, 1e37, 1e38, 1.2e38, 1.3e38, 1e39, 1e300, 1e308, 1.7e308}) {
        INFO("T = " << temperature);
        const auto [log_sum, probs] = reference(row, temperature);
        const Logits known(row, temperature, log_sum);
        CHECK_FALSE(inspect(known, Side::target, 0));
        CHECK(distance(known, probs) < 1e-5);
    }
    // One that is infinite, or off, is a fault and no number of the row.
    for (const double wrong : {1e308, -1e308, 700., double{INFINITY}, -double{INFINITY}, double{NAN}})
        for (const double temperature : {1e-3, 1., 1e300})
            CHECK(inspect(Logits(row, temperature, wrong), Side::target, 0));
}

TEST_CASE("a row may have one logit, or none", "[kernels]") {
    for (const double temperature : {0., 1e-30, 1., 1e30}) {
        CHECK(distance(Logits(std::vector<float>{-77}, temperature), {1}) == 0);
        const std::vector<float> empty;
        CHECK(detail::as_row(Logits(empty, temperature)).size() == 0);
        CHECK(Logits(empty, temperature).argmax() == -1);
        CHECK(draw_index(Logits(empty, temperature).weights(), [] { return .5; }).index == -1);
        CHECK(inspect(Logits(empty, temperature), Side::target, 0)->cause == Cause::empty);
    }
}

TEMPLATE_TEST_CASE("a normaliser that is known gives the same probabilities", "[kernels]", EVERY_SCALAR) {
    for (const double shift : {0., -300., 1000.})
        for (const double temperature : {.05, .7, 1., 2., 1e6}) {
            INFO("shift " << shift << ", temperature " << temperature);
            const auto row = logits<TestType>(3000, 5, true, shift);
            const auto [log_sum, probs] = reference(row, temperature);
            const Logits known(row, temperature, log_sum);
            CHECK(distance(known, probs) < 2 * tolerance<TestType> + 1e-15 * std::abs(log_sum));
            CHECK_FALSE(inspect(known, Side::target, 0));
        }
    const auto row = logits<TestType>(100);
    CHECK(detail::as_row(Logits(row, 0, 123.)).coeff(argmax(row)) == 1);  // not looked at
}

TEST_CASE("a normaliser that is wrong is a fault", "[kernels]") {
    const std::vector<float> row{1, 2, 3};
    const double log_sum = log_sum_exp(row);
    const auto sum_of = [&](double known) {
        const auto fault = inspect(Logits(row, 1, known), Side::target, 0);
        REQUIRE(fault);
        CHECK(fault->cause == Cause::not_normalised);
        return fault->value;
    };
    CHECK(sum_of(log_sum - 1) == Approx(std::exp(1.)).epsilon(1e-6));
    CHECK(sum_of(log_sum + 1) == Approx(std::exp(-1.)).epsilon(1e-6));
    CHECK(sum_of(log_sum + .0011) == Approx(.9989).epsilon(1e-6));
    CHECK(sum_of(log_sum / std::log(2.)) < .5);  // a logarithm to the base 2
    CHECK(sum_of(1e6) == 0);
    CHECK_FALSE(inspect(Logits(row, 1, log_sum + .0009), Side::target, 0));

    double none = 0;
    for (const Special what : {Special::nan, Special::minus_nan, Special::infinity, Special::minus_infinity}) {
        numbers::write(none, what);
        CHECK(inspect(Logits(row, 1, none), Side::target, 0)->cause == Cause::not_normalised);
    }
}

TEST_CASE("a bad logit is named before a wrong normaliser", "[kernels]") {
    std::vector<float> row{1, 2, 3};
    numbers::write(row[1], Special::nan);
    CHECK(inspect(Logits(row, 1, 3.), Side::target, 0)->id == 1);
    for (float& z : row) numbers::write(z, Special::minus_infinity);
    CHECK(inspect(Logits(row, 1, 3.), Side::target, 0)->cause == Cause::all_masked);
}

TEST_CASE("log_sum_exp is the logarithm of a sum of powers", "[kernels]") {
    for (const double shift : {-1e6, -100., 0., 100., 1e6}) {
        const auto row = logits<double>(2000, 6, true, shift);
        CHECK(log_sum_exp(row) == Approx(reference(row, 1).first).epsilon(1e-14));
    }
    CHECK(log_sum_exp(std::vector<float>{5}) == Approx(5));
    std::vector<float> row{0, 0};
    numbers::write(row[0], Special::minus_infinity);
    CHECK(log_sum_exp(row) == 0);
    numbers::write(row[1], Special::minus_infinity);
    const double none = log_sum_exp(row);
    CHECK(numbers::is_infinite(none));
    CHECK(none < 0);
    numbers::write(row[1], Special::nan);
    const double bad = log_sum_exp(row);
    CHECK(numbers::is_nan(bad));
}

#if !defined(__FAST_MATH__)  // there, every expression may round in its own way
TEST_CASE("logits are the same to the bit, contiguous, strided, reversed or an expression", "[kernels]") {
    const auto row = logits<float>(1500, 7);
    const Eigen::Map<const Eigen::VectorXf> plain(row.data(), 1500);
    Eigen::MatrixXf wide = Eigen::MatrixXf::Constant(3, 1500, 1e9f);
    wide.row(1) = plain.transpose();
    const Eigen::VectorXf backwards = plain.reverse();
    const auto probs = [](const auto& from) { return Eigen::ArrayXf(detail::as_row(Logits(from, .7))); };
    const Eigen::ArrayXf expected = probs(row);
    CHECK((probs(wide.row(1)) == expected).all());
    CHECK((probs(backwards.reverse()) == expected).all());
    CHECK((probs(plain * 1.f) == expected).all());
    CHECK((probs(std::span(row)) == expected).all());
    CHECK((detail::as_row(Logits(std::vector(row), .7)) == expected).all());
    for (const double u : {0., .3, .999})
        CHECK(Logits(wide.row(1), .7).weights().pick(u) == Logits(row, .7).weights().pick(u));
}
#endif

TEST_CASE("a temperature is a finite number that is not negative", "[kernels]") {
    const std::vector<float> row{1, 2};
    CHECK_THROWS_WITH(Logits(row, -1), "specsample::Logits: temperature is -1, but must be a finite number >= 0");
    double none = 0;
    for (const Special what : {Special::nan, Special::infinity, Special::minus_infinity, Special::minus_nan}) {
        numbers::write(none, what);
        CHECK_THROWS_AS(Logits(row, none), std::invalid_argument);
        CHECK_THROWS_AS(Logits(row, none, 1.), std::invalid_argument);
    }
}

// Ownership: rows that only view their memory must not be returned, and a part of a matrix is a view.
static_assert(!Logits<std::vector<float>>::borrows && Logits<std::vector<float>>::outlives_its_making);
static_assert(Logits<std::span<const float>>::borrows && Logits<std::span<const float>>::outlives_its_making);
static_assert(Logits<const std::vector<float>&>::borrows && !Logits<const std::vector<float>&>::outlives_its_making);
using Part = decltype(std::declval<const RowMajorMatrix<float>&>().row(0));
static_assert(Logits<Part>::borrows && !Logits<Part>::outlives_its_making);
static_assert(std::is_same_v<decltype(Logits(std::declval<Eigen::VectorXf&>(), 1)), Logits<const Eigen::VectorXf&>>);
static_assert(std::is_same_v<decltype(Logits(std::declval<Eigen::VectorXf>(), 1)), Logits<Eigen::VectorXf>>);
