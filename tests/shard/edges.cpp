// What seldom happens in a draw: a normaliser whose pivot is far off, and a random number that rounding puts past the
// end of its block.
#include <limits>
#include <random>
#include <vector>

#include "shard/ranks.hpp"
#include "support/catch.hpp"

#include <specsample/shard.hpp>
#include <specsample/specsample.hpp>

using namespace specsample;

namespace {

using Numbers = Eigen::ArrayXf;
constexpr Index vocab = 3001;

/// The largest uniform number, wherever it is asked for.
struct Last {
    Last at(Purpose, Index) const { return {}; }
    static double uniform() { return 1 - 0x1p-53; }
};

/// The token that follows nothing, from the whole row and from its slices.
template <class Source, class RowOf>
void compare(const Numbers& numbers, const Source& rng, const RowOf& row_of) {
    const auto token_of = [&](const auto& rows) {
        Workspace workspace;
        const Round round = verify(std::vector<Token>(), PointMass{}, rows, TokenVerification(), rng, {}, workspace);
        return round.fault ? -1 : round.tokens[0];
    };
    std::vector<decltype(row_of(numbers))> whole;
    whole.push_back(row_of(numbers));
    const Token expected = token_of(whole);
    REQUIRE(expected >= 0);
    for (const auto& split : ranks::splits(vocab))
        for (const Token token : ranks::on_ranks(split.ranks(), [&](Index rank, shard::Ranks& ranks) {
                 std::vector<shard::Sharded<decltype(row_of(split.slice(numbers, rank)))>> rows;
                 rows.emplace_back(row_of(split.slice(numbers, rank)), split.first(rank), vocab, ranks);
                 return token_of(rows);
             })) {
            CAPTURE(split.borders);
            CHECK(token == expected);
        }
}

constexpr auto as_logits = [](const auto& numbers) {
    return Logits(Eigen::Map<const Numbers>(numbers.data(), numbers.size()));
};
constexpr auto as_probabilities = [](const auto& numbers) {
    return Eigen::Map<const Numbers>(numbers.data(), numbers.size());
};

Numbers random_numbers(unsigned seed) {
    std::mt19937 random(seed);
    Numbers numbers(vocab);
    for (float& x : numbers) x = std::uniform_real_distribution<float>()(random);
    return numbers;
}

}  // namespace

TEST_CASE("sliced logits whose first block is far from the largest are drawn from as whole ones") {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    for (unsigned seed = 0; seed < 4; ++seed)
        for (const float first : {-infinity, -1000.f, 1000.f}) {
            CAPTURE(seed, first);
            Numbers logits = random_numbers(seed);
            logits.head(512) = first;
            compare(logits, RoundRng(seed, 0, 0), as_logits);
        }
}

TEST_CASE("the last uniform number draws from slices what it draws from the whole row") {
    for (unsigned seed = 0; seed < 8; ++seed)
        for (const Index end : {vocab, Index{2600}, Index{1030}, Index{700}, Index{1}}) {
            CAPTURE(seed, end);
            Numbers probabilities = random_numbers(seed);
            probabilities.tail(vocab - end) = 0;
            probabilities /= probabilities.sum();
            compare(probabilities, Last{}, as_probabilities);
        }
}
