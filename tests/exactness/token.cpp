// Token verification: the literals of its papers, its exact distribution on every pair of models, and many rounds.
#include <specsample/theory.hpp>

#include "exactness/cases.hpp"
#include "support/catch.hpp"

using namespace cases;
using namespace specsample::theory;
using namespace specsample::filters;

namespace {

constexpr TokenVerification rule;

/// The probability that a drafted token is accepted, and the distribution of the recovered token, by enumeration.
struct OneStep {
    double accepted = 0;
    TextDistribution recovered;
};

OneStep one_step(const FixedModel& draft, const FixedModel& target) {
    OneStep result;
    for_rounds(rule, draft, target, 1, [&](const Round& round, Enumerator& paths) {
        if (round.accepted == 1) {
            result.accepted += paths.probability();
        } else {
            result.recovered[{round.tokens[0]}] += paths.probability();
        }
    });
    for (auto& [text, probability] : result.recovered) probability /= 1 - result.accepted;
    return result;
}

/// The probability that the drafted token `x` is accepted, given its two probabilities.
double acceptance_of(double q, double p) {
    double accepted = 0;
    const Eigen::VectorXd target = row({p, 1 - p}), draft = row({q, 1 - q});
    Workspace workspace;
    Enumerator().run([&](Enumerator& paths) {
        const std::vector<Token> tokens{0};
        const Round round = verify(tokens, std::array{Sampled(draft)}, std::array{target, target}, rule,
                                   EnumeratedRng(paths), {}, workspace);
        if (round.accepted == 1) accepted += paths.probability();
    });
    return accepted;
}

}  // namespace

TEST_CASE("the running examples have their published distributions") {
    const OneStep ex3 = one_step(ex3_draft, ex3_target);
    CHECK(ex3.accepted == Approx(7. / 10).epsilon(1e-14));
    CHECK(total_variation(ex3.recovered, {{{0}, 1}}) < 1e-14);

    const OneStep seed = one_step({row({.25, .35, .1, .3})}, {row({.3, .2, .1, .4})});
    CHECK(seed.accepted == Approx(17. / 20).epsilon(1e-14));
    CHECK(total_variation(seed.recovered, {{{0}, 1. / 3}, {{3}, 2. / 3}}) < 1e-14);

    CHECK(one_step(toy_draft, toy_target).accepted == Approx(2. / 3).epsilon(1e-14));
}

TEST_CASE("the output distribution of two drafts on the toy, string by string") {
    const TextDistribution distribution = round_distribution(rule, toy_draft, toy_target, 2);
    const TextDistribution published{{{0, 0, 0}, 1. / 27}, {{0, 0, 1}, 2. / 27}, {{0, 1}, 1. / 9},
                                     {{0, 1, 0}, 1. / 27}, {{0, 1, 1}, 2. / 27}, {{1}, 1. / 3},
                                     {{1, 0, 0}, 1. / 27}, {{1, 0, 1}, 2. / 27}, {{1, 1}, 1. / 9},
                                     {{1, 1, 0}, 1. / 27}, {{1, 1, 1}, 2. / 27}};
    CHECK(distribution.size() == published.size());
    CHECK(total_variation(distribution, published) < 1e-14);
}

TEST_CASE("the expected tokens of a round are the published fractions") {
    const double toy[] = {5. / 3, 19. / 9, 65. / 27, 211. / 81, 665. / 243};
    for (Index lookahead = 1; lookahead <= 5; ++lookahead)
        CHECK(exact_tokens(rule, toy_draft, toy_target, lookahead) == Approx(toy[lookahead - 1]).epsilon(1e-13));
    CHECK(exact_tokens(rule, ex3_draft, ex3_target, 2) == Approx(219. / 100).epsilon(1e-13));
    CHECK(exact_tokens(rule, ex3_draft, ex3_target, 3) == Approx(2533. / 1000).epsilon(1e-13));
    CHECK(exact_tokens(rule, ex3_draft, ex3_target, 4) == Approx(27731. / 10000).epsilon(1e-13));
    for (Index lookahead = 0; lookahead <= 4; ++lookahead)
        CHECK(exact_tokens(rule, ex3_draft, ex3_target, lookahead) ==
              Approx(expected_tokens(acceptance(ex3_draft.row, ex3_target.row), lookahead)).epsilon(1e-13));
}

TEST_CASE("a drafted token is accepted with probability min(1, p/q)") {
    CHECK(acceptance_of(.22, .25) == 1);
    CHECK(acceptance_of(.15, .02) == Approx(2. / 15).epsilon(1e-14));
    CHECK(acceptance_of(.2, .1) == Approx(1. / 2).epsilon(1e-14));
    CHECK(acceptance_of(.2, 0) == 0);
}

