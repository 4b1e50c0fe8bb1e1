// The normaliser of a row of logits is found once in a round, however often a walk comes back to the row.
#include <specsample/drafters.hpp>
#include <specsample/rows/sparse.hpp>
#include <specsample/values.hpp>
#include <specsample/verify.hpp>

#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

#include "support/catch.hpp"

using namespace specsample;

namespace {

constexpr Index vocab = 4096, lookahead = 4;

/// Logits that count how often one is read.
struct Counted {
    const Eigen::VectorXf* logits;
    Index* reads;

    float operator()(Index i) const {
        ++*reads;
        return (*logits)[i];
    }
};

/// The logits of a position, and those of a draft beside it.
Eigen::VectorXf logits_at(Index position, double noise) {
    Eigen::VectorXf logits(vocab);
    for (Index id = 0; id < vocab; ++id) {
        const auto z = [&](std::uint64_t seed) {
            return 2 * Rng({.seed = seed, .position = position, .node = id}).uniform();
        };
        logits[id] = static_cast<float>(z(1) + noise * z(2));
    }
    return logits;
}

/// Rounds of block verification over the same rows.
struct Rounds {
    std::vector<Eigen::VectorXf> target, draft;

    explicit Rounds(Index begin) {
        for (Index i = begin; i <= begin + lookahead; ++i) {
            target.push_back(logits_at(i, 0));
            const Eigen::ArrayXf weights = logits_at(i, 1).array().exp();
            draft.push_back(weights / weights.sum());
        }
    }

    template <class TargetRows>
    Round judge(const RoundRng& rng, const TargetRows& rows, Check check, Workspace& workspace) const {
        std::vector<Token> tokens;
        std::vector<DraftedFrom<Eigen::VectorXf, BlockVerification>> distributions;
        for (Index i = 0; i < lookahead; ++i) {
            const auto [token, distribution] =
                draft_token(BlockVerification{}, rng, i, draft[static_cast<std::size_t>(i)]);
            tokens.push_back(token);
            distributions.push_back(distribution);
        }
        return verify(tokens, distributions, rows, BlockVerification{}, rng, {.check = check}, workspace);
    }
};

/// The normaliser, with its first look for a pivot; a pass for a residual or a draw; the block that is picked from.
constexpr Index once = (vocab + 512) + vocab + 2 * 512 + 64;

template <class RowOf>
void check_reads(const RowOf& row_of) {
    const Rounds rounds(0);
    for (const Check check : {Check::entries_read, Check::every_row}) {
        Index returned = 0;
        for (std::uint64_t seed = 0; seed < 40; ++seed) {
            std::vector<Index> reads(rounds.target.size());
            std::vector<decltype(row_of(Counted{}))> rows;
            for (std::size_t i = 0; i < reads.size(); ++i)
                rows.push_back(row_of(Counted{&rounds.target[i], &reads[i]}));
            Workspace workspace;
            const Round round = rounds.judge(RoundRng(seed, 0, 0), rows, check, workspace);
            REQUIRE(round);
            for (const Index count : reads) CHECK(count <= once);
            returned += round.last == LastToken::recovered ? 1 : 0;
        }
        CHECK(returned > 10);
    }
}

}  // namespace

TEST_CASE("a walk that comes back to a row of logits does not find its normaliser again") {
    check_reads([](const Counted& row) { return Logits(Eigen::VectorXf::NullaryExpr(vocab, row), .8); });
}

TEST_CASE("a walk that comes back to a sparse row of logits does not find its normaliser again") {
    static const std::vector<Token> ids = [] {
        std::vector<Token> all(vocab);
        std::iota(all.begin(), all.end(), 0);
        return all;
    }();
    check_reads(
        [](const Counted& row) { return Sparse(ids, Logits(Eigen::VectorXf::NullaryExpr(vocab, row), .8), vocab); });
}

