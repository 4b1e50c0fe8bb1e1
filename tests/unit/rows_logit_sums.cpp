// Rows of logits that come with their sums: the same rounds, without a pass over a row.
#include <specsample/rows/logits.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <vector>

#include <specsample/drafters/draft_token.hpp>
#include <specsample/lossy.hpp>
#include <specsample/random.hpp>
#include <specsample/shaping.hpp>
#include <specsample/values.hpp>
#include <specsample/verify.hpp>

#include "support/catch.hpp"

using namespace specsample;
using kernels::LogitSums;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity(), not_a_number = std::numeric_limits<double>::quiet_NaN();

template <class Value>
using Row1 = Eigen::Array<Value, Eigen::Dynamic, 1>;

template <class Value>
Row1<Value> random_row(std::mt19937_64& random, Index vocab) {
    std::normal_distribution<double> normal(0, 1 + static_cast<double>(random() % 4));
    Row1<Value> row(vocab);
    const double shift = static_cast<double>(random() % 3) * 40 - 40;
    const bool starts_low = random() % 4 == 0;  // so that the first block is no measure of the row
    for (Index id = 0; id < vocab; ++id)
        row[id] = static_cast<Value>(starts_low && id < 600 ? -500. : normal(random) + shift);
    if (random() % 5 == 0) row[static_cast<Index>(random() % 7) % vocab] = static_cast<Value>(-inf);
    return row;
}

void same(const Round& a, const Round& b) {
    REQUIRE(a.accepted == b.accepted);
    REQUIRE(std::vector(a.tokens.begin(), a.tokens.end()) == std::vector(b.tokens.begin(), b.tokens.end()));
    REQUIRE(a.fault.has_value() == b.fault.has_value());
    if (a.fault) REQUIRE(message(*a.fault) == message(*b.fault));
}

}  // namespace

TEMPLATE_TEST_CASE("rounds of logits with their sums are the same rounds", "[rows]", float, double, Eigen::half) {
    std::mt19937_64 random(3);
    Workspace plain, summed;
    for (int round = 0; round < 200; ++round) {
        const Index vocab = 1 + static_cast<Index>(random() % (round % 4 ? 900 : 6000));
        const double temperature = round % 9 == 0 ? 0 : .25 * static_cast<double>(1 + random() % 6);
        std::vector<Row1<TestType>> rows, drafts;
        for (int i = 0; i < 4; ++i) {
            rows.push_back(random_row<TestType>(random, vocab));
            drafts.push_back(random() % 2 ? rows.back() : random_row<TestType>(random, vocab));
        }
        if (round % 20 == 19)
            rows[random() % 4][static_cast<Index>(random()) % vocab & 0] = static_cast<TestType>(not_a_number);
        std::vector<LogitSums> of_rows, of_drafts;
        for (const auto& row : rows) of_rows.emplace_back(row, temperature);
        for (const auto& row : drafts) of_drafts.emplace_back(row, temperature);
        const auto known = [&](Index i) {
            return Logits(rows[static_cast<std::size_t>(i)], of_rows[static_cast<std::size_t>(i)]);
        };
        const auto unknown = [&](Index i) { return Logits(rows[static_cast<std::size_t>(i)], temperature); };
        const RoundRng rng(static_cast<std::uint64_t>(round), 0, 0);
        std::vector<Token> tokens;
        std::vector<DraftedFrom<decltype(Logits(drafts[0], 1.)), TokenVerification>> a, b;
        for (Index i = 0; i < 3; ++i) {
            const auto at = static_cast<std::size_t>(i);
            const Logits plain_row(drafts[at], temperature), summed_row(drafts[at], of_drafts[at]);
            const auto first = draft_token(TokenVerification{}, rng, i, plain_row);
            const auto second = draft_token(TokenVerification{}, rng, i, summed_row);
            REQUIRE(first.token == second.token);
            tokens.push_back(first.token);
            a.push_back(first.distribution);
            b.push_back(second.distribution);
        }
        const auto judge = [&](const auto& rule) {
            for (const Check check : {Check::entries_read, Check::every_row}) {
                RoundLimits limits;
                limits.check = check;
                same(verify(tokens, a, unknown, rule, rng, limits, plain),
                     verify(tokens, b, known, rule, rng, limits, summed));
            }
        };
        judge(TokenVerification{});
        judge(BlockVerification{});
        judge(TraversalVerification{});
        judge(SpecInfer{});
    }
}

