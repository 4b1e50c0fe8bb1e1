// A text is a function of seed, request, prompt, models and lookahead, and of nothing else.
#include <specsample/specsample.hpp>
#include <specsample/testing.hpp>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::kernels;
using namespace specsample::testing;

namespace {

const ContextModel draft(8, 61), target(8, 62);
const std::vector<Token> prompt{1, 2};

std::vector<Token> text_of(std::uint64_t seed, std::uint64_t request, Index lookahead = 3) {
    return Sampler(draft, target, {.lookahead = lookahead, .seed = seed})
        .generate(prompt, {.max_new_tokens = 40, .request = request});
}

}  // namespace

TEST_CASE("the same seed and request are the same text") { CHECK(text_of(1, 2) == text_of(1, 2)); }

TEST_CASE("another request is another text") {
    CHECK(text_of(1, 2) != text_of(1, 3));
    CHECK(text_of(1, 0) != text_of(1, 0xffff'ffff));
}

TEST_CASE("another seed is another text, in each half of its bits") {
    CHECK(text_of(1, 2) != text_of(3, 2));
    CHECK(text_of(1, 2) != text_of(1 + (std::uint64_t{1} << 63), 2));
}

TEST_CASE("seed and request are not interchangeable") { CHECK(text_of(1, 2) != text_of(2, 1)); }

TEST_CASE("a call leaves nothing behind that the next one could depend on") {
    Sampler sampler(draft, target, {.lookahead = 3, .seed = 1});
    const Limits limits{.max_new_tokens = 40, .request = 2};
    const std::vector<Token> first = sampler.generate(prompt, limits);
    CHECK(sampler.generate(prompt, limits).tokens == first);
    CHECK(first == text_of(1, 2));
}

TEST_CASE("requests that take turns write what each writes alone") {
    Sampler sampler(draft, target, {.lookahead = 3, .seed = 1});
    std::vector<std::vector<Token>> texts(4, prompt);
    for (int turn = 0; turn < 12; ++turn)
        for (std::size_t request = 0; request < texts.size(); ++request) {
            const Round round = sampler.step(texts[request], {.request = request});
            texts[request].insert(texts[request].end(), round.tokens.begin(), round.tokens.end());
        }
    for (std::size_t request = 0; request < texts.size(); ++request) {
        std::vector<Token> alone = prompt;
        (void)Sampler(draft, target, {.lookahead = 3, .seed = 1})
            .extend(alone, {.max_new_tokens = std::ssize(texts[request]) - 2, .request = request});
        CHECK(texts[request] == alone);
    }
}

TEST_CASE("lookahead 0 is a draw from the target's row with the last-token draw") {
    std::vector<Token> text = prompt;
    while (text.size() < 42) {
        const Eigen::VectorXd row = target(text);
        const RoundRng rng(7, 3, std::ssize(text));
        text.push_back(static_cast<Token>(draw(rng.at(Purpose::last, 0), RowWeights(detail::as_row(row))).index));
    }
    CHECK(text_of(7, 3, 0) == std::vector(text.begin() + 2, text.end()));
}

TEST_CASE("at lookahead 0 the draft is not asked and does not matter") {
    const auto never = [](std::span<const Token>) -> Eigen::VectorXd { throw std::logic_error("asked"); };
    Sampler sampler(never, target, {.lookahead = 0, .seed = 7});
    CHECK(sampler.generate(prompt, {.max_new_tokens = 40, .request = 3}).tokens == text_of(7, 3, 0));
}

TEST_CASE("at lookahead 0 a text in parts is the text in one piece") {
    Sampler sampler(draft, target, {.lookahead = 0, .seed = 7});
    std::vector<Token> text = prompt;
    for (const Index part : {1, 5, 0, 14, 20}) (void)sampler.extend(text, {.max_new_tokens = part, .request = 3});
    CHECK(std::vector(text.begin() + 2, text.end()) == text_of(7, 3, 0));
}

TEST_CASE("a text that stops between rounds goes on as one piece") {
    Sampler sampler(draft, target, {.lookahead = 3, .seed = 1});
    std::vector<Token> text = prompt;
    while (std::ssize(text) < 42) {
        const Index round = std::ssize(sampler.step(text, {.request = 2}).tokens);
        (void)sampler.extend(text, {.max_new_tokens = round, .request = 2});
    }
    text.resize(42);
    CHECK(std::vector(text.begin() + 2, text.end()) == text_of(1, 2));
}

TEST_CASE("where draft and target are one model, no draft is rejected") {
    Sampler sampler(target, target, {.lookahead = 3, .seed = 1});
    const Generation made = sampler.generate(prompt, {.max_new_tokens = 40});
    CHECK(made.tally.accepted == 30);
    CHECK(made.tally.bonus == 10);
}
