// Rows of which every rank holds a slice.
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "shard/ranks.hpp"
#include "support/catch.hpp"

#include <specsample/kernels/overlap.hpp>
#include <specsample/shard.hpp>
#include <specsample/shaping.hpp>
#include <specsample/specsample.hpp>

using namespace specsample;

namespace {

constexpr Index vocab = 1200;
const ranks::Split split{{0, 300, 700, vocab}};  // every border cuts a block

/// Rows of logits, and the tokens of a round over whole rows or slices of them.
struct Slices {
    std::vector<Eigen::ArrayXf> rows;
    std::vector<Token> tokens{5, 900};

    template <class Rule>
    std::vector<Token> whole(const Rule& rule, std::uint64_t seed) const {
        return round_of(logits_of(rows), rule, seed);
    }
    template <class Rule>
    std::vector<std::vector<Token>> sliced(const Rule& rule, std::uint64_t seed, std::uint64_t seed_of_last) const {
        return ranks::on_ranks(split.ranks(), [&](Index rank, shard::Ranks& ranks) {
            std::vector<shard::Sharded<Logits<decltype(split.slice(rows[0], rank))>>> slices;
            for (const auto& row : rows)
                slices.emplace_back(Logits(split.slice(row, rank)), split.first(rank), vocab, ranks);
            return round_of(slices, rule, rank == 2 ? seed_of_last : seed);
        });
    }

  private:
    /// The tokens; -1 and the cause for a fault.
    template <class Rows, class Rule>
    std::vector<Token> round_of(const Rows& given, const Rule& rule, std::uint64_t seed) const {
        Workspace workspace;
        const Round round = verify(tokens, PointMass{}, given, rule, RoundRng(seed, 0, 0), {}, workspace);
        if (round.fault) return {-1, static_cast<Token>(round.fault->cause)};
        return {round.tokens.begin(), round.tokens.end()};
    }
};

Slices random_slices() {
    Slices made;
    for (Index row = 0; row < 3; ++row) {
        made.rows.emplace_back(vocab);
        for (Index id = 0; id < vocab; ++id)
            made.rows.back()[id] = static_cast<float>(
                Rng({.seed = 1, .request = 0, .position = row, .purpose = Purpose::draft, .node = id}).uniform());
    }
    return made;
}

}  // namespace

TEST_CASE("mutants: rows of slices are sampled as whole ones") {
    const Slices given = random_slices();
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        for (const auto& tokens : given.sliced(TokenVerification(), seed, seed))
            CHECK(tokens == given.whole(TokenVerification(), seed));
        for (const auto& tokens : given.sliced(GumbelMatch(), seed, seed))
            CHECK(tokens == given.whole(GumbelMatch(), seed));
    }
}

TEST_CASE("mutants: of equal numbers in two slices the lowest id is the largest") {
    Slices given = random_slices();
    for (auto& row : given.rows) row[250] = row[650] = row[1100] = 2;
    for (const auto& tokens : given.sliced(GreedyMatch(), 0, 0)) CHECK(tokens == std::vector<Token>{250});
}

TEST_CASE("mutants: a row that races again has the winner of the race that is asked for") {
    const Slices given = random_slices();
    const auto winners_of = [](const auto& row) {
        std::vector<Index> winners;
        for (Index race_at = 0; race_at < 20; ++race_at)
            winners.push_back(race(RoundRng(1, 0, race_at / 2).at(Purpose::race, 0), row));
        return winners;
    };
    const std::vector<Index> expected = winners_of(Logits(given.rows[0]));
    for (const auto& winners : ranks::on_ranks(split.ranks(), [&](Index rank, shard::Ranks&ranks) {
             return winners_of(
                 shard::Sharded(Logits(split.slice(given.rows[0], rank)), split.first(rank), vocab, ranks));
         }))
        CHECK(winners == expected);
}

TEST_CASE("mutants: what is left of a row races as that of the whole row") {
    const Slices given = random_slices();
    const std::vector<Token> without{5, 400, 1199};
    const auto winner_of = [&](const auto& row) {
        const auto view = row.unnormalised();
        std::vector<Index> winners;
        for (Index start = 0; start < 20; ++start)
            winners.push_back(race(RoundRng(1, 0, start).at(Purpose::race, 0), kernels::WithoutWeights(view, without)));
        return winners;
    };
    const Eigen::ArrayXf row = given.rows[0] * 20;
    const std::vector<Index> expected = winner_of(Logits(row));
    for (const auto& winners : ranks::on_ranks(split.ranks(), [&](Index rank, shard::Ranks&ranks) {
             return winner_of(shard::Sharded(Logits(split.slice(row, rank)), split.first(rank), vocab, ranks));
         }))
        CHECK(winners == expected);
}

