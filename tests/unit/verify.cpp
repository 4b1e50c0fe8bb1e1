// verify as an engine calls it: on memory, ids and rows that are the engine's own.
#include <algorithm>
#include <array>
#include <cmath>

#include <specsample/specsample.hpp>
#include <specsample/testing/scripted.hpp>
#include <specsample/verify/batch.hpp>

#include "support/catch.hpp"
#include "support/random_round.hpp"

using namespace specsample;
using namespace specsample::testing;

namespace {

constexpr TokenVerification rule;

// Three drafted tokens over four ids, as an engine's memory holds them.
constexpr Index vocab = 4;
constexpr std::array<float, 12> draft_memory{.25f, .25f, .25f, .25f, .5f, .25f, .125f, .125f, 0, .5f, .5f, 0};
constexpr std::array<float, 16> target_memory{.5f,  .25f, .25f, 0, .25f, .25f, .25f, .25f,
                                              .75f, .25f, 0,    0, 0,    0,    .5f,  .5f};
constexpr std::array<Token, 3> drafted{1, 0, 2};

using GivenRows = Eigen::Map<const RowMajorMatrix<float>>;

GivenRows target_rows() { return {target_memory.data(), 4, vocab}; }
std::span<const float> draft_row(Index i) {
    return std::span(draft_memory).subspan(static_cast<std::size_t>(i * vocab), static_cast<std::size_t>(vocab));
}
auto draft_distributions() { return std::array{Sampled(draft_row(0)), Sampled(draft_row(1)), Sampled(draft_row(2))}; }

/// Accepts at node 0 always (p = q), at node 1 with u < 1/2, at node 2 never (p = 0).
ScriptedRng rng(double second, double last) {
    ScriptedRng script;
    for (Index node = 0; node < 3; ++node) script.set(Purpose::accept, node, second);
    return script.set(Purpose::last, 0, last);
}

std::vector<Token> tokens_of(const Round& round) { return {round.tokens.begin(), round.tokens.end()}; }

/// The same round through all forms of arguments.
template <class Ids, class Distributions, class R>
std::vector<Token> judged(const Ids& ids, Distributions&& distributions, R&& rows) {
    Workspace workspace;
    return tokens_of(verify(ids, distributions, rows, rule, rng(.4, .5), {}, workspace));
}

}  // namespace

TEST_CASE("a round on raw memory: two accepted, the third recovered from the residual") {
    Workspace workspace;
    const Round round = verify(drafted, draft_distributions(), target_rows(), rule, rng(.4, .5), {}, workspace);
    REQUIRE(round);
    // At node 2 the residual is max(0, {.75, .25, 0, 0} - {0, .5, .5, 0}): id 0 alone.
    CHECK(tokens_of(round) == std::vector<Token>{1, 0, 0});
    CHECK(round.proposed == 3);
    CHECK(round.evaluated == 3);
    CHECK(round.accepted == 2);
    CHECK(round.last == LastToken::recovered);
}

TEST_CASE("a rejection in the middle ends the round there") {
    Workspace workspace;
    const Round round = verify(drafted, draft_distributions(), target_rows(), rule, rng(.6, .9), {}, workspace);
    // At node 1 the residual is max(0, {.25, .25, .25, .25} - {.5, .25, .125, .125}): ids 2 and 3 alike.
    CHECK(tokens_of(round) == std::vector<Token>{1, 3});
    CHECK(round.evaluated == 2);
    CHECK(round.accepted == 1);
    CHECK(round.last == LastToken::recovered);
}

TEST_CASE("no drafted tokens: one token from row 0 with the last-token draw") {
    Workspace workspace;
    const std::array<Token, 0> none{};
    const auto script = ScriptedRng().set(Purpose::last, 0, .6);
    const Round round = verify(none, PointMass{}, target_rows().topRows(1), rule, script, {}, workspace);
    CHECK(tokens_of(round) == std::vector<Token>{1});
    CHECK(round.last == LastToken::bonus);
    CHECK(round.proposed == 0);
    CHECK(round.evaluated == 0);
}

TEST_CASE("ids may be of any integral type") {
    const std::vector<Token> expected = judged(drafted, draft_distributions(), target_rows());
    CHECK(judged(std::vector<std::int64_t>{1, 0, 2}, draft_distributions(), target_rows()) == expected);
    CHECK(judged(std::array<std::uint8_t, 3>{1, 0, 2}, draft_distributions(), target_rows()) == expected);
    CHECK(judged(std::vector<std::size_t>{1, 0, 2}, draft_distributions(), target_rows()) == expected);
    CHECK(judged(std::span(drafted), draft_distributions(), target_rows()) == expected);
}

