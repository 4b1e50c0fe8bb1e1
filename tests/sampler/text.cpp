// The text as the caller gets it: generate, extend and step, prompts, reasons to end, and on_token.
#include <array>

#include <specsample/specsample.hpp>
#include <specsample/testing.hpp>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::testing;

namespace {

const ContextModel draft(6, 31), target(6, 32);

auto make(Index lookahead = 3) { return Sampler(draft, target, {.lookahead = lookahead, .seed = 4}); }

std::vector<Token> text_of(const Limits& limits, Index lookahead = 3) {
    return make(lookahead).generate({1, 2}, limits);
}

}  // namespace

TEST_CASE("a generation is its tokens, without the prompt") {
    auto sampler = make();
    const Generation made = sampler.generate({1, 2}, {.max_new_tokens = 30});
    const std::vector<Token> copied = made;
    const std::vector<Token> moved = make().generate({1, 2}, {.max_new_tokens = 30});
    CHECK(copied == made.tokens);
    CHECK(moved == made.tokens);
    CHECK(made.tokens.size() == 30);
}

TEST_CASE("extend appends to the prompt what generate returns") {
    std::vector<Token> text{1, 2};
    CHECK(make().extend(text, {.max_new_tokens = 30}) == FinishReason::budget);
    std::vector<Token> expected{1, 2};
    for (const Token token : text_of({.max_new_tokens = 30})) expected.push_back(token);
    CHECK(text == expected);
}

TEST_CASE("steps by hand write what generate writes") {
    auto sampler = make();
    std::vector<Token> text{1, 2};
    while (text.size() < 32) {
        const Round round = sampler.step(text);
        REQUIRE_FALSE(round.tokens.empty());
        text.insert(text.end(), round.tokens.begin(), round.tokens.end());
    }
    text.resize(32);
    CHECK(std::vector(text.begin() + 2, text.end()) == text_of({.max_new_tokens = 30}));
}

TEST_CASE("a step writes nothing, and asked again it is the same round") {
    auto sampler = make();
    const std::vector<Token> text{1, 2};
    const Round first = sampler.step(text);
    const std::vector<Token> tokens(first.tokens.begin(), first.tokens.end());
    const Round second = sampler.step(text);
    CHECK(std::vector(second.tokens.begin(), second.tokens.end()) == tokens);
    CHECK(sampler.tally() == Tally{});
}

TEST_CASE("prompts are token ids of any integral type, in any contiguous container") {
    const Limits limits{.max_new_tokens = 20};
    const std::vector<Token> expected = text_of(limits);
    CHECK(make().generate(std::vector<Token>{1, 2}, limits).tokens == expected);
    CHECK(make().generate(std::vector<std::int64_t>{1, 2}, limits).tokens == expected);
    CHECK(make().generate(std::vector<std::uint16_t>{1, 2}, limits).tokens == expected);
    CHECK(make().generate(std::array<std::size_t, 2>{1, 2}, limits).tokens == expected);
    const std::vector<Token> tokens{1, 2};
    CHECK(make().generate(std::span(tokens), limits).tokens == expected);
}

TEST_CASE("a prompt may be empty") {
    const Limits limits{.max_new_tokens = 20};
    const std::vector<Token> text = make().generate({}, limits);
    CHECK(text.size() == 20);
    CHECK(make().generate(std::vector<std::int64_t>{}, limits).tokens == text);
}

TEST_CASE("an id that is no token is refused in a prompt") {
    CHECK_THROWS_WITH(make().generate(std::vector<std::int64_t>{1, std::int64_t{1} << 31}),
                      ContainsSubstring("specsample::Sampler: a token of the prompt is 2147483648, but must be"));
}

TEST_CASE("a text ends with its budget") {
    const Generation made = make().generate({1, 2}, {.max_new_tokens = 17});
    CHECK(made.finish == FinishReason::budget);
    CHECK(made.tokens.size() == 17);
}

TEST_CASE("a text ends with its length, prompt included") {
    const Generation made = make().generate({1, 2}, {.max_length = 13});
    CHECK(made.finish == FinishReason::length);
    CHECK(made.tokens.size() == 11);
}

