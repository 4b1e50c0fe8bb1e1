// Budgets, stop tokens and capacities: the end of a text, and that nothing else about it changes.
#include <algorithm>

#include <specsample/specsample.hpp>
#include <specsample/testing.hpp>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::kernels;
using namespace specsample::testing;

namespace {

const ContextModel draft(5, 51), target(5, 52);
const std::vector<Token> prompt{1, 2, 3};

template <class Draft, class Target>
std::vector<Token> text_of(Draft draft_model, Target target_model, Index lookahead, const Limits& limits) {
    return Sampler(draft_model, target_model, {.lookahead = lookahead, .seed = 8}).generate(prompt, limits);
}
std::vector<Token> text_of(Index lookahead, const Limits& limits) { return text_of(draft, target, lookahead, limits); }

bool is_beginning(const std::vector<Token>& part, const std::vector<Token>& whole) {
    return part.size() <= whole.size() && std::equal(part.begin(), part.end(), whole.begin());
}

/// A model that keeps the length of the longest prefix it saw.
template <class... Count>
struct Longest {
    ContextModel model;
    Index longest = -1;

    auto operator()(std::span<const Token> prefix, Count... count) {
        longest = std::max(longest, std::ssize(prefix));
        return model(prefix, count...);
    }
};

/// Always drafts one token.
struct Always {
    Token token;

    Token operator()(std::span<const Token>) const { return token; }
};

}  // namespace

TEST_CASE("a budget is met exactly, and a shorter one gives the beginning of the longer text") {
    for (Index lookahead = 0; lookahead <= 4; ++lookahead) {
        const std::vector<Token> longest = text_of(lookahead, {.max_new_tokens = 9});
        for (Index budget = 0; budget <= 9; ++budget) {
            const std::vector<Token> text = text_of(lookahead, {.max_new_tokens = budget});
            CHECK(std::ssize(text) == budget);
            CHECK(is_beginning(text, longest));
        }
    }
}

TEST_CASE("a budget cuts a round that accepts everything") {
    for (Index budget = 1; budget <= 9; ++budget) {
        Sampler sampler(target, target, {.lookahead = 4});
        const Generation made = sampler.generate(prompt, {.max_new_tokens = budget});
        CHECK(made.tally.tokens == budget);
        CHECK(made.tally.accepted == budget - budget / 5);
        CHECK(made.tally.bonus == budget / 5);
        CHECK(made.tally.stopped == (budget % 5 == 0 ? 0 : 1));
    }
}

TEST_CASE("no token follows a stop token, and the text before it is the same") {
    for (Index lookahead = 0; lookahead <= 4; ++lookahead)
        for (Token stop = 0; stop < 5; ++stop) {
            const std::vector<Token> free = text_of(lookahead, {.max_new_tokens = 60});
            const std::vector<Token> text = text_of(lookahead, {.max_new_tokens = 60, .stop_tokens = {stop}});
            const auto end = std::find(free.begin(), free.end(), stop);
            REQUIRE(end != free.end());
            CHECK(text == std::vector(free.begin(), end + 1));
        }
}

TEST_CASE("any of several stop tokens ends the text") {
    for (Index lookahead = 0; lookahead <= 4; ++lookahead) {
        const std::vector<Token> free = text_of(lookahead, {.max_new_tokens = 60});
        const std::vector<Token> stops{4, 0};
        const std::vector<Token> text = text_of(lookahead, {.max_new_tokens = 60, .stop_tokens = stops});
        const auto end = std::ranges::find_first_of(free, stops);
        CHECK(text == std::vector(free.begin(), end + 1));
    }
}

TEST_CASE("a stop token ends the text as an accepted, a recovered and a bonus token") {
    const auto ending_in = [](Token drafted, Token wanted, Index lookahead) {
        const auto certain = [wanted](std::span<const Token>) { return one_hot<double>(5, wanted); };
        Sampler sampler(Always{drafted}, certain, {.lookahead = lookahead});
        const Limits limits{.stop_tokens = {wanted}};
        CHECK(sampler.generate(prompt, limits).tokens == std::vector<Token>{wanted});
        CHECK(sampler.generate(prompt, limits).finish == FinishReason::stop);
        return sampler.step(prompt, limits).last;
    };
    CHECK(ending_in(3, 3, 2) == LastToken::stopped);
    CHECK(ending_in(2, 3, 2) == LastToken::recovered);
    CHECK(ending_in(2, 3, 0) == LastToken::bonus);
}