TEST_CASE("rows may be a matrix of either layout, a list, a callable, or a slice of a batch") {
    const std::vector<Token> expected = judged(drafted, draft_distributions(), target_rows());
    CHECK(judged(drafted, draft_distributions(), RowMajorMatrix<double>(target_rows().cast<double>())) == expected);
    CHECK(judged(drafted, draft_distributions(), Eigen::MatrixXf(target_rows())) == expected);
    std::vector<Eigen::VectorXf> list;
    for (Index i = 0; i < 4; ++i) list.push_back(target_rows().row(i).transpose());
    CHECK(judged(drafted, draft_distributions(), list) == expected);
    CHECK(judged(drafted, draft_distributions(), [&](Index i) { return list[static_cast<std::size_t>(i)]; }) ==
          expected);
    RowMajorMatrix<float> batch = RowMajorMatrix<float>::Constant(9, vocab + 3, 7);
    batch.block(3, 1, 4, vocab) = target_rows();
    CHECK(judged(drafted, draft_distributions(), batch.block(3, 1, 4, vocab)) == expected);
}

/// A row by a function that is no object.
std::span<const float> target_row(Index i) {
    return std::span(target_memory).subspan(static_cast<std::size_t>(i * vocab), static_cast<std::size_t>(vocab));
}

/// Rows behind a pointer: a list that does not know how many it has.
struct Unbounded {
    const Eigen::VectorXf* rows;
    const Eigen::VectorXf& operator[](std::size_t i) const { return rows[i]; }
};

TEST_CASE("rows may be a function") {
    const std::vector<Token> expected = judged(drafted, draft_distributions(), target_rows());
    CHECK(judged(drafted, draft_distributions(), target_row) == expected);
    CHECK(judged(drafted, draft_distributions(), &target_row) == expected);
}

TEST_CASE("rows may be a list that does not know how many it has, of probabilities or of logits") {
    std::vector<Eigen::VectorXf> probs, logits;
    for (Index i = 0; i < 4; ++i) {
        probs.push_back(target_rows().row(i).transpose());
        logits.push_back(probs.back().array().log());
    }
    const std::vector<Token> expected = judged(drafted, draft_distributions(), target_rows());
    CHECK(judged(drafted, draft_distributions(), Unbounded{probs.data()}) == expected);
    CHECK(judged(drafted, draft_distributions(), logits_of(Unbounded{logits.data()}, 1)) == expected);
    CHECK(judged(drafted, draft_distributions(), slice(Unbounded{probs.data()}, 0, 4)) == expected);
}

TEST_CASE("a list of rows is checked in full where every row is, and counted where it knows its size") {
    std::vector<Eigen::VectorXf> list;
    for (Index i = 0; i < 4; ++i) list.push_back(target_rows().row(i).transpose());
    list[3][0] = NAN;  // the walk stops before
    Workspace workspace;
    const auto judge = [&](auto&& rows) {
        return verify(drafted, draft_distributions(), rows, rule, rng(.6, .5), {.check = Check::every_row}, workspace);
    };
    for (const Round& round : {judge(list), judge(Unbounded{list.data()})}) {
        REQUIRE(round.fault);
        CHECK(round.fault->cause == Cause::not_finite);
        CHECK(round.fault->row == 3);
    }
    CHECK_FALSE(judge([&](Index i) { return list[static_cast<std::size_t>(i)]; }).fault);
    list.resize(3);
    const std::span<const float> array[] = {draft_row(0), draft_row(1), draft_row(2)};
    for (const Round& few : {judge(list), judge(array)}) {
        REQUIRE(few.fault);
        CHECK(few.fault->cause == Cause::wrong_count);
        CHECK(few.fault->value == 3);
    }
}

TEST_CASE("distributions may be an array, a vector or a callable") {
    const std::vector<Token> expected = judged(drafted, draft_distributions(), target_rows());
    const auto array = draft_distributions();
    CHECK(judged(drafted, std::vector(array.begin(), array.end()), target_rows()) == expected);
    CHECK(judged(
              drafted, [](Index i) { return Sampled(draft_row(i)); }, target_rows()) == expected);
}

TEST_CASE("a point mass for all is accepted with probability p, and leaves p without the token") {
    Workspace workspace;
    // p of the drafted tokens is .25, .25 and 0.
    const auto judge = [&](double u, double last) {
        return tokens_of(verify(drafted, PointMass{}, target_rows(), rule, rng(u, last), {}, workspace));
    };
    CHECK(judge(.24, .2) == std::vector<Token>{1, 0, 0});
    CHECK(judge(.25, .2) == std::vector<Token>{0});
    CHECK(judge(.25, .7) == std::vector<Token>{2});
}

