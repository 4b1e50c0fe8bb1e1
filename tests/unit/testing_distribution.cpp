// The checks themselves must be able to fail: exact distances for rules that are wrong on purpose.
#include <specsample/testing/distribution.hpp>

#include <specsample/kernels/residual.hpp>
#include <specsample/testing/models.hpp>
#include <specsample/theory.hpp>
#include <specsample/verify/token.hpp>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::kernels;
using namespace specsample::theory;
using namespace specsample::walks;
using namespace specsample::testing;

namespace {

const FixedModel ex3_target{Eigen::Vector3d(.5, .3, .2)}, ex3_draft{Eigen::Vector3d(.2, .3, .5)};

/// Token verification of one drafted token with exchangeable decisions.
template <class Judge, class Emit>
struct Wrong {
    static constexpr bool lossless = true;  // so it claims
    Judge judge;                            ///< (rng, p, q) -> accepted
    Emit emit;                              ///< (rng, target row, distribution, token) -> what follows a rejection

    template <class Context>
    Outcome operator()(const Context& context) const {
        NodeRow<Context> first(context, root_node);
        if (context.tokens.empty())
            return {
                .last = LastToken::bonus,
                .token = static_cast<Token>(draw(context.rng.at(Purpose::last, 0), RowWeights(first.view())).index)};
        const Token token = context.tokens[0];
        const auto distribution = detail::distribution_at(context.distributions, 0);
        if (judge(context.rng.at(Purpose::accept, 0), first.view()[token], distribution.weight(token))) {
            NodeRow<Context> second(context, 0);
            return {
                .node = 0,
                .accepted = 1,
                .last = LastToken::bonus,
                .token = static_cast<Token>(draw(context.rng.at(Purpose::last, 0), RowWeights(second.view())).index)};
        }
        return {.last = LastToken::recovered,
                .token = static_cast<Token>(emit(context.rng, first.view(), distribution, token))};
    }
};
template <class Judge, class Emit>
Wrong(Judge, Emit) -> Wrong<Judge, Emit>;

constexpr auto right_judge = [](const auto& random, double p, double q) { return accept(random, p, q); };
constexpr auto right_emit = [](const auto& rng, const auto& target, const auto& distribution, Token) {
    return draw(rng.at(Purpose::last, 0), ResidualWeights(target, distribution.row())).index;
};
constexpr auto emit_from_target = [](const auto& rng, const auto& target, const auto&, Token) {
    return draw(rng.at(Purpose::last, 0), RowWeights(target)).index;
};

/// A drafter that draws its token from another row than it says where the text ends with a given token.
struct CheatsAfter {
    using Distribution = Sampled<detail::row_view_t<const Eigen::VectorXd&>>;

    Token last;
    ContextModel model;
    Eigen::VectorXd row = {};

    template <class Source>
    void propose(std::span<const Token> text, const Source& rng, DraftTree<Distribution>& draft_tree) {
        if (!draft_tree.grows(root_node)) return;
        row = model(text);
        const bool cheats = !text.empty() && text.back() == last;
        const Eigen::VectorXd drawn_from = cheats ? row.reverse().eval() : row;
        const Index token = draw(rng.at(Purpose::draft, 0), drawn_from).index;
        draft_tree.add(root_node, token, Sampled(row));
    }
};

}  // namespace

TEST_CASE("the two decisions of token verification, made right, are exact", "[testing]") {
    CHECK(distance_from_target(Wrong{right_judge, right_emit}, ex3_draft, ex3_target, 1) < 1e-15);
    CHECK(distance_from_target(TokenVerification{}, ex3_draft, ex3_target, 1) < 1e-15);
}

TEST_CASE("a last token from the target in place of the residual is 3/20 away", "[testing]") {
    // Rejected with probability 3/10; p is 1/2 away from the residual, which is all on the first token.
    CHECK(distance_from_target(Wrong{right_judge, emit_from_target}, ex3_draft, ex3_target, 1) ==
          Approx(3. / 20).epsilon(1e-14));
}

TEST_CASE("a draft judged without its own distribution is detected", "[testing]") {
    // Accepting with probability p(x), as if drafted by a point mass: accepts q p = (1/10, 9/100, 1/10), rejects
    // 71/100, all to the first token: the distribution of the first token is (81, 9, 10)/100.
    const auto ignores_q = [](const auto& random, double p, double) { return accept(random, p, 1); };
    CHECK(distance_from_target(Wrong{ignores_q, right_emit}, ex3_draft, ex3_target, 1) ==
          Approx(31. / 100).epsilon(1e-14));
}

TEST_CASE("a draft that is always accepted is as far away as the draft", "[testing]") {
    const auto always = [](const auto&, double, double) { return true; };
    CHECK(distance_from_target(Wrong{always, right_emit}, ex3_draft, ex3_target, 1) == Approx(3. / 10).epsilon(1e-14));
}

TEST_CASE("an acceptance that is off by a millionth is detected", "[testing]") {
    const auto slipped = [](const auto& random, double p, double q) { return accept(random, p * (1 + 1e-6), q); };
    const double distance = distance_from_target(Wrong{slipped, right_emit}, ex3_draft, ex3_target, 1);
    CHECK(distance > 1e-8);
    CHECK(distance < 1e-6);
}

TEST_CASE("a rule that uses its accept number twice is stopped", "[testing]") {
    const auto reuse = [](const auto& rng, const auto& target, const auto& distribution, Token) {
        return draw(rng.at(Purpose::accept, 0), ResidualWeights(target, distribution.row())).index;
    };
    CHECK_THROWS_AS(distance_from_target(Wrong{right_judge, reuse}, ex3_draft, ex3_target, 1), std::logic_error);
}

