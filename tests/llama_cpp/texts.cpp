// A sampler over the glue: the text of plain decoding, in fewer passes.
#include "llama_cpp/engine.hpp"
#include "llama_cpp/glue.hpp"
#include "support/catch.hpp"

using namespace specsample;

namespace {

using Text = std::span<const Token>;

/// The rows of a model as probabilities.
struct Target {
    LlamaModel& model;
    double temperature;

    auto operator()(Text prefix, Index n) { return logits_of(model(prefix, n), temperature); }
    auto operator()(Text prefix, const Tree<Token, Index>& tree) { return logits_of(model(prefix, tree), temperature); }
};

/// The same engine, which is wrong after a third of all prefixes.
struct Draft {
    LlamaModel& model;
    double temperature;

    auto operator()(Text prefix) {
        Eigen::ArrayXf row = model(prefix, 1)[0];
        if ((std::ssize(prefix) + prefix.back()) % 3 == 0) row.reverseInPlace();
        return Logits(std::move(row), temperature);
    }
};

/// The text of a sampler, and its figures.
struct Written {
    std::vector<Token> tokens;
    Index rounds;
    std::vector<std::int32_t> decodes;
};

template <class Rule>
Written write(const Rule& rule, double temperature, const std::vector<Index>& branching, Index lookahead) {
    llama_context contexts[2];
    LlamaModel target(&contexts[0]), draft(&contexts[1]);
    const auto with = [&](auto drafter) -> Written {
        Sampler sampler(std::move(drafter), Target{target, temperature}, {.lookahead = lookahead, .seed = 3}, rule);
        std::vector<Token> tokens;
        for (std::uint64_t request = 0; request < 20; ++request) {
            const Token first = Token(request % 4);
            const auto made =
                sampler.generate({first, 2, 1}, {.max_new_tokens = 40, .stop_tokens = {0}, .request = request});
            tokens.insert(tokens.end(), made.tokens.begin(), made.tokens.end());
        }
        return {tokens, sampler.tally().rounds, contexts[0].decodes};
    };
    if (branching.empty()) return with(Draft{draft, temperature});
    return with(TreeDrafter(Draft{draft, temperature}, branching));
}

template <class Rule>
void check_same_text(const Rule& rule, double temperature) {
    const Written plain = write(rule, temperature, {}, 0);
    const Written chains = write(rule, temperature, {}, 4);
    const Written trees = write(rule, temperature, {2, 2, 1}, 3);
    CHECK(plain.rounds == std::ssize(plain.tokens));
    for (const Written* drafted : {&chains, &trees}) {
        CHECK(drafted->tokens == plain.tokens);
        CHECK(drafted->rounds < plain.rounds);
        CHECK(std::ssize(drafted->decodes) == drafted->rounds);  // one pass a round, prompts included
    }
}

}  // namespace

TEST_CASE("at temperature 0 the text is that of plain decoding") {
    check_same_text(TokenVerification{}, 0);
    check_same_text(TraversalVerification{}, 0);
}

TEST_CASE("a race's text does not depend on drafts") { check_same_text(GumbelMatch{}, 0.7); }
