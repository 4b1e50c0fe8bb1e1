// A round on rows that no rank holds whole is the round on the whole rows, to the bit.
#include <random>
#include <vector>

#include "shard/ranks.hpp"
#include "support/catch.hpp"
#include "support/rules.hpp"

#include <specsample/shard.hpp>
#include <specsample/specsample.hpp>

using namespace specsample;

namespace {

using Numbers = std::vector<Eigen::ArrayXf>;

/// Rows of logits with a few likely tokens, and drafts that are a little off.
struct Draft {
    Numbers p, q;  // logits
    std::vector<Token> tokens;

    Draft(Index vocab, Index lookahead, unsigned seed) {
        std::mt19937 random(seed);
        std::normal_distribution<float> normal;
        for (Index i = 0; i <= lookahead; ++i) {
            p.emplace_back(vocab);
            for (float& x : p.back()) x = 2.5f * normal(random);
            q.push_back(p.back());
            for (float& x : q.back()) x += normal(random);
            tokens.push_back(
                static_cast<Token>(draw(RoundRng(seed, 0, i).at(Purpose::draft, 0), Logits(q.back())).index));
        }
        tokens.pop_back();
        q.pop_back();
    }
};

/// What is compared of a round.
struct Seen {
    std::vector<Token> tokens;
    Index accepted = 0;
    LastToken last{};
    bool is_bad = false;
    Index exchanges = 0;

    Seen() = default;
    Seen(const Round& round, Index exchanged = 0)
        : tokens(round.tokens.begin(), round.tokens.end()),
          accepted(round.accepted),
          last(round.last),
          is_bad(round.fault.has_value()),
          exchanges(exchanged) {}

    bool operator==(const Seen& other) const {
        return tokens == other.tokens && accepted == other.accepted && last == other.last && is_bad == other.is_bad;
    }
};

Eigen::ArrayXf softmax_of(const Eigen::ArrayXf& logits) {
    Eigen::ArrayXf row = (logits - logits.maxCoeff()).exp();
    return row / row.sum();
}

template <class Rule>
void compare_logits(Index vocab, const Rule& rule, double temperature) {
    for (unsigned seed = 0; seed < 6; ++seed) {
        const Draft draft(vocab, 3, seed);
        const RoundRng rng(seed, 7, 100);
        Workspace workspace;
        std::vector<DraftedFrom<Logits<const Eigen::ArrayXf&>, TokenVerification>> distributions;
        std::vector<Logits<const Eigen::ArrayXf&>> kept;
        for (const auto& q : draft.q) kept.emplace_back(q);
        for (const auto& q : kept) distributions.emplace_back(q);
        const Seen whole = verify(draft.tokens, rules::drafted_for(rule, distributions),
                                  logits_of(draft.p, temperature), rule, rng, {}, workspace);
        for (const auto& split : ranks::splits(vocab)) {
            const auto seen = ranks::on_ranks(split.ranks(), [&](Index rank, shard::Ranks& ranks) {
                using Slice = decltype(split.slice(draft.p[0], rank));
                std::vector<shard::Sharded<Logits<Slice>>> rows;
                for (const auto& p : draft.p)
                    rows.emplace_back(Logits(split.slice(p, rank), temperature), split.first(rank), vocab, ranks);
                Workspace mine;
                const Round round =
                    verify(draft.tokens, rules::drafted_for(rule, distributions), rows, rule, rng, {}, mine);
                return Seen(round, ranks.traffic().exchanges - 1);
            });
            for (const Seen& one : seen) {
                CAPTURE(vocab, seed, split.borders, temperature, one.exchanges, one.tokens, whole.tokens);
                CHECK(one == whole);
            }
        }
    }
}

template <class Rule>
void compare_probabilities(Index vocab, const Rule& rule) {
    for (unsigned seed = 0; seed < 6; ++seed) {
        const Draft draft(vocab, 3, seed);
        Numbers p, q;
        for (const auto& row : draft.p) p.push_back(softmax_of(row));
        for (const auto& row : draft.q) q.push_back(softmax_of(row));
        const RoundRng rng(seed, 7, 100);
        Workspace workspace;
        std::vector<DraftedFrom<Eigen::ArrayXf, TokenVerification>> distributions;
        for (const auto& row : q) distributions.emplace_back(row);
        const Seen whole = verify(draft.tokens, rules::drafted_for(rule, distributions), p, rule, rng, {}, workspace);
        for (const auto& split : ranks::splits(vocab)) {
            const auto seen = ranks::on_ranks(split.ranks(), [&](Index rank, shard::Ranks& ranks) {
                using Slice = decltype(split.slice(p[0], rank));
                std::vector<shard::Sharded<Slice>> rows;
                for (const auto& row : p) rows.emplace_back(split.slice(row, rank), split.first(rank), vocab, ranks);
                Workspace mine;
                const Round round =
                    verify(draft.tokens, rules::drafted_for(rule, distributions), rows, rule, rng, {}, mine);
                return Seen(round, ranks.traffic().exchanges - 1);
            });
            for (const Seen& one : seen) {
                CAPTURE(vocab, seed, split.borders, one.exchanges, one.tokens, whole.tokens);
                CHECK(one == whole);
            }
        }
    }
}

}  // namespace

TEMPLATE_TEST_CASE("rows of slices give the round of whole rows", "", TokenVerification, BlockVerification, GreedyMatch,
                   SampleMatch, GumbelMatch) {
    for (const Index vocab : {5, 700, 1537, 3001}) {
        compare_probabilities(vocab, TestType());
        for (const double temperature : {0., .7, 1.}) compare_logits(vocab, TestType(), temperature);
    }
}
TEST_CASE("rows of slices give the round of whole rows where a block is longer than 512 ids") {
    compare_probabilities(300000, TokenVerification());
    compare_logits(300000, BlockVerification(), 1);
    compare_logits(300000, GumbelMatch(), 1);
}
