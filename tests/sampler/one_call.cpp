// A sampler makes one call at a time: a second call is refused, wherever it comes from.
#include <functional>
#include <string>
#include <thread>

#include <specsample/beam.hpp>
#include <specsample/specsample.hpp>
#include <specsample/testing.hpp>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::beam;
using namespace specsample::testing;

namespace {

constexpr auto refusal =
    "specsample::Sampler: a call is made during another one of the same object, but must be made after it: by one "
    "thread at a time, and not from its own models or callbacks";

const ContextModel draft(5, 61), target(5, 62);
const std::vector<Token> prompt{1, 2};

}  // namespace

TEST_CASE("a call from on_token is refused, and the text goes on as if it had not been made", "[sampler]") {
    Sampler sampler(draft, target, {.lookahead = 3, .seed = 4});
    const auto expected = sampler.generate(prompt, {.max_new_tokens = 20}).tokens;
    std::vector<Token> text = prompt;
    int refused = 0;
    (void)sampler.extend(text, {.max_new_tokens = 20}, [&](Token) {
        std::vector<Token> other{3};
        CHECK_THROWS_WITH(sampler.generate({3}), refusal);
        CHECK_THROWS_WITH(sampler.extend(other), refusal);
        CHECK_THROWS_WITH(sampler.step(other), refusal);
        CHECK(other == std::vector<Token>{3});
        ++refused;
    });
    CHECK(refused == 20);
    CHECK(std::equal(text.begin() + 2, text.end(), expected.begin(), expected.end()));
}

TEST_CASE("a call from a model is refused, and the sampler is usable after it", "[sampler]") {
    std::function<void()> call_again = [] {};
    const auto model = [&](std::span<const Token> prefix) {
        call_again();
        return target(prefix);
    };
    Sampler sampler(draft, model, {.lookahead = 3, .seed = 4});
    const auto expected = sampler.generate(prompt, {.max_new_tokens = 20}).tokens;
    call_again = [&] { (void)sampler.step(prompt); };
    CHECK_THROWS_WITH(sampler.generate(prompt), refusal);
    CHECK_THROWS_WITH(sampler.step(prompt), refusal);
    call_again = [] {};
    CHECK(sampler.generate(prompt, {.max_new_tokens = 20}).tokens == expected);
}

TEST_CASE("a call on another thread is refused for as long as one is under way", "[sampler]") {
    Sampler sampler(draft, target, {.lookahead = 3, .seed = 4});
    std::string said;
    (void)sampler.generate(prompt, {.max_new_tokens = 4}, [&](Token) {
        std::thread([&] {
            try {
                (void)sampler.step(prompt);
            } catch (const std::invalid_argument& error) {
                said = error.what();
            }
        }).join();
        return false;
    });
    CHECK(said == refusal);
    std::thread([&] { said = std::to_string(sampler.generate(prompt, {.max_new_tokens = 4}).tokens.size()); }).join();
    CHECK(said == "4");
}

TEST_CASE("a copy of a sampler that is at work is a sampler of its own", "[sampler]") {
    Sampler sampler(draft, target, {.lookahead = 3, .seed = 4});
    const auto expected = sampler.generate(prompt, {.max_new_tokens = 6}).tokens;
    (void)sampler.generate(prompt, {.max_new_tokens = 6}, [&](Token) {
        auto copy = sampler;
        CHECK(copy.generate(prompt, {.max_new_tokens = 6}).tokens == expected);
        auto moved = std::move(copy);
        CHECK(moved.generate(prompt, {.max_new_tokens = 6}).tokens == expected);
    });
}

TEST_CASE("a beam search makes one call at a time", "[sampler]") {
    std::function<void()> call_again = [] {};
    const auto model = [&](std::span<const Token> prefix) {
        call_again();
        return target(prefix);
    };
    BeamSearch search(draft, model, {.width = 2, .lookahead = 2});
    const auto expected = search.generate({1}, {.max_new_tokens = 4}).beams.front().tokens;
    call_again = [&] { (void)search.generate({1}, {.max_new_tokens = 4}); };
    CHECK_THROWS_WITH(search.generate({1}, {.max_new_tokens = 4}), ContainsSubstring("made during another one"));
    call_again = [] {};
    CHECK(search.generate({1}, {.max_new_tokens = 4}).beams.front().tokens == expected);
}
