// Speculative sampling on toy distributions: three texts, and the proof that they follow the target.
#include <cstdio>

#include <specsample/specsample.hpp>
#include <specsample/testing.hpp>

using specsample::Token;

int main() {
    // The small model guesses, the large one decides, n positions in one pass. Here both ignore the prefix.
    auto draft = [](std::span<const Token>) { return Eigen::VectorXd{{0.2, 0.3, 0.5}}; };
    struct {
        Eigen::RowVectorXd row{{0.5, 0.3, 0.2}};
        Eigen::RowVectorXd operator()(std::span<const Token>) { return row; }
        specsample::RowMajorMatrixXd operator()(std::span<const Token>, Eigen::Index n) { return row.replicate(n, 1); }
    } target;

    specsample::Sampler sampler(draft, target, {.lookahead = 4, .seed = 42});
    for (std::uint64_t request = 0; request < 3; ++request) {  // a new text needs a new request
        std::vector<Token> text = sampler.generate({0}, {.max_new_tokens = 16, .request = request});
        for (Token token : text) std::printf("%d ", token);
        std::printf("\n");
    }

    const specsample::Tally& tally = sampler.tally();
    std::printf("%.2f tokens per target pass; acceptance %.2f, expected %.2f\n", tally.tokens_per_pass(),
                tally.acceptance().value, specsample::acceptance(draft({}), target({})));

    // Every outcome of a round, enumerated with its exact probability.
    std::printf("distance from the target's law: %.0e\n",
                specsample::testing::distance_from_target(specsample::TokenVerification{}, draft, target, 3));
}
