// The published and hand-computed numbers of every lossy rule, on the running example.
#include <set>

#include "exactness/cases.hpp"
#include "support/catch.hpp"

#include <specsample/kernels/entropy.hpp>
#include <specsample/lossy.hpp>
#include <specsample/theory.hpp>

using namespace cases;
using namespace specsample::theory;
using namespace specsample::lossy;

namespace {

const Eigen::VectorXd p = ex3_target.row, q = ex3_draft.row;

/// Distribution, acceptance and distance of a rule on the running example.
template <class Rule>
void check(const Rule& rule, std::initializer_list<double> distribution, double accepted, double distance,
           double tolerance = 1e-14) {
    static_assert(!Rule::lossless && LossyRule<Rule>);
    CHECK((output_distribution(rule, q, p) - row(distribution).array()).abs().maxCoeff() < tolerance);
    CHECK(std::abs(acceptance(rule, q, p) - accepted) < tolerance);
    CHECK(std::abs(total_variation_from_target(rule, q, p) - distance) < tolerance);
}

template <class Rule>
std::vector<Index> accepted_ids(const Rule& rule, const Eigen::VectorXd& target) {
    std::vector<Index> ids;
    const Eigen::ArrayXd chances = lossy::chances(rule, target, target);
    for (Index id = 0; id < target.size(); ++id)
        if (chances[id] == 1) ids.push_back(id);
    return ids;
}

using Ids = std::vector<Index>;

}  // namespace

TEST_CASE("lenience has its published distributions with either residual") {
    check(Lenience{.l = 1}, {.5, .3, .2}, 7. / 10, 0);
    check(Lenience{.l = .8}, {9. / 20, 3. / 10, 1. / 4}, 3. / 4, 1. / 20);
    check(Lenience{.l = .5}, {3. / 10, 3. / 10, 2. / 5}, 9. / 10, 1. / 5);
    const auto scaled = LenientResidual::scaled;
    check(Lenience{.l = 1, .residual = scaled}, {.5, .3, .2}, 7. / 10, 0);
    check(Lenience{.l = .8, .residual = scaled}, {33. / 80, 27. / 80, 1. / 4}, 3. / 4, 7. / 80);
    check(Lenience{.l = .5, .residual = scaled}, {3. / 11, 18. / 55, 2. / 5}, 9. / 10, 5. / 22);
}

TEST_CASE("lenience writes no token more than 1/l times as often") {
    for (std::uint64_t seed = 0; seed < 500; ++seed) {
        const auto target = ContextModel(4, seed, RowKind::with_zeros)({}), draft = ContextModel(4, seed + 1000)({});
        const double l = .1 + .1 * static_cast<double>(seed % 10);
        for (const auto residual : {LenientResidual::standard, LenientResidual::scaled})
            CHECK((output_distribution(Lenience{l, residual}, draft, target) <= target.array() / l + 1e-14).all());
    }
}

TEST_CASE("a uniform on [0, b] is lenience below 1 and a stricter lossy rule above") {
    check(UniformBound{.b = .5}, {3. / 10, 3. / 10, 2. / 5}, 9. / 10, 1. / 5);
    check(UniformBound{.b = .8}, {9. / 20, 3. / 10, 1. / 4}, 3. / 4, 1. / 20);
    check(UniformBound{.b = 1}, {.5, .3, .2}, 7. / 10, 0);
    check(UniformBound{.b = 1.5}, {2. / 3, 1. / 5, 2. / 15}, 7. / 15, 1. / 6);
    check(UniformBound{.b = 2}, {3. / 4, 3. / 20, 1. / 10}, 7. / 20, 1. / 4);
}

TEST_CASE("a ratio threshold accepts by p/q alone") {
    // Ratios 5/2, 1 and 2/5; what is left is token 0.
    check(RatioThreshold{.t = .8}, {.7, .3, 0}, .5, .2);
    check(RatioThreshold{.t = 1}, {.7, .3, 0}, .5, .2);
    check(RatioThreshold{.t = .4}, {.2, .3, .5}, 1, .3);
    check(RatioThreshold{.t = 3}, {1, 0, 0}, 0, .5);
}

TEST_CASE("mentored decoding finds the median form and its scales") {
    const auto pi = [](auto transform, std::initializer_list<double> distribution, double accepted) {
        check(Transformed(transform), distribution, accepted, accepted - .7, 6e-5);  // between p and q: A = alpha + TV
    };
    pi(Mentored{.01}, {.4441, .3, .2559}, .7559);
    pi(Mentored{.05}, {.3705, .3, .3295}, .8295);
    pi(Mentored{.01, ReverseKullbackLeibler{}}, {.4453, .3, .2547}, .7547);
    pi(Mentored{.05, ReverseKullbackLeibler{}}, {.3749, .3, .3251}, .8251);
    pi(Mentored{.01, TotalVariation{}}, {.49, .3, .21}, .71);
    pi(Mentored{.05, TotalVariation{}}, {.45, .3, .25}, .75);
    const auto scales = Mentored{.01}.scales(q.array(), p.array());
    CHECK(scales.low == Approx(.8881).epsilon(1e-4));
    CHECK(scales.high == Approx(1.2797).epsilon(1e-4));
    const auto wider = Mentored{.05}.scales(q.array(), p.array());
    CHECK(wider.low == Approx(.7411).epsilon(1e-4));
    CHECK(wider.high == Approx(1.6473).epsilon(1e-4));
}