TEST_CASE("a round's tokens lie in the workspace, which rounds reuse") {
    Workspace workspace;
    const Round first = verify(drafted, draft_distributions(), target_rows(), rule, rng(.4, .5), {}, workspace);
    const Token* memory = first.tokens.data();
    const Round second = verify(drafted, draft_distributions(), target_rows(), rule, rng(.6, .9), {}, workspace);
    CHECK(second.tokens.data() == memory);
    CHECK(tokens_of(second) == std::vector<Token>{1, 3});
}

TEST_CASE("rows after the node where the walk stops are never asked for") {
    Workspace workspace;
    for (const double second : {.4, .6}) {
        std::vector<Index> asked_rows, asked_distributions;
        const auto rows = [&](Index i) {
            asked_rows.push_back(i);
            return Eigen::VectorXf(target_rows().row(i).transpose());
        };
        const auto distributions = [&](Index i) {
            asked_distributions.push_back(i);
            return Sampled(draft_row(i));
        };
        const Round round = verify(drafted, distributions, rows, rule, rng(second, .5), {}, workspace);
        CHECK(*std::ranges::max_element(asked_rows) == round.accepted);
        CHECK(*std::ranges::max_element(asked_distributions) == round.evaluated - 1);
    }
}

TEST_CASE("a callable's rows after the node where the walk stops are not computed to be checked either") {
    Workspace workspace;
    Index last_row = 0;
    const auto rows = [&](Index i) {
        last_row = std::max(last_row, i);
        return Eigen::VectorXf(target_rows().row(i).transpose());
    };
    const Round round =
        verify(drafted, draft_distributions(), rows, rule, rng(.6, .5), {.check = Check::every_row}, workspace);
    CHECK(last_row == round.accepted);
}

TEST_CASE("a token budget cuts the accepted tokens, and what is cut is not counted") {
    Workspace workspace;
    const auto cut = [&](Index budget) {
        return verify(drafted, draft_distributions(), target_rows(), rule, rng(.4, .5), {.max_tokens = budget},
                      workspace);
    };
    CHECK(tokens_of(cut(1)) == std::vector<Token>{1});
    CHECK(cut(1).evaluated == 1);
    CHECK(cut(1).last == LastToken::stopped);
    CHECK(tokens_of(cut(2)) == std::vector<Token>{1, 0});
    CHECK(cut(2).last == LastToken::stopped);
    CHECK(tokens_of(cut(3)) == std::vector<Token>{1, 0, 0});
    CHECK(cut(3).last == LastToken::recovered);
}

TEST_CASE("a token budget below 1 is refused") {
    Workspace workspace;
    CHECK_THROWS_WITH(
        verify(drafted, draft_distributions(), target_rows(), rule, rng(.4, .5), {.max_tokens = 0}, workspace),
        ContainsSubstring("specsample::verify: limits.max_tokens is 0, but must be at least 1"));
}

TEST_CASE("an accepted stop token ends the round, wherever it was drafted") {
    Workspace workspace;
    const std::array<Token, 1> stops{1};
    const Round round =
        verify(drafted, draft_distributions(), target_rows(), rule, rng(.4, .5), {.stop_tokens = stops}, workspace);
    CHECK(tokens_of(round) == std::vector<Token>{1});
    CHECK(round.last == LastToken::stopped);
    CHECK(round.proposed == 3);
    CHECK(round.evaluated == 1);
}

TEST_CASE("the row after a drafted stop token may be missing, and is not read") {
    Workspace workspace;
    const std::array<Token, 1> stops{0};
    const std::array<Token, 2> ends_in_stop{1, 0};
    const auto distributions = std::array{Sampled(draft_row(0)), Sampled(draft_row(1))};
    const Round round = verify(ends_in_stop, distributions, target_rows().topRows(2), rule, rng(.4, .5),
                               {.stop_tokens = stops, .check = Check::every_row}, workspace);
    REQUIRE(round);
    CHECK(tokens_of(round) == std::vector<Token>{1, 0});
    CHECK(round.last == LastToken::stopped);
    const Round rejected = verify(ends_in_stop, distributions, target_rows().topRows(2), rule, rng(.6, .9),
                                  {.stop_tokens = stops}, workspace);
    CHECK(tokens_of(rejected) == std::vector<Token>{1, 3});
    CHECK(rejected.last == LastToken::recovered);
}

TEST_CASE("a truncated round is as if the rest had never been decided") {
    Workspace workspace;
    for (Index count = 0; count <= 4; ++count) {
        Round round = verify(drafted, draft_distributions(), target_rows(), rule, rng(.4, .5), {}, workspace);
        const Round whole = round;
        round.truncate(count);
        CHECK(std::ssize(round.tokens) == std::min<Index>(count, 3));
        CHECK(round.accepted == std::min<Index>(count, 2));
        CHECK(round.proposed == 3);
        CHECK(round.evaluated == (count < 3 ? round.accepted : 3));
        CHECK(round.last == (count < 3 ? LastToken::stopped : LastToken::recovered));
        CHECK(round.tokens.data() == whole.tokens.data());
        CHECK(round.counts() == RoundCounts{.proposed = 3,
                                            .evaluated = round.evaluated,
                                            .accepted = round.accepted,
                                            .tokens = std::min<Index>(count, 3),
                                            .last = round.last,
                                            .depth = 3,
                                            .discarded = std::max<Index>(0, 3 - count)});
        Tally().record(round.counts());
    }
}

