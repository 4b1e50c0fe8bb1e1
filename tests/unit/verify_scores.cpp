// token_scores and draft_scores, against double references over random drafts.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>

#include <specsample/shaping.hpp>

#include "support/catch.hpp"
#include "support/random_round.hpp"

using namespace specsample;
using namespace specsample::filters;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

bool close(double a, double b, double error) { return a == b || std::abs(a - b) <= error; }

/// ln p of a row of logits at a temperature, in double.
double reference(const std::vector<float>& logits, double temperature, Token token) {
    double sum = 0;
    for (const float z : logits) sum += std::exp(static_cast<double>(z) / temperature);
    return static_cast<double>(logits[static_cast<std::size_t>(token)]) / temperature - std::log(sum);
}

std::vector<float> noise(Index size, std::uint64_t seed) {
    std::vector<float> logits(static_cast<std::size_t>(size));
    for (Index i = 0; i < size; ++i)
        logits[static_cast<std::size_t>(i)] =
            static_cast<float>(6 * Rng({.seed = seed}).uniform(static_cast<std::uint32_t>(i)) - 3);
    return logits;
}

Round round_of(std::span<const Token> tokens, std::span<const Index> path) {
    return {.tokens = tokens, .path = path, .accepted = std::ssize(path)};
}

}  // namespace

TEST_CASE("an emitted token is scored in the row it came from, in a chain and in a tree") {
    for (std::uint64_t seed = 0; seed < 240; ++seed) {
        const auto draft = random_round::draft_of(seed);
        Workspace workspace;
        Scores memory;
        const Round round = draft.judge(TokenVerification{}, {}, workspace);
        const auto scores = token_scores(round, draft.target_rows, memory, 2);
        REQUIRE(scores.size() == round.tokens.size());
        std::vector<Token> context = draft.text;
        for (std::size_t i = 0; i < scores.size(); ++i) {
            const auto row = static_cast<std::size_t>(scores[i].row);
            CHECK(draft.context(scores[i].row - 1) == context);
            CHECK(scores[i].token == round.tokens[i]);
            CHECK(scores[i].log_prob == std::log(draft.target_rows[row][round.tokens[i]]));
            context.push_back(round.tokens[i]);
        }
    }
}

TEST_CASE("the tokens of a prompt are scored in its own rows, row by row") {
    constexpr Index vocab = 9, count = 6;
    std::vector<std::vector<float>> rows;
    std::vector<Token> prompt;
    for (Index i = 0; i < count; ++i) {
        rows.push_back(noise(vocab, static_cast<std::uint64_t>(i)));
        prompt.push_back(static_cast<Token>((5 * i + 1) % vocab));
    }
    Scores memory;
    const std::span<const Token> scored = std::span(prompt).subspan(1);  // nothing comes before the first
    const auto scores = token_scores(scored, logits_of(rows, .7), memory, 2);
    REQUIRE(std::ssize(scores) == count - 1);
    for (std::size_t i = 0; i < scores.size(); ++i) {
        CHECK(scores[i].token == scored[i]);
        CHECK(scores[i].row == static_cast<Index>(i));
        CHECK(close(scores[i].log_prob, reference(rows[i], .7, scored[i]), 1e-5));
        CHECK(scores[i].top.size() == 2);
        CHECK(scores[i].top[0].log_prob >= scores[i].log_prob);
    }
    CHECK(token_scores(std::span<const Token>(), rows, memory).empty());
    CHECK_THROWS_WITH(
        token_scores(std::vector<Token>(7), logits_of(rows, .7), memory),
        "specsample::token_scores: the number of rows is 6, but must be at least the number of tokens, 7");
}

TEST_CASE("log-probabilities of logits at any temperature agree with double, where weights are lost as well") {
    const std::array<Index, 0> no_path{};
    Scores memory;
    for (const Index vocab : {3, 64, 513, 2000})
        for (const double temperature : {.02, .7, 1., 3.}) {
            const std::vector<float> logits = noise(vocab, static_cast<std::uint64_t>(vocab));
            for (Token token = 0; token < vocab; token += 1 + token / 4) {
                const std::array tokens{token};
                const auto rows = [&](Index) { return Logits(std::span(logits), temperature); };
                const double expected = reference(logits, temperature, token);
                const auto scores = token_scores(round_of(tokens, no_path), rows, memory);
                CHECK(close(scores[0].log_prob, expected, 1e-6 * (1 + std::abs(expected))));
            }
        }
}

