// best_tree against every size and against the best chain, and invalid costs.
#include <specsample/theory/best_tree.hpp>

#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

#include <specsample/theory/speedup.hpp>
#include <specsample/tree/sparse_tree.hpp>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::theory;

TEST_CASE("best_tree is the fastest of all sizes of random tables, plain decoding among them", "[analysis]") {
    std::mt19937 random(1);
    std::uniform_real_distribution<double> uniform;
    int plain = 0;
    for (int context = 0; context < 300; ++context) {
        const auto max_nodes = static_cast<Index>(random() % 8), max_depth = static_cast<Index>(random() % 6);
        RowMajorMatrix<double> tokens = RowMajorMatrix<double>::Ones(max_depth + 1, max_nodes + 1);
        for (Index d = 1; d <= max_depth; ++d)
            for (Index n = 1; n <= max_nodes; ++n) tokens(d, n) = tokens(d, n - 1) + .25 * uniform(random);
        std::vector<double> times;
        for (Index n = 0; n <= max_nodes; ++n) times.push_back(.002 * (1 + uniform(random)));
        const double draft_cost = .2 * uniform(random);

        double fastest = 1;
        Index nodes = 0, depth = 0;
        for (Index d = 1; d <= max_depth; ++d)
            for (Index n = 1; n <= max_nodes; ++n) {
                const double time = static_cast<double>(d) * draft_cost * times[0] + times[static_cast<std::size_t>(n)];
                const double speed = tokens(d, n) * times[0] / time;
                if (speed > fastest) fastest = speed, nodes = n, depth = d;
            }
        const BestTree best = best_tree(tokens, draft_cost, times);
        CAPTURE(context, max_nodes, max_depth);
        REQUIRE(best.nodes == nodes);
        REQUIRE(best.depth == depth);
        REQUIRE(best.speedup == Approx(fastest).epsilon(1e-12));
        plain += best.nodes == 0;
    }
    CHECK(plain > 30);
    CHECK(plain < 270);
}

TEST_CASE("best_tree and sparse_tree choose the fastest of all sparse trees", "[analysis]") {
    const RankAcceptance acceptance{{.7, .15, .06}};
    const auto cost = [](Index positions) { return 1 + .02 * static_cast<double>(positions - 1); };
    for (const double draft_cost : {0., .02, .1, .3, .95}) {
        double fastest = 0;
        for (Index d = 0; d <= 8; ++d)
            for (Index n = 0; n <= 24; ++n) {
                const TreeShape shape = sparse_tree(acceptance, n, d);
                const double round = static_cast<double>(shape.depth()) * draft_cost + cost(shape.size() + 1);
                fastest = std::max(fastest, (1 + expected_path_value(shape, acceptance)) / round);
            }
        const BestTree best = best_tree(sparse_tree_tokens(acceptance, 24, 8), draft_cost, cost);
        const TreeShape shape = sparse_tree(acceptance, best.nodes, best.depth);
        CAPTURE(draft_cost, best.nodes, best.depth);
        CHECK(best.speedup == Approx(fastest).epsilon(1e-12));
        CHECK(shape.size() == best.nodes);
        CHECK(shape.depth() == best.depth);
        CHECK((best.nodes == 0) == (draft_cost == .95));
    }
}

TEST_CASE("with one candidate per node best_tree is best_lookahead", "[analysis]") {
    const std::vector<double> f16{1., 1.6, 2.1, 2.6, 3.2, 3.67, 4.13, 4.6};  // performance.md, section 7, gaps filled
    const std::vector<double> int8{1., 1.16, 1.18, 1.20, 1.21, 1.19, 1.16, 1.14};
    for (const double alpha : {.2, .5, .6, .8, .95}) {
        const RowMajorMatrix<double> tokens = sparse_tree_tokens(std::vector{alpha}, 7, 7);
        for (const double draft_cost : {.01, .1, .3}) {
            const auto check = [&](const auto& cost) {
                const BestTree best = best_tree(tokens, draft_cost, cost);
                CAPTURE(alpha, draft_cost);
                CHECK(best.nodes == best_lookahead(alpha, draft_cost, cost, 7));
                CHECK(best.depth == best.nodes);
                CHECK(best.speedup == Approx(speedup(alpha, best.nodes, draft_cost, cost)).epsilon(1e-12));
            };
            check(FlatCost{});
            check(f16);
            check(int8);
        }
    }
}

