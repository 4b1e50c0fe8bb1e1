// The layouts of a batch's memory: flat rows with cumulative lengths in, padded ids out.
#include <specsample/verify/batch.hpp>

#include <array>
#include <vector>

#include <specsample/random/rng.hpp>
#include <specsample/rows/logits.hpp>
#include <specsample/rows/memory.hpp>
#include <specsample/verify.hpp>

#include "support/catch.hpp"

using namespace specsample;

namespace {

const RowMajorMatrix<double> flat = [] {
    RowMajorMatrix<double> rows(6, 3);
    for (Index i = 0; i < rows.size(); ++i) rows.data()[i] = 1 + static_cast<double>((i * 7) % 5);
    for (Index i = 0; i < 6; ++i) rows.row(i) /= rows.row(i).sum();
    return rows;
}();

/// A round with tokens only.
Round round_of(std::span<const Token> tokens) {
    Round round;
    round.tokens = tokens;
    return round;
}

const std::array<Token, 3> three{5, 6, 7};
const std::array<Token, 1> one{9};

}  // namespace

TEST_CASE("a slice of rows is those rows, whatever holds them") {
    std::vector<Eigen::VectorXd> list;
    for (Index i = 0; i < 6; ++i) list.push_back(flat.row(i).transpose());
    const auto computed = [&](Index i) { return list[static_cast<std::size_t>(i)]; };
    RowMajorMatrix<double> padded = RowMajorMatrix<double>::Constant(6, 5, 9);
    padded.leftCols(3) = flat;
    const RowMajorMatrix<double> logits = flat.array().log();
    const std::vector<Token> tokens{1, 2};
    for (std::uint64_t request = 0; request < 30; ++request)
        for (Index begin = 0; begin <= 3; ++begin) {
            Workspace workspace;
            const auto judged = [&](auto&& rows) {
                const Round round = verify(tokens, PointMass{}, rows, TokenVerification{}, RoundRng(1, request, 2),
                                           {.check = Check::every_row}, workspace);
                CHECK(round);
                return std::vector<Token>(round.tokens.begin(), round.tokens.end());
            };
            const auto expected = judged(flat.middleRows(begin, 3));
            CHECK(judged(slice(flat, begin, begin + 3)) == expected);
            CHECK(judged(slice(RowMajorMatrix<double>(flat), begin, begin + 3)) == expected);
            CHECK(judged(slice(rows_in_memory(padded.data(), 6, 3, 5), begin, begin + 3)) == expected);
            CHECK(judged(slice(list, begin, begin + 3)) == expected);
            CHECK(judged(slice(std::span(list), begin, begin + 3)) == expected);
            CHECK(judged(slice(computed, begin, begin + 3)) == expected);
            CHECK(judged(slice(logits_of(logits), begin, begin + 3)) == expected);
            CHECK(judged(slice(slice(flat, 0, begin + 3), begin, begin + 3)) == expected);
        }
}

TEST_CASE("a slice of distributions gives the same distributions") {
    std::vector<Sampled<detail::Column<double>>> distributions;
    for (Index i = 0; i < 6; ++i) distributions.emplace_back(flat.row(i));
    const auto part = slice(distributions, 2, 4);
    CHECK(part.size() == 2);
    CHECK(part[0].row().data() == flat.row(2).data());
    const auto computed = [&](Index i) { return distributions[static_cast<std::size_t>(i)]; };
    CHECK(slice(computed, 2, 4)(1).row().data() == flat.row(3).data());
}

TEST_CASE("a slice copies nothing that has a name") {
    CHECK(slice(flat, 1, 3)[1].data() == flat.row(2).data());
    CHECK(slice(rows_in_memory(flat.data(), 6, 3), 4, 6)[0].data() == flat.row(4).data());
}

TEST_CASE("a slice knows its size, so that a wrong number of rows is a fault") {
    Workspace workspace;
    const std::vector<Token> tokens{1, 2};
    for (const Index end : {2, 4}) {
        const Round round =
            verify(tokens, PointMass{}, slice(flat, 0, end), TokenVerification{}, RoundRng(1, 2, 3), {}, workspace);
        REQUIRE(round.fault);
        CHECK(round.fault->cause == Cause::wrong_count);
        CHECK(round.fault->value == static_cast<double>(end));
    }
}

TEST_CASE("a slice outside its source is refused") {
    CHECK(slice(flat, 6, 6).size() == 0);
    CHECK_THROWS_WITH(slice(flat, -1, 2), "specsample::slice: begin is -1, but must be at least 0");
    CHECK_THROWS_WITH(slice(flat, 3, 2), "specsample::slice: end is 2, but must be at least begin, 3");
    CHECK_THROWS_WITH(slice(flat, 3, 7), "specsample::slice: end is 7, but must be at most the number of elements, 6");
}

TEMPLATE_TEST_CASE("rounds are written as a padded matrix of ids of any type", "", std::int64_t, std::int32_t,
                   std::int16_t, std::uint8_t, std::uint64_t) {
    std::vector<Round> rounds{round_of(three), round_of({}), round_of(one), Round()};
    rounds[3].error = "refused";
    std::vector<TestType> ids(16, 77);
    constexpr auto pad = static_cast<TestType>(-1);
    write_padded(rounds, ids);
    CHECK(ids == std::vector<TestType>{5, 6, 7, pad, pad, pad, pad, pad, 9, pad, pad, pad, pad, pad, pad, pad});
    write_padded(std::span<const Round>(rounds).first(1), std::span(ids).first(3), 0);
    CHECK(ids[2] == 7);
    write_padded(rounds, std::span(ids).first(12), 3);
    CHECK(ids == std::vector<TestType>{5, 6, 7, 3, 3, 3, 9, 3, 3, 3, 3, 3, pad, pad, pad, pad});
    write_padded(std::vector<Round>(), std::span(ids).first(0));
}

TEST_CASE("rounds that do not fit into padded ids are refused") {
    const std::vector<Round> rounds{round_of(one), round_of(three)};
    std::vector<std::int64_t> ids(4);
    CHECK_THROWS_WITH(
        write_padded(rounds, ids),
        "specsample::write_padded: the number of tokens of a round is 3, but must be at most the width, 2");
    CHECK_THROWS_WITH(
        write_padded(rounds, std::span(ids).first(3)),
        "specsample::write_padded: the number of ids is 3, but must be a multiple of the number of rounds, 2");
    CHECK_THROWS_WITH(
        write_padded(std::vector<Round>(), ids, 0),
        "specsample::write_padded: the number of ids is 4, but must be a multiple of the number of rounds, 0");
    const std::array<Token, 1> large{300};
    std::array<std::uint8_t, 1> bytes{};
    CHECK_THROWS_WITH(write_padded(std::array{round_of(large)}, bytes),
                      "specsample::write_padded: a token is 300, but must be inside the range of the ids");
}
