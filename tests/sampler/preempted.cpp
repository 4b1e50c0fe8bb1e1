// A request that is preempted between its draft and its verification is drafted again. Random numbers have addresses,
// so the round is the same, bit for bit: nothing has to be stored.
#include <specsample/shaping.hpp>
#include <specsample/specsample.hpp>
#include <specsample/testing.hpp>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::filters;
using namespace specsample::kernels;
using namespace specsample::testing;

namespace {

constexpr Index vocab = 6, lookahead = 4;
const ContextModel draft_model(vocab, 71, RowKind::with_zeros), target(vocab, 72, RowKind::with_zeros);
const std::vector<Token> prompt{1, 2};

struct OneByOne {
    ContextModel model;
    Eigen::VectorXf operator()(std::span<const Token> prefix) const { return model(prefix).cast<float>(); }
};

/// Rows of logits.
struct LogitRows {
    ContextModel model;
    auto operator()(std::span<const Token> prefix) const {
        return Logits(Eigen::VectorXd((model(prefix).array().log() * .7 + 5).matrix()), .7);
    }
};

/// A drafter of point masses.
struct Names {
    ContextModel model;
    Token operator()(std::span<const Token> prefix) const { return static_cast<Token>(argmax(model(prefix))); }
};

/// A draft by a drafter that does not outlive it.
template <class Model>
struct Drafted {
    ChainDrafter<Model> drafter;
    DraftTree<typename ChainDrafter<Model>::Distribution> draft_tree{};

    Drafted(const Model& model, std::span<const Token> text, const RoundRng& rng, std::span<const Token> stop_tokens)
        : drafter(model) {
        draft_tree.open(lookahead, stop_tokens, vocab);
        drafter.propose(text, rng, draft_tree);
    }

    /// The same tokens, each from the same numbers.
    friend bool operator==(const Drafted& a, const Drafted& b) {
        if (!std::ranges::equal(a.draft_tree.tokens(), b.draft_tree.tokens())) return false;
        for (std::size_t node = 0; node < a.draft_tree.distributions().size(); ++node)
            for (Index id = 0; id < vocab; ++id)
                if (a.draft_tree.distributions()[node].weight(id) != b.draft_tree.distributions()[node].weight(id))
                    return false;
        return true;
    }
};

/// One round; the drafts behind `text` are gone when it returns.
template <class Model, class Rule>
std::vector<Token> judged(const Drafted<Model>& draft, const Rule& rule, const RoundRng& rng, const RoundLimits& limits,
                          std::span<const Token> text) {
    std::vector<Token> context(text.begin(), text.end());
    context.insert(context.end(), draft.draft_tree.tokens().begin(), draft.draft_tree.tokens().end());
    Workspace workspace;
    const Round round = verify(draft.draft_tree.tokens(), draft.draft_tree.distributions(),
                               target(context, draft.draft_tree.size() + 1), rule, rng, limits, workspace);
    REQUIRE(round);
    return {round.tokens.begin(), round.tokens.end()};
}

/// A text of rounds that are all preempted: once after the draft, which is dropped, and once after the verification,
/// before anything is committed.
template <class Model, class Rule>
std::vector<Token> preempted(const Model& model, const Rule& rule, std::uint64_t request,
                             std::span<const Token> stop_tokens) {
    std::vector<Token> text = prompt;
    const Index length = std::ssize(prompt) + 60;
    while (std::ssize(text) < length && !RoundLimits{.stop_tokens = stop_tokens}.stops(text.back())) {
        const RoundRng rng(9, request, std::ssize(text));
        const RoundLimits limits{
            .max_tokens = length - std::ssize(text), .stop_tokens = stop_tokens, .check = Check::every_row};
        const Drafted lost(model, text, rng, stop_tokens);
        const Drafted again(model, text, rng, stop_tokens);
        REQUIRE(lost == again);
        const std::vector<Token> dropped = judged(lost, rule, rng, limits, text);
        const std::vector<Token> tokens = judged(again, rule, rng, limits, text);
        REQUIRE(dropped == tokens);
        text.insert(text.end(), tokens.begin(), tokens.end());
    }
    return {text.begin() + std::ssize(prompt), text.end()};
}

/// The same text with and without, for some requests, with stop tokens and without any.
template <class Model>
void check(const Model& model) {
    const auto under = [&](const auto& rule) {
        for (std::uint64_t request = 0; request < 15; ++request)
            for (const auto& stops : {std::vector<Token>(), {3}}) {
                const Limits limits{.max_new_tokens = 60, .stop_tokens = stops, .request = request};
                Sampler sampler(model, target, {.lookahead = lookahead, .seed = 9}, rule);
                CHECK(preempted(model, rule, request, stops) == sampler.generate(prompt, limits).tokens);
            }
    };
    under(TokenVerification{});
    under(BlockVerification{});
    under(SampleMatch{});
}

}  // namespace

TEST_CASE("a preempted draft from rows of doubles is drafted again, bit for bit") { check(draft_model); }
TEST_CASE("a preempted draft from rows of floats is drafted again, bit for bit") { check(OneByOne{draft_model}); }
TEST_CASE("a preempted draft from logits is drafted again, bit for bit") { check(LogitRows{draft_model}); }
TEST_CASE("a preempted draft of named tokens is drafted again, bit for bit") { check(Names{draft_model}); }
TEST_CASE("a preempted draft from what filters left is drafted again, bit for bit") {
    check(shaped(OneByOne{draft_model}, Pipeline{TopK{2}}));
    check(shaped(LogitRows{draft_model}, Pipeline{TopP{.8}}));
}

TEST_CASE("another round, request or seed is another draft") {
    int different = 0;
    for (std::uint64_t request = 0; request < 20; ++request) {
        const Drafted draft(draft_model, prompt, RoundRng(9, request, 2), {});
        CHECK(draft == Drafted(draft_model, prompt, RoundRng(9, request, 2), {}));
        different += draft == Drafted(draft_model, prompt, RoundRng(9, request, 3), {}) ? 0 : 1;
        different += draft == Drafted(draft_model, prompt, RoundRng(9, request + 1, 2), {}) ? 0 : 1;
        different += draft == Drafted(draft_model, prompt, RoundRng(10, request, 2), {}) ? 0 : 1;
    }
    CHECK(different > 55);
}
