// Divergences, and the best distribution within a budget of divergence.
#include "exactness/cases.hpp"
#include "support/catch.hpp"

#include <specsample/lossy.hpp>
#include <specsample/theory.hpp>

using namespace cases;
using namespace specsample::theory;
using namespace specsample::lossy;

TEST_CASE("divergences of the running example, and of rows with zeros") {
    const Eigen::ArrayXd a = ex3_target.row.array(), b = ex3_draft.row.array();
    CHECK(JensenShannon{}(a, b) == Approx(.06641431438228168).epsilon(1e-13));
    CHECK(KullbackLeibler{}(a, b) == Approx(.27488721956224654).epsilon(1e-13));
    CHECK(ReverseKullbackLeibler{}(a, b) == Approx(.27488721956224654).epsilon(1e-13));
    CHECK(TotalVariation{}(a, b) == Approx(.3).epsilon(1e-14));
    CHECK(Wasserstein{}(a, b) == Approx(.6).epsilon(1e-14));  // |.3| + |.3| + 0
    const Eigen::ArrayXd left = row({.5, .5, 0}).array(), right = row({0, .5, .5}).array(),
                         one = row({0, 1, 0}).array();
    CHECK(KullbackLeibler{}(left, right) == INFINITY);
    CHECK(ReverseKullbackLeibler{}(left, right) == INFINITY);
    CHECK(KullbackLeibler{}(one, left) == Approx(std::log(2)));
    CHECK(ReverseKullbackLeibler{}(one, left) == INFINITY);
    CHECK(JensenShannon{}(left, right) == Approx(std::log(2) / 2));
    CHECK(JensenShannon{}(row({1, 0}).array(), row({0, 1}).array()) == Approx(std::log(2)));
    CHECK(Wasserstein{}(left, right) == Approx(1));
    CHECK(Wasserstein{}(right, left) == Approx(1));  // what is behind costs as much as what is ahead
    for (const Eigen::ArrayXd& same : {left, right, one}) {
        CHECK(KullbackLeibler{}(same, same) == 0);
        CHECK(JensenShannon{}(same, same) == 0);
    }
}

TEST_CASE("the mentored distribution is the best of a grid over the simplex, zeros included") {
    const auto check = [](const auto& divergence, double budget, const Eigen::ArrayXd& q, const Eigen::ArrayXd& p) {
        const Transformed rule(Mentored{budget, divergence});
        const Eigen::ArrayXd pi = output_distribution(rule, q, p);
        CHECK(pi.sum() == Approx(1).epsilon(1e-12));
        CHECK((pi >= 0).all());
        CHECK(divergence(p, pi) <= budget + 1e-12);
        const double accepted = pi.min(q).sum();
        constexpr int steps = 100;
        double best = 0;
        for (int i = 0; i <= steps; ++i)
            for (int j = 0; i + j <= steps; ++j) {
                const Eigen::ArrayXd w = Eigen::Array3d(i, j, steps - i - j) / steps;
                if (divergence(p, w) <= budget) best = std::max(best, w.min(q).sum());
            }
        CHECK(best <= accepted + 1e-9);
        // The grid has no point that spends exactly the budget; it comes near wherever the distribution is inside the
        // simplex.
        if (budget >= .01 && (pi > .02).all()) CHECK(best >= accepted - .03);
    };
    std::vector<std::pair<Eigen::ArrayXd, Eigen::ArrayXd>> rows{{ex3_target.row.array(), ex3_draft.row.array()},
                                                                {row({1, 0, 0}), row({.5, .5, 0})},
                                                                {row({.5, .5, 0}), row({0, .5, .5})},
                                                                {row({1, 0, 0}), row({0, .25, .75})}};
    for (std::uint64_t seed = 0; seed < 12; ++seed)
        rows.emplace_back(ContextModel(3, seed, seed % 2 == 0 ? RowKind::smooth : RowKind::with_zeros)({}),
                          ContextModel(3, seed + 50, seed % 3 == 0 ? RowKind::with_zeros : RowKind::smooth)({}));
    for (const auto& [p, q] : rows)
        for (const double budget : {.001, .01, .05, .2, .5}) {
            INFO("p = " << p.transpose() << ", q = " << q.transpose() << ", budget " << budget);
            check(KullbackLeibler{}, budget, q, p);
            check(ReverseKullbackLeibler{}, budget, q, p);
            check(JensenShannon{}, budget, q, p);
            check(TotalVariation{}, budget, q, p);
        }
}

