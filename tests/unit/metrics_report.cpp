// Reports of a tally: the table, and JSON read back by a strict parser of its own.
#include <specsample/metrics/report.hpp>

#include <clocale>
#include <cstdlib>
#include <limits>
#include <locale>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "support/catch.hpp"

using specsample::Cause;
using specsample::Index;
using specsample::LastToken;
using specsample::Tally;
using specsample::metrics::report;
using specsample::metrics::to_json;

namespace {

/// RFC 8259, and nothing beyond it. Scalars by path: {"a":[{"b":1}]} has "a.0.b" -> "1".
class Json {
  public:
    static std::optional<std::map<std::string, std::string>> read(std::string_view text) {
        Json json{text};
        const bool is_valid = json.value("") && json.rest_.empty();
        return is_valid ? std::optional(json.found_) : std::nullopt;
    }

  private:
    explicit Json(std::string_view text) : rest_(text) {}

    bool value(const std::string& path) {
        if (rest_.starts_with('{')) return object(path);
        if (rest_.starts_with('[')) return array(path);
        const std::string_view before = rest_;
        if (!(take("null") || take("true") || take("false") || string() || number())) return false;
        return found_.emplace(path, before.substr(0, before.size() - rest_.size())).second;
    }

    bool object(const std::string& path) {
        take("{");
        if (take("}")) return true;
        do {
            const std::string_view before = rest_;
            if (!string()) return false;
            const std::string_view key = before.substr(1, before.size() - rest_.size() - 2);
            if (!take(":") || !value(join(path, key))) return false;
        } while (take(","));
        return take("}");
    }

    bool array(const std::string& path) {
        take("[");
        if (take("]")) return true;
        int i = 0;
        do {
            if (!value(join(path, std::to_string(i++)))) return false;
        } while (take(","));
        return take("]");
    }

    bool string() {  // of printable characters, unescaped
        if (!take("\"")) return false;
        while (!rest_.empty() && rest_.front() >= ' ' && rest_.front() != '"' && rest_.front() != '\\')
            rest_.remove_prefix(1);
        return take("\"");
    }

    bool number() {
        take("-");
        if (!take("0") && !digits()) return false;
        if (take(".") && !digits()) return false;
        if (take("e") || take("E")) {
            if (!take("+")) take("-");
            return digits();
        }
        return true;
    }

