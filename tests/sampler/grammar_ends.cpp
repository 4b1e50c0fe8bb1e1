// A grammar that is over after its last token, and a predicate that ends the text there: nothing is asked past the end.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <specsample/drafters.hpp>
#include <specsample/shaping.hpp>
#include <specsample/specsample.hpp>
#include <specsample/testing.hpp>
#include <specsample/verify/batch.hpp>

#include "support/catch.hpp"
#include "support/tree_target.hpp"

using namespace specsample;
using namespace specsample::testing;

namespace {

constexpr Token closing = 3;
const ContextModel draft(5, 61), target(5, 62);

/// Allows every token up to the closing one, and nothing after it, as the matchers of engines.
struct Brackets {
    std::vector<Token> text = {};
    std::uint32_t words = ~0u;

    std::span<const std::uint32_t> mask() const {
        if (std::ranges::find(text, closing) != text.end()) return {};
        return {&words, 1};
    }
    bool accept(Token token) {
        if (mask().empty()) return false;
        text.push_back(token);
        return true;
    }
    void rollback(Index n) { text.resize(text.size() - static_cast<std::size_t>(n)); }
};

auto with_grammar(const ContextModel& model) { return shaped(model, Grammar(Brackets{}, 1)); }

/// Check 40 texts at each lookahead.
template <class Rule, class Draft, class Target>
void check(const Rule& rule, const Draft& draft_model, const Target& target_model, Index least = 0) {
    for (const StopDecision decision : {StopDecision::include, StopDecision::exclude})
        for (Index lookahead = least; lookahead <= 4; ++lookahead)
            for (std::uint64_t request = 0; request < 20; ++request) {
                const auto until = [&](std::span<const Token> text) {
                    return text.back() == closing ? decision : StopDecision::go_on;
                };
                Sampler sampler(draft_model, target_model, {.lookahead = lookahead}, rule);
                const Limits limits{.max_new_tokens = 200, .until = until, .request = request};
                const Generation made = sampler.generate({0}, limits);
                CHECK(made.finish == FinishReason::until);
                const bool is_in = !made.tokens.empty() && made.tokens.back() == closing;
                CHECK(is_in == (decision == StopDecision::include));
                CHECK(std::ranges::count(made.tokens, closing) == (is_in ? 1 : 0));
            }
}

}  // namespace

TEST_CASE("a text that a finished grammar ends is written at every lookahead, by every rule") {
    const auto over = with_grammar(target);
    check(TokenVerification{}, draft, over);
    check(BlockVerification{}, draft, over);
    check(SampleMatch{}, draft, over);
    check(GumbelMatch{}, draft, over);
    check(TokenVerification{}, with_grammar(draft), over);
    check(BlockVerification{}, with_grammar(draft), over);
}

TEST_CASE("a text that a finished grammar ends is written with every drafter") {
    const auto over = with_grammar(target);
    const auto over_rows = [](std::span<const Token> text) {
        Eigen::VectorXd row = target(text);
        if (std::ranges::find(text, closing) != text.end()) row.setZero();
        return row;
    };
    check(TokenVerification{}, LookupDrafter(), over);
    check(TraversalVerification{}, SuffixLookupDrafter(), over);
    check(TraversalVerification{}, TreeDrafter(with_grammar(draft), {2, 2}), over, 2);
    check(TokenVerification{}, DynamicTreeDrafter(with_grammar(draft), {.width = 3, .nodes = 8}), over);
    check(TokenVerification{}, StagedDrafter(with_grammar(draft), with_grammar(draft), 2), over);
    check(TokenVerification{}, United(LookupDrafter(), draft), TreeTarget(over_rows));
}

TEST_CASE("a batch of engines ends its texts where a finished grammar does") {
    const auto over = with_grammar(target);
    BatchWorkspace memory;
    const auto until = [](std::span<const Token> tokens) {
        return tokens.back() == closing ? StopDecision::include : StopDecision::go_on;
    };
    const RoundLimits limits{.until = until};
    int ended = 0;
    for (Index request = 0; request < 50; ++request) {
        const RoundRng rng(1, static_cast<std::uint64_t>(request), 1);
        std::vector<Token> tokens;  // an engine that drafts a fixed length
        std::vector<Eigen::VectorXd> drafted;
        std::vector<Token> text{0};
        for (Index i = 0; i < 4; ++i) {
            drafted.push_back(draft(text));
            tokens.push_back(draft_token(TokenVerification{}, rng, i, drafted.back()).token);
            text.push_back(tokens.back());
        }
        std::vector<Sampled<detail::row_view_t<Eigen::VectorXd>>> distributions(drafted.begin(), drafted.end());
        std::vector<Eigen::VectorXd> rows;
        auto masked = over;
        for (std::size_t i = 0; i <= 4; ++i) {
            const Eigen::VectorXd row =
                detail::as_row(masked(std::span<const Token>(text).first(i + 1))).cast<double>().matrix();
            rows.push_back(std::ranges::find(text.begin(), text.begin() + static_cast<Index>(i) + 1, closing) ==
                                   text.begin() + static_cast<Index>(i) + 1
                               ? row
                               : Eigen::VectorXd(Eigen::VectorXd::Zero(5)));
        }
        for (const Check how : {Check::entries_read, Check::every_row}) {
            RoundLimits checked = limits;
            checked.check = how;
            std::vector<decltype(Request{tokens, distributions, rows, BlockVerification{}, rng, checked})> requests;
            requests.push_back(Request{tokens, distributions, rows, BlockVerification{}, rng, checked});
            const auto rounds = verify_batch(requests, memory);
            REQUIRE(rounds[0]);
            ended += rounds[0].end == RoundEnd::included ? 1 : 0;
        }
    }
    CHECK(ended > 10);
}

