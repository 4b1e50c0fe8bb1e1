// The tokens that a grammar forces, as drafts.
#include <specsample/drafters/forced.hpp>

#include <array>
#include <vector>

#include <specsample/drafters/united.hpp>
#include <specsample/sampler/sampler.hpp>
#include <specsample/shaping/shaped.hpp>
#include <specsample/testing/distribution.hpp>
#include <specsample/testing/models.hpp>
#include <specsample/verify/token.hpp>

#include "support/catch.hpp"

using namespace specsample;
using testing::ContextModel;

namespace {

constexpr Index vocab = 6;

/// Texts such as 0 1 2 4 0 1 3 4: at every fourth place there are two tokens to choose from; 5 ends a text anywhere
/// after a 4.
struct Records {
    std::vector<Token> text{};

    std::array<std::uint32_t, 1> mask() const {
        const auto place = text.size() % 4;
        if (!text.empty() && text.back() == 5) return {0};
        if (place == 0) return {text.empty() ? 1u : 1u << 0 | 1u << 5};
        return {place == 1 ? 1u << 1 : place == 2 ? 1u << 2 | 1u << 3 : 1u << 4};
    }
    bool accept(Token token) {
        if (token < 0 || (mask()[0] >> token & 1) == 0) return false;
        return text.push_back(token), true;
    }
    void rollback(Index n) { text.resize(text.size() - static_cast<std::size_t>(n)); }
};

std::vector<Token> drafted(const std::vector<Token>& prefix, Index depth, Index start = 0, Index size = vocab) {
    ForcedDrafter drafter(Grammar(Records{}, start));
    DraftTree<PointMass> draft_tree;
    draft_tree.open(depth, std::span<const Token>(), size);
    drafter.propose(prefix, RoundRng(1, 0, 0), draft_tree);
    return {draft_tree.tokens().begin(), draft_tree.tokens().end()};
}

}  // namespace

TEST_CASE("what a grammar forces is drafted up to its next choice", "[drafters]") {
    CHECK(drafted({}, 8) == std::vector<Token>{0, 1});
    CHECK(drafted({0}, 8) == std::vector<Token>{1});
    CHECK(drafted({0, 1}, 8).empty());
    CHECK(drafted({0, 1, 2}, 8) == std::vector<Token>{4});
    CHECK(drafted({}, 1) == std::vector<Token>{0});
    CHECK(drafted({}, 0).empty());
    CHECK(drafted({9, 9, 0}, 8, 2) == std::vector<Token>{1});  // after a prompt
    CHECK(drafted({3}, 8).empty());                            // a text that the grammar refuses
    CHECK(drafted({0, 1, 2, 4, 5}, 8).empty());                // its end
    CHECK(drafted({}, 8, 0, 1) == std::vector<Token>{0});      // a vocabulary without the forced token
}

TEST_CASE("forced tokens are accepted for certain, and cost no call of the draft", "[drafters]") {
    const ContextModel guess(vocab, 1), truth(vocab, 2);
    const Grammar grammar(Records{});
    Index calls = 0;
    const auto counted = [&](std::span<const Token> prefix) { return ++calls, guess(prefix); };
    const Options options{.lookahead = 4, .seed = 3};
    const Limits limits{.max_new_tokens = 200, .stop_tokens = {5}};
    Sampler forced(ForcedDrafter{grammar}, shaped(truth, grammar), options);
    Tally tally;
    for (std::uint64_t request = 0; request < 20; ++request) {
        const Generation text = forced.generate({}, {.max_new_tokens = 40, .stop_tokens = {5}, .request = request});
        tally += text.tally;
        Records records;
        for (const Token token : text.tokens) REQUIRE(records.accept(token));
    }
    CHECK(tally.proposed > 100);
    CHECK(tally.accepted == tally.proposed);
    Sampler both(FirstOf(ForcedDrafter{grammar}, shaped(counted, grammar)), shaped(truth, grammar), options);
    const Generation text = both.generate({}, limits);
    CHECK(calls < text.tally.rounds * 4);
}

TEST_CASE("a text drafted by its grammar has the target's distribution", "[drafters]") {
    const ContextModel guess(5, 1), truth(5, 2);  // without the token that ends a text
    const Grammar grammar(Records{});
    const auto target = shaped(truth, grammar);
    const auto distribution = testing::joint_distribution(target, 5);
    const auto check = [&](const auto& drafter) {
        for (const bool is_masked : {true, false}) {
            INFO((is_masked ? "a masked target" : "a target without the mask"));
            if (is_masked)
                CHECK(testing::total_variation(testing::exact_distribution(TokenVerification{}, drafter, target, 4),
                                               distribution) < 1e-12);
            else
                CHECK(testing::total_variation(testing::exact_distribution(TokenVerification{}, drafter, truth, 4),
                                               testing::joint_distribution(truth, 5)) < 1e-12);
        }
    };
    check(ForcedDrafter{grammar});
    check(FirstOf(ForcedDrafter{grammar}, shaped(guess, grammar)));
}
