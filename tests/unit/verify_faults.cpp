// Bad data as verify reports it: a value with the row and the cause, and no tokens.
#include <array>
#include <limits>

#include <specsample/specsample.hpp>

#include "support/catch.hpp"

using namespace specsample;

namespace {

constexpr TokenVerification rule;
const RoundRng rng(1, 2, 3);
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

using Vector = std::vector<double>;

/// A good round of two drafted tokens, for tests to spoil.
struct Case {
    std::vector<std::int64_t> tokens{0, 1};
    std::vector<Vector> q{{.5, .5, 0}, {.25, .75, 0}}, p{{.5, .5, 0}, {.5, .5, 0}, {0, 0, 1}};
    std::vector<Token> stops{};
    Check check = Check::every_row;

    Round judge() const {
        static Workspace workspace;
        std::vector<Sampled<detail::row_view_t<Vector>>> distributions;
        for (const Vector& row : q) distributions.emplace_back(row);
        return verify(tokens, distributions, p, rule, rng, {.stop_tokens = stops, .check = check}, workspace);
    }
    RowFault fault() const {
        const Round round = judge();
        CHECK_FALSE(round);
        CHECK(round.tokens.empty());
        CHECK(round.accepted == 0);
        return round.fault.value();
    }
};

}  // namespace

TEST_CASE("the round that these tests spoil is good") {
    const Case good;
    CHECK(good.judge());
    CHECK(good.judge().tokens.size() > 0);
}

TEST_CASE("a fault is a value that names side, cause, row and entry") {
    Case bad;
    bad.p[2] = {.5, -.25, .75};
    const RowFault fault = bad.fault();
    CHECK(fault.side == Side::target);
    CHECK(fault.cause == Cause::negative);
    CHECK(fault.row == 2);
    CHECK(fault.value == -.25);
    CHECK(fault.id == 1);
    CHECK(message(fault) == "target row 2 is -0.25 at id 1, but must be non-negative");
}

TEST_CASE("a fault leaves nothing behind: the next round on the workspace is good") {
    Case round;
    const Round before = round.judge();
    const std::vector<Token> tokens(before.tokens.begin(), before.tokens.end());
    round.q[1][0] = not_a_number;
    round.fault();
    round.q[1][0] = .25;
    const Round after = round.judge();
    CHECK(std::vector(after.tokens.begin(), after.tokens.end()) == tokens);
}

TEST_CASE("a draft row that gives its own token no probability is refused") {
    Case bad;
    bad.tokens = {0, 2};
    CHECK(message(bad.fault()) ==
          "draft row 1 is 0 at its own drafted token 2, but must be the row that the token was drawn from");
    bad.tokens = {2, 1};
    bad.check = Check::entries_read;
    CHECK(bad.fault().cause == Cause::zero_at_token);
    CHECK(bad.fault().row == 0);
}

TEST_CASE("the entries that decide are checked as they are read") {
    Case bad;
    bad.check = Check::entries_read;
    bad.p[0][0] = not_a_number;
    CHECK(bad.fault().cause == Cause::not_finite);
    bad.p[0][0] = -.5;
    CHECK(bad.fault().cause == Cause::negative);
    bad.p[0][0] = 3;
    CHECK(bad.fault().cause == Cause::above_one);
    CHECK(message(bad.fault()) == "target row 0 is 3 at id 0, but must be at most 1");
    bad.p[0][0] = .5;
    bad.q[0][0] = std::numeric_limits<double>::infinity();
    CHECK(bad.fault().side == Side::draft);
    CHECK(bad.fault().cause == Cause::not_finite);
}

TEST_CASE("a wrong number of target rows is a fault") {
    Case bad;
    bad.p.pop_back();
    CHECK(message(bad.fault()) == "the number of target rows is 2, but must be 3, one per position");
    bad.p.resize(4, {0, 0, 1});
    CHECK(message(bad.fault()) == "the number of target rows is 4, but must be 3, one per position");
}

TEST_CASE("a missing last row is a fault unless the last drafted token is a stop token") {
    Case round;
    round.p.pop_back();
    round.stops = {0};
    CHECK(round.fault().cause == Cause::wrong_count);
    round.stops = {1};
    CHECK(round.judge());
}

TEST_CASE("a wrong number of distributions is a fault") {
    Case bad;
    bad.q.pop_back();
    CHECK(message(bad.fault()) == "the number of distributions is 1, but must be 2, one per drafted token");
    bad.q.resize(3, {.5, .5, 0});
    CHECK(message(bad.fault()) == "the number of distributions is 3, but must be 2, one per drafted token");
}

