// The baselines: each has the target's distribution, at its documented cost.

#include <stdexcept>
#include <vector>

#include <specsample/testing/scripted.hpp>
#include <specsample/theory/acceptance.hpp>

#include "exactness/cases.hpp"
#include "support/baselines.hpp"
#include "support/catch.hpp"

using namespace baselines;
using namespace cases;
using namespace specsample::theory;

namespace {

/// Call f(q, p) for rows of 1 to 4 tokens; where q is zero, so is p.
template <class F>
void for_bounded_pairs(F&& f) {
    for (Index vocab = 1; vocab <= 4; ++vocab)
        for (const RowKind kind : {RowKind::smooth, RowKind::with_zeros, RowKind::peaked, RowKind::point_masses})
            for (std::uint64_t seed = 0; seed < 5; ++seed)
                f(ContextModel(vocab, seed + 100)({}), ContextModel(vocab, seed, kind)({}));
    f(row({0, .25, .75}), row({0, 1, 0}));
    f(row({.5, .5, 0}), row({.5, .5, 0}));
}

/// One token in many independent runs against a row, as a chi-square.
template <class Sample>
ChiSquare distribution_of(const Eigen::VectorXd& expected, int samples, const Sample& sample) {
    TextDistribution observed, distribution;
    for (int request = 0; request < samples; ++request)
        ++observed[{static_cast<Token>(sample(RoundRng(31, static_cast<std::uint64_t>(request), 0)))}];
    for (Index i = 0; i < expected.size(); ++i)
        if (expected[i] > 0) distribution[{static_cast<Token>(i)}] = expected[i];
    return chi_square(observed, distribution, samples);
}

}  // namespace

TEST_CASE("a plain sample has the target's distribution", "[testing]") {
    for_bounded_pairs([](const Eigen::VectorXd&, const Eigen::VectorXd& p) {
        Eigen::VectorXd distribution = Eigen::VectorXd::Zero(p.size());
        Enumerator().run([&](Enumerator& paths) {
            const Index token = plain_sample(EnumeratedRng(paths), p);
            distribution[token] += paths.probability();
        });
        CHECK((distribution - p).cwiseAbs().maxCoeff() < 1e-15);
    });
    const Eigen::VectorXd p = ContextModel(4, 1)({});
    CHECK(distribution_of(p, 100000, [&](const RoundRng& rng) { return plain_sample(rng, p); }).holds());
}

TEST_CASE("a plain sample is the token of a round without drafts", "[testing]") {
    const ContextModel model(5, 1), draft(5, 2);
    Sampler sampler(draft, model, {.lookahead = 0, .seed = 9});
    std::vector<Token> text{3, 1};
    const auto tokens = sampler.generate(text, {.max_new_tokens = 50, .request = 4}).tokens;
    for (const Token token : tokens) {
        CHECK(plain_sample(RoundRng(9, 4, std::ssize(text)), model(text)) == token);
        text.push_back(token);
    }
}

TEST_CASE("a row without mass gives no plain sample", "[testing]") {
    CHECK(plain_sample(RoundRng(1, 2, 3), row({0, 0})) == -1);
}

TEST_CASE("the rejection constant is the largest ratio", "[testing]") {
    CHECK(rejection_constant(row({.2, .3, .5}), row({.5, .3, .2})) == Approx(2.5).epsilon(1e-15));
    CHECK(rejection_constant(row({.2, .3, .5}), row({.2, .3, .5})) == 1);
    CHECK(rejection_constant(row({.75, .25}), row({0, 1})) == 4);
    CHECK(rejection_constant(row({1, 0}), row({1, 0})) == 1);  // 0/0 bounds nothing
    CHECK(rejection_constant(Eigen::RowVector2d(.25, .75), std::vector<float>{.5f, .5f}) == 2);
    CHECK(rejection_constant(row({.5, .5}), row({0, 0})) == 0);
}

