// The one-round bound: known numbers, the bound of a path, and that no lossless rule of the library exceeds it.
#include <specsample/theory/acceptance.hpp>

#include <limits>
#include <stdexcept>
#include <vector>

#include <specsample/random/draw.hpp>

#include "exactness/cases.hpp"
#include "support/baselines.hpp"
#include "support/catch.hpp"

using namespace baselines;
using namespace cases;
using namespace specsample::theory;
using namespace specsample::kernels;

TEST_CASE("a path adds the running products of its ratios, each at most 1", "[analysis]") {
    const auto bound = [](std::vector<double> ratios) { return one_round_bound_of_path(ratios); };
    CHECK(bound({}) == 1);
    CHECK(bound({.5}) == Approx(1.5).epsilon(1e-15));
    CHECK(bound({3}) == 2);
    CHECK(bound({.5, .5}) == Approx(1.75).epsilon(1e-15));
    CHECK(bound({.5, 3}) == Approx(2.5).epsilon(1e-15));    // .5, min(1, 1.5)
    CHECK(bound({3, .25}) == Approx(2.75).epsilon(1e-15));  // not clipped on the way, unlike block verification
    CHECK(bound({2, 0, 5}) == 2);
    CHECK(bound({1, 1, 1, 1}) == 5);
}

TEST_CASE("a path's product neither overflows nor vanishes", "[analysis]") {
    CHECK(one_round_bound_of_path(std::vector{1e300, 1e300, 1e-300, 1e-300}) == Approx(5).epsilon(1e-12));
    CHECK(one_round_bound_of_path(std::vector{1e-300, 1e-300, 1e300, 1e300}) == Approx(2).epsilon(1e-12));
    CHECK(one_round_bound_of_path(std::vector{1e300, 1e300, 0.}) == 3);
}

TEST_CASE("an invalid ratio is refused", "[analysis]") {
    CHECK_THROWS_WITH(one_round_bound_of_path(std::vector{.5, -1.}),
                      "specsample::one_round_bound_of_path: a ratio is -1, but must be a finite number >= 0");
    CHECK_THROWS_AS(one_round_bound_of_path(std::vector{std::numeric_limits<double>::infinity()}),
                    std::invalid_argument);
    CHECK_THROWS_AS(one_round_bound_of_path(std::vector{std::numeric_limits<double>::quiet_NaN()}),
                    std::invalid_argument);
}

TEST_CASE("the one-round bound of the two-token example", "[analysis]") {
    const double expected[] = {1, 5. / 3, 7. / 3, 77. / 27, 91. / 27, 307. / 81};
    for (Index lookahead = 0; lookahead <= 5; ++lookahead)
        CHECK(exact_one_round_bound(toy_draft, toy_target, lookahead) == Approx(expected[lookahead]).epsilon(1e-14));
}

TEST_CASE("the one-round bound is 1 plus the agreement of the joint distributions", "[analysis]") {
    for_cases(3, 3, [](const std::string& name, auto draft, auto target, Index lookahead) {
        if constexpr (RowModel<decltype(draft)>) {
            double expected = 1;
            for (Index i = 1; i <= lookahead; ++i)
                expected += 1 - total_variation(joint_distribution(draft, i), joint_distribution(target, i));
            INFO(name);
            CHECK(exact_one_round_bound(draft, target, lookahead) == Approx(expected).epsilon(1e-12));
        }
    });
}

TEST_CASE("token and block verification stay below the one-round bound, and meet it with one drafted token",
          "[analysis]") {
    for_cases(3, 3, [](const std::string& name, auto draft, auto target, Index lookahead) {
        if constexpr (RowModel<decltype(draft)>) {
            const double bound = exact_one_round_bound(draft, target, lookahead);
            const double token = exact_tokens(TokenVerification{}, draft, target, lookahead);
            const double block = exact_tokens(BlockVerification{}, draft, target, lookahead);
            INFO(name);
            CHECK(token <= block + 1e-12);
            CHECK(block <= bound + 1e-12);
            if (lookahead <= 1) CHECK(token == Approx(bound).epsilon(1e-12));
        }
    });
}

TEST_CASE("the mean of drafted paths is the one-round bound", "[analysis]") {
    const ContextModel draft(4, 1), target(4, 2);
    const Index lookahead = 3;
    const int samples = 40000;
    double sum = 0, squares = 0;
    for (int i = 0; i < samples; ++i) {
        const RoundRng rng(7, static_cast<std::uint64_t>(i), 0);
        std::vector<Token> text;
        std::vector<double> ratios;
        for (Index node = 0; node < lookahead; ++node) {
            const Eigen::VectorXd q = draft(text), p = target(text);
            const Index token = draw(rng.at(Purpose::draft, node), RowWeights(detail::as_row(q))).index;
            ratios.push_back(p[token] / q[token]);
            text.push_back(static_cast<Token>(token));
        }
        const double tokens = one_round_bound_of_path(ratios);
        sum += tokens;
        squares += tokens * tokens;
    }
    const double mean = sum / samples, error = std::sqrt((squares / samples - mean * mean) / samples);
    CHECK(std::abs(mean - exact_one_round_bound(draft, target, lookahead)) < 6 * error);
}

TEST_CASE("the one-round bound after a prompt is that of the models after it", "[analysis]") {
    const ContextModel draft(3, 1), target(3, 2);
    const std::vector<Token> prompt{2, 0};
    const auto after = [&](const ContextModel& model) {
        return [&](std::span<const Token> text) -> Eigen::VectorXd {
            std::vector<Token> all = prompt;
            all.insert(all.end(), text.begin(), text.end());
            return model(all);
        };
    };
    CHECK(exact_one_round_bound(draft, target, 2, prompt) ==
          Approx(exact_one_round_bound(after(draft), after(target), 2)).epsilon(1e-15));
    CHECK(exact_one_round_bound(draft, target, 2, prompt) != exact_one_round_bound(draft, target, 2));
}
