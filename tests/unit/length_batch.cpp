// best_lookaheads against every possible choice.
#include <specsample/length/batch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include <specsample/theory/speedup.hpp>

#include "support/catch.hpp"
#include "support/uniforms.hpp"

using namespace specsample;
using namespace specsample::theory;

namespace {

constexpr Index requests = 3, most = 3;

template <class Cost>
double goodput(const std::vector<double>& acceptance, const std::vector<Index>& lookaheads, double draft_cost,
               const Cost& verify_cost) {
    double tokens = 0;
    Index positions = 0, depth = 0;
    for (std::size_t r = 0; r < lookaheads.size(); ++r) {
        double survival = 1;
        for (Index k = 0; k <= lookaheads[r]; ++k) {
            tokens += survival;
            if (k < most) survival *= acceptance[r * most + static_cast<std::size_t>(k)];
        }
        positions += lookaheads[r] + 1;
        depth = std::max(depth, lookaheads[r]);
    }
    return tokens / (static_cast<double>(depth) * draft_cost + verify_cost(positions));
}

/// The best of all 4^3 choices.
template <class Cost>
double brute_force(const std::vector<double>& acceptance, double draft_cost, const Cost& verify_cost) {
    double best = 0;
    for (Index code = 0; code < 64; ++code)
        best = std::max(best, goodput(acceptance, {code % 4, code / 4 % 4, code / 16}, draft_cost, verify_cost));
    return best;
}

double line(Index n) { return 1 + .15 * static_cast<double>(n - 1); }
double tiles(Index n) { return 1 + .8 * static_cast<double>((n - 1) / 4); }
double flat(Index) { return 1; }

}  // namespace

TEST_CASE("a batch's lookaheads are the best of all choices", "[length]") {
    Uniforms uniform{3};
    bool none = false, unequal = false;
    for (int i = 0; i < 300; ++i) {
        std::vector<double> acceptance(requests * most);
        for (double& a : acceptance) a = i % 5 == 0 ? 1 : uniform();
        std::vector<Index> lookaheads(requests);
        for (const double draft_cost : {0., .05, .4}) {
            const auto check = [&](const auto& verify_cost) {
                best_lookaheads(acceptance, most, draft_cost, verify_cost, lookaheads);
                CAPTURE(i, draft_cost);
                REQUIRE(*std::ranges::max_element(lookaheads) <= most);
                REQUIRE(goodput(acceptance, lookaheads, draft_cost, verify_cost) ==
                        Approx(brute_force(acceptance, draft_cost, verify_cost)).epsilon(1e-12));
                none = none || lookaheads == std::vector<Index>(requests, 0);
                unequal = unequal || lookaheads[0] != lookaheads[1];
            };
            check(line);
            check(tiles);
            check(flat);
        }
    }
    CHECK(none);
    CHECK(unequal);
}

TEST_CASE("a batch of one request has the best lookahead", "[length]") {
    for (const double alpha : {.2, .6, .9})
        for (const double draft_cost : {.05, .3}) {
            std::vector<Index> lookahead(1);
            best_lookaheads(std::vector<double>(12, alpha), 12, draft_cost, line, lookahead);
            CHECK(lookahead[0] == best_lookahead(alpha, draft_cost, line, 12));
        }
}

TEST_CASE("tokens go where they are accepted", "[length]") {
    std::vector<Index> lookaheads(3, 7);
    best_lookaheads(std::vector<double>{.9, .9, .9, 0, 0, 0, .9, .1, .9}, 3, .05, line, lookaheads);
    CHECK(lookaheads == std::vector<Index>{3, 0, 1});
    best_lookaheads(std::vector<double>{}, 0, .05, line, lookaheads);
    CHECK(lookaheads == std::vector<Index>{0, 0, 0});
    CHECK_NOTHROW(best_lookaheads(std::vector<double>{}, 5, .05, line, std::span<Index>{}));
}

TEST_CASE("a batch refuses impossible parameters, by name", "[length]") {
    std::vector<Index> lookaheads(2);
    const std::vector<double> acceptance(4, .5);
    CHECK_THROWS_WITH(best_lookaheads(acceptance, -1, .1, flat, lookaheads),
                      "specsample::best_lookaheads: most is -1, but must be 0 or more");
    CHECK_THROWS_WITH(best_lookaheads(acceptance, 3, .1, flat, lookaheads),
                      "specsample::best_lookaheads: size of acceptance is 4, but must be most for each request");
    CHECK_THROWS_WITH(best_lookaheads(acceptance, 2, -1, flat, lookaheads),
                      "specsample::best_lookaheads: draft_cost is -1, but must be finite and 0 or more");
    CHECK_THROWS_WITH(best_lookaheads(std::vector<double>{.5, .5, 2, .5}, 2, .1, flat, lookaheads),
                      "specsample::best_lookaheads: acceptance is 2, but must be in [0, 1]");
    CHECK_THROWS_AS(best_lookaheads(std::vector<double>{.5, std::numeric_limits<double>::quiet_NaN(), .5, .5}, 2, .1,
                                    flat, lookaheads),
                    std::invalid_argument);
    CHECK_THROWS_WITH(best_lookaheads(acceptance, 2, .1, std::vector<double>{1, 1, 1, 1, 1}, lookaheads),
                      "specsample::best_lookaheads: size of the verify_cost table is 5, but must be at least lookahead "
                      "+ 1");
    CHECK_THROWS_AS(best_lookaheads(
                        acceptance, 2, .1, [](Index) { return 0.; }, lookaheads),
                    std::invalid_argument);
}
