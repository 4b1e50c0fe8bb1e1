// Stop strings: what a reader sees of a reply, and where it ends.
#include <specsample/sampler/stop_strings.hpp>
#include <specsample/specsample.hpp>
#include <specsample/testing.hpp>

#include <string>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::testing;

namespace {

const std::vector<std::string> pieces{"a", "b", "ab", "c", "bc", "", "aab"};
std::string piece(Token token) { return pieces[static_cast<std::size_t>(token)]; }

std::string text_of(const std::vector<Token>& tokens) {
    std::string text;
    for (const Token token : tokens) text += piece(token);
    return text;
}

}  // namespace

TEST_CASE("what may begin a stop string is held back, and nothing of one is shown") {
    stop_strings::Reply reply({"abc"}, piece);
    CHECK(reply.show(0) == "");    // a
    CHECK(reply.show(0) == "a");   // a|a
    CHECK(reply.show(1) == "");    // ab
    CHECK(reply.show(5) == "");    // a token without text
    CHECK(reply.show(2) == "ab");  // ab|ab
    CHECK(!reply.has_ended());
    CHECK(reply.ends(std::vector<Token>{3}));
    CHECK(!reply.ends(std::vector<Token>{0, 3}));
    CHECK(reply.ends(std::vector<Token>{0, 4}));
    CHECK(reply.show(3) == "");
    CHECK(reply.has_ended());
    CHECK(reply.show(0) == "");
    CHECK(reply.rest() == "");

    reply.begin();
    CHECK(reply.show(6) == "a");  // a|ab
    CHECK(reply.rest() == "ab");  // the budget ended it
    CHECK_THROWS_WITH((stop_strings::Reply({"x", ""}, piece)),
                      "specsample::stop_strings::Reply: a stop string is empty, but must be text");
}

TEST_CASE("a reply that is used for another text without begin() is refused, and pieces may be views") {
    const ContextModel draft(7, 21), target(7, 22);
    Sampler sampler(draft, target, {.lookahead = 4, .seed = 2});
    stop_strings::Reply reply({"none"},
                              [](Token token) -> std::string_view { return pieces[static_cast<std::size_t>(token)]; });
    const auto show = [&](Token token) { reply.show(token); };
    CHECK(sampler.generate({1}, {.max_new_tokens = 5, .until = reply}, show).size() == 5);
    CHECK_THROWS_WITH(
        sampler.generate({1}, {.max_new_tokens = 5, .until = reply}, show),
        ContainsSubstring("specsample::stop_strings::Reply: the number of tokens written is 1, but must be more "
                          "than were shown; call begin() for another reply"));
    reply.begin();
    CHECK(sampler.generate({1}, {.max_new_tokens = 5, .until = reply}, show).size() == 5);
}

TEST_CASE("of several stop strings the first in the text ends it, and one that overlaps itself is found") {
    stop_strings::Reply reply({"cab", "bc"}, piece);
    CHECK(reply.show(0) == "a");
    CHECK(reply.show(4) == "");
    CHECK(reply.has_ended());
    stop_strings::Reply overlapping({"aabaac"}, piece);
    std::string shown;
    for (const Token token : {6, 6, 0, 0, 3}) shown += overlapping.show(token);  // aab aab aac
    CHECK(shown == "aab");
    CHECK(overlapping.has_ended());
}

TEST_CASE("a sampler's text ends with the token that completes a stop string, and shows what comes before it") {
    const ContextModel draft(7, 21), target(7, 22);
    int ended = 0, held = 0;
    for (std::uint64_t request = 0; request < 60; ++request) {
        Sampler sampler(draft, target, {.lookahead = 4, .seed = 2});
        const std::vector<Token> whole = sampler.generate({1}, {.max_new_tokens = 30, .request = request});
        stop_strings::Reply reply({"cabb", "aaab", "bcc"}, piece);
        std::string shown;
        const auto text = sampler.generate({1}, {.max_new_tokens = 30, .until = reply, .request = request},
                                           [&](Token token) { shown += reply.show(token); });
        const std::string rest(reply.rest());
        held += rest.empty() ? 0 : 1;
        // The text up to the first stop string, by a plain search.
        std::size_t end = std::string::npos;
        for (const char* string : {"cabb", "aaab", "bcc"}) end = std::min(end, text_of(whole).find(string));
        CHECK(reply.has_ended() == (end != std::string::npos));
        CHECK((text.finish == FinishReason::until) == reply.has_ended());
        CHECK(std::equal(text.begin(), text.end(), whole.begin()));
        if (!reply.has_ended()) {
            CHECK(shown + rest == text_of(whole));
            continue;
        }
        ++ended;
        CHECK(shown == text_of(whole).substr(0, end));
        const std::vector<Token> before(text.begin(), text.end() - 1);
        CHECK(text_of(before).find("cabb") == std::string::npos);
    }
    CHECK(ended > 10);
    CHECK(held > 2);
}