namespace {

/// Allows two tokens, four times, and then nothing; a token that it refuses leaves nothing, too.
struct FourTokens {
    Index count = 0;
    std::uint32_t words = 0;

    std::span<const std::uint32_t> mask() {
        words = count < 4 ? 3 : 0;
        return {&words, 1};
    }
    bool accept(Token token) { return token < 2 && count < 4 && ++count > 0; }
    void rollback(Index n) { count -= n; }
};

template <class Draft, class Target, class Rule>
void check_budget(const Draft& drafter, const Target& model, const Rule& rule, Index depth = 1) {
    for (const Index lookahead : {0, 1, 2, 3, 4, 6}) {
        if (lookahead > 0 && lookahead < depth) continue;
        CAPTURE(lookahead);
        Sampler sampler(drafter, model, {.lookahead = lookahead}, rule);
        for (std::uint64_t request = 0; request < 20; ++request)
            CHECK(sampler.generate({}, {.max_new_tokens = 4, .request = request}).tokens.size() == 4);
    }
}

}  // namespace

TEST_CASE("a grammar that is over where the budget ends is no fault at any lookahead, by any rule") {
    const auto with = [](const ContextModel& model) { return shaped(model, Grammar(FourTokens{})); };
    const auto check_rule = [&](const auto& rule) {
        check_budget(with(draft), with(target), rule);
        check_budget(draft, with(target), rule);
        check_budget(TreeDrafter(draft, {2, 1}), with(target), rule, 2);
    };
    check_rule(TokenVerification{});
    check_rule(BlockVerification{});
    check_rule(SampleMatch{});
    check_rule(GumbelMatch{});
}

TEST_CASE("a target that scores positions in one pass may have no token after the budget") {
    const auto many = [](std::span<const Token> text, Index n) {
        RowMajorMatrix<double> rows(n, 5);
        for (Index i = 0; i < n; ++i) {
            const auto before = text.first(text.size() - static_cast<std::size_t>(n - 1 - i));
            rows.row(i) = target(before).transpose();
            rows.row(i).tail(3).setZero();
            rows.row(i) *= before.size() < 4 ? 1 / rows.row(i).sum() : 0;
        }
        return rows;
    };
    check_budget(draft, many, TokenVerification{});
    check_budget(draft, many, BlockVerification{});
    check_budget(draft, many, SampleMatch{});
    check_budget(draft, many, GumbelMatch{});
}

TEST_CASE("a budget under block verification cuts the text that a target without a next row follows") {
    // The text's distribution is the target's over the tokens of the budget.
    const auto over = [](std::span<const Token> text) -> Eigen::VectorXd {
        if (text.size() >= 2) return Eigen::VectorXd::Zero(3);
        return ContextModel(3, 62)(text);
    };
    const ContextModel model(3, 61), meant(3, 62);
    constexpr Index rounds = 40000;
    for (const Index lookahead : {2, 3}) {
        Sampler sampler(model, over, {.lookahead = lookahead}, BlockVerification{});
        std::array<Index, 9> seen{};
        for (std::uint64_t request = 0; request < rounds; ++request) {
            const auto text = sampler.generate({}, {.max_new_tokens = 2, .request = request}).tokens;
            REQUIRE(text.size() == 2);
            ++seen[static_cast<std::size_t>(3 * text[0] + text[1])];
        }
        double chi_square = 0;
        for (Token first = 0; first < 3; ++first)
            for (Token second = 0; second < 3; ++second) {
                const std::array<Token, 1> before{first};
                const double expected = rounds * meant({})[first] * meant(before)[second];
                chi_square +=
                    std::pow(static_cast<double>(seen[static_cast<std::size_t>(3 * first + second)]) - expected, 2) /
                    expected;
            }
        CHECK(chi_square < 55);  // 8 degrees of freedom: by chance once in 2 10^8
    }
}
