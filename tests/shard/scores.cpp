// What is read of a round's rows after it: scores; and rounds whose random numbers are an engine's own.
#include <random>
#include <vector>

#include "shard/ranks.hpp"
#include "support/catch.hpp"

#include <specsample/shard.hpp>
#include <specsample/specsample.hpp>
#include <specsample/verify/batch.hpp>

using namespace specsample;

namespace {

constexpr Index vocab = 1300;

std::vector<Eigen::ArrayXf> random_rows(Index count, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    std::vector<Eigen::ArrayXf> rows(static_cast<std::size_t>(count), Eigen::ArrayXf(vocab));
    for (Eigen::ArrayXf& row : rows)
        for (float& x : row) x = 2 * normal(random);
    return rows;
}

auto slices(const std::vector<Eigen::ArrayXf>& rows, const ranks::Split& split, Index rank, shard::Ranks& ranks) {
    using Slice = decltype(split.slice(rows[0], rank));
    std::vector<shard::Sharded<Logits<Slice>>> sliced;
    for (const auto& row : rows)
        sliced.emplace_back(Logits(split.slice(row, rank), .9), split.first(rank), vocab, ranks);
    return sliced;
}

/// All numbers of a round's scores.
template <class Rows, class Distributions>
std::vector<double> scores_of(const std::vector<Token>& tokens, Distributions& distributions, Rows& rows) {
    const RoundRng rng(3, 0, 0);
    Workspace workspace;
    Scores memory;
    const Round round = verify(tokens, distributions, rows, TokenVerification(), rng, {}, workspace);
    std::vector<double> all;
    for (const TokenScore& score : token_scores(round, rows, memory, 5)) {
        all.insert(all.end(), {double(score.token), double(score.row), score.log_prob, score.margin});
        for (const ScoredId& top : score.top) all.insert(all.end(), {double(top.id), top.log_prob});
    }
    for (const DraftScore& score : draft_scores(round, tokens, distributions, rows, rng, memory))
        all.insert(all.end(), {double(score.node), double(score.token), score.log_draft, score.ratio, score.slack,
                               double(score.accepted)});
    return all;
}

}  // namespace

TEST_CASE("scores of rows of slices are those of whole rows") {
    for (unsigned seed = 0; seed < 4; ++seed) {
        const auto p = random_rows(4, seed);
        auto q = random_rows(3, seed + 100);
        std::vector<Logits<const Eigen::ArrayXf&>> drafts;
        std::vector<DraftedFrom<Logits<const Eigen::ArrayXf&>, TokenVerification>> distributions;
        std::vector<Token> tokens;
        for (std::size_t i = 0; i < q.size(); ++i) q[i] = p[i] + .3f * q[i];
        for (const auto& row : q) drafts.emplace_back(row, .9);
        for (std::size_t i = 0; i < q.size(); ++i) {
            const auto drawn = draft_token(TokenVerification(), RoundRng(seed, 0, 0), static_cast<Index>(i), drafts[i]);
            tokens.push_back(drawn.token);
            distributions.push_back(drawn.distribution);
        }
        const auto whole_rows = logits_of(p, .9);
        const auto whole = scores_of(tokens, distributions, whole_rows);
        REQUIRE(whole.size() > 10);
        for (const auto& split : ranks::splits(vocab))
            for (const auto& seen : ranks::on_ranks(split.ranks(), [&](Index rank, shard::Ranks& ranks) {
                     const auto rows = slices(p, split, rank, ranks);
                     return scores_of(tokens, distributions, rows);
                 }))
                CHECK(seen == whole);
    }
}

TEMPLATE_TEST_CASE("a generator gives rows of slices the numbers that it gives whole rows", "", TokenVerification,
                   BlockVerification, SampleMatch) {
    const auto p = random_rows(4, 5);
    const std::vector<Token> tokens{3, 700, 1299};
    const auto judge = [&](auto& rows) {
        std::mt19937_64 generator(8);
        Workspace workspace;
        const Round round = verify(tokens, PointMass{}, rows, TestType(), GeneratorRng(generator),
                                   {.check = Check::every_row}, workspace);
        std::vector<Token> seen(round.tokens.begin(), round.tokens.end());
        seen.push_back(static_cast<Token>(generator() % 1000));
        return seen;
    };
    const auto whole_rows = logits_of(p, .9);
    const auto whole = judge(whole_rows);
    for (const auto& seen : ranks::on_ranks(3, [&](Index rank, shard::Ranks& ranks) {
             const auto rows = slices(p, ranks::equal(vocab, 3), rank, ranks);
             return judge(rows);
         }))
        CHECK(seen == whole);
}