TEST_CASE("a total variation budget buys as much acceptance, up to 1") {
    for (const double budget : {0., .1, .2, .25, .3, .5, 1.})
        CHECK(acceptance(Transformed(Mentored{budget, TotalVariation{}}), q, p) ==
              Approx(std::min(1., .7 + budget)).epsilon(1e-12));
}

TEST_CASE("cascades write the draft, the target, or token by token") {
    check(Transformed(Chow{.1}), {.5, .3, .2}, .7, 0);
    check(Transformed(Diff{.1}), {.2, .3, .5}, 1, .3);
    check(Transformed(Opt{.1}), {.2, .3, .5}, 1, .3);
    check(Transformed(TokenV1{.1}), {1. / 4, 3. / 20, 3. / 5}, 17. / 20, 2. / 5);
    check(Transformed(TokenV2{.1}), {3. / 5, 6. / 25, 4. / 25}, 3. / 5, 1. / 10);
    check(Transformed(TokenV3{.1}), {3. / 5, 6. / 25, 4. / 25}, 3. / 5, 1. / 10);
    // They defer where the draft is less sure than the target by more than a, or a times their distance.
    const Eigen::VectorXd flat = row({.3, .4, .3});
    CHECK(total_variation_from_target(Transformed(Diff{.09}), flat, p) < 1e-15);
    CHECK(total_variation_from_target(Transformed(Diff{.11}), flat, p) == Approx(.2));
    CHECK(total_variation_from_target(Transformed(Opt{.4}), flat, p) < 1e-15);
    CHECK(total_variation_from_target(Transformed(Opt{.6}), flat, p) == Approx(.2));
    CHECK(total_variation_from_target(Transformed(Chow{.61}), flat, p) == Approx(.2));
    CHECK(total_variation_from_target(Transformed(Chow{.59}), flat, p) < 1e-15);
}

TEST_CASE("fuzzy decoding takes the draft where it is closer than the threshold") {
    const auto both = [](auto divergence, double distance) {
        check(Transformed(Fuzzy{distance - 1e-6, divergence}), {.5, .3, .2}, .7, 0);
        check(Transformed(Fuzzy{distance + 1e-6, divergence}), {.2, .3, .5}, 1, .3);
    };
    both(JensenShannon{}, .06641431);
    both(KullbackLeibler{}, .27488722);
    both(ReverseKullbackLeibler{}, .27488722);
    both(TotalVariation{}, .3);
    both(Wasserstein{}, .6);
}

TEST_CASE("cactus lifts the drafted entry and takes it from the others") {
    const Cactus rule{.delta = .02};
    const Eigen::ArrayXd chances = lossy::chances(rule, q, p);
    CHECK(chances[0] == 1);
    CHECK(chances[1] == 1);
    CHECK(chances[2] == Approx(.56).epsilon(1e-12));
    CHECK(.2 * chances[0] + .3 * chances[1] + .5 * chances[2] == Approx(acceptance(rule, q, p)));
    CHECK(specsample::detail::lifted(.5, .02) == Approx(.6).epsilon(1e-12));
    CHECK(std::abs(specsample::detail::lifted(.3, .02) - .3917) < 5e-5);
    CHECK(specsample::detail::lifted(.2, .02) == Approx(.28).epsilon(1e-12));
    // A rejected token 2 leaves h = (.45, .27, .28) - q, all on token 0.
    check(rule, {.42, .3, .28}, .78, .08);
}

TEST_CASE("typical acceptance has its published sets") {
    const TypicalAcceptance rule;
    CHECK(rule.threshold(kernels::entropy(p)) == Approx(.09));
    CHECK(accepted_ids(rule, p) == Ids{0, 1, 2});
    CHECK(accepted_ids(rule, row({.97, .02, .01})) == Ids{0});
    CHECK(rule.threshold(std::log(4)) == Approx(.075).epsilon(1e-12));
    CHECK(accepted_ids(rule, row({.25, .25, .25, .25})) == Ids{0, 1, 2, 3});
    CHECK(accepted_ids(rule, row({1, 0})) == Ids{0});
    check(rule, {.2, .3, .5}, 1, .3);
    check(TypicalAcceptance{.epsilon = .25, .delta = 2}, {.45, .45, .1}, .5, .15);  // q 1_A + q(not A) p, A = {0, 1}
}

