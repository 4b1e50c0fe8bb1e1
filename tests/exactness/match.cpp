// The match rules: exact distributions, the acceptance of drafts that share the target's noise, and the race
// behind it.
#include <specsample/theory.hpp>

#include "exactness/trees.hpp"
#include "support/catch.hpp"

using namespace cases;
using namespace specsample::walks;
using namespace specsample::theory;
using namespace specsample::kernels;
using namespace specsample::filters;
using namespace specsample::children;

namespace {

/// The probability that one drafted token is accepted, with shared noise if the rule shares it.
template <class Rule>
double acceptance_of(const Rule& rule, const Eigen::VectorXd& q, const Eigen::VectorXd& p) {
    return exact_tokens(rule, FixedModel{q}, FixedModel{p}, 1) - 1;
}

/// sum_i 1 / sum_j max(p_j / p_i, q_j / q_i).
double gumbel_acceptance(const Eigen::VectorXd& q, const Eigen::VectorXd& p) {
    double sum = 0;
    for (Index i = 0; i < p.size(); ++i)
        if (p[i] > 0 && q[i] > 0) sum += 1 / (p / p[i]).cwiseMax(q / q[i]).sum();
    return sum;
}

/// Pairs of rows of every kind.
template <class F>
void for_rows(Index max_vocab, F&& f) {
    for (Index vocab = 1; vocab <= max_vocab; ++vocab)
        for (std::uint64_t seed = 0; seed < 100; ++seed)
            for (const RowKind kind : {RowKind::smooth, RowKind::with_zeros, RowKind::peaked, RowKind::point_masses})
                f(ContextModel(vocab, seed, kind)({}), ContextModel(vocab, 500 + seed, kind)({}));
}

}  // namespace

TEMPLATE_TEST_CASE("a round of a match rule, completed by the target, has the target's joint distribution", "",
                   SampleMatch, GumbelMatch) {
    long cases_seen = 0;
    double worst = 0;
    const auto see_distance = [&](double distance) {
        CHECK(distance < 1e-12);
        worst = std::max(worst, distance);
        ++cases_seen;
    };
    for_cases(4, 3, [&](const std::string& name, const auto& draft, const auto& target, Index lookahead) {
        INFO(name);
        see_distance(distance_from_target(TestType{}, draft, target, lookahead));
    });
    CHECK(cases_seen == 4 * 4 * 12 + 4);
    for (Index vocab = 2; vocab <= 3; ++vocab)
        for (const Pair& pair : pairs(vocab))
            for (const Branching& branching : {Branching{2}, {3}, {2, 1}, {1, 2}, {2, 2}, {3, 1}, {2, 1, 1}})
                for_children([&](const std::string& kind, const auto& children) {
                    INFO("V = " << vocab << ", " << to_string(branching) << " " << kind << ": " << pair.name);
                    see_distance(see(TestType{}, TreeDrafter(pair.draft, branching, children), pair.target,
                                     std::ssize(branching))
                                     .distance);
                });
    WARN("largest total variation " << worst << " over " << cases_seen << " cases");
}

TEST_CASE("greedy match writes what greedy decoding writes, for any draft") {
    for (Index vocab = 1; vocab <= 4; ++vocab)
        for (const Pair& pair : pairs(vocab)) {
            const Remembered greedy = [target = pair.target](std::span<const Token> prefix) -> Eigen::VectorXd {
                const Eigen::VectorXd& p = target(prefix);
                return one_hot<double>(p.size(), argmax(p));
            };
            INFO("V = " << vocab << ": " << pair.name);
            const auto distance = [&](const auto& draft, Index depth) {
                return total_variation(
                    completed(round_distribution(GreedyMatch{}, draft, pair.target, depth), greedy, depth + 1),
                    joint_distribution(greedy, depth + 1));
            };
            for (Index lookahead = 0; lookahead <= 3; ++lookahead) CHECK(distance(pair.draft, lookahead) < 1e-14);
            for_children([&](const std::string&, const auto& children) {
                CHECK(distance(TreeDrafter(pair.draft, {2, 2}, children), 2) < 1e-14);
            });
            const TextDistribution cold =
                round_distribution(TokenVerification{}, pair.draft, shaped(pair.target, Temperature{0}), 2);
            CHECK(total_variation(completed(cold, greedy, 3), joint_distribution(greedy, 3)) < 1e-14);
        }
}

TEST_CASE("sample match accepts a sampled token with probability sum p q, and the published examples") {
    CHECK(acceptance_of(SampleMatch{}, ex3_draft.row, ex3_target.row) == Approx(29. / 100).epsilon(1e-14));
    CHECK(exact_tokens(SampleMatch{}, toy_draft, toy_target, 2) == Approx(1 + 52. / 81).epsilon(1e-14));
    // "Naive sampling" with two children.
    CHECK(exact_tokens(SampleMatch{}, TreeDrafter(ex3_draft, {2}, Independent{}), ex3_target, 1) ==
          Approx(1 + 483. / 1000).epsilon(1e-14));
    for_rows(6, [](const auto& q, const auto& p) {
        CHECK(acceptance_of(SampleMatch{}, q, p) == Approx(p.dot(q)).epsilon(1e-12).margin(1e-15));
    });
}