TEST_CASE("a stop token that is drafted and rejected does not end the text") {
    const auto certain = [](std::span<const Token>) { return one_hot<double>(5, 1); };
    Sampler sampler(Always{3}, certain, {.lookahead = 3});
    const Generation made = sampler.generate(prompt, {.max_new_tokens = 10, .stop_tokens = {3}});
    CHECK(made.finish == FinishReason::budget);
    CHECK(made.tokens == std::vector<Token>(10, 1));
}

TEST_CASE("no model is shown more than max_length tokens, and the text fills it") {
    for (Index lookahead = 0; lookahead <= 4; ++lookahead)
        for (Index distance = 0; distance <= 9; ++distance) {
            Longest<> drafter{draft}, plain{target};
            Longest<Index> many{target};
            const Index capacity = std::ssize(prompt) + distance;
            const Limits limits{.max_length = capacity};
            Sampler sampler(std::ref(drafter), std::ref(many), {.lookahead = lookahead, .seed = 8});
            const Generation made = sampler.generate(prompt, limits);
            CHECK(std::ssize(made.tokens) == distance);
            CHECK(made.finish == FinishReason::length);
            CHECK(many.longest <= capacity);
            CHECK(drafter.longest <= capacity);
            CHECK(text_of(draft, std::ref(plain), lookahead, limits) == made.tokens);
            CHECK(plain.longest <= capacity);
        }
}

TEST_CASE("near max_length a round drafts one token less than there is room for") {
    for (Index room = 1; room <= 9; ++room) {
        Sampler sampler(draft, target, {.lookahead = 4});
        const Round round = sampler.step(prompt, {.max_length = std::ssize(prompt) + room});
        CHECK(round.proposed == std::min<Index>(4, room - 1));
    }
}

TEST_CASE("far from max_length a text is what it is without") {
    for (Index lookahead = 0; lookahead <= 4; ++lookahead) {
        const std::vector<Token> free = text_of(lookahead, {.max_new_tokens = 40});
        const std::vector<Token> limited = text_of(lookahead, {.max_length = std::ssize(prompt) + 40});
        const auto same = static_cast<Index>(40 - lookahead);
        CHECK(std::equal(limited.begin(), limited.begin() + same, free.begin()));
    }
}

TEST_CASE("step takes the same limits") {
    Sampler sampler(target, target, {.lookahead = 4});
    for (Index budget = 1; budget <= 5; ++budget)
        CHECK(std::ssize(sampler.step(prompt, {.max_new_tokens = budget}).tokens) == budget);
    CHECK_THROWS_WITH(
        sampler.step(prompt, {.max_new_tokens = 0}),
        ContainsSubstring("specsample::Sampler: the room that limits leave is 0, but must be at least 1"));
    CHECK_THROWS_AS(sampler.step(prompt, {.max_length = 3}), std::invalid_argument);
}

TEST_CASE("a lookahead below 0 is refused") {
    CHECK_THROWS_WITH(Sampler(draft, target, {.lookahead = -1}),
                      ContainsSubstring("specsample::Sampler: options.lookahead is -1, but must be at least 0"));
}

TEST_CASE("a budget below 0 is refused, and nothing is written") {
    Sampler sampler(draft, target);
    std::vector<Token> text = prompt;
    CHECK_THROWS_WITH(sampler.extend(text, {.max_new_tokens = -1}),
                      ContainsSubstring("specsample::Sampler: limits.max_new_tokens is -1, but must be at least 0"));
    CHECK(text == prompt);
}

TEST_CASE("a max_length below the prompt is refused") {
    Sampler sampler(draft, target);
    CHECK_THROWS_WITH(
        sampler.generate(prompt, {.max_length = 2}),
        ContainsSubstring("specsample::Sampler: limits.max_length is 2, but must be at least the 3 tokens there are"));
}