TEST_CASE("a batch of requests over rows of slices is judged one after the other") {
    const auto p = random_rows(12, 6);
    const std::vector<Token> tokens{3, 700, 1299};
    const auto judge = [&](const auto& rows) {
        BatchWorkspace memory;
        std::vector<Token> all;
        const auto judge_request = [&](Index i, Workspace& workspace) {
            const auto at = [&, i](Index row) -> const auto& { return rows[static_cast<std::size_t>(4 * i + row)]; };
            return verify(tokens, PointMass{}, at, BlockVerification(), RoundRng(4, static_cast<std::uint64_t>(i), 0),
                          {}, workspace);
        };
        const auto rounds = verify_batch(3, judge_request, memory);
        for (const Round& round : rounds) all.insert(all.end(), round.tokens.begin(), round.tokens.end());
        return all;
    };
    std::vector<Logits<const Eigen::ArrayXf&>> whole_rows;
    for (const auto& row : p) whole_rows.emplace_back(row, .9);
    const auto whole = judge(whole_rows);
    REQUIRE(whole.size() >= 3);
    for (const auto& seen : ranks::on_ranks(
             3, [&](Index rank, shard::Ranks& ranks) { return judge(slices(p, ranks::equal(vocab, 3), rank, ranks)); }))
        CHECK(seen == whole);
}

/// The most exchanges of a round.
template <class Rule, class Rows>
Index exchanges_of(const Rule& rule, Index lookahead, Check check, const Rows& make) {
    const std::vector<Token> tokens(static_cast<std::size_t>(lookahead), 3);
    const auto counts = ranks::on_ranks(4, [&](Index rank, shard::Ranks& ranks) {
        Workspace workspace;
        Index most = 0;
        for (Index start = -1; start < 20; ++start) {
            const auto rows = make(rank, ranks);
            const Index before = ranks.traffic().exchanges;
            (void)verify(tokens, PointMass{}, rows, rule, RoundRng(1, 0, std::max<Index>(start, 0)), {.check = check},
                         workspace);
            if (start >= 0)  // the first round also learns the split
                most = std::max(most, ranks.traffic().exchanges - before);
        }
        return most;
    });
    for (const Index count : counts) CHECK(count == counts[0]);
    return counts[0];
}

TEST_CASE("exchanges of a round do not grow with the draft") {
    for (const Check check : {Check::entries_read, Check::every_row})
        for (const Index lookahead : {1, 4, 8}) {
            CAPTURE(lookahead, check == Check::every_row);
            const auto p = random_rows(lookahead + 1, 9);
            const ranks::Split split = ranks::equal(vocab, 4);
            const auto logits = [&](Index rank, shard::Ranks& ranks) { return slices(p, split, rank, ranks); };
            const auto probabilities = [&](Index rank, shard::Ranks& ranks) {
                std::vector<shard::Sharded<std::vector<float>>> rows;
                for (const auto& row : p) {
                    const Eigen::ArrayXf weights = (row - row.maxCoeff()).exp(), probs = weights / weights.sum();
                    const auto slice = split.slice(probs, rank);
                    rows.emplace_back(std::vector<float>(slice.begin(), slice.end()), split.first(rank), vocab, ranks);
                }
                return rows;
            };
            CHECK(exchanges_of(TokenVerification(), lookahead, check, probabilities) <= 3);
            CHECK(exchanges_of(TokenVerification(), lookahead, check, logits) <= 4);
            CHECK(exchanges_of(GreedyMatch(), lookahead, check, probabilities) == 1);
            CHECK(exchanges_of(GreedyMatch(), lookahead, check, logits) == 1);
            CHECK(exchanges_of(GumbelMatch(), lookahead, check, probabilities) == 1);
            CHECK(exchanges_of(GumbelMatch(), lookahead, check, logits) == 1);
            CHECK(exchanges_of(SampleMatch(), lookahead, check, probabilities) <= 2);
            CHECK(exchanges_of(SampleMatch(), lookahead, check, logits) <= 3);
        }
}