TEST_CASE("mutants: another seed on one rank is a fault of all") {
    for (const auto& tokens : random_slices().sliced(TokenVerification(), 1, 2))
        CHECK(tokens == std::vector<Token>{-1, static_cast<Token>(Cause::ranks_differ)});
}

TEST_CASE("mutants: a gap between two slices is a fault of all ranks") {
    const auto causes = ranks::on_ranks(2, [&](Index rank, shard::Ranks& ranks) {
        const std::vector<float> half(4, .125f);
        const std::vector<shard::Sharded<std::vector<float>>> rows = [&] {
            std::vector<shard::Sharded<std::vector<float>>> made;
            made.emplace_back(half, rank == 0 ? 0 : 5, 9, ranks);
            return made;
        }();
        Workspace workspace;
        const Round round =
            verify(std::vector<Token>(), PointMass{}, rows, TokenVerification(), RoundRng(1, 0, 0), {}, workspace);
        return round.fault ? round.fault->cause : Cause::empty;
    });
    for (const Cause cause : causes) CHECK(cause == Cause::slice_begin);
}

TEST_CASE("mutants: a token that a bias lifts among the largest is gathered") {
    const Slices given = random_slices();
    const SamplingParams params{.top_k = 3, .logit_bias = {{40, 9.}, {1000, 9.}}};
    const auto ids_of = [&](const auto& row) {
        filters::ShapedMemory<float> memory;
        const auto shaped = shape(row, params, {}, memory);
        return std::pair(shaped.ids().place_of(40), shaped.ids().place_of(1000));
    };
    for (const auto& places : ranks::on_ranks(split.ranks(), [&](Index rank, shard::Ranks&ranks) {
             return ids_of(shard::Sharded(Logits(split.slice(given.rows[0], rank)), split.first(rank), vocab, ranks));
         }))
        CHECK(places == ids_of(Logits(given.rows[0])));
    CHECK(ids_of(Logits(given.rows[0])).first >= 0);
}

TEST_CASE("mutants: a token that a bias bans is left out by top-k of slices") {
    Eigen::ArrayXf row = Eigen::ArrayXf::Constant(vocab, -std::numeric_limits<float>::infinity());
    row[3] = row[400] = row[1000] = 1;
    const SamplingParams params{.top_k = 40, .logit_bias = {{400, -std::numeric_limits<double>::infinity()}}};
    const auto count_of = [&](const auto& given) {
        filters::ShapedMemory<float> memory;
        return shape(given, params, {}, memory).ids().size(vocab);
    };
    CHECK(count_of(Logits(row)) == 2);
    for (const Index count : ranks::on_ranks(split.ranks(), [&](Index rank, shard::Ranks& ranks) {
             return count_of(shard::Sharded(Logits(split.slice(row, rank)), split.first(rank), vocab, ranks));
         }))
        CHECK(count == 2);
}

TEST_CASE("mutants: a check of every row reads the rows that tokens were drafted from on every rank") {
    const Slices given = random_slices();
    for (const auto& tokens : ranks::on_ranks(split.ranks(), [&](Index rank, shard::Ranks& ranks) {
             using Row = shard::Sharded<Logits<decltype(split.slice(given.rows[0], rank))>>;
             std::vector<Row> rows, drafts;
             std::vector<Sampled<detail::row_view_t<Row>>> distributions;
             for (const auto& row : given.rows)
                 rows.emplace_back(Logits(split.slice(row, rank)), split.first(rank), vocab, ranks);
             for (const std::size_t row : {1u, 0u})
                 drafts.emplace_back(Logits(split.slice(given.rows[row], rank)), split.first(rank), vocab, ranks);
             for (const Row& row : drafts) distributions.emplace_back(row);
             Workspace workspace;
             const Round round = verify(given.tokens, distributions, rows, SampleMatch(), RoundRng(1, 0, 0),
                                        {.check = Check::every_row}, workspace);
             const Index drafted = ranks.traffic().exchanges;
             const auto entry = distributions[0].weight(1100);  // of the last slice, and never drafted
             return std::tuple(round.tokens[0], entry, drafted, ranks.traffic().exchanges);
         }, 5)) {
        CHECK(std::get<0>(tokens) == given.whole(SampleMatch(), 1)[0]);
        CHECK(std::get<1>(tokens) == Logits(given.rows[1]).probs().coeff(1100));
        CHECK(std::get<3>(tokens) == std::get<2>(tokens) + 1);
    }
}