TEST_CASE("values of logits with their sums give the same rounds", "[rows]") {
    std::mt19937_64 random(5);
    Workspace plain, summed;
    for (int round = 0; round < 200; ++round) {
        const Index listed = 1 + static_cast<Index>(random() % (round % 4 ? 300 : 3000)), vocab = 2 * listed;
        const double temperature = round % 9 == 0 ? 0 : .25 * static_cast<double>(1 + random() % 6);
        const bool is_sparse = round % 2;
        std::vector<std::int32_t> ids;
        for (Index place = 0; place < listed; ++place) ids.push_back(static_cast<std::int32_t>(2 * place + 1));
        std::vector<Row1<float>> rows;
        for (int i = 0; i < 5; ++i) rows.push_back(random_row<float>(random, listed));
        std::vector<LogitSums> sums;
        for (const auto& row : rows) sums.emplace_back(row, temperature);
        const auto row = [&](Index i, bool has_sums) {
            const auto at = static_cast<std::size_t>(i);
            const auto dense = has_sums ? Row::logits(rows[at], sums[at]) : Row::logits(rows[at], temperature);
            return is_sparse ? Row::sparse(ids, dense, vocab) : dense;
        };
        const RoundRng rng(static_cast<std::uint64_t>(round), 0, 0);
        std::vector<Token> tokens;
        std::vector<Origin> a(2), b(2);
        for (Index i = 0; i < 2; ++i) {
            const auto at = static_cast<std::size_t>(i);
            const Row draft = row(3 + i, false), other = row(3 + i, true);
            const auto [token, origin] = draft_token(TokenVerification{}, rng, i, draft);
            const auto [same_token, other_origin] = draft_token(TokenVerification{}, rng, i, other);
            REQUIRE(same_token == token);
            tokens.push_back(token);
            a[at] = origin, b[at] = other_origin;
        }
        const auto judge = [&](const auto& rule) {
            const auto without = [&](Index i) { return row(i, false); };
            const auto with = [&](Index i) { return row(i, true); };
            same(verify(tokens, a, Rows(without), rule, rng, {}, plain),
                 verify(tokens, b, Rows(with), rule, rng, {}, summed));
        };
        judge(TokenVerification{});
        judge(BlockVerification{});
        judge(SpecInfer{});
    }
    const std::vector<float> logits{1, 2, 3}, other{1, 2};
    const LogitSums of_logits(logits);
    CHECK_THROWS_WITH(Row::logits(other, of_logits),
                      "specsample::Row::logits: the size of the row of sums is 3, but must be that of the logits, 2");
}

TEST_CASE("sums are those of their row", "[rows]") {
    const std::vector<float> logits{1, 2, 3}, other{1, 2};
    const LogitSums sums(logits, .5);
    CHECK(kernels::log_sum_exp(Logits(logits, sums)) ==
          Approx(std::log(std::exp(2.) + std::exp(4.) + std::exp(6.))).epsilon(1e-6));
    CHECK((Logits(logits, sums).probs() == Logits(logits, .5).probs()).all());
    CHECK(Logits(logits, sums).temperature() == .5);
    CHECK_THROWS_WITH(Logits(other, sums),
                      "specsample::Logits: the size of the row of sums is 3, but must be that of the logits, 2");
    CHECK_THROWS_WITH(LogitSums(logits, -1.),
                      "specsample::LogitSums: temperature is -1, but must be a finite number >= 0");
}

TEST_CASE("many rows come with their sums", "[rows]") {
    const std::vector<std::vector<double>> rows{{1, 2, 3}, {5, 2, 2.5}, {4, 4.5, 1}};
    std::vector<LogitSums> sums;
    for (const auto& row : rows) sums.emplace_back(row, .5);
    Workspace a, b;
    const std::vector<Token> tokens{2, 0};
    for (const int position : {0, 1, 2, 3, 4, 5, 6, 7}) {
        const RoundRng rng(1, 2, position);
        const auto judge = [&](const auto& by) {
            const auto known = verify(tokens, PointMass{}, logits_of(rows, sums), by, rng, {}, a);
            same(known, verify(tokens, PointMass{}, logits_of(rows, .5), by, rng, {}, b));
            const auto at = [&](Index i) -> const std::vector<double>& { return rows[static_cast<std::size_t>(i)]; };
            same(known, verify(tokens, PointMass{}, logits_of(at, sums), by, rng, {}, b));
        };
        judge(TokenVerification{});
        judge(SampleMatch{});
    }
    const auto two = logits_of(rows, std::span(sums).first(2));
    CHECK(two[1].probs().size() == 3);
    CHECK_THROWS_WITH(two[2], "specsample::logits_of: the number of sums is 2, but must be one per row, above 2");
}