TEST_CASE("a total variation budget is spent to the last bit, on any rows") {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        const auto p = ContextModel(5, seed, RowKind::with_zeros)({}), q = ContextModel(5, seed + 500)({});
        for (const double budget : {.01, .1, .4})
            CHECK(acceptance(Transformed(Mentored{budget, TotalVariation{}}), q, p) ==
                  Approx(std::min(1., acceptance(q, p) + budget)).epsilon(1e-12));
    }
}

TEST_CASE("rows of different sizes have no distribution") {
    CHECK_THROWS_WITH(
        output_distribution(Lenience{}, toy_draft.row, ex3_target.row),
        ContainsSubstring(
            "specsample::output_distribution: the draft row's size is 2, but must be the target row's, 3"));
    CHECK_THROWS_AS(total_variation_from_target(Transformed(Chow{}), toy_draft.row, ex3_target.row),
                    std::invalid_argument);
}

TEST_CASE("the median is a distribution within its budget, however small a probability of the target is") {
    const auto check = [](const auto& divergence, double budget, const Eigen::ArrayXd& p, const Eigen::ArrayXd& q) {
        INFO("budget " << budget << ", p = " << p.transpose() << ", q = " << q.transpose());
        const Eigen::ArrayXd pi = Mentored{budget, divergence}(q, p);
        CHECK(pi.sum() == Approx(1).epsilon(1e-12));
        CHECK(divergence(p, pi) <= budget * (1 + 1e-9));
        if (divergence(p, q) <= budget) CHECK((pi - q).abs().maxCoeff() < 1e-12);
    };
    // 1e-300 of q is as far as a scale reaches. On either side of it, and where q / p is infinite.
    for (const double t : {1e-3, 1e-100, 1e-299, 6e-301, 5e-301, 4e-301, 1e-305, 1e-308, 1e-310, 5e-324, 0.})
        for (const double budget : {.1, .9, 5., 500.})
            for (const auto& [p, q] : {std::pair{row({t, 1 - t}), row({.5, .5})},
                                       {row({t, .3, .7 - t}), row({.5, .5, 0})},
                                       {row({.5, .5}), row({t, 1 - t})}}) {
                check(KullbackLeibler{}, budget, p.array(), q.array());
                check(ReverseKullbackLeibler{}, budget, p.array(), q.array());
                check(JensenShannon{}, budget, p.array(), q.array());
                check(TotalVariation{}, budget, p.array(), q.array());
            }
}

TEST_CASE("divergences are finite and continuous down to the smallest probabilities") {
    const Eigen::Array2d even(.5, .5);
    for (const double t : {1e-300, 1e-307, 1e-308, 1e-309, 1e-310, 1e-320, 5e-324}) {
        INFO("t = " << t);
        const Eigen::Array2d p(t, 1);
        CHECK(KullbackLeibler{}(even, p) == Approx((-std::log(t) - 2 * std::log(2)) / 2).epsilon(1e-12));
        CHECK(ReverseKullbackLeibler{}(p, even) == KullbackLeibler{}(even, p));
        CHECK(KullbackLeibler{}(p, even) == Approx(std::log(2)).epsilon(1e-12));
        CHECK(JensenShannon{}(p, Eigen::Array2d(0, 1)) <= t);
    }
}
