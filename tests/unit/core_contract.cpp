// Broken contracts: the one shape of message, and the exception.
#include <specsample/core/contract.hpp>

#include <cstdint>
#include <limits>

#include "support/catch.hpp"

using namespace specsample::detail;

TEST_CASE("the message of a broken contract has the value and the requirement", "[core]") {
    CHECK_THROWS_AS(invalid("Sampler", "options.lookahead", -1, "at least 0"), std::invalid_argument);
    CHECK_THROWS_WITH(invalid("Sampler", "options.lookahead", -1, "at least 0"),
                      "specsample::Sampler: options.lookahead is -1, but must be at least 0");
}

TEST_CASE("a contract that holds raises nothing", "[core]") {
    CHECK_NOTHROW(require(true, "where", "what", 1, "anything"));
    CHECK_THROWS_WITH(require(false, "TopP", "top_p", 1.5, "in (0, 1]"),
                      "specsample::TopP: top_p is 1.5, but must be in (0, 1]");
}

TEST_CASE("a contract that holds can be checked at compile time", "[core]") {
    constexpr bool checked = (require(true, "where", "what", 1, "anything"), true);
    CHECK(checked);
}

TEST_CASE("messages show integers in full", "[core]") {
    CHECK(to_text(0) == "0");
    CHECK(to_text(std::numeric_limits<std::int64_t>::min()) == "-9223372036854775808");
    CHECK(to_text(std::numeric_limits<std::uint64_t>::max()) == "18446744073709551615");
    CHECK(to_text(static_cast<std::int8_t>(-7)) == "-7");
    CHECK(to_text(static_cast<unsigned short>(65535)) == "65535");
}

TEST_CASE("messages show six digits of a real number", "[core]") {
    CHECK(to_text(0.1) == "0.1");
    CHECK(to_text(0.1f) == "0.1");
    CHECK(to_text(1. / 3) == "0.333333");
    CHECK(to_text(-1e-300) == "-1e-300");
    CHECK(to_text(std::numeric_limits<double>::infinity()) == "inf");
    CHECK_THAT(to_text(std::numeric_limits<double>::quiet_NaN()), ContainsSubstring("nan"));
}

TEST_CASE("messages show text as it is", "[core]") {
    CHECK_THROWS_WITH(invalid("f", "the mode", std::string_view("fast"), "exact"),
                      "specsample::f: the mode is fast, but must be exact");
}

TEST_CASE("raise throws the very error it is given", "[core]") {
    CHECK_THROWS_AS(raise(std::out_of_range("here")), std::out_of_range);
    CHECK_THROWS_WITH(raise(std::out_of_range("here")), "here");
}
