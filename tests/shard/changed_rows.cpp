// A sliced draft row that is overwritten before the round judges it is the same fault on every rank.
#include <algorithm>
#include <optional>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "shard/ranks.hpp"
#include "support/catch.hpp"

#include <specsample/shard.hpp>
#include <specsample/specsample.hpp>

using namespace specsample;

namespace {

constexpr Index vocab = 1200, lookahead = 3;

Eigen::ArrayXf random_row(unsigned seed, bool are_logits) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    Eigen::ArrayXf row(vocab);
    for (float& x : row) x = 2.5f * normal(random);
    if (!are_logits) row = (row - row.maxCoeff()).exp() / (row - row.maxCoeff()).exp().sum();
    return row;
}

/// What a rank says of its round.
struct Seen {
    std::vector<Token> drafted, tokens;
    std::optional<RowFault> fault;

    Seen() = default;
    Seen(const std::vector<Token>& draft, const Round& round)
        : drafted(draft), tokens(round.tokens.begin(), round.tokens.end()), fault(round.fault) {}
};

/// Drafts `lookahead` tokens on one rank, from buffers of their own or from one, and judges them.
template <bool are_logits, bool is_tree, class Rule>
Seen round_of(const Rule& rule, const ranks::Split& split, Index rank, shard::Ranks& ranks, unsigned seed, bool shared,
              Check check) {
    const auto sliced = [&](const Eigen::ArrayXf& row) {
        if constexpr (are_logits) {
            return shard::Sharded(Logits(split.slice(row, rank), .8), split.first(rank), vocab, ranks);
        } else {
            return shard::Sharded(split.slice(row, rank), split.first(rank), vocab, ranks);
        }
    };
    using R = decltype(sliced(std::declval<const Eigen::ArrayXf&>()));
    const RoundRng rng(seed, 0, 7);
    std::vector<Eigen::ArrayXf> buffers(static_cast<std::size_t>(lookahead), Eigen::ArrayXf(vocab)), targets;
    std::vector<R> q, p;
    std::vector<Token> tokens, siblings(2);
    std::vector<DraftedFrom<R, Rule>> distributions;
    q.reserve(static_cast<std::size_t>(lookahead));
    for (Index i = 0; i < lookahead; ++i) {
        Eigen::ArrayXf& buffer = buffers[shared ? 0 : static_cast<std::size_t>(i)];
        const auto write = [&](unsigned number) { std::ranges::copy(random_row(number, are_logits), buffer.data()); };
        write(100 * seed + static_cast<unsigned>(i));
        q.push_back(sliced(buffer));
        // Of the tree, the first two are siblings without replacement, and the third is a child of the first.
        const bool is_second = is_tree && i == 1;
        if (is_second) write(100 * seed);
        const auto [token, distribution] =
            is_second ? draft_token(rule, rng, i, q[0], 0, std::span<const Token>(siblings).first(1))
                      : draft_token(rule, rng, i, q.back());
        if (is_tree && i < 2) siblings[static_cast<std::size_t>(i)] = token;
        tokens.push_back(token);
        distributions.push_back(distribution);
    }
    for (Index i = 0; i <= lookahead; ++i) targets.push_back(random_row(100 * seed + 50, are_logits));
    for (const auto& row : targets) p.push_back(sliced(row));
    Workspace workspace;
    if constexpr (is_tree) {
        const std::vector<int> parents{-1, -1, 0};
        return {tokens, verify(Tree{tokens, parents}, distributions, p, rule, rng, {.check = check}, workspace)};
    } else {
        return {tokens, verify(tokens, distributions, p, rule, rng, {.check = check}, workspace)};
    }
}

template <bool are_logits, bool is_tree, class Rule>
void check_rule(const Rule& rule) {
    for (const auto& split : ranks::splits(vocab))
        for (const bool shared : {false, true})
            for (unsigned seed = 0; seed < 3; ++seed)
                for (const Check check : {Check::entries_read, Check::every_row}) {
                    CAPTURE(split.borders, shared, seed);
                    const auto seen = ranks::on_ranks(split.ranks(), [&](Index rank, shard::Ranks& ranks) {
                        return round_of<are_logits, is_tree>(rule, split, rank, ranks, seed, shared, check);
                    });
                    for (const Seen& one : seen) {
                        CHECK(one.drafted == seen[0].drafted);
                        CHECK(one.tokens == seen[0].tokens);
                        REQUIRE(one.fault.has_value() == shared);
                        if (!shared) continue;
                        CHECK(one.fault->cause == Cause::row_changed);
                        CHECK(one.fault->side == Side::draft);
                        CHECK(one.fault->row == seen[0].fault->row);
                        if (!is_tree) CHECK(one.fault->row == 0);
                        CHECK(one.fault->value == seen[0].fault->value);
                        CHECK(one.fault->bound == seen[0].fault->bound);
                        CHECK(one.fault->id == seen[0].fault->id);
                    }
                }
}

}  // namespace

TEST_CASE("slices of draft rows that share a buffer are one fault on every rank, and slices of their own are none") {
    check_rule<true, false>(TokenVerification{});
    check_rule<false, false>(TokenVerification{});
    check_rule<true, false>(BlockVerification{});
    check_rule<true, true>(RecursiveRejection{});
    check_rule<false, true>(TraversalVerification{});
}