TEST_CASE("a drafted row of logits is read where its token is judged, and once") {
    /// Logits that count how many of them are read.
    class Reader final : public RowReader {
      public:
        explicit Reader(Eigen::VectorXf logits) : logits_(std::move(logits)) {}
        Index size() const override { return logits_.size(); }
        void read(Index first, std::span<float> out) const override {
            for (float& logit : out) logit = logits_[first++];
            reads += std::ssize(out);
        }
        mutable Index reads = 0;

      private:
        Eigen::VectorXf logits_;
    };
    struct Reads {
        std::vector<Index> reads;
        Index accepted, evaluated;
    };
    constexpr Index some = 4 * 512;  // to look for a pivot, to pick a token, and single entries
    Index judged = 0, left_out = 0;
    const auto round_of = [&](double temperature, Check check, const auto& rule, std::uint64_t seed) {
        std::vector<Reader> draft;
        std::vector<Eigen::VectorXf> target;
        std::vector<Origin> origins;
        std::vector<Token> tokens;
        std::vector<Row> rows;
        for (Index i = 0; i <= lookahead; ++i) target.push_back(logits_at(i, 0));
        for (Index i = 0; i < lookahead; ++i) draft.emplace_back(logits_at(i, .4));
        for (const Eigen::VectorXf& row : target) rows.push_back(Row::logits({row.data(), vocab}, temperature));
        const RoundRng rng(seed, 0, 0);
        for (Index i = 0; i < lookahead; ++i) {
            Reader& reader = draft[static_cast<std::size_t>(i)];
            const Row row = Row::logits(reader, temperature);
            tokens.push_back(draft_token(rule, rng, i, row).token);
            reader.reads = 0;
            origins.push_back(Origin::sampled(row));
            CHECK(reader.reads == 0);
        }
        Workspace workspace;
        const Round round = verify(tokens, origins, rows, rule, rng, {.check = check}, workspace);
        REQUIRE(round);
        Reads reads{{}, round.accepted, round.evaluated};
        for (const Reader& reader : draft) reads.reads.push_back(reader.reads);
        return reads;
    };
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        // The row of a rejected token may be subtracted, and is then read a second time.
        const auto [reads, accepted, evaluated] = round_of(.8, Check::entries_read, TokenVerification{}, seed);
        for (Index i = 0; i < lookahead; ++i) {
            const Index read = reads[static_cast<std::size_t>(i)];
            if (i < evaluated) {
                CHECK(read >= vocab);
                CHECK(read < (i < accepted ? 1 : 2) * vocab + some);
                ++judged;
            } else {
                CHECK(read == 0);
                ++left_out;
            }
        }
        // An argmax is found once as well. A rule that looks ahead subtracts a row after that, and a check of all rows
        // reads each once more.
        for (const Index read : round_of(0, Check::entries_read, TokenVerification{}, seed).reads)
            CHECK(read < vocab + some);
        for (const Index read : round_of(.8, Check::entries_read, BlockVerification{}, seed).reads)
            CHECK(read < 2 * vocab + some);
        for (const Index read : round_of(.8, Check::every_row, TokenVerification{}, seed).reads)
            CHECK(read < 3 * vocab + some);
    }
    CHECK(judged > 50);
    CHECK(left_out > 50);
}

TEST_CASE("a walk that comes back to a row of logits at temperature 0 does not find its argmax again") {
    const Rounds rounds(0);
    std::vector<Index> reads(rounds.target.size());
    std::vector<Logits<decltype(Eigen::VectorXf::NullaryExpr(vocab, Counted{}))>> rows;
    for (std::size_t i = 0; i < reads.size(); ++i)
        rows.emplace_back(Eigen::VectorXf::NullaryExpr(vocab, Counted{&rounds.target[i], &reads[i]}), 0.);
    Workspace workspace;
    // A walk comes back to all rows that it needs if they were checked before it.
    for (const Check check : {Check::entries_read, Check::every_row})
        for (std::uint64_t seed = 0; seed < 20; ++seed) {
            std::ranges::fill(reads, 0);
            REQUIRE(rounds.judge(RoundRng(seed, 0, 0), rows, check, workspace));
            for (const Index count : reads) CHECK(count <= vocab + 2 * 512);
        }
}

TEST_CASE("what is known of the rows of a round is forgotten in the next") {
    Workspace reused;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        const Rounds rounds(static_cast<Index>(seed % 2) * (lookahead + 1));
        const double temperature = seed % 3 == 0 ? .5 : 2;
        const auto rows = [&](Index i) { return Logits(rounds.target[static_cast<std::size_t>(i)], temperature); };
        Workspace fresh;
        const Round expected = rounds.judge(RoundRng(seed, 0, 0), rows, Check::entries_read, fresh);
        const Round round = rounds.judge(RoundRng(seed, 0, 0), rows, Check::entries_read, reused);
        REQUIRE(expected);
        CHECK(round.counts() == expected.counts());
        CHECK(std::ranges::equal(round.tokens, expected.tokens));
    }
}