TEMPLATE_TEST_CASE("the sums of a row that is being made are those of the finished row", "[rows]", float, double,
                   Eigen::half) {
    std::mt19937_64 random(9);
    for (int round = 0; round < 300; ++round) {
        const Index vocab = 1 + static_cast<Index>(random() % (round % 4 ? 900 : 6000));
        const double temperature = round % 9 == 0 ? 0 : .25 * static_cast<double>(1 + random() % 6);
        Row1<TestType> made = random_row<TestType>(random, vocab);
        if (round % 10 == 7) made.head(std::min<Index>(600, vocab)).fill(static_cast<TestType>(-inf));
        if (round % 10 == 8) made[vocab - 1] = static_cast<TestType>(3e4f);  // far above the first block
        if (round % 20 == 19) made[vocab / 2] = static_cast<TestType>(not_a_number);
        std::vector<TestType> row(static_cast<std::size_t>(vocab));
        Index next = 0;
        const auto make = [&](Index first, std::span<TestType> block) {
            REQUIRE(first == next);
            REQUIRE(block.data() == row.data() + first);
            next += std::ssize(block);
            for (std::size_t i = 0; i < block.size(); ++i) block[i] = made[first + static_cast<Index>(i)];
        };
        const LogitSums sums(std::span<TestType>(row), temperature, make);
        REQUIRE(next == vocab);
        const LogitSums expected(row, temperature);
        REQUIRE(sums.size == expected.size);
        REQUIRE(sums.temperature == expected.temperature);
        REQUIRE(sums.encoding.pivot() == expected.encoding.pivot());
        REQUIRE(sums.encoding.peak() == expected.encoding.peak());
        REQUIRE(sums.encoding.scale() == expected.encoding.scale());
        REQUIRE(sums.sums.count == expected.sums.count);
        for (std::size_t i = 0; i < sums.sums.count; ++i)
            REQUIRE((sums.sums.up_to[i] == expected.sums.up_to[i] ||
                     (std::isnan(sums.sums.up_to[i]) && std::isnan(expected.sums.up_to[i]))));
    }
    std::vector<float> row(3);
    const auto make = [](Index, std::span<float> block) { std::ranges::fill(block, 1.f); };
    CHECK_THROWS_WITH(LogitSums(std::span(row), -1., make),
                      "specsample::LogitSums: temperature is -1, but must be a finite number >= 0");
}

TEST_CASE("a row with its sums is read where a token is, and nowhere else", "[rows]") {
    std::mt19937_64 random(8);
    Row1<float> logits = random_row<float>(random, 20000);
    const LogitSums sums(logits);
    const RoundRng rng(1, 0, 0);
    const Token token = draft_token(TokenVerification{}, rng, 0, Logits(logits, sums)).token;
    const Index block = token / 512;
    for (Index id = 0; id < logits.size(); ++id)
        if (id / 512 != block) logits[id] = static_cast<float>(not_a_number);
    CHECK(draft_token(TokenVerification{}, rng, 0, Logits(logits, sums)).token == token);
}

TEST_CASE("shaped rows and copies do without the sums", "[rows]") {
    const std::vector<double> logits{1, 2, 3, 2.5};
    const LogitSums sums(logits);
    filters::ShapedMemory<double> memory;
    const auto shaped = shape(Logits(logits, sums), filters::TopK(2), {}, memory);
    CHECK(shaped.probs().coeff(2) == Approx(1 / (1 + std::exp(-.5))));
    decltype(Logits(logits, sums))::Owned copy;
    Logits(logits, sums).copy_to(copy);
    CHECK((copy.probs() == Logits(logits).probs()).all());
}