TEST_CASE("mutants: draft rows that other ranks share are subtracted on every rank") {
    const Slices given = random_slices();
    const ranks::Split whole_on_one{{0, vocab, vocab, vocab}};
    const auto round_of = [&](const auto& rows, const auto& drafts, std::uint64_t seed) {
        std::vector<Sampled<detail::row_view_t<decltype(drafts[0])>>> distributions;
        for (const auto& row : drafts) distributions.emplace_back(row);
        Workspace workspace;
        const Round round =
            verify(given.tokens, distributions, rows, TokenVerification(), RoundRng(seed, 0, 0), {}, workspace);
        std::vector<Token> tokens(round.tokens.begin(), round.tokens.end());
        tokens.push_back(static_cast<Token>(round.accepted));
        return tokens;
    };
    Eigen::ArrayXf sharper = 9 * given.rows[1];
    sharper[5] += 9;  // so that it is often rejected
    const std::vector<Logits<const Eigen::ArrayXf&>> whole_drafts{Logits(sharper), Logits(given.rows[0])};
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const std::vector<Token> expected = round_of(specsample::logits_of(given.rows), whole_drafts, seed);
        for (const auto& tokens : ranks::on_ranks(3, [&](Index rank, shard::Ranks& ranks, shard::Thread& thread) {
                 shard::Ranks others(thread);
                 using Row = shard::Sharded<Logits<decltype(split.slice(sharper, rank))>>;
                 std::vector<Row> rows, drafts;
                 for (const auto& row : given.rows)
                     rows.emplace_back(Logits(whole_on_one.slice(row, rank)), whole_on_one.first(rank), vocab, ranks);
                 drafts.emplace_back(Logits(split.slice(sharper, rank)), split.first(rank), vocab, others);
                 drafts.emplace_back(Logits(split.slice(given.rows[0], rank)), split.first(rank), vocab, others);
                 return round_of(rows, drafts, seed);
             }, 5))
            CHECK(tokens == expected);
    }
}

TEST_CASE("mutants: of equal numbers in slices the lowest ids are the largest") {
    const Eigen::ArrayXf row = Eigen::ArrayXf::Constant(vocab, 1.f / vocab);
    const auto top_of = [](const auto& given) {
        std::vector<Token> top(40);
        top.resize(static_cast<std::size_t>(kernels::top_ids(given, top)));
        return top;
    };
    for (const auto& top : ranks::on_ranks(split.ranks(), [&](Index rank, shard::Ranks& ranks) {
             return top_of(shard::Sharded(split.slice(row, rank), split.first(rank), vocab, ranks));
         }))
        CHECK(top == top_of(row));
}

TEST_CASE("mutants: rows of slices that are judged again are drawn from again") {
    const Slices given = random_slices();
    const auto tokens_of = [&](const auto& rows) {
        std::vector<Token> tokens;
        Workspace workspace;
        for (std::uint64_t seed = 0; seed < 20; ++seed) {
            const Round round =
                verify(given.tokens, PointMass{}, rows, SampleMatch(), RoundRng(seed, 0, 0), {}, workspace);
            tokens.insert(tokens.end(), round.tokens.begin(), round.tokens.end());
            const RoundRng other(100 + seed, 0, 0);  // of which the round has not heard
            tokens.push_back(static_cast<Token>(draw(other.at(Purpose::last, 0), rows[2]).index));
        }
        return tokens;
    };
    const std::vector<Token> expected = tokens_of(specsample::logits_of(given.rows));
    for (const auto& tokens : ranks::on_ranks(split.ranks(), [&](Index rank, shard::Ranks& ranks) {
             std::vector<shard::Sharded<Logits<decltype(split.slice(given.rows[0], rank))>>> slices;
             for (const auto& row : given.rows)
                 slices.emplace_back(Logits(split.slice(row, rank)), split.first(rank), vocab, ranks);
             return tokens_of(slices);
         }))
        CHECK(tokens == expected);
}

