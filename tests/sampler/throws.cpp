// Exceptions of models and callbacks: the text written before stays, and the sampler can be used afterwards.
#include <stdexcept>

#include <specsample/specsample.hpp>
#include <specsample/testing.hpp>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::testing;

namespace {

const ContextModel draft(6, 41), target(6, 42);
constexpr Options options{.lookahead = 3, .seed = 6};

/// Throws at the call of this number, counted from 0, and at no other.
template <class... Count>
struct Throwing {
    ContextModel model;
    long at;
    long calls = 0;

    auto operator()(std::span<const Token> prefix, Count... count) {
        if (calls++ == at) throw std::runtime_error("the device is gone");
        return model(prefix, count...);
    }
};

/// The text after `rounds` rounds by hand.
std::vector<Token> after_rounds(Index rounds) {
    Sampler sampler(draft, target, options);
    std::vector<Token> text{1};
    for (Index i = 0; i < rounds; ++i) {
        const Round round = sampler.step(text);
        text.insert(text.end(), round.tokens.begin(), round.tokens.end());
    }
    return text;
}

}  // namespace

TEST_CASE("every round before a target's exception stays in the text") {
    for (long at = 0; at < 8; ++at) {
        Sampler sampler(draft, Throwing<Index>{target, at}, options);
        std::vector<Token> text{1};
        CHECK_THROWS_AS(sampler.extend(text, {.max_new_tokens = 60}), std::runtime_error);
        CHECK(text == after_rounds(at));
        CHECK(sampler.tally().rounds == at);
    }
}

TEST_CASE("every round before a drafter's exception stays in the text") {
    for (long at = 0; at < 12; ++at) {
        Sampler sampler(Throwing<>{draft, at}, target, options);
        std::vector<Token> text{1};
        CHECK_THROWS_AS(sampler.extend(text, {.max_new_tokens = 60}), std::runtime_error);
        CHECK(text == after_rounds(at / options.lookahead));
    }
}

TEST_CASE("a text that a model's exception interrupted goes on as if nothing had been") {
    Sampler sampler(Throwing<>{draft, 7}, Throwing<Index>{target, 4}, options);
    std::vector<Token> text{1};
    CHECK_THROWS_AS(sampler.extend(text, {.max_new_tokens = 60}), std::runtime_error);
    CHECK_THROWS_AS(sampler.extend(text, {.max_new_tokens = 60}), std::runtime_error);
    (void)sampler.extend(text, {.max_new_tokens = 61 - std::ssize(text)});
    std::vector<Token> expected{1};
    (void)Sampler(draft, target, options).extend(expected, {.max_new_tokens = 60});
    CHECK(text == expected);
}

TEST_CASE("a token whose callback throws stays in the text, with all before it") {
    std::vector<Token> whole{1};
    (void)Sampler(draft, target, options).extend(whole, {.max_new_tokens = 30});
    for (std::size_t at = 1; at < 12; ++at) {
        Sampler sampler(draft, target, options);
        std::vector<Token> text{1};
        std::size_t seen = 0;
        const auto on_token = [&](Token) {
            if (++seen == at) throw std::runtime_error("the client is gone");
        };
        CHECK_THROWS_AS(sampler.extend(text, {.max_new_tokens = 30}, on_token), std::runtime_error);
        CHECK(text == std::vector(whole.begin(), whole.begin() + static_cast<Index>(at) + 1));
    }
}

TEST_CASE("a sampler whose callback threw writes other texts as ever") {
    Sampler sampler(draft, target, options);
    CHECK_THROWS_AS(sampler.generate({2}, {}, [](Token) { throw std::runtime_error("gone"); }), std::runtime_error);
    CHECK(sampler.generate({1}, {.max_new_tokens = 30}).tokens ==
          Sampler(draft, target, options).generate({1}, {.max_new_tokens = 30}).tokens);
}
