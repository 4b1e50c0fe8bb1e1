// At temperature 0 speculation changes nothing: the real pair's text is plain greedy decoding, token for token.
#include "pair/pair.hpp"
#include "support/catch.hpp"

namespace {

/// The argmax of the target after each token, one position a pass: no specsample in it.
std::vector<pair::Token> greedy(std::vector<pair::Token> text, pair::Index count) {
    engine::Model model = pair::target();
    std::vector<pair::Token> written;
    for (pair::Index i = 0; i < count; ++i) {
        const auto logits = model.score(text, 1);
        pair::Index best = 0;
        for (pair::Index id = 1; id < logits.cols(); ++id)
            if (logits(0, id) > logits(0, best)) best = id;
        text.push_back(static_cast<pair::Token>(best));
        written.push_back(text.back());
    }
    return written;
}

}  // namespace

TEST_CASE("greedy text is plain greedy decoding for 24 prompts, 200 tokens and lookahead 1 to 8") {
    LanguageModel draft(pair::draft(), 0, 1), target(pair::target(), 0, 1);
    for (const auto prompt : pair::prompts) {
        const std::vector<pair::Token> tokens = pair::encode(prompt);
        REQUIRE(tokens.size() + 200 <= 256);
        const std::vector<pair::Token> plain = greedy(tokens, 200);
        for (pair::Index lookahead = 1; lookahead <= 8; ++lookahead) {
            specsample::Sampler sampler(std::ref(draft), std::ref(target), {.lookahead = lookahead});
            INFO(prompt << " with lookahead " << lookahead);
            const specsample::Generation text = sampler.generate(tokens, {.max_new_tokens = 200, .max_length = 256});
            CHECK(text.tokens == plain);
            CHECK(text.tally.rounds < 200);
        }
    }
}
