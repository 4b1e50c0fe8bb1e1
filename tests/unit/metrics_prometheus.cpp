// Prometheus exposition of tallies: read back line by line by format 0.0.4.
#include <specsample/metrics/prometheus.hpp>

#include <cctype>
#include <cstdlib>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "support/catch.hpp"

using specsample::Cause;
using specsample::LastToken;
using specsample::Tally;
using specsample::metrics::LabelledTally;
using specsample::metrics::to_prometheus;

namespace {

/// Reads an exposition as a scraper does, and checks the rules of the format.
struct Exposition {
    std::map<std::string, std::string> types;      ///< by name
    std::map<std::string, double> samples;         ///< by name and labels, as written
    std::map<std::string, std::string> unescaped;  ///< the value of every label, by name and label

    explicit Exposition(const std::string& text) {
        REQUIRE((text.empty() || text.back() == '\n'));
        std::string helped, current;
        for (std::size_t begin = 0; begin < text.size();) {
            const std::size_t end = text.find('\n', begin);
            const std::string line = text.substr(begin, end - begin);
            begin = end + 1;
            INFO(line);
            if (line.starts_with("# HELP ")) {
                helped = word(line, 7);
                REQUIRE(line.size() > 8 + helped.size());
                REQUIRE(types.count(helped) == 0);  // all lines of a metric stand together
            } else if (line.starts_with("# TYPE ")) {
                current = word(line, 7);
                REQUIRE(current == helped);
                types[current] = line.substr(8 + current.size());
                REQUIRE((types[current] == "counter" || types[current] == "gauge"));
                REQUIRE((types[current] == "counter") == current.ends_with("_total"));
            } else {
                sample(line, current);
            }
        }
    }

    void sample(const std::string& line, const std::string& current) {
        std::size_t at = 0;
        while (at < line.size() &&
               (std::isalnum(static_cast<unsigned char>(line[at])) || line[at] == '_' || line[at] == ':'))
            ++at;
        REQUIRE(line.substr(0, at) == current);
        if (line[at] == '{') {
            do {
                const std::size_t equals = line.find('=', ++at);
                const std::string label = line.substr(at, equals - at);
                at = equals + 1;
                REQUIRE(line.at(at++) == '"');
                std::string value;
                for (; line.at(at) != '"'; ++at) {
                    if (line[at] != '\\') {
                        value += line[at];
                        continue;
                    }
                    const char escape = line.at(++at);
                    REQUIRE((escape == '\\' || escape == '"' || escape == 'n'));
                    value += escape == 'n' ? '\n' : escape;
                }
                unescaped[current + " " + label] = value;
                ++at;
            } while (line.at(at) == ',');
            REQUIRE(line.at(at++) == '}');
        }
        REQUIRE(line.at(at) == ' ');
        char* end = nullptr;
        const double value = std::strtod(line.c_str() + at, &end);
        REQUIRE(*end == '\0');
        REQUIRE(specsample::detail::is_finite(value));
        REQUIRE(samples.emplace(line.substr(0, at), value).second);
    }

    static std::string word(const std::string& line, std::size_t begin) {
        return line.substr(begin, line.find(' ', begin) - begin);
    }
};

Tally example() {
    Tally tally;
    tally.record(
        {.proposed = 2, .evaluated = 2, .accepted = 1, .tokens = 2, .last = LastToken::recovered, .passes = 3});
    tally.record(
        {.proposed = 2, .evaluated = 1, .accepted = 1, .tokens = 1, .last = LastToken::stopped, .discarded = 1});
    tally.record({.fault = Cause::negative});
    return tally;
}

}  // namespace

TEST_CASE("to_prometheus has every counter and rate of a tally", "[analysis]") {
    const Exposition read(to_prometheus(example()));
    const std::map<std::string, double> expected{
        {"specsample_rounds_total", 2},
        {"specsample_proposed_total", 4},
        {"specsample_evaluated_total", 3},
        {"specsample_accepted_total", 2},
        {"specsample_recovered_total", 1},
        {"specsample_bonus_total", 0},
        {"specsample_matched_total", 0},
        {"specsample_stopped_total", 1},
        {"specsample_tokens_total", 3},
        {"specsample_discarded_total", 1},
        {"specsample_position_evaluated_total{position=\"0\"}", 2},
        {"specsample_position_evaluated_total{position=\"1\"}", 1},
        {"specsample_position_accepted_total{position=\"0\"}", 2},
        {"specsample_position_accepted_total{position=\"1\"}", 0},
        {"specsample_position_censored_total{position=\"0\"}", 0},
        {"specsample_position_censored_total{position=\"1\"}", 1},
        {"specsample_faults_total{cause=\"negative\"}", 1},
        {"specsample_faults_total{cause=\"not_finite\"}", 0},
        {"specsample_passes_total", 4},
        {"specsample_tokens_per_round", 1.5},
        {"specsample_tokens_per_pass", .75},
        {"specsample_acceptance", 2. / 3},
        {"specsample_acceptance_low", specsample::metrics::estimate_acceptance(2, 3).low},
        {"specsample_acceptance_high", specsample::metrics::estimate_acceptance(2, 3).high},
        {"specsample_position_acceptance{position=\"0\"}", 1},
        {"specsample_position_acceptance{position=\"1\"}", 0},
        {"specsample_position_acceptance_low{position=\"0\"}", specsample::metrics::estimate_acceptance(2, 2).low},
        {"specsample_position_acceptance_high{position=\"1\"}", specsample::metrics::estimate_acceptance(0, 1).high},
    };
    for (const auto& [name, value] : expected) {
        INFO(name);
        REQUIRE(read.samples.count(name) == 1);
        CHECK(read.samples.at(name) == value);
    }
    CHECK(read.samples.size() == expected.size() + 20 + 2);  // the other causes; the other ends of two intervals
    CHECK(read.types.size() == 11 + 3 + 1 + 2 + 3 + 3);
}

