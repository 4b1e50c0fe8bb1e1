// Probabilities that are given as logits are named under Check::every_row, and what may well be logits is not.
#include <limits>
#include <span>
#include <vector>

#include <specsample/kernels/softmax.hpp>
#include <specsample/shaping/from_logits.hpp>
#include <specsample/specsample.hpp>

#include "support/catch.hpp"

using namespace specsample;

namespace {

/// The round over a row, with one drafted token.
template <class R>
Round round_over(const R& row, Check check = Check::every_row) {
    static Workspace workspace;
    const std::vector<Token> drafted{0};
    const auto rows = std::vector<R>(2, row);
    return verify(drafted, PointMass{}, rows, TokenVerification{}, RoundRng(1, 2, 3), {.check = check}, workspace);
}

template <class R>
bool is_named(const R& row) {
    const Round round = round_over(row);
    REQUIRE((!round.fault || round.fault->cause == Cause::probabilities));
    CHECK(round_over(row, Check::entries_read));
    return !round;
}

template <class Scalar>
std::vector<Scalar> as(std::vector<double> numbers) {
    std::vector<Scalar> row;
    for (const double x : numbers) row.push_back(static_cast<Scalar>(static_cast<float>(x)));
    return row;
}

/// A softmax as engines compute it: in the row's own scalar.
template <class Scalar>
std::vector<Scalar> softmax_in(Index vocab, double scale) {
    std::vector<Scalar> row;
    Scalar sum{0};
    for (Index id = 0; id < vocab; ++id) {
        const double z = scale * Rng({.seed = 5}).uniform(static_cast<std::uint32_t>(id));
        row.push_back(static_cast<Scalar>(static_cast<float>(std::exp(z - scale))));
        sum += row.back();
    }
    for (Scalar& x : row) x /= sum;
    return row;
}

}  // namespace

TEST_CASE("probabilities given as logits are named") {
    const Round round = round_over(Logits(as<float>({.1, .2, .3, .4}), .8));
    REQUIRE_FALSE(round);
    CHECK(message(round) ==
          "target row 0 is given as logits, but its 4 numbers sum to 1 and none is negative: these look like "
          "probabilities; return the row itself, without specsample::Logits");
    for (const double temperature : {.1, 1., 3.}) {
        CHECK(is_named(Logits(as<double>({.1, .2, .3, .4}), temperature)));
        CHECK(is_named(Logits(as<Eigen::half>({.125, .25, .625, 0}), temperature)));
        CHECK(is_named(Logits(as<float>({0, 0, .5, .5, 0}), temperature)));
        CHECK(is_named(Sparse(std::vector<Token>{1, 5, 9}, Logits(as<float>({.5, .25, .25}), temperature), 12)));
    }
    CHECK(is_named(Logits(softmax_in<float>(300, 6))));
    CHECK(is_named(Logits(softmax_in<float>(20000, 9))));
    CHECK(is_named(Logits(softmax_in<double>(20000, 9))));
    CHECK(is_named(Logits(softmax_in<Eigen::half>(20, 6))));
}

TEST_CASE("probabilities given as logits are named of drafts, and by a Sampler") {
    static Workspace workspace;
    const auto wrapped = Logits(as<float>({.1, .2, .3, .4}));
    const std::vector<float> plain{.1f, .2f, .3f, .4f};
    const std::vector<Token> drafted{0};
    const std::vector distributions{Sampled(wrapped)};
    const Round round = verify(drafted, distributions, std::vector(2, plain), TokenVerification{}, RoundRng(1, 2, 3),
                               {.check = Check::every_row}, workspace);
    REQUIRE_FALSE(round);
    CHECK(round.fault->side == Side::draft);
    CHECK(round.fault->cause == Cause::probabilities);

    const auto model = [&](std::span<const Token>) { return plain; };
    CHECK_THROWS_AS(Sampler(model, from_logits(model)).generate({1}, {.max_new_tokens = 3}), Fault);
    CHECK_NOTHROW(Sampler(model, model).generate({1}, {.max_new_tokens = 3}));
}

TEST_CASE("what may well be logits is not named") {
    CHECK_FALSE(is_named(Logits(as<float>({1}))));
    CHECK_FALSE(is_named(Logits(as<float>({.25, .75}))));
    CHECK_FALSE(is_named(Logits(as<float>({0, 1, 0, 0}))));          // one-hot
    CHECK_FALSE(is_named(Logits(as<float>({.25, .25, .25, .25}))));  // the same distribution either way
    CHECK_FALSE(is_named(Logits(as<float>({.1, .2, .3, .4}), 0)));   // the same token either way
    CHECK_FALSE(is_named(Logits(as<float>({.1, .2, .3, .41}))));     // sums to something else
    CHECK_FALSE(is_named(Logits(as<float>({.1, .2, .3, .4005}))));   // within the tolerance of probabilities
    CHECK_FALSE(is_named(Logits(as<float>({1.2, .2, -.2, -.2}))));
    CHECK_FALSE(is_named(Logits(as<float>({.25, .5, .25, -std::numeric_limits<float>::infinity()}))));
    CHECK_FALSE(is_named(Logits(as<float>({0, 0, 0, 0}))));
}
