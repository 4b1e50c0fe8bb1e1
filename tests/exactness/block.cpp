// Block verification: the literals of its paper, the identity behind it, and its exact distribution.
#include <algorithm>

#include <specsample/theory.hpp>

#include "exactness/cases.hpp"
#include "exactness/trees.hpp"
#include "support/catch.hpp"

using namespace cases;
using namespace specsample::theory;
using namespace specsample::kernels;

namespace {

constexpr BlockVerification rule;
constexpr TokenVerification token_rule;

/// The distribution of the number of accepted tokens, given that `tokens` were drafted from the fixed models.
std::vector<double> accepted_given(const std::vector<Token>& tokens, const FixedModel& draft,
                                   const FixedModel& target) {
    std::vector<double> distribution(tokens.size() + 1);
    Workspace workspace;
    Enumerator().run([&](Enumerator& paths) {
        const auto draft_distribution = [&](Index) { return Sampled(draft.row); };
        const auto row_of = [&](Index) -> const Eigen::VectorXd& { return target.row; };
        const Round round = verify(tokens, draft_distribution, row_of, rule, EnumeratedRng(paths), {}, workspace);
        distribution[static_cast<std::size_t>(round.accepted)] += paths.probability();
    });
    return distribution;
}

/// The weight w of a path, clipped at every step, and the probability that it is drafted.
template <class Draft, class Target>
std::pair<double, double> weight_of(const std::vector<Token>& path, const Draft& draft, const Target& target) {
    double w = 1, drafted = 1;
    for (std::size_t i = 0; i < path.size(); ++i) {
        const std::span<const Token> prefix(path.data(), i);
        const Eigen::VectorXd p = target(prefix), q = draft(prefix);
        if (q[path[i]] == 0) return {0, 0};
        w = std::min(1.0, w * p[path[i]] / q[path[i]]);
        drafted *= q[path[i]];
    }
    return {w, drafted};
}

/// One more than the largest expected number of accepted tokens of any rule: the overlaps of the joint distributions,
/// summed over lengths.
template <class Draft, class Target>
double bound(const Draft& draft, const Target& target, Index lookahead) {
    double tokens = 1;
    for (Index length = 1; length <= lookahead; ++length)
        tokens += 1 - total_variation(joint_distribution(draft, length), joint_distribution(target, length));
    return tokens;
}

}  // namespace

TEST_CASE("block verification: the expected tokens of a round are the published fractions") {
    const double toy[] = {5. / 3, 20. / 9, 8. / 3, 247. / 81, 91. / 27};
    const double toy_bound[] = {5. / 3, 7. / 3, 77. / 27, 91. / 27, 307. / 81};
    for (Index lookahead = 1; lookahead <= 5; ++lookahead) {
        CHECK(exact_tokens(rule, toy_draft, toy_target, lookahead) == Approx(toy[lookahead - 1]).epsilon(1e-13));
        CHECK(bound(toy_draft, toy_target, lookahead) == Approx(toy_bound[lookahead - 1]).epsilon(1e-13));
    }
    CHECK(exact_tokens(rule, ex3_draft, ex3_target, 2) == Approx(9. / 4).epsilon(1e-13));
    CHECK(exact_tokens(rule, ex3_draft, ex3_target, 3) == Approx(539. / 200).epsilon(1e-13));
    CHECK(exact_tokens(rule, ex3_draft, ex3_target, 4) == Approx(6127. / 2000).epsilon(1e-13));
}

TEST_CASE("block verification: the output distribution of two drafts on the toy, string by string") {
    const TextDistribution distribution = round_distribution(rule, toy_draft, toy_target, 2);
    const TextDistribution published{
        {{0, 0, 0}, 1. / 27}, {{0, 0, 1}, 2. / 27}, {{0, 1, 0}, 2. / 27}, {{0, 1, 1}, 4. / 27}, {{1}, 1. / 3},
        {{1, 0, 0}, 1. / 27}, {{1, 0, 1}, 2. / 27}, {{1, 1}, 1. / 9},     {{1, 1, 0}, 1. / 27}, {{1, 1, 1}, 2. / 27}};
    CHECK(distribution.size() == published.size());
    CHECK(total_variation(distribution, published) < 1e-14);
}

TEST_CASE("block verification: how many tokens of each path of the toy are accepted") {
    const auto is = [](const std::vector<double>& distribution, const std::vector<double>& published) {
        for (std::size_t i = 0; i < published.size(); ++i)
            if (std::abs(distribution[i] - published[i]) > 1e-14) return false;
        return distribution.size() == published.size();
    };
    CHECK(is(accepted_given({0, 0}, toy_draft, toy_target), {3. / 4, 0, 1. / 4}));
    CHECK(is(accepted_given({0, 1}, toy_draft, toy_target), {0, 0, 1}));
    CHECK(is(accepted_given({1, 0}, toy_draft, toy_target), {0, 1. / 2, 1. / 2}));
    CHECK(is(accepted_given({1, 1}, toy_draft, toy_target), {0, 0, 1}));
}

