// on_token with scores: the probabilities of a text's tokens; scoring does not change the text.
#include <cmath>

#include <specsample/specsample.hpp>
#include <specsample/testing.hpp>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::kernels;
using namespace specsample::testing;

namespace {

const ContextModel draft(6, 31), target(6, 32);
const std::vector<Token> prompt{3, 1};

/// A target that scores one position at a time.
struct OneByOne {
    Eigen::VectorXd operator()(std::span<const Token> prefix) const { return target(prefix); }
};

template <class Drafts, class Target>
void check_scores(Drafts drafts, Target model) {
    const Limits limits{.max_new_tokens = 60, .top_logprobs = 3};
    const std::vector<Token> plain = Sampler(drafts, model, {.seed = 4}).generate(prompt, limits);
    std::vector<Token> context = prompt, told;
    Sampler sampler(drafts, model, {.seed = 4});
    const std::vector<Token> scored = sampler.generate(prompt, limits, [&](const TokenScore& score) {
        const Eigen::VectorXd row = target(context);
        CHECK(score.log_prob == std::log(row[score.token]));
        REQUIRE(score.top.size() == 3);
        CHECK(score.top[0].id == argmax(row));
        CHECK(score.top[0].log_prob == std::log(row.maxCoeff()));
        CHECK(score.margin == row[score.top[0].id] - row[score.top[1].id]);
        context.push_back(score.token);
        told.push_back(score.token);
    });
    CHECK(scored == plain);
    CHECK(told == plain);
}

}  // namespace

TEST_CASE("a callback that takes scores gets every token's, and the text is the same") {
    check_scores(draft, target);
    check_scores(draft, OneByOne{});
    check_scores(TreeDrafter(draft, {2, 1}), target);
}

TEST_CASE("a callback that takes scores may end the text") {
    Sampler sampler(draft, target, {.seed = 4});
    int count = 0;
    const Generation result = sampler.generate(prompt, {.max_new_tokens = 60}, [&](const TokenScore& score) {
        CHECK(score.top.empty());
        return ++count < 7;
    });
    CHECK(result.tokens.size() == 7);
    CHECK(result.finish == FinishReason::callback);
    CHECK(result.tally.tokens == 7);
}

TEST_CASE("a callback that takes either gets tokens") {
    Sampler sampler(draft, target, {.seed = 4});
    (void)sampler.generate(prompt, {.max_new_tokens = 3},
                           [](auto token) { static_assert(std::is_same_v<decltype(token), Token>); });
}

TEST_CASE("at temperature 0 the scores tell how near another decision was") {
    const auto logits = [](std::span<const Token> prefix) {
        Eigen::VectorXf row = target(prefix).cast<float>().array().log();
        return Logits(std::move(row), 0.);
    };
    Sampler sampler(draft, logits, {.seed = 4}, GreedyMatch{});
    std::vector<Token> context = prompt;
    (void)sampler.generate(prompt, {.max_new_tokens = 20}, [&](const TokenScore& score) {
        Eigen::VectorXf row = target(context).cast<float>().array().log();
        CHECK(score.token == argmax(row));
        std::sort(row.begin(), row.end());
        CHECK(score.margin == double{row[5]} - double{row[4]});
        CHECK(score.log_prob == 0);
        context.push_back(score.token);
    });
}

TEST_CASE("more likeliest tokens than can be listed are refused") {
    Sampler sampler(draft, target);
    CHECK_THROWS_WITH(sampler.generate(prompt, {.top_logprobs = 65}),
                      "specsample::Sampler: limits.top_logprobs is 65, but must be 0 to 64");
}
