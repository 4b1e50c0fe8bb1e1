// The number of model calls and their arguments: one target pass per round, and nothing that is not needed.
#include <specsample/specsample.hpp>
#include <specsample/testing.hpp>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::kernels;
using namespace specsample::testing;

namespace {

constexpr Token eos = 0;

struct Call {
    std::vector<Token> prefix;
    Index count;
};

/// Records its calls. `log` outlives the sampler's copy of it.
struct Recorded {
    ContextModel model;
    std::vector<Call>* log;

    Eigen::VectorXd operator()(std::span<const Token> prefix) {
        log->push_back({{prefix.begin(), prefix.end()}, 1});
        return model(prefix);
    }
};

struct RecordedMany {
    ContextModel model;
    std::vector<Call>* log;

    RowMajorMatrix<double> operator()(std::span<const Token> prefix, Index n) {
        log->push_back({{prefix.begin(), prefix.end()}, n});
        return model(prefix, n);
    }
};

/// Drafts the tokens of a script, by the length of the prefix.
struct Scripted {
    std::vector<Token> script;

    Token operator()(std::span<const Token> prefix) const { return script.at(prefix.size()); }
};

const ContextModel draft(5, 21), target(5, 22);

}  // namespace

TEST_CASE("a target that scores many positions is called once per round") {
    const Index lookahead = GENERATE(0, 1, 4);
    std::vector<Call> log;
    Sampler sampler(draft, RecordedMany{target, &log}, {.lookahead = lookahead, .seed = 1});
    const Generation made = sampler.generate({1, 2}, {.max_new_tokens = 50});
    CHECK(static_cast<Index>(log.size()) == made.tally.rounds);
    CHECK(made.tally.passes == made.tally.rounds);
    for (const Call& call : log) {
        const Index start = std::ssize(call.prefix) - (call.count - 1);
        CHECK(call.count == 1 + std::min(lookahead, 2 + 50 - start));  // no more drafts than the budget has room for
    }
}

TEST_CASE("a round of K drafts shows the target the text and the drafts, and asks for K + 1 rows") {
    std::vector<Call> log;
    Sampler sampler(Scripted{{9, 9, 3, 1, 4}}, RecordedMany{target, &log}, {.lookahead = 3});
    (void)sampler.step(std::vector<Token>{1, 2});
    REQUIRE(log.size() == 1);
    CHECK(log[0].prefix == std::vector<Token>{1, 2, 3, 1, 4});
    CHECK(log[0].count == 4);
}

TEST_CASE("row i is the distribution after the first size - n + 1 + i tokens of the prefix") {
    const auto many = [](std::span<const Token> prefix, Index n) {
        std::vector<Eigen::VectorXd> rows;
        for (Index i = 0; i < n; ++i)
            rows.push_back(target(prefix.first(static_cast<std::size_t>(std::ssize(prefix) - n + 1 + i))));
        return rows;
    };
    const auto one = [](std::span<const Token> prefix) { return target(prefix); };
    const Options options{.lookahead = 4, .seed = 3};
    CHECK(Sampler(draft, many, options).generate({1}, {.max_new_tokens = 80}).tokens ==
          Sampler(draft, one, options).generate({1}, {.max_new_tokens = 80}).tokens);
}

TEST_CASE("a target that scores one position is called once per token written") {
    const Index lookahead = GENERATE(0, 1, 4);
    const Index budget = GENERATE(1, 7, 50);
    std::vector<Call> log;
    Sampler sampler(draft, Recorded{target, &log}, {.lookahead = lookahead, .seed = 2});
    const Generation made = sampler.generate({1, 2}, {.max_new_tokens = budget});
    CHECK(static_cast<Index>(log.size()) == budget);
    CHECK(std::ssize(made.tokens) == budget);
    CHECK(made.tally.passes == budget);
    CHECK(made.tally.tokens_per_pass() == 1);
}