TEST_CASE("no target rows at all are a fault") {
    Case bad;
    bad.p.clear();
    CHECK(bad.fault().cause == Cause::wrong_count);
}

TEST_CASE("ids outside the vocabulary are a fault, and are compared in their own width") {
    Case bad;
    for (const std::int64_t id :
         {std::int64_t{-1}, std::int64_t{3}, std::int64_t{1} << 32, (std::int64_t{1} << 32) + 1}) {
        bad.tokens = {0, id};
        CHECK(message(bad.fault()) ==
              "drafted token 1 is " + std::to_string(id) + ", but must be inside the vocabulary [0, 3)" +
                  (id < 0
                       ? ""
                       : "; for a draft with another one see vocabularies::mapped and vocabularies::IdMap::same_ids"));
    }
}

TEST_CASE("an id that is a stop token in its low bits only is outside the vocabulary") {
    Case bad;
    bad.stops = {1};
    bad.tokens = {0, (std::int64_t{1} << 32) + 1};
    CHECK(bad.fault().cause == Cause::outside_vocabulary);
}

TEST_CASE("stop tokens outside the vocabulary are a fault of the limits") {
    Case bad;
    bad.stops = {0, 3};
    CHECK(bad.fault().side == Side::limits);
    CHECK(message(bad.fault()) == "limits.stop_tokens[1] is 3, but must be inside the vocabulary [0, 3)");
}

TEST_CASE("rows of another size than the first target row are a fault, in every check") {
    Case bad;
    bad.check = GENERATE(Check::entries_read, Check::every_row);
    bad.p[0] = {.5, .5};
    bad.tokens = {0, 1};
    CHECK(message(bad.fault()) ==
          "draft row 0 has 3 entries, but must have 2 like the first target row; for a draft with another vocabulary "
          "write vocabularies::mapped(draft, vocabularies::IdMap::same_ids(3, 2))");
}

TEST_CASE("an empty first row is an empty vocabulary") {
    Case bad;
    bad.p[0].clear();
    CHECK(message(bad.fault()) == "target row 0 is empty, but must hold one probability per token of the vocabulary");
}

TEST_CASE("bad rows that no decision reads are found by every_row, and by it alone") {
    const Vector worst{not_a_number, -1, 7};
    for (const bool of_draft : {false, true}) {
        // Certain to be rejected at node 0, where the residual is id 2.
        Case bad;
        bad.p[0] = {0, 0, 1};
        (of_draft ? bad.q[1] : bad.p[1]) = worst;
        CHECK(bad.fault().side == (of_draft ? Side::draft : Side::target));
        CHECK(bad.fault().row == 1);
        bad.check = Check::entries_read;
        const Round round = bad.judge();
        REQUIRE(round);
        CHECK(std::vector(round.tokens.begin(), round.tokens.end()) == std::vector<Token>{2});
    }
}

TEST_CASE("a row whose sum is off is found by a draw that reads it whole") {
    Case bad;
    bad.check = Check::entries_read;
    bad.tokens.clear();
    bad.q.clear();
    bad.p = {{.5, .5, .01}};
    CHECK(message(bad.fault()) == "target row 0 sums to 1.01, but must sum to 1 within 0.001");
    bad.p = {{0, 0, 0}};
    CHECK(bad.fault().cause == Cause::not_normalised);
    bad.p = {{not_a_number, 0, 1}};
    CHECK(bad.fault().cause == Cause::not_finite);
}

TEST_CASE("a NaN beside the deciding entries is found by the residual that reads it") {
    for (const bool of_draft : {false, true}) {
        Case bad;
        bad.check = Check::entries_read;
        bad.p[0] = {0, 0, 1};
        (of_draft ? bad.q[0] : bad.p[0])[1] = not_a_number;
        CHECK(bad.fault().side == (of_draft ? Side::draft : Side::target));
        CHECK(bad.fault().cause == Cause::not_finite);
        CHECK(bad.fault().id == 1);
    }
}

TEST_CASE("a residual of more than everything is a fault where entries are checked as they are read") {
    const std::vector<double> draft{1, 0, 0}, logits{0, 7, 8};
    Workspace workspace;
    const Round round = verify(std::vector<Token>{0}, std::array{Sampled(draft)}, std::array{logits, logits},
                               TokenVerification{}, RoundRng(1, 2, 3), {}, workspace);
    REQUIRE(round.fault);
    CHECK(round.fault->cause == Cause::logits);
    CHECK(round.fault->row == 0);
}