TEST_CASE("the likeliest tokens come in order, the lowest id first on ties, and the margin is between two of them") {
    const std::array<Index, 0> no_path{};
    const std::array<Token, 1> tokens{0};
    Scores memory;
    for (const Index vocab : {1, 2, 5, 64, 65, 700, 3000})
        for (std::uint64_t seed = 0; seed < 4; ++seed) {
            std::vector<float> logits = noise(vocab, seed);
            if (seed % 2 == 1)
                for (float& z : logits) z = std::round(2 * z) / 2;  // many ties
            std::vector<Token> order(logits.size());
            std::iota(order.begin(), order.end(), 0);
            const auto logit = [&](Token id) { return logits[static_cast<std::size_t>(id)]; };
            std::ranges::stable_sort(order, [&](Token a, Token b) { return logit(a) > logit(b); });
            for (const Index top : {0, 1, 7, 64}) {
                const auto rows = [&](Index) { return Logits(std::span(logits), .5); };
                const TokenScore score = token_scores(round_of(tokens, no_path), rows, memory, top)[0];
                REQUIRE(std::ssize(score.top) == std::min(top, vocab));
                for (std::size_t i = 0; i < score.top.size(); ++i) {
                    CHECK(score.top[i].id == order[i]);
                    CHECK(close(score.top[i].log_prob, reference(logits, .5, order[i]), 1e-5));
                }
                CHECK(score.margin == (vocab == 1 ? infinity : double{logit(order[0])} - double{logit(order[1])}));
            }
        }
}

TEST_CASE("at temperature 0 the margin is that of the logits: near ties can be told from bugs") {
    const std::vector<float> logits{1, 2.5f, 2.25f, -1};
    const std::array<Index, 0> no_path{};
    const std::array<Token, 0> nothing{};
    const std::array<std::span<const float>, 1> memory_rows{logits};
    Workspace workspace;
    Scores memory;
    const auto rows = [&](Index) { return Logits(memory_rows[0], 0.); };
    const Round round = verify(nothing, PointMass{}, rows, GreedyMatch{}, RoundRng(1, 0, 0), {}, workspace);
    const TokenScore score = token_scores(round, rows, memory)[0];
    CHECK(score.token == 1);
    CHECK(score.log_prob == 0);
    CHECK(score.margin == .25);
    CHECK(token_scores(round_of(std::array<Token, 1>{2}, no_path), rows, memory)[0].log_prob == -infinity);
}

TEST_CASE("before and after shaping: the same tokens in either rows") {
    const std::vector<float> logits{1, 2, 3, 0};
    const std::array<Index, 0> no_path{};
    const std::array<Token, 1> tokens{1};
    Scores raw, shaped_scores;
    filters::ShapedMemory<float> memory;
    const auto shaped_row = shape(Logits(std::span(logits)), TopK(2), {}, memory);
    const auto rows = [&](Index) { return Logits(std::span(logits)); };
    const auto shaped_rows = [&](Index) { return shaped_row; };
    const Round round = round_of(tokens, no_path);
    CHECK(close(token_scores(round, rows, raw)[0].log_prob, reference(logits, 1, 1), 1e-6));
    const TokenScore score = token_scores(round, shaped_rows, shaped_scores, 4)[0];
    CHECK(close(score.log_prob, -std::log(1 + std::exp(1.)), 1e-6));  // ids 1 and 2 are left
    REQUIRE(score.top.size() == 2);
    CHECK(score.top[0].id == 2);
    CHECK(score.top[1].id == 1);
    CHECK(score.margin == 1);
    const TokenScore masked = token_scores(round_of(std::array<Token, 1>{0}, no_path), shaped_rows, shaped_scores)[0];
    CHECK(masked.log_prob == -infinity);
}