TEST_CASE("a tree without a pass of its own takes one per path, and every pass is counted") {
    std::vector<Call> log;
    Sampler sampler(TreeDrafter(draft, {2, 2}), RecordedMany{target, &log}, {.lookahead = 2, .seed = 1});
    const Generation made = sampler.generate({1, 2}, {.max_new_tokens = 50});
    CHECK(static_cast<Index>(log.size()) == made.tally.passes);
    CHECK(made.tally.passes > 3 * made.tally.rounds);
    CHECK(made.tally.tokens_per_pass() < made.tally.tokens_per_round() / 3);
    CHECK(sampler.tally().passes == made.tally.passes);
    log.clear();
    const Round round = sampler.step(std::vector<Token>{1, 2});
    CHECK(round.passes == std::ssize(log));
}

TEST_CASE("a target that scores one position is shown the accepted drafts only") {
    std::vector<Call> log;
    Sampler sampler(draft, Recorded{target, &log}, {.lookahead = 4, .seed = 2});
    const Generation made = sampler.generate({1, 2}, {.max_new_tokens = 30});
    std::vector<Token> text{1, 2};
    for (std::size_t i = 0; i < log.size(); ++i) {
        CHECK(log[i].prefix == text);
        text.push_back(made.tokens.at(i));
    }
}

TEST_CASE("a drafter is called once per drafted token, on the text and the drafts before") {
    std::vector<Call> log;
    const Index lookahead = GENERATE(0, 1, 4);
    Sampler sampler(Recorded{draft, &log}, target, {.lookahead = lookahead, .seed = 2});
    const Round round = sampler.step(std::vector<Token>{1, 2});
    CHECK(round.proposed == lookahead);
    REQUIRE(static_cast<Index>(log.size()) == lookahead);
    for (std::size_t i = 0; i < log.size(); ++i) CHECK(log[i].prefix.size() == 2 + i);
}

TEST_CASE("drafting ends with a drafted stop token") {
    std::vector<Call> log;
    Scripted script{{9, 3, eos, 4, 4}};
    const auto drafter = [&](std::span<const Token> prefix) {
        log.push_back({{prefix.begin(), prefix.end()}, 1});
        return script(prefix);
    };
    Sampler sampler(drafter, target, {.lookahead = 4});
    const Round round = sampler.step(std::vector<Token>{1}, {.stop_tokens = {eos}});
    CHECK(round.proposed == 2);
    CHECK(log.size() == 2);
}

TEST_CASE("a target is not shown a drafted stop token, and not asked for the row after it") {
    std::vector<Call> log;
    Sampler sampler(Scripted{{9, 3, 2, eos}}, RecordedMany{target, &log}, {.lookahead = 4});
    (void)sampler.step(std::vector<Token>{1}, {.stop_tokens = {eos}});
    REQUIRE(log.size() == 1);
    CHECK(log[0].prefix == std::vector<Token>{1, 3, 2});
    CHECK(log[0].count == 3);
}

TEST_CASE("a stop token drafted first asks for the row before it alone") {
    std::vector<Call> log;
    Sampler sampler(Scripted{{9, eos}}, RecordedMany{target, &log}, {.lookahead = 4});
    (void)sampler.step(std::vector<Token>{1}, {.stop_tokens = {eos}});
    REQUIRE(log.size() == 1);
    CHECK(log[0].prefix == std::vector<Token>{1});
    CHECK(log[0].count == 1);
}

TEST_CASE("an accepted stop token asks a target that scores one position for nothing more") {
    // Certain of 3, then of the stop token.
    std::vector<Call> log;
    const auto certain = [&](std::span<const Token> prefix) {
        log.push_back({{prefix.begin(), prefix.end()}, 1});
        return one_hot<double>(5, prefix.size() == 1 ? 3 : eos);
    };
    Sampler sampler(Scripted{{9, 3, eos}}, certain, {.lookahead = 4});
    const Round round = sampler.step(std::vector<Token>{1}, {.stop_tokens = {eos}});
    CHECK(std::vector(round.tokens.begin(), round.tokens.end()) == std::vector<Token>{3, eos});
    CHECK(round.last == LastToken::stopped);
    CHECK(log.size() == 2);
}