TEST_CASE("keep lengths count from the text before the round, and never fall below it") {
    const ContextModel model(5, 1);  // as draft and target: all is accepted
    Workspace workspace;
    Round round = random_round::Draft({}, random_round::chain_parents(4), model, model, RoundRng(1, 0, 0))
                      .judge(rule, {}, workspace);
    REQUIRE(round.accepted == 4);
    CHECK(round.keep_target(10) == 14);
    CHECK(round.keep_draft(10) == 13);
    round.truncate(2);
    CHECK(round.keep_target(10) == 12);
    CHECK(round.keep_draft(10) == 12);
    round.truncate(0);
    CHECK(round.keep_target(10) == 10);
    CHECK(round.keep_draft(10) == 10);
    round = random_round::Draft({}, {}, model, model, RoundRng(1, 0, 0)).judge(rule, {}, workspace);
    CHECK(round.keep_target(10) == 10);
    CHECK(round.keep_draft(10) == 10);
}

TEST_CASE("p = q accepts every random number below 1, and a residual that is empty by rounding draws from p") {
    // One ulp below 1 in the target at the drafted token: rejected by the largest random number, and nothing is
    // left over.
    const std::array<double, 2> q{.5, .5}, p{.5 - 0x1p-54, .5};
    Workspace workspace;
    const std::array<Token, 1> first{0};
    const auto script =
        ScriptedRng().set(Purpose::accept, 0, 1 - 0x1p-53).set(Purpose::last, 0, .25).set(Purpose::accept, 1, .5);
    CHECK(verify(first, std::array{Sampled(q)}, std::array{q, q}, rule, script, {}, workspace).accepted == 1);
    const Round round = verify(first, std::array{Sampled(q)}, std::array{p, p}, rule, script, {}, workspace);
    REQUIRE(round.accepted == 0);
    CHECK(tokens_of(round) == std::vector<Token>{0});
    CHECK(round.last == LastToken::recovered);
}

TEST_CASE("a round that leaves the draft for the target's own token is matched there, and decided it") {
    // The target's argmaxes are 0, then 0, 0 and 2: the drafted 1 is no match, a drafted 0, 0, 0 is one up to its end.
    Workspace workspace;
    const auto judge = [&](const std::vector<Token>& tokens) {
        const auto rows = target_rows().topRows(std::ssize(tokens) + 1);
        return verify(tokens, PointMass{}, rows, GreedyMatch{}, RoundRng(1, 0, 0), {}, workspace);
    };
    const Round left = judge({0, 1, 2});
    CHECK(tokens_of(left) == std::vector<Token>{0, 0});
    CHECK(left.last == LastToken::matched);
    CHECK(left.accepted == 1);
    CHECK(left.evaluated == 2);
    const Round stayed = judge({0, 0, 0});
    CHECK(tokens_of(stayed) == std::vector<Token>{0, 0, 0, 2});
    CHECK(stayed.last == LastToken::bonus);
    CHECK(stayed.evaluated == 3);
}

TEST_CASE("a predicate decides before the stop tokens, and what ends the text is not kept in a cache") {
    Workspace workspace;
    const std::array<Token, 1> stops{0};
    StopDecision decision = StopDecision::exclude;
    const auto at_zero = [&](std::span<const Token> tokens) {
        return tokens.back() == 0 ? decision : StopDecision::go_on;
    };
    const auto judge = [&] {
        return verify(drafted, draft_distributions(), target_rows(), rule, rng(.4, .5),
                      {.stop_tokens = stops, .until = at_zero}, workspace);
    };
    const Round excluded = judge();
    CHECK(tokens_of(excluded) == std::vector<Token>{1});
    CHECK(excluded.end == RoundEnd::excluded);
    CHECK(excluded.keep_before_end(20, 10) == 11);
    decision = StopDecision::include;
    const Round included = judge();
    CHECK(tokens_of(included) == std::vector<Token>{1, 0});
    CHECK(included.end == RoundEnd::included);
    CHECK(included.keep_before_end(20, 10) == 11);  // the token that ended the text is left for the next call
    decision = StopDecision::go_on;
    const Round stopped = judge();
    CHECK(tokens_of(stopped) == std::vector<Token>{1, 0});
    CHECK(stopped.end == RoundEnd::stop_token);
    CHECK(stopped.keep_before_end(20, 10) == 11);
}