TEST_CASE("scores read no row that the round has not read") {
    for (std::uint64_t seed = 0; seed < 240; ++seed) {
        const auto draft = random_round::draft_of(seed);
        Workspace workspace;
        Scores memory;
        std::vector<Index> read, asked;
        const auto into = [&](std::vector<Index>& list) {
            return [&](Index i) -> const Eigen::VectorXd& {
                list.push_back(i);
                return draft.target_rows[static_cast<std::size_t>(i)];
            };
        };
        const auto distributions = draft.distributions();
        const Round round =
            verify(draft.tree(), distributions, into(read), TokenVerification{}, draft.rng, {}, workspace);
        token_scores(round, into(asked), memory);
        draft_scores(round, draft.tree(), distributions, into(asked), draft.rng, memory);
        for (const Index row : asked) CHECK(std::ranges::find(read, row) != read.end());
    }
}

TEST_CASE("a chain's ratios are p / q, its slacks |u q - p|, and they are the decisions") {
    for (std::uint64_t seed = 0; seed < 600; ++seed) {
        const auto draft = random_round::draft_of(seed);
        if (draft.parents != random_round::chain_parents(draft.size())) continue;
        Workspace workspace;
        Scores memory;
        const auto distributions = draft.distributions();
        const Round round = draft.judge(TokenVerification{}, {}, workspace);
        const auto scores = draft_scores(round, draft.tokens, distributions, draft.target_rows, draft.rng, memory);
        REQUIRE(std::ssize(scores) == round.evaluated);
        for (Index i = 0; i < std::ssize(scores); ++i) {
            const auto at = static_cast<std::size_t>(i);
            const double p = draft.target_rows[at][draft.tokens[at]], q = draft.draft_rows[at][draft.tokens[at]];
            const double u = draft.rng.at(Purpose::accept, i).uniform();
            CHECK(scores[at].node == i);
            CHECK(scores[at].token == draft.tokens[at]);
            // Rows are divided by their sums, which are 1 within a few units of the last place.
            CHECK(scores[at].log_draft == Approx(std::log(q)).margin(1e-14));
            CHECK(scores[at].ratio == Approx(std::min(1., p / q)).epsilon(1e-14));
            CHECK(scores[at].slack == Approx(std::abs(u * q - p)).margin(1e-14));
            CHECK(scores[at].accepted == (u * q < p));
            CHECK(scores[at].accepted == (i < round.accepted));
        }
    }
}

TEST_CASE(
    "a tree's drafted tokens are scored in the order of their decisions, siblings after a rejection by the residual") {
    // Two equal children: the second is judged by max(0, p - q), scaled to sum to 1.
    const Eigen::VectorXd p{{.3, .2, .5}}, q{{.6, .3, .1}};
    const std::array<Token, 2> tokens{0, 0};
    const std::array<Index, 2> parents{-1, -1};
    const std::array distributions{Sampled(p), Sampled(q)};
    const std::array<Eigen::VectorXd, 3> rows{q, p, p};  // root row q, distributions p then q
    int seen = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        const RoundRng rng(seed, 0, 0);
        Workspace workspace;
        Scores memory;
        const Tree tree(tokens, parents);
        const Round round = verify(tree, distributions, rows, TokenVerification{}, rng, {}, workspace);
        const auto scores = draft_scores(round, tree, distributions, rows, rng, memory);
        REQUIRE(!scores.empty());
        CHECK(scores[0].ratio == 1);  // .6 / .3
        CHECK(scores[0].accepted);
        ++seen;
    }
    CHECK(seen == 200);

    const std::array swapped{Sampled(q), Sampled(q)};
    const std::array<Eigen::VectorXd, 3> swapped_rows{p, p, p};
    int second = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        const RoundRng rng(seed, 0, 0);
        Workspace workspace;
        Scores memory;
        const Tree tree(tokens, parents);
        const Round round = verify(tree, swapped, swapped_rows, TokenVerification{}, rng, {}, workspace);
        const auto scores = draft_scores(round, tree, swapped, swapped_rows, rng, memory);
        CHECK(close(scores[0].ratio, .5, 1e-15));
        if (round.accepted == 1 && scores.size() == 1) continue;
        REQUIRE(scores.size() == 2);
        ++second;
        CHECK(scores[1].ratio == 0);  // max(0, .3 - .6): the residual of token 0
        CHECK_FALSE(scores[1].accepted);
        CHECK(round.last == LastToken::recovered);
    }
    CHECK(second > 60);
    CHECK(second < 140);
}

