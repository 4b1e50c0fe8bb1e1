// draft_token draws for the rule that judges: an engine's own loop makes the rounds of a Sampler, whatever the rule,
// and under one that shares the target's noise keeps the whole gain.
#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include <specsample/sampler/staged.hpp>
#include <specsample/shaping/from_logits.hpp>
#include <specsample/specsample.hpp>
#include <specsample/verify/batch.hpp>

#include "support/catch.hpp"
#include "support/rules.hpp"

using namespace specsample;

namespace {

constexpr Index vocab = 24;

/// Logits that depend on the last two tokens; a draft's differ from the target's by `error` times as much.
struct Model {
    float error = 0;
    std::vector<float> operator()(std::span<const Token> prefix) const {
        std::vector<float> row(vocab);
        const auto last = static_cast<std::uint64_t>(prefix.back()),
                   before = static_cast<std::uint64_t>(prefix.front());
        const RoundRng shared(last, 0, static_cast<Index>(before)), own(last, 1, static_cast<Index>(before));
        for (Index id = 0; id < vocab; ++id)
            row[static_cast<std::size_t>(id)] =
                static_cast<float>(4 * shared.at(Purpose::policy, id).uniform() +
                                   static_cast<double>(error) * (own.at(Purpose::policy, id).uniform() - .5));
        return row;
    }
};
const Model target{0}, draft{2};
constexpr double temperature = .8;

/// A row of logits, of their probabilities, or a sparse row of either, in memory of its own.
template <int kind>
struct GivenRows {
    std::vector<std::vector<float>> numbers = std::vector<std::vector<float>>(16);
    std::vector<int> ids;
    GivenRows() {
        for (int id = 0; id < vocab; ++id) ids.push_back(id);
    }
    auto operator()(std::size_t place, std::vector<float> row) {
        numbers[place] = std::move(row);
        const std::span<const float> view(numbers[place]);
        if constexpr (kind == 0) {
            return Logits(view, temperature);
        } else if constexpr (kind == 1) {
            const Eigen::ArrayXf probs =
                kernels::softmax(Eigen::Map<const Eigen::ArrayXf>(view.data(), vocab), temperature);
            std::ranges::copy(probs, numbers[place].begin());
            return view;
        } else {
            return Sparse(std::span<const int>(ids), Logits(view, temperature), vocab);
        }
    }
};

/// Rounds of an engine that drafts a chain of K tokens; they end like those of a sampler that does.
template <class Rule, class RowsOf>
std::vector<std::vector<Token>> engine_rounds(const Rule& rule, RowsOf rows_of, Index K, std::uint64_t request,
                                              Index count) {
    std::vector<Token> text{3};
    std::vector<std::vector<Token>> rounds;
    Workspace workspace;
    while (std::ssize(rounds) < count) {
        const Index start = std::ssize(text);
        const RoundRng rng(5, request, start);
        std::vector<Token> tokens;
        using R = decltype(rows_of(0, draft(text)));
        std::vector<DraftedFrom<R, Rule>> distributions;
        for (Index i = 0; i < K; ++i) {
            const R row = rows_of(static_cast<std::size_t>(i), draft(text));
            const auto [token, distribution] = draft_token(rule, rng, i, row);
            tokens.push_back(token);
            distributions.push_back(distribution);
            text.push_back(token);
        }
        text.resize(static_cast<std::size_t>(start));
        const auto p = [&](Index i) {
            std::vector<Token> prefix = text;
            prefix.insert(prefix.end(), tokens.begin(), tokens.begin() + i);
            return Logits(target(prefix), temperature);
        };
        const Round round = verify(tokens, distributions, p, rule, rng, {.check = Check::every_row}, workspace);
        REQUIRE(round);
        rounds.emplace_back(round.tokens.begin(), round.tokens.end());
        text.insert(text.end(), round.tokens.begin(), round.tokens.end());
    }
    return rounds;
}

template <class Rule>
std::vector<std::vector<Token>> sampler_rounds(const Rule& rule, Index K, std::uint64_t request, Index count) {
    Sampler sampler(from_logits(draft, temperature), from_logits(target, temperature), {.lookahead = K, .seed = 5},
                    rule);
    std::vector<Token> text{3};
    std::vector<std::vector<Token>> rounds;
    while (std::ssize(rounds) < count) {
        const Round round = sampler.step(text, {.request = request});
        rounds.emplace_back(round.tokens.begin(), round.tokens.end());
        text.insert(text.end(), round.tokens.begin(), round.tokens.end());
    }
    return rounds;
}

auto model(float error) { return from_logits(Model{error}, temperature); }

double mean_length(const std::vector<std::vector<Token>>& rounds) {
    double sum = 0;
    for (const auto& round : rounds) sum += static_cast<double>(round.size());
    return sum / static_cast<double>(rounds.size());
}

}  // namespace

