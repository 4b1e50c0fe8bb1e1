// Nothing is read that is not needed: no rows after the first rejection, no second pass over logits, no normaliser that
// is known. Calls and reads are counted.
#include <array>
#include <functional>
#include <vector>

#include <specsample/specsample.hpp>
#include <specsample/testing.hpp>

#include "support/catch.hpp"
#include "support/rules.hpp"

using namespace specsample;
using namespace specsample::kernels;
using namespace specsample::testing;

namespace {

constexpr Index vocab = 4;
using Prefix = std::span<const Token>;

/// Numbers that count their reads.
struct CountedNumbers {
    const float* numbers;
    long* reads;
    float operator()(Index i) const {
        ++*reads;
        return numbers[i];
    }
};
auto counted(const std::vector<float>& numbers, long& reads) {
    return Eigen::ArrayXf::NullaryExpr(static_cast<Index>(numbers.size()), CountedNumbers{numbers.data(), &reads});
}

// One row in each kind: a quarter for each id of the first and of the last position, where nothing is left to chance.
struct AsDense {
    static std::vector<float> row(Index only) {
        std::vector<float> probs(vocab, only < 0 ? .25f : 0);
        if (only >= 0) probs[static_cast<std::size_t>(only)] = 1;
        return probs;
    }
};
struct AsLogits {
    static auto row(Index only) {
        std::vector<float> logits(vocab, only < 0 ? 3.f : -1e30f);
        if (only >= 0) logits[static_cast<std::size_t>(only)] = 2;
        return Logits(std::move(logits), .5);
    }
};
struct AsSparse {
    static auto row(Index only) {
        std::vector<int> ids{0, 1, 2, 3};
        std::vector<float> probs(vocab, .25f);
        if (only >= 0) ids = {static_cast<int>(only)}, probs = {1};
        return Sparse(std::move(ids), std::move(probs), vocab);
    }
};
struct AsSparseLogits {
    static auto row(Index only) {
        std::vector<int> ids{0, 1, 2, 3};
        std::vector<float> logits(vocab, 7);
        if (only >= 0) ids = {static_cast<int>(only)}, logits = {7};
        return Sparse(std::move(ids), Logits(std::move(logits), .5), vocab);
    }
};

/// A target of point masses, one call at a time, which records the rows that were read.
template <class Kind>
struct Asked {
    std::vector<Index> certain;  ///< the target's token at each row
    std::vector<int> calls = std::vector<int>(certain.size());

    auto operator()(Index i) {
        ++calls[static_cast<std::size_t>(i)];
        return Kind::row(certain[static_cast<std::size_t>(i)]);
    }
};

template <class F>
void for_rules(F&& f) {
    f(TokenVerification{});
    f(SampleMatch{});
    f(GumbelMatch{});
    f(GreedyMatch{});
}

/// A rule's round over rows that are recorded, so that a test is compiled once for all rules.
template <class Kind>
using Judge = std::function<Round(Asked<Kind>& rows)>;

using Calls = std::vector<int>;

}  // namespace

TEMPLATE_TEST_CASE("rows of a chain are asked for once, and those after the first rejection never", "", AsDense,
                   AsLogits, AsSparse, AsSparseLogits) {
    const auto uniform = TestType::row(-1);
    const Sampled distribution(uniform);
    const std::array distributions{distribution, distribution, distribution, distribution};
    const std::vector<int> tokens{1, 2, 3, 0};
    Workspace workspace;
    const auto check = [&](std::size_t rejected, const Judge<TestType>& judge) {
        Asked<TestType> rows{{1, 2, 3, 0, 0}};
        if (rejected < tokens.size()) rows.certain[rejected] = (tokens[rejected] + 1) % vocab;
        const Round round = judge(rows);
        REQUIRE(round);
        CHECK(round.accepted == static_cast<Index>(rejected));
        CHECK(round.tokens.back() == rows.certain[rejected]);
        Calls expected(5);
        for (std::size_t i = 0; i <= rejected; ++i) expected[i] = 1;
        CHECK(rows.calls == expected);
    };
    for (std::size_t rejected = 0; rejected <= tokens.size(); ++rejected)
        for_rules([&](const auto& rule) {
            check(rejected, [&](auto& rows) {
                return verify(tokens, rules::drafted_for(rule, distributions), rows, rule, RoundRng(1, 2, 3), {},
                              workspace);
            });
        });
}