TEST_CASE("relaxed acceptance and its relatives have their sets, and the likeliest token otherwise") {
    CHECK(accepted_ids(RelaxedTopN{.n = 2, .delta = .25}, p) == Ids{0, 1});
    CHECK(accepted_ids(RelaxedTopN{.n = 2, .delta = .1}, p) == Ids{0});
    CHECK(accepted_ids(RelaxedTopN{.n = 1, .delta = .5}, p) == Ids{0});
    CHECK(accepted_ids(RelaxedTopN{.n = 15, .delta = .5}, p) == Ids{0, 1, 2});
    CHECK(accepted_ids(TopKMembership{.k = 2}, p) == Ids{0, 1});
    CHECK(accepted_ids(TopKMembership{.k = 2}, row({.2, .3, .2, .3})) == Ids{1, 3});
    CHECK(accepted_ids(TopKMembership{.k = 3}, row({.2, .3, .2, .3})) == Ids{0, 1, 3});  // the lower id on ties
    CHECK(accepted_ids(TopKMembership{.k = 9}, row({.5, 0, .5})) == Ids{0, 2});
    CHECK(accepted_ids(GreedyLenience{.l = .5}, p) == Ids{0, 1});
    CHECK(accepted_ids(GreedyLenience{.l = .4}, p) == Ids{0, 1, 2});
    // log .5 - log .3 = .511, log .5 - log .2 = .916
    CHECK(accepted_ids(RunnerUp{.margin = .5}, p) == Ids{0});
    CHECK(accepted_ids(RunnerUp{.margin = .52}, p) == Ids{0, 1});
    CHECK(accepted_ids(RunnerUp{.margin = 9}, p) == Ids{0, 1});
    CHECK(accepted_ids(RunnerUp{.margin = 9}, row({1, 0, 0})) == Ids{0});
    check(RunnerUp{.margin = .52}, {.7, .3, 0}, .5, .2);
    check(RelaxedTopN{.n = 2, .delta = .25}, {.7, .3, 0}, .5, .2);
    check(RelaxedTopN{.n = 1}, {1, 0, 0}, .2, .5);
    check(TopKMembership{.k = 2}, {.7, .3, 0}, .5, .2);
}

TEST_CASE("a classifier is asked about tokens that the exact rule could reject, and of no impossible one") {
    std::vector<Token> asked;
    const Classified rule([&](DraftedToken& x) {
        asked.push_back(x.token());
        return true;
    });
    check(rule, {.2, .3, .5}, 1, .3);  // token 2 has the ratio 2/5
    CHECK(std::set(asked.begin(), asked.end()) == std::set<Token>{2});
    CHECK(accepted_ids(rule, p).size() == 3);
    const Eigen::ArrayXd impossible = lossy::chances(rule, q, row({.5, .5, 0}));
    CHECK(impossible[2] == 0);
}

TEST_CASE("the big little decoder falls back and rolls back") {
    check(BigLittle{.fallback = .6, .rollback = 5}, {.5, .3, .2}, 0, 0);  // the draft's largest is .5
    check(BigLittle{.fallback = .5, .rollback = 5}, {.2, .3, .5}, 1, .3);
    check(BigLittle{.fallback = .5, .rollback = 1.5}, {.45, .45, .1}, .5, .15);  // -log .2 = 1.61
}

TEST_CASE("tree thresholds widen the share of the children") {
    // Children 1 and 2 of (.5, .3, .2): S = .3, .5, so 3/8 and 5/8 - 3/8; token 0 has the rest.
    const std::vector<Token> children{1, 2};
    const auto wide = TreeThresholds{.accumulated = .8}.distribution_of(p, children);
    CHECK((wide - row({3. / 8, 3. / 8, 1. / 4}).array()).abs().maxCoeff() < 1e-14);
    CHECK((TreeThresholds{}.distribution_of(p, children) - p.array()).abs().maxCoeff() < 1e-14);
    const auto one = TreeThresholds{.single = .3}.distribution_of(p, children);
    CHECK((one - row({0, 1, 0}).array()).abs().maxCoeff() < 1e-14);
    CHECK(total_variation_from_target(TreeThresholds{}, q, p) < 1e-15);
    CHECK(acceptance(TreeThresholds{}, q, p) == Approx(.29));  // sum p q
}

TEST_CASE("the scores of the tutorial's three paths, and its choice") {
    const double logs[] = {-2.1, -1.0, -3.2}, means[] = {.12, .37, .04};
    for (int i = 0; i < 3; ++i) {
        const double each = std::exp(logs[i]);
        CHECK(std::abs(geometric_mean(PathSums{}.then(each)) - means[i]) < .005);
        CHECK(geometric_mean(PathSums{}.then(each).then(each).then(each)) == Approx(each));
    }
    const PathSums path = PathSums{}.then(.5).then(.125);
    CHECK(product(path) == Approx(.0625));
    CHECK(arithmetic_mean(path) == Approx(.3125));
    CHECK(geometric_mean(path) == Approx(.25));
    for (const auto score : {product, arithmetic_mean, geometric_mean}) CHECK(score({}) == 1);
    check(PathHeuristic{.threshold = .3}, {.45, .45, .1}, .5, .15);
}