TEST_CASE("a try keeps x with probability p(x) / M, so that kept tokens have the target's distribution", "[testing]") {
    for_bounded_pairs([](const Eigen::VectorXd& q, const Eigen::VectorXd& p) {
        const double constant = rejection_constant(q, p);
        Eigen::VectorXd kept = Eigen::VectorXd::Zero(p.size());
        double lost = 0;
        Enumerator().run([&](Enumerator& paths) {
            const auto token = rejection_try(EnumeratedRng(paths), 0, q, p, constant);
            (token ? kept[*token] : lost) += paths.probability();
        });
        CHECK((kept * constant - p).cwiseAbs().maxCoeff() < 1e-13);
        CHECK(lost == Approx(1 - 1 / constant).margin(1e-13));
        CHECK(constant >= 1 - 1e-15);
        CHECK(1 / constant <= acceptance(q, p) + 1e-15);  // speculative sampling accepts at least as often
    });
}

TEST_CASE("rejection sampling draws until a try keeps its token, each with its own random numbers", "[testing]") {
    const Eigen::VectorXd p = row({.5, .3, .2}), q = row({.2, .3, .5});
    ScriptedRng rng;
    rng.set(Purpose::draft, 0, .9).set(Purpose::accept, 0, .2);    // token 2, kept below .2 / 1.25
    rng.set(Purpose::draft, 1, .3).set(Purpose::accept, 1, .5);    // token 1, kept below .3 / .75
    rng.set(Purpose::draft, 2, .1).set(Purpose::accept, 2, .999);  // token 0, always kept
    const Rejected result = rejection_sample(rng, q, p);
    CHECK(result.token == 0);
    CHECK(result.tries == 3);
}

TEST_CASE("rejection sampling has the target's distribution and takes M tries on average", "[testing]") {
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
        const Eigen::VectorXd p = ContextModel(4, seed, RowKind::with_zeros)({}), q = ContextModel(4, seed + 50)({});
        const int samples = 50000;
        const double constant = rejection_constant(q, p);
        double tries = 0;
        CHECK(distribution_of(p, samples, [&](const RoundRng& rng) {
                  const Rejected result = rejection_sample(rng, q, p);
                  tries += static_cast<double>(result.tries);
                  return result.token;
              }).holds());
        // The variance of a geometric number of tries is M (M - 1).
        CHECK(std::abs(tries / samples - constant) <= 6 * std::sqrt(constant * (constant - 1) / samples) + 1e-12);
    }
}

TEST_CASE(
    "rejection sampling refuses a draft with a zero that the target has not, speculative sampling needs no "
    "constant",
    "[testing]") {
    const Eigen::VectorXd p = row({0, 1, 0}), q = row({1, 0, 0});
    CHECK_THROWS_AS(rejection_constant(q, p), std::invalid_argument);
    CHECK_THROWS_WITH(rejection_sample(RoundRng(1, 2, 3), q, p),
                      "specsample::rejection_constant: the draft's probability of token 1 is 0, but must be above 0, "
                      "like the target's: no finite constant bounds their ratio");
    // The same rows under token verification: the residual of the rejected draft is the target itself.
    CHECK(distance_from_target(TokenVerification{}, FixedModel{q}, FixedModel{p}, 2) == 0);
    CHECK(exact_tokens(TokenVerification{}, FixedModel{q}, FixedModel{p}, 2) == 1);
}

TEST_CASE("rejection sampling refuses rows of two sizes and a target without mass", "[testing]") {
    CHECK_THROWS_WITH(rejection_constant(row({1}), row({.5, .5})),
                      "specsample::rejection_constant: the draft row's size is 1, but must be the target row's, 2");
    CHECK_THROWS_WITH(rejection_sample(RoundRng(1, 2, 3), row({.5, .5}), row({0, 0})),
                      "specsample::rejection_sample: max p/q is 0, but must be a positive number");
}
