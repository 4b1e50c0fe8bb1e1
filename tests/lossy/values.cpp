// Lossy rules judge rows that are values as they judge types.
#include <algorithm>
#include <vector>

#include <specsample/lossy.hpp>
#include <specsample/specsample.hpp>
#include <specsample/testing/models.hpp>
#include <specsample/values.hpp>

#include "support/catch.hpp"

using namespace specsample;

namespace {

/// Compare rounds of three tokens, for many seeds.
template <class Rule>
void compare(const Rule& rule) {
    constexpr Index K = 3;
    Workspace one, other;
    Index accepted = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        std::vector<std::vector<float>> draft, target;
        const auto row_of = [](const testing::ContextModel& model, Token at) {
            const Eigen::VectorXd row = model(std::vector<Token>{at});
            return std::vector<float>(row.begin(), row.end());
        };
        const testing::ContextModel q(20, 2 * seed), p(20, 2 * seed + 1);
        for (Token i = 0; i < K; ++i) draft.push_back(row_of(q, i));
        for (Token i = 0; i <= K; ++i) target.push_back(row_of(p, i));
        std::vector<Row> rows;
        for (const auto& row : target) rows.push_back(Row::probs(row));

        const RoundRng rng(seed, 2, 3);
        std::vector<Token> tokens;
        std::vector<Origin> origins;
        std::vector<DraftedFrom<std::vector<float>, Rule>> distributions;
        for (Index i = 0; i < K; ++i) {
            const auto& row = draft[static_cast<std::size_t>(i)];
            const auto [token, distribution] = draft_token(rule, rng, i, row);
            tokens.push_back(token);
            distributions.push_back(distribution);
            origins.push_back(draft_token(rule, rng, i, Row::probs(row)).origin);
        }
        const Round expected = verify(tokens, distributions, target, rule, rng, {}, one);
        const Round round = verify(tokens, origins, rows, rule, rng, {}, other);
        REQUIRE(round);
        CHECK(std::ranges::equal(round.tokens, expected.tokens));
        accepted += round.accepted;
    }
    CHECK(accepted > 0);
}

}  // namespace

TEST_CASE("lossy rules judge rows that are values as rows that are types") {
    compare(lossy::Lenience{.5});
    compare(lossy::Cactus{.5});
    compare(lossy::TypicalAcceptance{});
    compare(lossy::Transformed{lossy::Opt{.1}});
}
