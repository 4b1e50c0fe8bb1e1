// Match rules: the text does not depend on the draft at all. Tested with the keyed RNG, as users get it.
#include "exactness/trees.hpp"
#include "support/catch.hpp"

using namespace cases;
using namespace specsample::walks;
using namespace specsample::kernels;

namespace {

constexpr std::uint64_t seed = 31;
constexpr Index length = 24;
const std::vector<Token> prompt{1, 0};

/// The texts of the requests 0, 1, 2 .., asked for in this order.
template <class Rule, class Draft, class Target>
std::vector<std::vector<Token>> texts(const Rule& rule, const Draft& draft, const Target& target, Index lookahead,
                                      std::vector<std::uint64_t> requests = {0, 1, 2, 3, 4, 5, 6, 7}) {
    Sampler sampler(draft, target, {.lookahead = lookahead, .seed = seed}, rule);
    std::vector<std::vector<Token>> result(requests.size());
    for (const std::uint64_t request : requests)
        result[request] = sampler.generate(prompt, {.max_new_tokens = length, .request = request});
    return result;
}

/// The text of one request, without a draft and without a sampler.
template <class Decide, class Target>
std::vector<Token> plain(const Target& target, std::uint64_t request, const Decide& decide) {
    std::vector<Token> text = prompt;
    while (std::ssize(text) < std::ssize(prompt) + length) {
        const Eigen::VectorXd row = target(std::span<const Token>(text));
        text.push_back(static_cast<Token>(decide(row, RoundRng(seed, request, std::ssize(text)).at(Purpose::race, 0))));
    }
    return {text.begin() + std::ssize(prompt), text.end()};
}

/// Call check(texts) for every kind of draft.
template <class Rule, class Target, class Check>
void for_drafts(const Rule& rule, Index vocab, const Target& target, const Check& check) {
    const ContextModel good(vocab, 42), bad(vocab, 43), zeros(vocab, 44, RowKind::with_zeros);
    const auto names_a_token = [](std::span<const Token> prefix) { return static_cast<Token>(prefix.size() % 2); };
    for (Index lookahead = 0; lookahead <= 8; ++lookahead) {
        check("the target itself", texts(rule, target, target, lookahead));
        check("another model", texts(rule, bad, target, lookahead));
        check("zeros", texts(rule, zeros, target, lookahead));
        check("a likeliest token", texts(rule, Greedy{good}, target, lookahead));
        check("a token of no model", texts(rule, names_a_token, target, lookahead));
    }
    for (const Branching& branching : {Branching{2}, {3, 1}, {2, 2, 1}, {1, 3}, {1, 1, 1, 1, 1}})
        for_children([&](const std::string& kind, const auto& children) {
            const TreeDrafter tree(good, branching, children);
            check(kind + " " + to_string(branching), texts(rule, tree, target, 8));
            check(kind + " " + to_string(branching) + ", as deep as it may be",
                  texts(rule, tree, target, std::ssize(branching)));
        });
    const Remembered row = good;
    const Drafted mixed{[&](const auto& text, Index depth, const auto& rng, const auto& add) {
        if (depth == 3) return;
        add(draw(rng(0), RowWeights(detail::as_row(row(text)))).index, Sampled(row(text)));
        add(0, PointMass{});
    }};
    check("a drafter of the test's", texts(rule, mixed, target, 8));
    check("requests in another order", texts(rule, bad, target, 4, {7, 3, 5, 0, 1, 6, 2, 4}));
}

}  // namespace

TEMPLATE_TEST_CASE("the text of a match rule is that of the target alone, whatever the draft", "", GreedyMatch,
                   SampleMatch, GumbelMatch) {
    static_assert(TestType::drafter_invariant);
    const auto decide = [](const Eigen::VectorXd& row, const auto& rng) {
        if constexpr (std::same_as<TestType, GreedyMatch>) return argmax(row);
        if constexpr (std::same_as<TestType, SampleMatch>) return draw(rng, RowWeights(detail::as_row(row))).index;
        if constexpr (std::same_as<TestType, GumbelMatch>) return race(rng, RowWeights(detail::as_row(row)));
    };
    long drafts_seen = 0;
    for (const Index vocab : {2, 3, 5, 40})
        for (const RowKind kind : {RowKind::smooth, RowKind::with_zeros, RowKind::peaked}) {
            const ContextModel target(vocab, 41, kind);
            std::vector<std::vector<Token>> expected;
            for (std::uint64_t request = 0; request < 8; ++request) expected.push_back(plain(target, request, decide));
            for_drafts(TestType{}, vocab, target, [&](const std::string& name, const auto& written) {
                INFO("V = " << vocab << ": " << name);
                REQUIRE(written == expected);
                ++drafts_seen;
            });
            if constexpr (!std::same_as<TestType, GreedyMatch>)
                if (kind == RowKind::smooth) CHECK(expected[0] != expected[1]);
        }
    CHECK(drafts_seen == 4 * 3 * (5 * 9 + 5 * 4 * 2 + 2));
}

TEST_CASE("a ratio rule's text does depend on the draft, though its distribution does not") {
    const ContextModel target(5, 41), draft(5, 42);
    CHECK(texts(TokenVerification{}, draft, target, 2) != texts(TokenVerification{}, draft, target, 3));
    CHECK(texts(BlockVerification{}, draft, target, 2) != texts(BlockVerification{}, draft, target, 3));
}

TEST_CASE("a draft that shares the noise is kept whole where draft and target are one model") {
    const ContextModel target(40, 41);
    Sampler sampler(target, target, {.lookahead = 4, .seed = seed}, GumbelMatch{});
    const Generation result = sampler.generate(prompt, {.max_new_tokens = 100});
    CHECK(result.tally.rounds == 20);
    CHECK(result.tally.accepted == 80);
}
