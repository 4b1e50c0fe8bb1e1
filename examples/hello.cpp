// Speculative sampling with two toy models, and the proof that it is exact.
// Prints
//   0 0 1 0 0 0 0 1 1 1 0 1 2 2 2 0
//   0 0 1 0 2 1 0 2 1 0 1 2 0 1 0 2
//   3.20 tokens per round; acceptance 0.82, expected 0.70
//   the largest difference from the target's distribution is below 1e-15: yes
#include <cstdio>

#include <specsample/specsample.hpp>
#include <specsample/testing.hpp>

using specsample::Token;

int main() {
    // Models return the next token's probabilities. The small one guesses, the large one decides; these ignore the
    // text.
    auto draft = [](std::span<const Token>) { return Eigen::VectorXd{{0.2, 0.3, 0.5}}; };
    auto target = [](std::span<const Token>) { return Eigen::VectorXd{{0.5, 0.3, 0.2}}; };

    specsample::Sampler sampler(draft, target, {.lookahead = 4, .seed = 42});
    for (std::uint64_t request : {0, 1}) {  // a new text needs a new request
        std::vector<Token> text = sampler.generate({0}, {.max_new_tokens = 16, .request = request});
        for (Token token : text) std::printf("%d ", token);
        std::printf("\n");
    }
    std::printf("%.2f tokens per round; acceptance %.2f, expected %.2f\n", sampler.tally().tokens_per_round(),
                sampler.tally().acceptance().value, specsample::acceptance(draft({}), target({})));

    // Every outcome of a round of three drafted tokens, enumerated with its exact probability.
    const double distance =
        specsample::testing::distance_from_target(specsample::TokenVerification{}, draft, target, 3);
    std::printf("the largest difference from the target's distribution is below 1e-15: %s\n",
                distance < 1e-15 ? "yes" : "no");
}