TEST_CASE("the joint distribution of a model is the product of its rows along the text", "[testing]") {
    const TextDistribution distribution = joint_distribution(ex3_target, 2);
    CHECK(distribution.size() == 9);
    CHECK(distribution.at({0, 2}) == Approx(.1).epsilon(1e-15));
    CHECK(distribution.at({2, 2}) == Approx(.04).epsilon(1e-15));
    double sum = 0;
    for (const auto& [text, probability] : distribution) sum += probability;
    CHECK(sum == Approx(1).epsilon(1e-15));
    const ContextModel model(3, 1);
    const double first = model(std::vector<Token>{7, 1})[2], second = model(std::vector<Token>{7, 1, 2})[0];
    CHECK(joint_distribution(model, 2, {7, 1}).at({2, 0}) == Approx(first * second).epsilon(1e-15));
}

TEST_CASE("the joint distribution of no tokens is the empty text", "[testing]") {
    CHECK(joint_distribution(ex3_target, 0) == TextDistribution{{{}, 1}});
}

TEST_CASE("impossible texts are not in a joint distribution", "[testing]") {
    const FixedModel certain{Eigen::Vector3d(0, 1, 0)};
    CHECK(joint_distribution(certain, 3) == TextDistribution{{{1, 1, 1}, 1}});
}

TEST_CASE("total variation is half the sum of differences, missing texts included", "[testing]") {
    const TextDistribution a{{{0}, .5}, {{1}, .5}}, b{{{0}, .25}, {{2}, .75}};
    CHECK(total_variation(a, a) == 0);
    CHECK(total_variation(a, b) == .75);
    CHECK(total_variation(b, a) == .75);
    CHECK(total_variation(a, {}) == .5);
    CHECK(total_variation({{{0}, 1}}, {{{1}, 1}}) == 1);
}

TEST_CASE("a round's own distribution and its completed distribution differ where the round stops early", "[testing]") {
    const TextDistribution bare = round_distribution(TokenVerification{}, ex3_draft, ex3_target, 1);
    CHECK(bare.at({0}) == Approx(.3).epsilon(1e-14));  // all rejections give the first token
    CHECK_FALSE(bare.contains({1}));
    CHECK(bare.at({2, 2}) == Approx(.2 * .2).epsilon(1e-14));
    const TextDistribution complete = exact_distribution(TokenVerification{}, ex3_draft, ex3_target, 1);
    for (const auto& [text, probability] : complete) CHECK(text.size() == 2);
}

TEST_CASE("the expected tokens of a round are one more than those accepted", "[testing]") {
    CHECK(exact_tokens(TokenVerification{}, ex3_draft, ex3_target, 1) == Approx(1.7).epsilon(1e-14));
    CHECK(exact_tokens(TokenVerification{}, ex3_draft, ex3_target, 0) == Approx(1).epsilon(1e-14));
}

TEST_CASE("a drafter that cheats after one token only is found by prompts that end with it", "[testing]") {
    const ContextModel model(3, 7), target(3, 8);
    const auto distance = [&](Token last, auto... prompts) {
        return distance_from_target(TokenVerification{}, CheatsAfter{last, model}, target, 1, prompts...);
    };
    CHECK(distance(2) < 1e-15);  // after the empty text it does not cheat
    using Prompts = std::vector<std::vector<Token>>;
    CHECK(distance(2, Prompts{{}, {0}, {2, 1}}) < 1e-15);
    CHECK(distance(2, Prompts{{2}}) > .01);
    CHECK(distance(2, Prompts{{2}, {}}) > .01);  // the largest, wherever it is
    for (Token last = 0; last < 3; ++last) CHECK(distance(last, all_texts(3, 1)) > .01);
    CHECK(distance(5, all_texts(3, 2)) < 1e-15);
    CHECK(distance(2, Prompts{}) == 0);
}

TEST_CASE("all statistics of a round may be taken after a prompt", "[testing]") {
    const ContextModel draft(3, 7), target(3, 8);
    const std::vector<Token> prompt{2, 0};
    const auto after = [&](const ContextModel& model) {
        return [&](std::span<const Token> text) {
            std::vector<Token> whole = prompt;
            whole.insert(whole.end(), text.begin(), text.end());
            return model(whole);
        };
    };
    const TokenVerification rule;
    CHECK(total_variation(round_distribution(rule, draft, target, 2, prompt),
                          round_distribution(rule, after(draft), after(target), 2)) < 1e-15);
    CHECK(total_variation(exact_distribution(rule, draft, target, 2, prompt),
                          exact_distribution(rule, after(draft), after(target), 2)) < 1e-15);
    CHECK(exact_tokens(rule, draft, target, 2, prompt) == Approx(exact_tokens(rule, after(draft), after(target), 2)));
    CHECK(exact_tokens(rule, draft, target, 2, prompt, {.max_new_tokens = 1}) == Approx(1));
}

TEST_CASE("all texts of a vocabulary up to a length are prompts", "[testing]") {
    CHECK(all_texts(2, 0) == std::vector<std::vector<Token>>{{}});
    CHECK(all_texts(2, 2) == std::vector<std::vector<Token>>{{}, {0}, {1}, {0, 0}, {0, 1}, {1, 0}, {1, 1}});
    CHECK(all_texts(3, 3).size() == 1 + 3 + 9 + 27);
}
