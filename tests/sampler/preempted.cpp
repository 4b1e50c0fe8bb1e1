// A request that is preempted between its draft and its verification goes on as if it had not been.
#include <specsample/proposal/stored.hpp>

#include <specsample/specsample.hpp>
#include <specsample/testing.hpp>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::testing;

namespace {

constexpr Index vocab = 6, lookahead = 4;
const ContextModel draft_model(vocab, 71, Rows::with_zeros), target(vocab, 72, Rows::with_zeros);
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

/// A drafter that names its tokens.
struct Names {
    ContextModel model;
    Token operator()(std::span<const Token> prefix) const { return static_cast<Token>(argmax(model(prefix))); }
};

/// What an engine does in one place: draft. Nothing but bytes leaves it.
template <class Scalar, class Model>
std::vector<std::byte> drafted(const Model& model, std::span<const Token> text, const RoundKey& key,
                               std::span<const Token> stop_tokens) {
    ChainDraft<Model> drafter(model);
    Proposal<typename ChainDraft<Model>::Law> proposal;
    proposal.open(lookahead, stop_tokens, vocab);
    drafter.propose(text, Coins(key.seed, key.request, key.start), proposal);
    StoredProposal<Scalar> stored;
    stored.keep(key, proposal);
    return stored.save();
}

/// And in another, later: verify.
template <class Scalar, class Rule>
void verified(const std::vector<std::byte>& bytes, const Rule& rule, const RoundLimits& limits,
              std::vector<Token>& text) {
    StoredProposal<Scalar> stored;
    REQUIRE_FALSE(stored.restore(bytes));
    const RoundKey& key = stored.key();
    REQUIRE(key.start == std::ssize(text));
    std::vector<Token> context = text;
    context.insert(context.end(), stored.tokens().begin(), stored.tokens().end());
    Workspace workspace;
    const Round round = verify(stored.tokens(), stored.laws(), target(context, stored.size() + 1), rule,
                               Coins(key.seed, key.request, key.start), limits, workspace);
    REQUIRE(round);
    text.insert(text.end(), round.tokens.begin(), round.tokens.end());
}

/// A text of rounds that are all preempted.
template <class Scalar, class Model, class Rule>
std::vector<Token> preempted(const Model& model, const Rule& rule, std::uint64_t request,
                             std::span<const Token> stop_tokens) {
    std::vector<Token> text = prompt;
    const Index length = std::ssize(prompt) + 60;
    while (std::ssize(text) < length && !RoundLimits{.stop_tokens = stop_tokens}.stops(text.back())) {
        const RoundKey key{.seed = 9, .request = request, .start = std::ssize(text)};
        const RoundLimits limits{
            .max_tokens = length - key.start, .stop_tokens = stop_tokens, .check = Check::every_row};
        verified<Scalar>(drafted<Scalar>(model, text, key, stop_tokens), rule, limits, text);
    }
    return {text.begin() + std::ssize(prompt), text.end()};
}

/// The same text with and without, for some requests, with stop tokens and without any.
template <class Scalar, class Model>
void check(const Model& model) {
    const auto under = [&](const auto& rule) {
        for (std::uint64_t request = 0; request < 15; ++request)
            for (const auto& stops : {std::vector<Token>(), {3}}) {
                const Limits limits{.max_new_tokens = 60, .stop_tokens = stops, .request = request};
                Sampler sampler(model, target, {.lookahead = lookahead, .seed = 9}, rule);
                CHECK(preempted<Scalar>(model, rule, request, stops) == sampler.generate(prompt, limits).tokens);
            }
    };
    under(TokenVerification{});
    under(BlockVerification{});
    under(SampleMatch{});
}

}  // namespace

TEST_CASE("a draft from rows of doubles survives a preemption") { check<double>(draft_model); }
TEST_CASE("a draft from rows of floats survives a preemption") { check<float>(OneByOne{draft_model}); }
TEST_CASE("a draft from logits survives a preemption") { check<double>(LogitRows{draft_model}); }
TEST_CASE("a draft of named tokens survives a preemption") { check<float>(Names{draft_model}); }
TEST_CASE("a draft from what filters left survives a preemption, in fewer bytes") {
    const auto filtered = shaped(OneByOne{draft_model}, Pipeline{TopK{2}});
    check<float>(filtered);
    check<double>(shaped(LogitRows{draft_model}, Pipeline{TopP{.8}}));
    const RoundKey key{.seed = 9, .start = 2};
    const std::size_t whole = drafted<float>(OneByOne{draft_model}, prompt, key, {}).size();
    CHECK(drafted<float>(filtered, prompt, key, {}).size() <= whole - 4 * (6 - 2) * 4 + 4 * 2 * 4);
}

TEST_CASE("a draft that was dropped is drafted again by the same coins") {
    const RoundKey key{.seed = 9, .request = 3, .start = 2};
    CHECK(drafted<double>(draft_model, prompt, key, {}) == drafted<double>(draft_model, prompt, key, {}));
}
