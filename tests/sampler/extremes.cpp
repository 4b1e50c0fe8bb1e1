// Whole rounds at the ends of what numbers can hold: cold rows of a large vocabulary, children that are drawn in turn
// from rests of every size, and rows whose sums overflow.
#include <specsample/shaping.hpp>
#include <specsample/specsample.hpp>
#include <specsample/testing.hpp>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::testing;

namespace {

/// Enumerated random numbers without races, as those of a GeneratorRng.
class InTurn {
  public:
    explicit InTurn(EnumeratedRng rng) : rng_(rng) {}
    InTurn split(Index part) const { return InTurn(rng_.split(part)); }

    class Rng {
      public:
        explicit Rng(EnumeratedRng::Rng rng) : rng_(rng) {}
        bool accept(double s, double q) const { return rng_.accept(s, q); }
        template <kernels::Weights W>
        kernels::Drawn draw(const W& weights) const {
            return rng_.draw(weights);
        }

      private:
        EnumeratedRng::Rng rng_;
    };
    Rng at(Purpose purpose, Index node) const { return Rng(rng_.at(purpose, node)); }

  private:
    EnumeratedRng rng_;
};

/// How far the texts of a tree whose children are drawn in turn are from the target's.
template <class Draft, class Rule>
double distance_in_turn(const Draft& draft, const FixedModel& target, const Rule& rule) {
    const auto model = [&](std::span<const Token>) { return draft; };
    Sampler sampler(TreeDrafter(model, {3}), target, {.lookahead = 1}, rule);
    TextDistribution distribution;
    Enumerator().run([&](Enumerator& paths) {
        const Round round = sampler.step(std::vector<Token>{}, {}, InTurn(EnumeratedRng(paths)));
        distribution[{round.tokens.front()}] += paths.probability();
    });
    return total_variation(distribution, joint_distribution(target, 1));
}

}  // namespace

TEST_CASE("children that are drawn in turn are exact for rests of any size", "[sampler]") {
    const FixedModel target{Eigen::VectorXd{{.2, .3, .5}}};
    for (const double t : {.1, 1e-3, 1e-7, 0x1p-25, 1e-9, 1e-17, 1e-31, 1e-37, 1e-100, 1e-300, 1e-310, 5e-324})
        for (const double b : {t, t * 1e-5, 0.}) {
            INFO("t = " << t << ", " << b);
            const Eigen::VectorXd row{{1 - t - b, t, b}};
            const auto check = [&](const auto& draft, double bound) {
                CHECK(distance_in_turn(draft, target, RecursiveRejection{}) < bound);
                CHECK(distance_in_turn(draft, target, TraversalVerification{}) < bound);
            };
            check(row, 1e-12);
            check(Sparse(std::vector<int>{0, 1, 2}, std::vector<double>{row[0], row[1], row[2]}, 3), 1e-12);
            check(Logits(std::vector<double>{0, std::log(t), b > 0 ? std::log(b) : -INFINITY}), 1e-12);
            check(Eigen::VectorXf(row.cast<float>()), 1e-6);
            check(Eigen::Matrix<Eigen::half, 3, 1>(row.cast<Eigen::half>()), 1e-6);
            check(Eigen::Matrix<Eigen::bfloat16, 3, 1>(row.cast<float>().cast<Eigen::bfloat16>()), 1e-6);
        }
}

TEMPLATE_TEST_CASE("a tree of a cold top-k row of a large vocabulary writes every text", "[sampler]", float, double,
                   Eigen::half, Eigen::bfloat16) {
    constexpr Index vocab = 32000;
    std::vector<TestType> logits(vocab);
    for (std::size_t i = 0; i < logits.size(); ++i) {
        const double z = 4 * Rng({.seed = 9}).uniform(static_cast<std::uint32_t>(i));
        logits[i] = static_cast<TestType>(static_cast<float>(z));
    }
    logits[777] = static_cast<TestType>(9.f);  // ahead of all others by 5
    for (const double temperature : {.05, 1e-3, 1e-300, 1e300}) {
        INFO("T = " << temperature);
        const auto model = shaped([&](std::span<const Token>) { return Logits(std::span(logits), temperature); },
                                  SamplingParams{.top_k = 50});
        for (std::uint64_t request = 0; request < 8; ++request) {
            Sampler sampler(TreeDrafter(model, {2, 2}), model, {.lookahead = 2, .seed = 1});
            const Generation text = sampler.generate({1}, {.max_new_tokens = 12, .request = request});
            CHECK(text.tokens.size() == 12);
            if (temperature < 1) CHECK(text.tokens == std::vector<Token>(12, 777));
        }
    }
}

TEMPLATE_TEST_CASE("a draft row whose sum overflows is a fault of that row, under every kind of children", "[sampler]",
                   float, double) {
    const TestType most = std::numeric_limits<TestType>::max();
    const std::vector<TestType> row{most, most / 2, most};
    const FixedModel target{Eigen::VectorXd{{.2, .3, .5}}};
    const auto model = [&](std::span<const Token>) { return std::span(row); };
    const auto check = [&](const auto& drafter) {
        Sampler sampler(drafter, target, {.lookahead = 2, .seed = 3});
        std::string message;
        try {
            (void)sampler.generate({1}, {.max_new_tokens = 50});
        } catch (const Fault& fault) {
            message = fault.what();
        }
        CHECK(message.find("draft row 0 ") != std::string::npos);
    };
    check(model);
    check(TreeDrafter(model, {2}));
    check(TreeDrafter(model, {3, 2}));
    check(TreeDrafter(model, {2}, children::Independent{}));
}

TEST_CASE("a draft row without some ids whose rest overflows is a fault of that row", "[sampler]") {
    const double most = std::numeric_limits<double>::max();
    const std::vector<double> row{0, .5, most, most}, p{.2, .3, .25, .25};
    const std::vector<Token> without{0};
    Workspace workspace;
    const auto faults_with = [&](const auto& rule, Token token) {
        INFO("token " << token);
        const std::vector<Token> tokens{token};
        const Round round =
            verify(tokens, std::array{Sampled(row, without)}, std::array{p, p}, rule, RoundRng(1, 0, 0), {}, workspace);
        CHECK_FALSE(round);
        if (!round.fault) return;
        CHECK(round.fault->side == Side::draft);
        CHECK(round.fault->row == 0);
    };
    const auto faults = [&](const auto& rule) {
        faults_with(rule, 1);  // whose own entry is that of a distribution
        faults_with(rule, 2);
    };
    faults(TokenVerification{});
    faults(BlockVerification{});
    faults(RecursiveRejection{});
    faults(TraversalVerification{});
}