TEST_CASE("an engine that drafts by draft_token makes the rounds of a Sampler, under every rule") {
    rules::for_each([](const auto& rule, const char* name) {
        for (std::uint64_t request = 0; request < 4; ++request)
            for (const Index K : {0, 1, 4}) {
                CAPTURE(name, request, K);
                const auto expected = sampler_rounds(rule, K, request, 30);
                CHECK(engine_rounds(rule, GivenRows<0>(), K, request, 30) == expected);
                CHECK(engine_rounds(rule, GivenRows<2>(), K, request, 30) == expected);
            }
    });
}

TEST_CASE("GumbelMatch keeps its whole gain with draft_token, twice that of tokens drawn by themselves") {
    const GumbelMatch rule;
    const auto shared = mean_length(engine_rounds(rule, GivenRows<0>(), 4, 0, 2000));
    CHECK(shared == mean_length(sampler_rounds(rule, 4, 0, 2000)));
    CHECK(mean_length(engine_rounds(rule, GivenRows<1>(), 4, 0, 2000)) == Approx(shared).margin(.05));  // probabilities
    CHECK(mean_length(engine_rounds(rule, GivenRows<2>(), 4, 0, 2000)) == shared);

    // The same rows, drawn for another rule and handed over without their noise.
    double alone = 0;
    std::vector<Token> text{3};
    Workspace workspace;
    for (Index i = 0; i < 2000; ++i) {
        const Index start = std::ssize(text);
        const RoundRng rng(5, 0, start);
        std::vector<Token> tokens, prefix = text;
        for (Index node = 0; node < 4; ++node) {
            const auto row = draft(prefix);
            tokens.push_back(draft_token(TokenVerification{}, rng, node, Logits(std::span(row), temperature)).token);
            prefix.push_back(tokens.back());
        }
        const auto p = [&](Index row) {
            return Logits(target(std::span(prefix).first(static_cast<std::size_t>(start + row))), temperature);
        };
        const Round round = verify(tokens, PointMass{}, p, rule, rng, {}, workspace);
        alone += static_cast<double>(round.tokens.size()) / 2000;
        text.insert(text.end(), round.tokens.begin(), round.tokens.end());
    }
    CAPTURE(shared, alone);
    CHECK(shared > 2.4);
    CHECK(alone < 1.4);
}

TEST_CASE("siblings for a rule that shares noise are the first to arrive in its race, and no two are the same") {
    const auto logits = target(std::array<Token, 1>{7});
    const Logits row(logits, temperature);
    for (std::uint64_t request = 0; request < 100; ++request)
        for (const Index depth : {0, 3}) {
            const RoundRng rng(1, request, 10);
            std::array<Token, vocab> arrived{}, siblings{};
            REQUIRE(race(rng.at(Purpose::race, depth), row, std::span(arrived)) == vocab);
            for (std::size_t i = 0; i < siblings.size(); ++i)
                siblings[i] = draft_token(GumbelMatch{}, rng, 5 + static_cast<Index>(i), row, depth,
                                          std::span<const Token>(siblings).first(i))
                                  .token;
            CHECK(siblings == arrived);
            CHECK(draft_token(GumbelMatch{}, rng, 40, row, depth, siblings).token == -1);
            CHECK(draft_token(TokenVerification{}, rng, 40, row, depth, siblings).token == -1);
        }
    // More siblings than fit on the stack.
    std::vector<float> wide(200);
    for (std::size_t id = 0; id < wide.size(); ++id) wide[id] = static_cast<float>(id % 7);
    std::vector<Token> siblings, arrived(60);
    const RoundRng rng(1, 2, 3);
    REQUIRE(race(rng.at(Purpose::race, 0), Logits(std::span(wide)), std::span(arrived)) == 60);
    for (Index i = 0; i < 60; ++i)
        siblings.push_back(draft_token(GumbelMatch{}, rng, i, Logits(std::span(wide)), 0, siblings).token);
    CHECK(siblings == arrived);
}