TEST_CASE("block verification: a path is drafted and kept with probability q w, and that is what it accepts") {
    double worst = 0;
    long paths_seen = 0;
    constexpr Index lookahead = 3;
    std::vector<Pair> models = pairs(3);
    for (std::uint64_t seed = 100; seed < 120; ++seed)
        models.push_back({"seed " + std::to_string(seed), ContextModel(3, seed), ContextModel(3, 1000 + seed)});
    for (const Pair& pair : models) {
        TextDistribution kept;  // P(accepted >= i, and the first i tokens are these)
        for_rounds(rule, pair.draft, pair.target, lookahead, [&](const Round& round, Enumerator& paths) {
            for (Index i = 1; i <= round.accepted; ++i)
                kept[{round.tokens.begin(), round.tokens.begin() + i}] += paths.probability();
        });
        double expected = 0;
        for (Index length = 1; length <= lookahead; ++length)
            for (const auto& [path, probability] : joint_distribution(pair.draft, length)) {
                const auto [w, drafted] = weight_of(path, pair.draft, pair.target);
                const auto found = kept.find(path);
                worst = std::max(worst, std::abs((found == kept.end() ? 0 : found->second) - drafted * w));
                expected += drafted * w;
                ++paths_seen;
            }
        INFO(pair.name);
        CHECK(exact_tokens(rule, pair.draft, pair.target, lookahead) == Approx(1 + expected).epsilon(1e-13));
    }
    CHECK(worst < 1e-14);
    CHECK(paths_seen > 9 * 3);
    WARN("largest difference " << worst << " over " << paths_seen << " paths");
}

TEST_CASE("block verification never expects fewer tokens than token verification, nor more than any rule can have") {
    bool gains = false;
    for (Index vocab = 2; vocab <= 4; ++vocab)
        for (const Pair& pair : pairs(vocab))
            for (Index lookahead = 0; lookahead <= 3; ++lookahead) {
                const double block = exact_tokens(rule, pair.draft, pair.target, lookahead);
                const double token = exact_tokens(token_rule, pair.draft, pair.target, lookahead);
                INFO("V = " << vocab << ", K = " << lookahead << ": " << pair.name);
                CHECK(block >= token - 1e-13);
                CHECK(block <= bound(pair.draft, pair.target, lookahead) + 1e-13);
                gains = gains || block > token + .01;
            }
    CHECK(gains);
}

TEST_CASE("block verification of one token, and of point masses, has token verification's distribution") {
    for (const Pair& pair : pairs(3)) {
        INFO(pair.name);
        CHECK(total_variation(round_distribution(rule, pair.draft, pair.target, 1),
                              round_distribution(token_rule, pair.draft, pair.target, 1)) < 1e-14);
    }
    const ContextModel target(3, 62);
    for (const ContextModel& model : {ContextModel(3, 61), target, ContextModel(3, 63, RowKind::with_zeros)})
        for (Index lookahead = 1; lookahead <= 3; ++lookahead)
            CHECK(total_variation(round_distribution(rule, Greedy{model}, target, lookahead),
                                  round_distribution(token_rule, Greedy{model}, target, lookahead)) < 1e-14);
    // A row that is certain is a point mass as well, whatever its type.
    const ContextModel certain(3, 64, RowKind::point_masses);
    CHECK(total_variation(round_distribution(rule, certain, target, 3),
                          round_distribution(token_rule, Greedy{certain}, target, 3)) < 1e-14);
}

TEST_CASE("a round of block verification, completed by the target, has the target's joint distribution") {
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

TEST_CASE("block verification: a prompt, a budget and stop tokens leave the distribution alone") {
    const Remembered draft = ContextModel(3, 21), target = ContextModel(3, 22);
    const std::vector<Token> prompt{2, 0, 1};
    const TextDistribution expected = joint_distribution(target, 4, prompt);
    const auto distance = [&](const Limits& limits) {
        return total_variation(exact_distribution(rule, draft, target, 3, prompt, limits), expected);
    };
    CHECK(distance({}) < 1e-12);
    for (Index budget = 1; budget <= 4; ++budget) CHECK(distance({.max_new_tokens = budget}) < 1e-12);
    for (Index length = 4; length <= 8; ++length) CHECK(distance({.max_length = length}) < 1e-12);
    CHECK(distance({.stop_tokens = {1}}) < 1e-12);
    CHECK(distance({.max_new_tokens = 2, .stop_tokens = {0, 2}}) < 1e-12);
}

TEST_CASE("block verification: a text with a smaller budget is the beginning of the longer one") {
    const ContextModel draft(4, 71), target(4, 72);
    Sampler sampler(draft, target, {.lookahead = 4, .seed = 9}, rule);
    for (std::uint64_t request = 0; request < 50; ++request) {
        const std::vector<Token> whole =
            sampler.generate(std::vector<Token>{1}, {.max_new_tokens = 20, .request = request});
        for (Index budget = 0; budget <= 20; ++budget) {
            const std::vector<Token> part =
                sampler.generate(std::vector<Token>{1}, {.max_new_tokens = budget, .request = request});
            REQUIRE(part == std::vector<Token>(whole.begin(), whole.begin() + budget));
        }
    }
}

TEST_CASE("block verification: a length decided from the prefix, or after the drafted token, is lossless") {
    for (const Pair& pair : pairs(3)) {
        const auto& draft = pair.draft;
        const Drafted before{[&](const auto& text, Index, const auto& rng, const auto& add) {
            const Eigen::VectorXd& row = draft(text);
            if (row.maxCoeff() >= .5) add(draw(rng(0), RowWeights(detail::as_row(row))).index, Sampled(row));
        }};
        const Drafted after{[&](const auto& text, Index depth, const auto& rng, const auto& add) {
            const std::span<const Token> above(text.data(), text.size() - (depth > 0 ? 1 : 0));
            if (depth > 0 && draft(above)[text.back()] < .4) return;  // the unlikely token stays, nothing follows it
            const Eigen::VectorXd& row = draft(text);
            add(draw(rng(0), RowWeights(detail::as_row(row))).index, Sampled(row));
        }};
        INFO(pair.name);
        CHECK(see(rule, before, pair.target, 3).distance < 1e-12);
        CHECK(see(rule, after, pair.target, 3).distance < 1e-12);
        CHECK(see(token_rule, before, pair.target, 3).distance < 1e-12);
        CHECK(see(token_rule, after, pair.target, 3).distance < 1e-12);
    }
}