TEST_CASE("best_tree takes the fewest nodes, then the smallest depth, of equal speeds", "[analysis]") {
    RowMajorMatrix<double> tokens(4, 5);
    tokens << 1, 1, 1, 1, 1,  //
        1, 1.5, 2, 2, 2,      //
        1, 1.5, 2, 2.5, 2.5,  //
        1, 1.5, 2, 2.5, 2.5;
    BestTree best = best_tree(tokens, 0, FlatCost{});
    CHECK(best.nodes == 3);
    CHECK(best.depth == 2);
    CHECK(best.speedup == 2.5);
    best = best_tree(RowMajorMatrix<double>::Ones(4, 5), 0, FlatCost{});  // as fast as plain decoding
    CHECK(best.nodes == 0);
    CHECK(best.depth == 0);
    CHECK(best.speedup == 1);
}

TEST_CASE("best_tree does not pad a tree to a size that verifies faster", "[analysis]") {
    const std::vector<double> times{1., 1.4, 1.5, 1.1};  // four positions are faster than two or three
    const RankAcceptance acceptance(std::vector<std::vector<double>>{{.5}, {.5}});
    const BestTree best = best_tree(sparse_tree_tokens(acceptance, 3, 3), 0, times);
    CHECK(best.nodes == 2);
    CHECK(best.depth == 2);
    CHECK(best.speedup == Approx(1.75 / 1.5));
}

TEST_CASE("best_tree without room for a tree is plain decoding", "[analysis]") {
    for (const RowMajorMatrix<double>& tokens :
         {RowMajorMatrix<double>::Ones(1, 1).eval(), RowMajorMatrix<double>::Ones(1, 3).eval(),
          RowMajorMatrix<double>::Ones(3, 1).eval()}) {
        const BestTree best = best_tree(tokens, .1, FlatCost{});
        CHECK(best.nodes == 0);
        CHECK(best.depth == 0);
        CHECK(best.speedup == 1);
    }
}

TEST_CASE("best_tree takes any Eigen matrix or array, and reads no row or column 0", "[analysis]") {
    Eigen::ArrayXXd tokens = sparse_tree_tokens(std::vector{.8, .1}, 6, 4).array();
    const BestTree best = best_tree(tokens, .1, FlatCost{});
    tokens.row(0).setConstant(1e9);
    tokens.col(0).setConstant(1e9);
    const BestTree same = best_tree(tokens.matrix(), .1, FlatCost{});
    CHECK(same.nodes == best.nodes);
    CHECK(same.depth == best.depth);
    CHECK(best.nodes > 0);
}

TEST_CASE("best_tree refuses costs that are none, and tables that are too short", "[analysis]") {
    const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
    const RowMajorMatrix<double> tokens = sparse_tree_tokens(std::vector{.5}, 2, 2);
    CHECK_THROWS_AS(best_tree(tokens, inf, FlatCost{}), std::invalid_argument);
    CHECK_THROWS_AS(best_tree(tokens, nan, FlatCost{}), std::invalid_argument);
    CHECK_THROWS_WITH(best_tree(tokens, -.5, FlatCost{}),
                      "specsample::best_tree: draft_cost is -0.5, but must be finite and 0 or more");
    for (const double bad : {inf, nan, 0., -1.}) {
        CHECK_THROWS_AS(best_tree(tokens, .1, [&](Index n) { return n == 3 ? bad : 1.; }), std::invalid_argument);
        CHECK_THROWS_AS(best_tree(tokens, .1, [&](Index n) { return n == 1 ? bad : 1.; }), std::invalid_argument);
        CHECK_THROWS_AS(best_tree(tokens, .1, std::vector{1., bad, 1.}), std::invalid_argument);
        CHECK_THROWS_AS(best_tree(tokens, .1, std::vector{bad, 1., 1.}), std::invalid_argument);
    }
    CHECK_THROWS_WITH(best_tree(tokens, .1, [](Index) { return 0.; }),
                      "specsample::best_tree: verify_cost is 0, but must be finite and above 0");
    CHECK_THROWS_WITH(best_tree(tokens, .1, std::vector{1., 1.}),
                      "specsample::best_tree: size of the verify_cost table is 2, but must be at least the "
                      "number of nodes + 1, 3");
    CHECK_NOTHROW(best_tree(tokens, .1, std::vector{1., 1., 1.}));
}

TEST_CASE("best_tree refuses tokens that no tree can emit", "[analysis]") {
    const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
    for (const double bad : {nan, inf, .5, -1.}) {
        RowMajorMatrix<double> tokens = RowMajorMatrix<double>::Ones(3, 3);
        tokens(2, 1) = bad;
        CHECK_THROWS_AS(best_tree(tokens, .1, FlatCost{}), std::invalid_argument);
    }
    CHECK_THROWS_WITH(best_tree(RowMajorMatrix<double>(0, 0), .1, FlatCost{}),
                      "specsample::best_tree: the size of tokens is 0, but must be 1 or more");
}