TEST_CASE("mutants: one random number draws another id once the first is left out") {
    struct Zero {
        static double uniform() { return 0; }
    };
    const Eigen::ArrayXf row = Eigen::ArrayXf::Constant(vocab, 1.f / vocab);
    for (const auto& ids : ranks::on_ranks(split.ranks(), [&](Index rank, shard::Ranks& ranks) {
             const shard::Sharded mine(split.slice(row, rank), split.first(rank), vocab, ranks);
             const auto view = mine.probs();
             std::vector<Token> ids;
             for (int i = 0; i < 3; ++i)
                 ids.push_back(static_cast<Token>(draw(Zero(), kernels::WithoutWeights(view, ids)).index));
             return ids;
         }))
        CHECK(ids == std::vector<Token>{0, 1, 2});
}

TEST_CASE("mutants: slices whose first block is far below the largest have the probabilities of the whole row") {
    Eigen::ArrayXf row = 9 * random_slices().rows[0];
    row.head(512) -= 1000;
    row[600] = 20;
    const auto masses_of = [](const auto& given) {
        std::vector<float> masses;
        for (Index id = 512; id < vocab; ++id) masses.push_back(given.probs().coeff(id));
        return masses;
    };
    for (const auto& masses : ranks::on_ranks(split.ranks(), [&](Index rank, shard::Ranks& ranks) {
             return masses_of(shard::Sharded(Logits(split.slice(row, rank)), split.first(rank), vocab, ranks));
         }))
        CHECK(masses == masses_of(Logits(row)));
}

TEST_CASE("mutants: ranks that read other things of a row find out") {
    const Slices given = random_slices();
    for (const bool found : ranks::on_ranks(split.ranks(), [&](Index rank, shard::Ranks& ranks) {
             const shard::Sharded row(Logits(split.slice(given.rows[0], rank)), split.first(rank), vocab, ranks);
             const auto view = row.unnormalised();
             if (rank == 1) return !(view.coeff(3) >= 0);  // reads the whole row
             std::vector<Token> top(2);
             return kernels::top_ids(view, top) == 0;
         }, 5))
        CHECK(found);
}

TEST_CASE("mutants: what reads whole rows of slices has them on every rank") {
    const Slices given = random_slices();
    const auto overlap_of = [](const auto& first, const auto& second) {
        return std::pair(kernels::overlap(first, second), kernels::overlap(second, first));
    };
    const auto expected = overlap_of(Logits(given.rows[0]), Logits(given.rows[1]));
    for (const ranks::Split& used : {split, ranks::Split{{0, vocab, vocab}}})
        for (const auto& overlap : ranks::on_ranks(used.ranks(), [&](Index rank, shard::Ranks& ranks) {
                 const auto sliced = [&](const Eigen::ArrayXf& row) {
                     return shard::Sharded(Logits(used.slice(row, rank)), used.first(rank), vocab, ranks);
                 };
                 const auto overlap = overlap_of(sliced(given.rows[0]), sliced(given.rows[1]));
                 sliced(given.rows[0]).argmax();  // no rank is an exchange ahead
                 return overlap;
             }, 5))
            CHECK(overlap == expected);
}

TEST_CASE("mutants: a nucleus is that of the changed row") {
    const Slices given = random_slices();
    SamplingParams params{.temperature = .02, .top_p = .95};
    for (Token id = 0; id < vocab; id += 40) params.logit_bias.emplace_back(id, .2);
    const auto left_of = [&](const auto& row) {
        filters::ShapedMemory<float> memory;
        const auto ids = shape(row, params, {}, memory).ids();
        std::vector<Index> left;
        for (Index place = 0; place < ids.size(vocab); ++place) left.push_back(ids.id(place));
        return left;
    };
    const std::vector<Index> expected = left_of(Logits(given.rows[0]));
    CHECK(expected.size() > 2);
    CHECK(std::ssize(expected) < vocab / 10);  // else the row is gathered
    for (const auto& left : ranks::on_ranks(split.ranks(), [&](Index rank, shard::Ranks&ranks) {
             return left_of(shard::Sharded(Logits(split.slice(given.rows[0], rank)), split.first(rank), vocab, ranks));
         }))
        CHECK(left == expected);
}
