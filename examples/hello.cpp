// Two toy models and a text.
// Prints
//   0 0 1 0 0 0 0 1 1 1 0 1 2 2 2 0
//   3.20 tokens per round
#include <cstdio>

#include <specsample/specsample.hpp>

using specsample::Token;

int main() {
    // A model returns the next token's probabilities. The small one guesses, the large one decides.
    auto draft = [](std::span<const Token>) { return Eigen::VectorXd{{0.2, 0.3, 0.5}}; };
    auto target = [](std::span<const Token>) { return Eigen::VectorXd{{0.5, 0.3, 0.2}}; };

    specsample::Sampler sampler(draft, target, {.lookahead = 4, .seed = 42});
    std::vector<Token> text = sampler.generate({0}, {.max_new_tokens = 16, .request = 0});
    for (Token token : text) std::printf("%d ", token);
    std::printf("\n%.2f tokens per round\n", sampler.tally().tokens_per_round());
}