TEMPLATE_TEST_CASE("rows of a tree are asked for once, and those off the accepted path never", "", AsDense, AsLogits,
                   AsSparse, AsSparseLogits) {
    const auto uniform = TestType::row(-1);
    const Sampled distribution(uniform);
    const std::vector<Sampled<detail::row_view_t<decltype(uniform)>>> distributions(6, distribution);
    // 1 and 2 after the prefix, 3 and 0 after the 2, 1 after the 1, 3 after the 0.
    const std::vector<int> tokens{1, 2, 3, 0, 1, 3}, parents{-1, -1, 1, 1, 0, 3};
    Workspace workspace;
    const auto check = [&](const Judge<TestType>& judge) {
        // 2, then 0, then neither: row i + 1 follows node i.
        Asked<TestType> rows{{2, 1, 0, 1, 2, 1, 1}};
        const Round round = judge(rows);
        REQUIRE(round);
        CHECK(std::vector(round.tokens.begin(), round.tokens.end()) == std::vector<Token>{2, 0, 2});
        CHECK(rows.calls == Calls{1, 0, 1, 0, 1, 0, 0});
    };
    for_rules([&](const auto& rule) {
        check([&](auto& rows) {
            return verify(Tree{tokens, parents}, rules::drafted_for(rule, distributions), rows, rule, RoundRng(1, 2, 3),
                          {}, workspace);
        });
    });
}

TEST_CASE("a row of logits that a token is drawn from is passed over once") {
    std::vector<float> numbers(5000, 1);
    long reads = 0;
    const auto expression = counted(numbers, reads);
    const auto row = [&](Index) { return Logits(expression, .7); };
    Workspace workspace;
    for_rules([&](const auto& rule) {
        reads = 0;
        REQUIRE(verify(std::vector<int>{}, PointMass{}, row, rule, RoundRng(1, 2, 3), {}, workspace));
        // The pivot is looked for in the first block; a draw looks at one block again, a race at every entry.
        const bool is_race = std::is_same_v<std::remove_cvref_t<decltype(rule)>, GumbelMatch>;
        CHECK(reads >= 5000);
        CHECK(reads <= (is_race ? 2 : 1) * 5000 + 512 + 512 + 64);
    });
}

TEST_CASE("the largest logit is looked for again only where it is far above the first block") {
    std::vector<float> numbers(5000, 1);
    long reads = 0;
    const auto sum = [&] {
        reads = 0;
        return log_sum_exp(counted(numbers, reads));
    };
    numbers.back() = 40;
    CHECK(sum() == Approx(40));
    CHECK(reads == 5000 + 512);
    numbers.back() = 90;
    CHECK(sum() == Approx(90));
    CHECK(reads == 3 * 5000 + 512);
}

TEST_CASE("the normaliser of a drafted row is found once, and none that is known") {
    std::vector<float> numbers(5000, 1);
    long reads = 0;
    const auto expression = counted(numbers, reads);
    const Logits row(expression, 1), known(expression, 1, 1 + std::log(5000.));
    const RoundRng rng(1, 2, 3);
    const Index drawn = draw(rng.at(Purpose::draft, 0), row).index;
    const long one_draw = reads;  // a pass, the largest of the first block, and the block that the token is in
    CHECK(one_draw <= 5000 + 512 + 512 + 64);
    reads = 0;
    const auto [token, distribution] = draft_token(TokenVerification{}, rng, 0, row);
    CHECK(token == drawn);
    CHECK(reads == one_draw + 1);  // what the row stores for the token is remembered
    CHECK(distribution.weight(17) == Approx(1. / 5000));
    CHECK(reads == one_draw + 2);

    reads = 0;
    CHECK(Sampled(row).weight(17) == Approx(1. / 5000));  // knows of no draw: a pass of its own
    CHECK(reads == 5000 + 512 + 1);

    reads = 0;
    CHECK(Sampled(known).weight(17) == Approx(1. / 5000));
    CHECK(reads == 1);
}