TEST_CASE("to_prometheus of nothing has no rates", "[analysis]") {
    const Exposition read(to_prometheus(Tally{}));
    CHECK(read.samples.at("specsample_rounds_total") == 0);
    CHECK(read.samples.size() == 11 + 22);
    CHECK(read.types.size() == 23);
    const Exposition none(to_prometheus(std::vector<LabelledTally>{}));
    CHECK(none.samples.empty());
}

TEST_CASE("to_prometheus escapes labels", "[analysis]") {
    const std::string value = "a\\b\"c\nd, {e}=é";
    const std::string text = to_prometheus(example(), {{"model", value}, {"rule", "token"}}, "engine:draft");
    CHECK_THAT(text,
               ContainsSubstring("\nengine:draft_rounds_total{model=\"a\\\\b\\\"c\\nd, {e}=é\",rule=\"token\"} 2\n"));
    const Exposition read(text);
    CHECK(read.unescaped.at("engine:draft_rounds_total model") == value);
    CHECK(read.unescaped.at("engine:draft_position_accepted_total rule") == "token");
    CHECK(read.unescaped.at("engine:draft_position_accepted_total position") == "1");
}

TEST_CASE("to_prometheus puts several tallies into one exposition, name by name", "[analysis]") {
    const Tally large = example();
    Tally small;
    small.record({.tokens = 1, .last = LastToken::bonus});
    const std::vector<LabelledTally> tallies{{large, {{"model", "large"}}}, {small, {{"model", "small"}}}};
    const Exposition read(to_prometheus(tallies));  // which fails if a name comes twice
    CHECK(read.samples.at("specsample_rounds_total{model=\"large\"}") == 2);
    CHECK(read.samples.at("specsample_rounds_total{model=\"small\"}") == 1);
    CHECK(read.samples.count("specsample_acceptance{model=\"large\"}") == 1);
    CHECK(read.samples.count("specsample_acceptance{model=\"small\"}") == 0);
}

TEST_CASE("a tally and its labels may be gone before they are written", "[analysis]") {
    const auto model = [](char size) {
        return "a model with a name that no short string holds, " + std::string(1, size);
    };
    const std::vector<LabelledTally> tallies{{example(), {{"model", model('L')}}},
                                             {example(), {{"model", model('S')}}}};
    const std::string text = to_prometheus(tallies);
    CHECK_THAT(text, ContainsSubstring("specsample_rounds_total{model=\"" + model('L') + "\"} 2\n"));
    CHECK_THAT(text, ContainsSubstring("specsample_rounds_total{model=\"" + model('S') + "\"} 2\n"));
}

TEST_CASE("to_prometheus refuses names that the format has not", "[analysis]") {
    const Tally tally = example();
    CHECK_THROWS_WITH(to_prometheus(tally, {}, "9lives"),
                      "specsample::to_prometheus: prefix is 9lives, but must be of letters, digits, _ and :, not "
                      "beginning with a digit");
    CHECK_THROWS_AS(to_prometheus(tally, {}, ""), std::invalid_argument);
    for (const char* name : {"", "a-b", "a:b", "__name__", "1a", "é", "position", "cause"}) {
        INFO(name);
        CHECK_THROWS_AS(to_prometheus(tally, {{name, "x"}}), std::invalid_argument);
    }
    CHECK_THROWS_WITH(to_prometheus(tally, {{"a", "1"}, {"b", "2"}, {"a", "3"}}),
                      "specsample::to_prometheus: a label's name is a, but must be given once");
    CHECK_NOTHROW(to_prometheus(tally, {{"_a1", ""}, {"B_", "x"}}));
}
