// What is wrong on one rank is the same named fault on all of them, and no rank waits for ever.
#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "shard/ranks.hpp"
#include "support/catch.hpp"

#include <specsample/shard.hpp>
#include <specsample/specsample.hpp>

using namespace specsample;

namespace {

constexpr Index vocab = 1100;
constexpr double infinity = std::numeric_limits<double>::infinity(),
                 not_a_number = std::numeric_limits<double>::quiet_NaN();

using Numbers = Eigen::ArrayXf;

/// A round of two drafted tokens, in which everything may be wrong on one rank.
struct Case {
    ranks::Split split = ranks::equal(vocab, 3);
    std::vector<Numbers> rows = std::vector<Numbers>(3, Numbers::Constant(vocab, 1.f / vocab));
    bool logits = false;
    double temperature = 1;
    Check check = Check::every_row;

    // Of rank 2 alone.
    Index first_more = 0, count_more = 0, vocab_more = 0;
    Index tokens = 2;
    std::uint64_t seed = 1;
    Token second = 7;
};

std::string text_of(const Round& round) { return round.fault ? message(*round.fault) : "no fault"; }

template <class Rule>
std::string whole(const Case& given, const Rule& rule) {
    const std::vector<Token> tokens{5, 7};
    Workspace workspace;
    const RoundLimits limits{.check = given.check};
    const RoundRng rng(1, 0, 0);
    if (given.logits)
        return text_of(
            verify(tokens, PointMass{}, logits_of(given.rows, given.temperature), rule, rng, limits, workspace));
    return text_of(verify(tokens, PointMass{}, given.rows, rule, rng, limits, workspace));
}

/// The message on every rank, which must be the same.
template <class Rule>
std::string sliced(const Case& given, const Rule& rule) {
    const auto all = ranks::on_ranks(given.split.ranks(), [&](Index rank, shard::Ranks& ranks) {
        const bool odd = rank == 2;
        std::vector<Token> tokens{5, 7};
        if (odd) tokens[1] = given.second;
        tokens.resize(static_cast<std::size_t>(odd ? given.tokens : 2), 9);
        const RoundRng rng(odd ? given.seed : 1, 0, 0);
        const RoundLimits limits{.check = given.check};
        const auto judge = [&](auto slice_of) {
            std::vector<shard::Sharded<decltype(slice_of(given.rows[0]))>> rows;
            for (std::size_t i = 0; i <= tokens.size(); ++i)
                rows.emplace_back(slice_of(given.rows[std::min<std::size_t>(i, 2)]),
                                  given.split.first(rank) + (odd ? given.first_more : 0),
                                  vocab + (odd ? given.vocab_more : 0), ranks);
            Workspace workspace;
            return text_of(verify(tokens, PointMass{}, rows, rule, rng, limits, workspace));
        };
        const auto numbers = [&](const Numbers& row) {
            return Eigen::Map<const Numbers>(row.data() + given.split.first(rank),
                                             given.split.count(rank) + (odd ? given.count_more : 0));
        };
        if (!given.logits) return judge(numbers);
        return judge([&](const Numbers& row) { return Logits(numbers(row), given.temperature); });
    });
    for (const std::string& one : all) CHECK(one == all[0]);
    return all[0];
}

}  // namespace