TEST_CASE("nothing after a rejected token is examined") {
    // Drafted with .22, .15 and .15 where the target gives .25, .02 and .02.
    const Eigen::VectorXd target0 = row({.25, .75}), target1 = row({.02, .98});
    const Eigen::VectorXd draft0 = row({.22, .78}), draft1 = row({.15, .85});
    Workspace workspace;
    std::vector<Index> asked;
    const auto rows = [&](Index i) -> const Eigen::VectorXd& {
        asked.push_back(i);
        return i == 0 ? target0 : target1;
    };
    const std::vector<Token> tokens{0, 0, 0};
    const std::array distributions{Sampled(draft0), Sampled(draft1), Sampled(draft1)};
    const auto rng =
        ScriptedRng().set(Purpose::accept, 0, .9999).set(Purpose::accept, 1, .14).set(Purpose::last, 0, .5);
    const Round round =
        verify(tokens, distributions, rows, rule, rng, {}, workspace);  // the script has no number for node 2
    CHECK(round.accepted == 1);
    CHECK(round.evaluated == 2);
    CHECK(round.last == LastToken::recovered);
    CHECK(std::vector(round.tokens.begin(), round.tokens.end()) == std::vector<Token>{0, 1});
    CHECK(*std::max_element(asked.begin(), asked.end()) == 1);
}

TEST_CASE("five tokens in two passes are 2.5 times plain decoding where the draft is free") {
    // Three of four accepted and a recovered one, then a rejection at once: 4 + 1 tokens.
    Tally tally;
    tally.record({.proposed = 4, .evaluated = 4, .accepted = 3, .tokens = 4, .last = LastToken::recovered});
    tally.record({.proposed = 4, .evaluated = 1, .accepted = 0, .tokens = 1, .last = LastToken::recovered});
    CHECK(tally.tokens_per_round() == 2.5);
}

TEST_CASE("a round of token verification, completed by the target, has the target's joint distribution") {
    long cases_seen = 0;
    double worst = 0;
    for_cases(4, 3, [&](const std::string& name, const auto& draft, const auto& target, Index lookahead) {
        const double distance = distance_from_target(rule, draft, target, lookahead);
        INFO(name);
        CHECK(distance < 1e-12);
        worst = std::max(worst, distance);
        ++cases_seen;
    });
    CHECK(cases_seen == 4 * 4 * 12 + 4);
    WARN("largest total variation " << worst << " over " << cases_seen << " cases");
}

TEST_CASE("a prompt, a budget and stop tokens leave the distribution alone") {
    const ContextModel draft(3, 21), target(3, 22);
    const std::vector<Token> prompt{2, 0, 1};
    CHECK(total_variation(exact_distribution(rule, draft, target, 3, prompt), joint_distribution(target, 4, prompt)) <
          1e-12);
    for (Index budget = 1; budget <= 4; ++budget)
        CHECK(total_variation(exact_distribution(rule, draft, target, 3, prompt, {.max_new_tokens = budget}),
                              joint_distribution(target, 4, prompt)) < 1e-12);
    for (Index length = 4; length <= 8; ++length)
        CHECK(total_variation(exact_distribution(rule, draft, target, 3, prompt, {.max_length = length}),
                              joint_distribution(target, 4, prompt)) < 1e-12);
    CHECK(total_variation(exact_distribution(rule, draft, target, 3, prompt, {.stop_tokens = {1}}),
                          joint_distribution(target, 4, prompt)) < 1e-12);
}

// Fixed seeds, ten statistics of false-alarm probability 1e-9 each.
TEST_CASE("many rounds of the keyed RNG have the target's joint distribution") {
    for (const Index lookahead : {0, 1, 2, 3}) {
        const ChiSquare result = rounds(rule, ContextModel(3, 31), ContextModel(3, 32), lookahead, 4, 40000);
        INFO("lookahead " << lookahead << ": " << result.statistic << " of " << result.bound);
        CHECK(result.holds());
    }
    CHECK(rounds(rule, ex3_draft, ex3_target, 2, 3, 40000).holds());
    CHECK(rounds(rule, toy_draft, toy_target, 2, 5, 40000).holds());
    CHECK(rounds(rule, Greedy{ContextModel(3, 33)}, ContextModel(3, 34), 3, 4, 40000).holds());
    CHECK(rounds(rule, ReusedBuffer{ContextModel(3, 35)}, ContextModel(3, 36), 3, 4, 40000).holds());
    const Pipeline pipeline{Temperature{0.7}, TopP{0.8}};
    CHECK(rounds(rule, shaped(ContextModel(4, 37), pipeline), shaped(ContextModel(4, 38), pipeline), 3, 3, 40000)
              .holds());
}

TEST_CASE("the statistic of many rounds rejects a distribution that is two hundredths away") {
    const ContextModel target(3, 32);
    TextDistribution counts = joint_distribution(Nudged<ContextModel>{target, .05}, 4);
    REQUIRE(total_variation(counts, joint_distribution(target, 4)) < .04);
    for (auto& [text, count] : counts) count *= 40000;
    CHECK_FALSE(chi_square(counts, joint_distribution(target, 4), 40000).holds());
}

TEST_CASE("shaped models are judged by the shaped target's distribution") {
    const Pipeline pipeline{Temperature{0.6}, TopP{0.75}};
    for (Index vocab = 1; vocab <= 4; ++vocab)
        for (Index lookahead = 0; lookahead <= 3; ++lookahead) {
            const auto target = shaped(ContextModel(vocab, 42), pipeline);
            CHECK(distance_from_target(rule, shaped(ContextModel(vocab, 41), pipeline), target, lookahead) < 1e-12);
            CHECK(distance_from_target(rule, shaped(ContextModel(vocab, 41), Temperature{0}), target, lookahead) <
                  1e-12);
            CHECK(distance_from_target(rule, ContextModel(vocab, 41), shaped(ContextModel(vocab, 42), Temperature{0}),
                                       lookahead) < 1e-12);
        }
}