TEST_CASE("siblings for a ratio rule are drawn from what their older siblings leave") {
    const auto logits = draft(std::array<Token, 1>{7});
    const Logits row(logits, temperature);
    const auto view = row.probs();
    for (std::uint64_t request = 0; request < 50; ++request) {
        const RoundRng rng(1, request, 10);
        std::vector<Token> drawn(5);
        for (std::size_t i = 0; i < drawn.size(); ++i) {
            const std::span<const Token> older = std::span<const Token>(drawn).first(i);
            const auto node = static_cast<Index>(i);
            const auto [token, distribution] = draft_token(RecursiveRejection{}, rng, node, row, 0, older);
            const kernels::WithoutWeights left(view, older);
            CHECK(token == draw(rng.at(Purpose::draft, node), left).index);
            CHECK(distribution.rest() == Approx(i == 0 ? 1 : left.sum(0, vocab)));
            CHECK(distribution.without().size() == i);
            drawn[i] = token;
        }
    }
}

TEST_CASE("a drawn token among point masses is refused by name under a rule that shares noise, also in a batch") {
    const std::vector<float> row{.5f, .5f};
    const RowMajorMatrix<float> rows = RowMajorMatrix<float>::Constant(3, 2, .5f);
    using Distribution = Mixed<detail::Column<float>>;
    const std::vector<Distribution> points(2, PointMass{}), drawn{PointMass{}, Sampled(row)};
    const std::vector<Token> tokens{0, 1};
    const std::vector<int> parents{-1, -1};
    const GumbelMatch rule;
    const RoundRng rng(1, 2, 3);
    Workspace workspace;
    CHECK(verify(tokens, points, rows, rule, rng, {}, workspace));
    CHECK(verify(tokens, drawn, rows, SampleMatch{}, rng, {}, workspace));
    const char* const refusal =
        "specsample::verify: the distribution of node 1 is Sampled, but must be SharedNoise{} or PointMass{} under a "
        "rule that shares the target's noise: write draft_token(rule, rng, node, row)";
    CHECK_THROWS_WITH(verify(tokens, drawn, rows, rule, rng, {}, workspace), refusal);
    CHECK_THROWS_WITH(verify(Tree{tokens, parents}, drawn, rows, rule, rng, {}, workspace), refusal);
    const Round request = Request{tokens, drawn, rows, rule, rng}(workspace);
    CHECK(request.fault->cause == Cause::broken_contract);
    CHECK(message(request) == refusal);
    // Too few distributions are a fault of their own.
    const Round short_list = verify(tokens, std::span(drawn).first(1), rows, rule, rng, {}, workspace);
    REQUIRE(short_list.fault);
    CHECK(short_list.fault->cause == Cause::wrong_count);
}

static_assert(std::same_as<DraftedFrom<std::vector<float>, GumbelMatch>, SharedNoise>);
static_assert(std::same_as<DraftedFrom<std::vector<float>, const SampleMatch>, Sampled<detail::Column<float>>>);

TEST_CASE("a staged drafter passes the target's noise on to both of its models") {
    const auto rounds_of = [&](auto drafter) {
        Sampler sampler(std::move(drafter), model(0), {.lookahead = 6, .seed = 5}, GumbelMatch{});
        std::vector<Token> text{3};
        std::vector<std::vector<Token>> rounds;
        while (std::ssize(text) < 300) {
            const Round round = sampler.step(text, {});
            rounds.emplace_back(round.tokens.begin(), round.tokens.end());
            text.insert(text.end(), round.tokens.begin(), round.tokens.end());
        }
        text.resize(300);
        return std::pair(mean_length(rounds), text);
    };
    const auto [chained, text] = rounds_of(ChainDrafter(model(1)));
    // Three models that agree: nothing is rejected, so a round is as long as it may be.
    const auto [same, same_text] = rounds_of(StagedDrafter(model(0), model(0), 2, GumbelMatch{}));
    CHECK(same == 7);
    CHECK(same_text == text);
    // The draft is what the middle model drafts alone.
    const auto [staged, staged_text] = rounds_of(StagedDrafter(model(2), model(1), 2, GumbelMatch{}));
    CHECK(staged == chained);
    CHECK(staged_text == text);
    // Another rule between the two draws without the target's noise.
    const auto [alone, alone_text] = rounds_of(StagedDrafter(model(2), model(1), 2));
    CHECK(alone < .8 * staged);
    CHECK(alone_text == text);
}