TEMPLATE_TEST_CASE("bad numbers are the same fault as in the whole row", "", TokenVerification, BlockVerification,
                   GreedyMatch, SampleMatch, GumbelMatch) {
    for (const Check check : {Check::every_row, Check::entries_read})
        for (const std::size_t row : {0u, 2u})
            for (const Index id : {3, 500, 1099})
                for (const double bad : {not_a_number, infinity, -1e-3, -5., 7.}) {
                    CAPTURE(row, id, bad, check == Check::every_row);
                    Case given{.check = check};
                    given.rows[row][id] = static_cast<float>(bad);
                    CHECK(sliced(given, TestType()) == whole(given, TestType()));
                    for (const double temperature : {0., 1.}) {
                        given.logits = true;
                        given.temperature = temperature;
                        CHECK(sliced(given, TestType()) == whole(given, TestType()));
                    }
                }
    Case masked{.logits = true};
    for (Numbers& row : masked.rows) row = static_cast<float>(-infinity);
    for (masked.temperature = 0; masked.temperature < 2; ++masked.temperature) {
        CHECK(sliced(masked, TestType()) == whole(masked, TestType()));
        CHECK_THAT(whole(masked, TestType()), Catch::Matchers::Contains("makes no token possible"));
    }
    for (const Index first : {0, 400}) {  // one slice has all the mass
        Case given{.logits = true};
        for (Numbers& row : given.rows) {
            row = static_cast<float>(-infinity);
            row.segment(first, 100) = 1;
        }
        CHECK(sliced(given, TestType()) == whole(given, TestType()));
        CHECK(whole(given, TestType()) == "no fault");
    }
}

TEST_CASE("slices that do not fit together are a fault of all ranks") {
    const auto message_of = [](const Case& given) { return sliced(given, TokenVerification()); };
    CHECK(message_of({}) == "no fault");
    CHECK(message_of({.count_more = -1}) ==
          "target row 0 has a slice on rank 2 that ends at id 1099, but must end at 1100");
    CHECK(message_of({.first_more = 1, .count_more = -1}) ==
          "target row 0 has a slice on rank 2 that begins at id 734, but must begin at 733, where the one before it "
          "ends");
    CHECK(message_of({.first_more = -1}) ==
          "target row 0 has a slice on rank 2 that begins at id 732, but must begin at 733, where the one before it "
          "ends");
    CHECK(message_of({.vocab_more = 1}) ==
          "target row 0 is of a vocabulary of 1101 ids on rank 2, but must be of 1100 ids as on the other ranks");
}

TEST_CASE("a rank in another round is a fault of all ranks") {
    const std::string differs =
        "target row 0 is read by rank 2 in another round than by rank 0, but seed, request, text, draft, limits and "
        "the "
        "order of calls must be the same on every rank";
    CHECK(sliced({.seed = 2}, TokenVerification()) == differs);
    CHECK(sliced({.tokens = 3}, TokenVerification()) == differs);
    CHECK(sliced({.tokens = 1}, BlockVerification()) == differs);
    CHECK(sliced({.second = 8}, GumbelMatch()) == differs);
}

TEST_CASE("a split that changes is a fault of all ranks, and the one before it goes on") {
    const std::vector<float> row(static_cast<std::size_t>(vocab), 1.f / vocab);
    const auto seen = ranks::on_ranks(2, [&](Index rank, shard::Ranks& ranks) {
        std::string all;
        for (const Index border : {600, 512, 600}) {
            const Index first = rank == 0 ? 0 : border, count = rank == 0 ? border : vocab - border;
            std::vector<shard::Sharded<std::span<const float>>> rows;
            rows.emplace_back(std::span(row).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)),
                              first, vocab, ranks);
            Workspace workspace;
            all += text_of(verify(std::vector<Token>(), PointMass{}, rows, TokenVerification(), RoundRng(1, 0, 0), {},
                                  workspace)) +
                   "; ";
        }
        return all;
    });
    const std::string expected =
        "no fault; target row 0 has a slice on rank 0 that ends at id 512, but must end at 600; no fault; ";
    CHECK(seen[0] == expected);
    CHECK(seen[1] == expected);
}

TEST_CASE("a rank that gives up is reported to the others") {
    shard::ThreadGroup group(2, .2);
    shard::Thread communicator(group, 0);
    shard::Ranks ranks(communicator);
    const std::vector<float> half(4, .125f);
    const shard::Sharded row(std::span<const float>(half), 0, 8, ranks);
    CHECK_THROWS_WITH(row.argmax(), Catch::Matchers::Contains("a rank did not come to an exchange"));
    CHECK_THROWS_WITH(row.argmax(), Catch::Matchers::Contains("a rank did not come to an exchange"));
}