TEST_CASE("a text ends with a stop token, which stays in it") {
    const std::vector<Token> free = text_of({.max_new_tokens = 60});
    const Generation made = make().generate({1, 2}, {.max_new_tokens = 60, .stop_tokens = {free.back()}});
    CHECK(made.finish == FinishReason::stop);
    CHECK(made.tokens.back() == free.back());
}

TEST_CASE("a text ends when on_token returns false, and that token stays") {
    for (int wanted = 1; wanted < 15; ++wanted) {
        int seen = 0;
        const Generation made = make().generate({1, 2}, {.max_new_tokens = 40}, [&](Token) { return ++seen < wanted; });
        CHECK(made.finish == FinishReason::callback);
        CHECK(seen == wanted);
        std::vector<Token> expected = text_of({.max_new_tokens = 40});
        expected.resize(static_cast<std::size_t>(wanted));
        CHECK(made.tokens == expected);
    }
}

TEST_CASE("where several reasons meet, a stop token is named first, then the callback, the budget, the length") {
    const Token last = text_of({.max_new_tokens = 1})[0];
    const auto no = [](Token) { return false; };
    const Limits all{.max_new_tokens = 1, .max_length = 3, .stop_tokens = {last}};
    CHECK(make().generate({1, 2}, all, no).finish == FinishReason::stop);
    CHECK(make().generate({1, 2}, all).finish == FinishReason::stop);
    CHECK(make().generate({1, 2}, {.max_new_tokens = 1, .max_length = 3}, no).finish == FinishReason::callback);
    CHECK(make().generate({1, 2}, {.max_new_tokens = 1, .max_length = 3}).finish == FinishReason::budget);
    CHECK(make().generate({1, 2}, {.max_new_tokens = 2, .max_length = 3}).finish == FinishReason::length);
}

TEST_CASE("no budget and no room end a text before it begins") {
    auto sampler = make();
    std::vector<Token> text{1, 2};
    CHECK(sampler.extend(text, {.max_new_tokens = 0}) == FinishReason::budget);
    CHECK(sampler.extend(text, {.max_length = 2}) == FinishReason::length);
    CHECK(text == std::vector<Token>{1, 2});
    CHECK(sampler.tally().rounds == 0);
}

TEST_CASE("a stop token in the prompt does not end the text") {
    const FixedModel even{Eigen::VectorXd{{0.5, 0.5, 0}}};
    const Generation made = Sampler(even, even).generate({2}, {.max_new_tokens = 20, .stop_tokens = {2}});
    CHECK(made.finish == FinishReason::budget);
    CHECK(made.tokens.size() == 20);
}

TEST_CASE("on_token is given every token once, in order") {
    std::vector<Token> seen;
    const Generation made =
        make().generate({1, 2}, {.max_new_tokens = 40}, [&](Token token) { seen.push_back(token); });
    CHECK(seen == made.tokens);
}

TEST_CASE("on_token sees its own token written already") {
    auto sampler = make();
    std::vector<Token> text{1, 2};
    (void)sampler.extend(text, {.max_new_tokens = 40}, [&](Token token) { CHECK(text.back() == token); });
    CHECK(text.size() == 42);
}

TEST_CASE("on_token may be an object passed by reference, with the state of the caller") {
    struct Count {
        int calls = 0;
        bool operator()(Token) { return ++calls < 9; }
    } count;
    CHECK(make().generate({1, 2}, {.max_new_tokens = 40}, count).finish == FinishReason::callback);
    CHECK(count.calls == 9);
}

TEST_CASE("tokens behind the callback's end are not counted") {
    for (int wanted = 1; wanted < 12; ++wanted) {
        auto sampler = make(4);
        int seen = 0;
        const Generation made =
            sampler.generate({1, 2}, {.max_new_tokens = 40}, [&](Token) { return ++seen < wanted; });
        CHECK(made.tally.tokens == wanted);
        CHECK(made.tally == sampler.tally());
        CHECK(made.tally.tokens == made.tally.accepted + made.tally.recovered + made.tally.bonus);
    }
}