TEST_CASE("a drafted token of logits is judged by one entry and no pass of its own") {
    // The target's row is certain of the drafted token: one entry of each is read.
    std::vector<float> numbers(5000, 1), certain(5000, 0);
    certain[17] = 1;
    long reads = 0;
    const auto expression = counted(numbers, reads);
    const Logits row(expression, 1, 1 + std::log(5000.));
    const std::vector<int> tokens{17};
    const std::array distributions{Sampled(row)};
    Workspace workspace;
    const Round round = verify(tokens, distributions, std::array{certain, certain}, TokenVerification{},
                               RoundRng(1, 2, 3), {.max_tokens = 1}, workspace);
    REQUIRE(round);
    CHECK(round.accepted == 1);
    CHECK(reads <= 4);
}

TEST_CASE("an engine that drafts by draft_token makes one pass over a row of logits, and the same round") {
    std::vector<float> numbers(5000, 1), certain(5000, 1.f / 5000);
    long reads = 0;
    const auto expression = counted(numbers, reads);
    const Logits row(expression, .7);
    const RoundRng rng(1, 2, 3);
    Workspace workspace;
    const auto round_of = [&](const auto& drafted) {
        std::vector<Token> tokens;
        std::vector<Sampled<detail::row_view_t<decltype(row)>>> distributions;
        for (Index node = 0; node < 3; ++node) {
            const auto [token, distribution] = drafted(node);
            tokens.push_back(token);
            distributions.push_back(distribution);
        }
        const Round round =
            verify(tokens, distributions, std::vector(4, certain), TokenVerification{}, rng, RoundLimits{}, workspace);
        REQUIRE(round);
        return std::vector<Token>(round.tokens.begin(), round.tokens.end());
    };
    const auto by_parts = round_of([&](Index i) {
        return std::pair(static_cast<Token>(draw(rng.at(Purpose::draft, i), row).index), Sampled(row));
    });
    const long twice = std::exchange(reads, 0);
    CHECK(round_of([&](Index i) { return draft_token(TokenVerification{}, rng, i, row); }) == by_parts);
    CHECK(by_parts.size() == 4);
    CHECK(reads == twice - 3 * (5000 + 512) + 3 * 2);  // per token an entry is remembered, and compared
}

TEST_CASE("a row that nothing can be drawn from gives a drafted token that verify refuses") {
    const std::vector<float> masked(4, -std::numeric_limits<float>::infinity()), target(4, .25f);
    const Logits row(masked);
    const auto [token, distribution] = draft_token(TokenVerification{}, RoundRng(1, 2, 3), 0, row);
    CHECK(token == -1);
    Workspace workspace;
    const Round round = verify(std::array{token}, std::array{distribution}, std::array{target, target},
                               TokenVerification{}, RoundRng(1, 2, 3), RoundLimits{}, workspace);
    REQUIRE(round.fault);
    CHECK(round.fault->cause == Cause::outside_vocabulary);
}

TEST_CASE("a sampler asks a model once for every row, and reads logits no oftener than they are needed") {
    std::vector<float> numbers(5000, 1);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i % 5);
    int drafted = 0, scored = 0;
    const auto draft = [&](Prefix) {
        ++drafted;
        return Logits(std::span(numbers), 1);
    };
    const auto target = [&](Prefix) {
        ++scored;
        return Logits(std::span(numbers), .9);
    };
    Sampler sampler(draft, target, {.lookahead = 3, .check = Check::entries_read});
    long tokens = 0;
    for (std::uint64_t request = 0; request < 20; ++request) {
        const Round round = sampler.step(std::vector<Token>{1}, {.request = request});
        tokens += static_cast<long>(round.tokens.size());
    }
    CHECK(drafted == 20 * 3);
    CHECK(scored == tokens);  // one row per token that was decided
}