TEST_CASE("a sibling's slack is |u Q - s|, Q being what it was drawn from and s the residual of those before it") {
    const Eigen::VectorXd p{{.1, .35, .55}}, q{{.5, .3, .2}};
    const std::array<Token, 2> tokens{0, 1};
    const std::array<Index, 2> parents{-1, -1};
    const std::vector<Token> without{0};
    const std::array distributions{Sampled(q), Sampled(q, without)};
    const std::array<Eigen::VectorXd, 3> rows{p, p, p};
    const double drawn_from = .3 / (.3 + .2), residual = (.35 - .3) / (.05 + .35);
    int second = 0;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        const RoundRng rng(seed, 0, 0);
        Workspace workspace;
        Scores memory;
        const Tree tree(tokens, parents);
        const Round round = verify(tree, distributions, rows, TokenVerification{}, rng, {}, workspace);
        const auto scores = draft_scores(round, tree, distributions, rows, rng, memory);
        if (scores.size() < 2) continue;
        ++second;
        const double u = rng.at(Purpose::accept, 1).uniform();
        CHECK(close(scores[1].log_draft, std::log(drawn_from), 1e-14));
        CHECK(close(scores[1].ratio, residual / drawn_from, 1e-14));
        CHECK(close(scores[1].slack, std::abs(u * drawn_from - residual), 1e-14));
        CHECK(scores[1].accepted == (u * drawn_from < residual));
    }
    CHECK(second > 20);
}

TEST_CASE("a sibling after a residual that rounding made empty has ratio 0, and its slack is a number") {
    const Eigen::VectorXd p{{0, .5, .5}}, q{{1e-17, .5, .5}};  // rejecting token 0 leaves max(0, p - q) = 0
    const std::array<Token, 2> tokens{0, 1};
    const std::array<Index, 2> parents{-1, -1};
    const std::array distributions{Sampled(q), Sampled(q)};
    const std::array<Eigen::VectorXd, 3> rows{p, p, p};
    const RoundRng rng(1, 0, 0);
    Workspace workspace;
    Scores memory;
    const Tree tree(tokens, parents);
    const Round round = verify(tree, distributions, rows, TokenVerification{}, rng, {}, workspace);
    const auto scores = draft_scores(round, tree, distributions, rows, rng, memory);
    REQUIRE(scores.size() == 2);
    CHECK(scores[1].ratio == 0);
    CHECK(scores[1].slack == .5 * rng.at(Purpose::accept, 1).uniform());
    CHECK_FALSE(scores[1].accepted);
}

TEST_CASE("at every depth of a tree the siblings before the kept child are scored, and no others") {
    Index siblings = 0;
    for (std::uint64_t seed = 30; seed < 60; ++seed) {
        const auto draft = random_round::draft_of(seed);
        const auto distributions = draft.distributions();
        const RoundRng& rng = draft.rng;
        Workspace workspace;
        Scores memory;
        const Round round = draft.judge(TokenVerification{}, {}, workspace);
        std::vector<Index> expected, scored;
        for (std::size_t i = 0; i < round.path.size() + (round.last == LastToken::recovered ? 1 : 0); ++i) {
            const Index above = i == 0 ? root_node : round.path[i - 1];
            const Index last = i < round.path.size() ? round.path[i] : draft.size() - 1;
            for (Index node = 0; node <= last; ++node)
                if (draft.parent(node) == above) expected.push_back(node);
            if (i > 0 && i < round.path.size() && expected.size() > 1)
                siblings += draft.parent(expected[expected.size() - 2]) == above ? 1 : 0;
        }
        const auto scores = draft_scores(round, draft.tree(), distributions, draft.target_rows, rng, memory);
        for (const DraftScore& score : scores) scored.push_back(score.node);
        CHECK(scored == expected);
    }
    CHECK(siblings > 0);
}

TEST_CASE("a warm score allocates nothing new") {
    const auto draft = random_round::draft_of(25);
    Workspace workspace;
    Scores memory;
    const auto distributions = draft.distributions();
    const Round round = draft.judge(TokenVerification{}, {}, workspace);
    const auto all = [&] {
        token_scores(round, draft.target_rows, memory, 8);
        draft_scores(round, draft.tree(), distributions, draft.target_rows, draft.rng, memory);
        return std::array<const void*, 3>{memory.tokens.data(), memory.top.data(), memory.drafts.data()};
    };
    const auto first = all();
    CHECK(all() == first);
}