TEST_CASE("Gumbel match accepts what its closed form says, between (1 - TV) / (1 + TV) and 1 - TV") {
    CHECK(acceptance_of(GumbelMatch{}, ex3_draft.row, ex3_target.row) == Approx(41. / 65).epsilon(1e-14));
    CHECK(acceptance_of(GumbelMatch{}, toy_draft.row, toy_target.row) == Approx(2. / 3).epsilon(1e-14));
    long pairs_seen = 0;
    for_rows(6, [&](const auto& q, const auto& p) {
        const double match = acceptance_of(GumbelMatch{}, q, p), tv = (p - q).cwiseAbs().sum() / 2;
        CHECK(match == Approx(gumbel_acceptance(q, p)).epsilon(1e-12).margin(1e-14));
        CHECK(match >= (1 - tv) / (1 + tv) - 1e-12);
        CHECK(match <= 1 - tv + 1e-12);
        CHECK(acceptance_of(GumbelMatch{}, p, p) == Approx(1).epsilon(1e-12));
        ++pairs_seen;
    });
    CHECK(pairs_seen == 6 * 100 * 4);
}

TEST_CASE("a chain of shared races accepts as one race after the other, where rows do not depend on the context") {
    const double match = 41. / 65;
    for (Index lookahead = 0; lookahead <= 4; ++lookahead)
        CHECK(exact_tokens(GumbelMatch{}, ex3_draft, ex3_target, lookahead) ==
              Approx(expected_tokens(match, lookahead)).epsilon(1e-13));
}

TEST_CASE("two races with one noise: the winners' joint distribution has both rows as its marginals") {
    double worst = 0;
    for_rows(7, [&](const auto& q, const auto& p) {
        Eigen::MatrixXd both(q.size(), p.size());
        for (Index m = 0; m < q.size(); ++m)
            for (Index j = 0; j < p.size(); ++j) both(m, j) = both_win(q, m, p, j);
        CHECK(both.minCoeff() >= 0);
        worst = std::max({worst, (both.rowwise().sum() - q).cwiseAbs().maxCoeff(),
                          (both.colwise().sum().transpose() - p).cwiseAbs().maxCoeff()});
    });
    CHECK(worst < 1e-12);
    WARN("largest difference of a marginal " << worst);
}

// Fixed seed; one statistic of false-alarm probability 1e-9.
TEST_CASE("two races with one noise: the winners' joint distribution is that of real races") {
    const Eigen::VectorXd q = row({.2, .3, .4, .1}), p = row({.4, .05, .25, .3});
    TextDistribution expected, observed;
    for (Index m = 0; m < 4; ++m)
        for (Index j = 0; j < 4; ++j) {
            const double both = both_win(q, m, p, j);
            if (both > 0) expected[{static_cast<Token>(m), static_cast<Token>(j)}] = both;
        }
    constexpr int samples = 200000;
    for (int i = 0; i < samples; ++i) {
        const auto rng = RoundRng(77, 0, i).at(Purpose::race, 0);
        ++observed[{static_cast<Token>(race(rng, RowWeights(detail::as_row(q)))),
                    static_cast<Token>(race(rng, RowWeights(detail::as_row(p))))}];
    }
    const ChiSquare result = chi_square(observed, expected, samples);
    INFO(result.statistic << " of " << result.bound);
    CHECK(result.holds());
}

// Fixed seeds; each deviation beyond six standard errors has false-alarm probability 2e-9. Four of them.
TEST_CASE("the first two of a shared race hold the target's winner with probability 10567/11890") {
    constexpr int samples = 400000;
    const auto accepted = [&](const auto& draft, Index depth) {
        Sampler sampler(draft, ex3_target, {.lookahead = depth, .seed = 78}, GumbelMatch{});
        double sum = 0;
        for (int request = 0; request < samples; ++request)
            sum += static_cast<double>(
                sampler.step(std::vector<Token>{}, {.request = static_cast<std::uint64_t>(request)}).accepted);
        return sum / samples;
    };
    const auto within = [&](double mean, double expected) {
        return std::abs(mean - expected) < 6 * std::sqrt(expected * (1 - expected) / samples);
    };
    const double two = accepted(TreeDrafter(ex3_draft, {2}), 1);
    CHECK(within(two, 10567. / 11890));
    CHECK(within(accepted(TreeDrafter(ex3_draft, {1}), 1), 41. / 65));
    CHECK(within(accepted(ex3_draft, 1), 41. / 65));
    CHECK(accepted(TreeDrafter(ex3_draft, {3}), 1) == 1);  // every token is a child
    WARN("two children: " << two << " of " << 10567. / 11890);
}

TEST_CASE("rounds of point masses have one distribution under all ratio rules: that of sample match") {
    double worst = 0;
    const auto check = [&](const auto& draft, const auto& target, Index depth) {
        const TextDistribution walk = round_distribution(SampleMatch{}, draft, target, depth);
        worst = std::max({worst, total_variation(round_distribution(TokenVerification{}, draft, target, depth), walk),
                          total_variation(round_distribution(BlockVerification{}, draft, target, depth), walk)});
        CHECK(worst < 1e-13);
    };
    for (const Pair& pair : pairs(3)) {
        INFO(pair.name);
        const Greedy greedy{ContextModel(3, 91)};
        for (Index lookahead = 0; lookahead <= 3; ++lookahead) {
            check(greedy, pair.target, lookahead);
            CHECK(total_variation(round_distribution(GumbelMatch{}, greedy, pair.target, lookahead),
                                  round_distribution(SampleMatch{}, greedy, pair.target, lookahead)) < 1e-13);
        }
        for (const Branching& branching : {Branching{2}, {3}, {2, 1}, {2, 2}, {3, 1}, {2, 1, 1}})
            check(TreeDrafter(pair.draft, branching, TopChildren{}), pair.target, std::ssize(branching));
    }
    WARN("largest total variation " << worst);
}