TEST_CASE("a request of 2^32 or more is refused") {
    Sampler sampler(draft, target);
    CHECK(sampler.generate(prompt, {.max_new_tokens = 5, .request = 0xffff'ffff}).tokens.size() == 5);
    CHECK_THROWS_WITH(sampler.generate(prompt, {.request = 0x1'0000'0000}),
                      ContainsSubstring("request is 4294967296, but must be below 2^32"));
}

TEST_CASE("a predicate ends a text, with the token that it looked at or without it") {
    for (Index lookahead = 0; lookahead <= 4; ++lookahead) {
        const std::vector<Token> free = text_of(lookahead, {.max_new_tokens = 60});
        for (const StopDecision answer : {StopDecision::include, StopDecision::exclude})
            for (std::size_t length = 1; length <= 12; ++length) {
                std::vector<Token> told;
                const auto until = [&](std::span<const Token> text) {
                    REQUIRE(text.size() > told.size());  // all that the call writes, and tokens that are drafted
                    REQUIRE(text.size() <= length);      // nothing past an end
                    CHECK(std::ranges::equal(text.first(told.size()), told));
                    return text.size() == length ? answer : StopDecision::go_on;
                };
                Sampler sampler(draft, target, {.lookahead = lookahead, .seed = 8});
                const Generation made = sampler.generate(prompt, {.max_new_tokens = 60, .until = until},
                                                         [&](Token token) { told.push_back(token); });
                CHECK(made.finish == FinishReason::until);
                CHECK(std::ssize(made.tokens) ==
                      static_cast<Index>(length) - (answer == StopDecision::exclude ? 1 : 0));
                CHECK(std::ranges::equal(made.tokens, std::span(free).first(made.tokens.size())));
                CHECK(told == made.tokens);
                CHECK(made.tally.tokens == std::ssize(made.tokens));
            }
    }
}

TEST_CASE("a stop string may begin in one round and end in another") {
    const std::vector<Token> free = text_of(4, {.max_new_tokens = 60});
    const std::vector<Token> wanted(free.begin() + 20, free.begin() + 26);
    const auto until = [&](std::span<const Token> text) {
        const bool ends = text.size() >= wanted.size() && std::ranges::equal(text.last(wanted.size()), wanted);
        return ends ? StopDecision::include : StopDecision::go_on;
    };
    const std::vector<Token> text = text_of(4, {.max_new_tokens = 60, .until = until});
    const auto end = std::ranges::search(free, wanted).end();
    CHECK(text == std::vector(free.begin(), end));
}

TEST_CASE("a predicate that ends a text before its first token leaves it empty") {
    const auto never = [](std::span<const Token>) { return StopDecision::exclude; };
    Sampler sampler(draft, target);
    std::vector<Token> text;
    CHECK(sampler.extend(text, {.until = never}) == FinishReason::until);
    CHECK(text.empty());
    CHECK(sampler.step(prompt, {.until = never}).end == RoundEnd::excluded);
}

TEST_CASE("the finish reason at a callback is that of the last kept token, not of later ones") {
    const auto certain = [](std::span<const Token> prefix) {
        return one_hot<double>(5, static_cast<Token>(prefix.size() % 5));
    };
    Sampler sampler(certain, certain, {.lookahead = 3});
    const auto at_first = [](Token) { return false; };
    const Generation made = sampler.generate(prompt, {.stop_tokens = {4}}, at_first);  // 3, then the stop token 4
    CHECK(made.tokens == std::vector<Token>{3});
    CHECK(made.finish == FinishReason::callback);
    CHECK(sampler.generate(prompt, {.stop_tokens = {3}}, at_first).finish == FinishReason::stop);
}

TEST_CASE("a callback ends a text before a token that a predicate would leave out, at every lookahead") {
    const auto model = [](std::span<const Token> text) {
        Eigen::VectorXd row = Eigen::VectorXd::Zero(3);
        row[std::ssize(text) % 3] = 1;
        return row;
    };
    const auto until = [](std::span<const Token> tokens) {
        return tokens.size() == 2 ? StopDecision::exclude : StopDecision::go_on;
    };
    for (const Index lookahead : {0, 1, 2, 3}) {
        CAPTURE(lookahead);
        Sampler sampler(model, model, {.lookahead = lookahead});
        const auto text = sampler.generate({}, {.until = until}, [](Token) { return false; });
        CHECK(text.finish == FinishReason::callback);
        CHECK(text.tokens.size() == 1);
    }
}
