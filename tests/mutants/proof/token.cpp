// Token verification, and the parts of every rule: random numbers, draws, models.
#include "mutants/proof/proof.hpp"

using namespace proof;
using namespace specsample::kernels;

namespace {

TEST_CASE("mutants: the random number 0 neither accepts nor draws a token of probability 0", "[token]") {
    const ScriptedRng rng = ScriptedRng().set(Purpose::draft, 0, 0).set(Purpose::accept, 0, 0).set(Purpose::last, 0, 0);
    Sampler sampler(Remembered(FixedModel{row({1, 0, 0})}), Remembered(FixedModel{row({0, 0.5, 0.5})}),
                    {.lookahead = 1});
    const Round round = sampler.step(std::vector<Token>{}, {}, rng);
    REQUIRE(round.accepted == 0);
    REQUIRE(round.tokens[0] == 1);
}

TEST_CASE("mutants: a draw over many blocks follows the inverse CDF", "[token]") {
    Eigen::VectorXd weights(5000);
    for (Index i = 0; i < weights.size(); ++i) weights[i] = static_cast<double>((i * 7) % 11);
    const RowWeights drawn_from(detail::as_row(weights));
    const double total = weights.sum();
    for (int step = 0; step < 2000; ++step) {
        const double u = (step + 0.5) / 2000;
        Index expected = 0;
        for (double sum = weights[0]; sum <= u * total;) sum += weights[++expected];
        REQUIRE(draw_index(drawn_from, [&] { return u; }).index == expected);
    }
}

TEST_CASE("mutants: models as users bring them", "[token]") {
    const ContextModel target(3, 16), draft(3, 17);
    const TokenVerification rule;
    must_hold("one buffer for all rows",
              [&] { return distance_from_target(rule, ReusedBuffer{draft}, target, 3) < 1e-12; });
    must_hold("a draft that names tokens",
              [&] { return distance_from_target(rule, Greedy{draft}, target, 3) < 1e-12; });
    must_hold("trees in one pass per path", [&] {
        return distance_from_target(rule, Draft(draft, {2, 1}, {}), target, 2) < 1e-12;
    });
}

TEST_CASE("mutants: token verification", "[token]") { prove("token verification", TokenVerification{}); }

}  // namespace