    bool digits() {
        const std::size_t before = rest_.size();
        while (!rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9') rest_.remove_prefix(1);
        return rest_.size() < before;
    }

    bool take(std::string_view text) {
        if (!rest_.starts_with(text)) return false;
        rest_.remove_prefix(text.size());
        return true;
    }

    static std::string join(const std::string& path, std::string_view key) {
        return path.empty() ? std::string(key) : path + "." + std::string(key);
    }

    std::string_view rest_;
    std::map<std::string, std::string> found_;
};

Tally example() {
    Tally tally;
    tally.record({.proposed = 3, .evaluated = 3, .accepted = 2, .tokens = 3, .last = LastToken::recovered});
    tally.record({.proposed = 3, .evaluated = 3, .accepted = 3, .tokens = 4, .last = LastToken::bonus, .passes = 3});
    tally.record({.proposed = 3, .evaluated = 1, .accepted = 0, .tokens = 1, .last = LastToken::matched});
    tally.record(
        {.proposed = 3, .evaluated = 1, .accepted = 1, .tokens = 1, .last = LastToken::stopped, .discarded = 2});
    tally.record({.proposed = 3, .fault = Cause::not_finite});
    tally.record({.proposed = 3, .fault = Cause::not_finite});
    tally.record({.proposed = 3, .fault = Cause::logits});
    return tally;
}

}  // namespace

TEST_CASE("the JSON parser of this test is strict", "[analysis]") {
    for (const char* good : {"0", "-1.5e+3", "null", "{}", "[]", R"({"a":[1,{"b":null}],"c":"x"})"}) {
        INFO(good);
        CHECK(Json::read(good));
    }
    for (const char* bad : {"", "nan", "inf", "1.", ".5", "+1", "01", "1e", "{", "[1,]", "{\"a\":}", "{\"a\" 1}",
                            "{a:1}", "[1 2]", "1 ", R"({"a":1,"a":2})", "{\"a\":1},", "\"\\q\"", "0,5"}) {
        INFO(bad);
        CHECK_FALSE(Json::read(bad));
    }
}

TEST_CASE("to_json has every counter and rate of a tally", "[analysis]") {
    const auto read = Json::read(to_json(example()));
    REQUIRE(read);
    const std::map<std::string, std::string> counters{
        {"rounds", "4"},
        {"proposed", "12"},
        {"evaluated", "8"},
        {"accepted", "6"},
        {"recovered", "1"},
        {"bonus", "1"},
        {"matched", "1"},
        {"stopped", "1"},
        {"tokens", "9"},
        {"discarded", "2"},
        {"passes", "6"},
        {"tokens_per_round", "2.25"},
        {"tokens_per_pass", "1.5"},
        {"acceptance.value", "0.75"},
        {"positions.0.evaluated", "4"},
        {"positions.0.accepted", "3"},
        {"positions.0.censored", "0"},
        {"positions.0.acceptance.value", "0.75"},
        {"positions.1.evaluated", "2"},
        {"positions.1.accepted", "2"},
        {"positions.1.censored", "1"},
        {"positions.1.acceptance.value", "1"},
        {"positions.2.evaluated", "2"},
        {"positions.2.accepted", "1"},
        {"positions.2.censored", "1"},
        {"positions.2.acceptance.value", "0.5"},
        {"faults.wrong_count", "0"},
        {"faults.empty", "0"},
        {"faults.wrong_size", "0"},
        {"faults.not_finite", "2"},
        {"faults.negative", "0"},
        {"faults.above_one", "0"},
        {"faults.not_normalised", "0"},
        {"faults.logits", "1"},
        {"faults.probabilities", "0"},
        {"faults.zero_at_token", "0"},
        {"faults.outside_vocabulary", "0"},
        {"faults.unordered_ids", "0"},
        {"faults.id_outside", "0"},
        {"faults.all_masked", "0"},
        {"faults.slice_begin", "0"},
        {"faults.slice_end", "0"},
        {"faults.slice_vocabulary", "0"},
        {"faults.ranks_differ", "0"},
        {"faults.row_changed", "0"},
        {"faults.removed_changed", "0"},
        {"faults.token_changed", "0"},
        {"faults.broken_contract", "0"},
    };
    for (const auto& [path, text] : counters) {
        INFO(path);
        REQUIRE(read->count(path) == 1);
        CHECK(read->at(path) == text);
    }
    CHECK(read->size() == counters.size() + 8);  // and the ends of four intervals
    // Wilson's interval of 6 of 8, by hand: (.75 + z^2/16 -+ z sqrt(.75 * .25 / 8 + z^2/256)) / (1 + z^2/8), z = 1.96
    CHECK(std::atof(read->at("acceptance.low").c_str()) == Approx(.409270).margin(1e-6));
    CHECK(std::atof(read->at("acceptance.high").c_str()) == Approx(.928522).margin(1e-6));
    CHECK(std::atof(read->at("positions.2.acceptance.low").c_str()) ==
          specsample::metrics::estimate_acceptance(1, 2).low);  // to the last bit
}

TEST_CASE("to_json is valid where nothing was counted: rates are null, keys stay", "[analysis]") {
    const auto empty = Json::read(to_json(Tally{}));
    REQUIRE(empty);
    CHECK(empty->at("rounds") == "0");
    CHECK(empty->at("tokens_per_round") == "null");
    CHECK(empty->at("tokens_per_pass") == "null");
    CHECK(empty->at("acceptance") == "null");
    CHECK(empty->at("faults.all_masked") == "0");

    Tally undecided;
    undecided.record({.proposed = 2, .last = LastToken::stopped});
    undecided.record({.fault = Cause::empty});
    const auto read = Json::read(to_json(undecided));
    REQUIRE(read);
    CHECK(read->at("tokens_per_round") == "0");
    CHECK(read->at("acceptance") == "null");
    CHECK(read->at("positions.1.censored") == "1");
    CHECK(read->at("positions.1.acceptance") == "null");
    for (const auto& [path, text] : *read) CHECK(text.find("n") == (text == "null" ? 0 : std::string::npos));
}

TEST_CASE("to_json holds the largest counts", "[analysis]") {
    Tally tally;
    tally.tokens = tally.rounds = std::numeric_limits<Index>::max();
    tally.evaluated = std::numeric_limits<Index>::max();
    tally.accepted = 1;
    const auto read = Json::read(to_json(tally));
    REQUIRE(read);
    CHECK(read->at("tokens") == "9223372036854775807");
    CHECK(std::atof(read->at("acceptance.value").c_str()) == Approx(1.0842e-19).epsilon(1e-4));
}

TEST_CASE("report is a table of every counter with its rate", "[analysis]") {
    CHECK(report(example()) == R"(rounds               4
proposed            12
evaluated            8
accepted             6  0.750 [0.409, 0.929] of evaluated
recovered            1
bonus                1
matched              1
stopped              1
tokens               9  2.250 per round
discarded            2
passes               6  1.500 tokens per pass

position   evaluated    accepted    censored  accepted / evaluated
       0           4           3           0  0.750 [0.301, 0.954]
       1           2           2           1  1.000 [0.342, 1.000]
       2           2           1           1  0.500 [0.095, 0.905]

faults
not_finite           2
logits               1
)");
    CHECK(report(Tally{}) == R"(rounds               0
proposed             0
evaluated            0
accepted             0
recovered            0
bonus                0
matched              0
stopped              0
tokens               0
discarded            0
passes               0
)");
    Tally undecided;
    undecided.record({.proposed = 1, .last = LastToken::stopped});
    CHECK_THAT(report(undecided), ContainsSubstring("       0           0           0           1  -\n"));
}

TEST_CASE("reports are the same under every locale", "[analysis]") {
    struct Commas : std::numpunct<char> {
        char do_decimal_point() const override { return ','; }
        char do_thousands_sep() const override { return '.'; }
        std::string do_grouping() const override { return "\1"; }
    };
    const std::string json = to_json(example()), table = report(example());
    const std::locale before = std::locale::global(std::locale(std::locale::classic(), new Commas));
    for (const char* name : {"de_DE.UTF-8", "fr_FR.UTF-8"}) std::setlocale(LC_ALL, name);  // where there is one
    CHECK(to_json(example()) == json);
    CHECK(report(example()) == table);
    std::setlocale(LC_ALL, "C");
    std::locale::global(before);
}
