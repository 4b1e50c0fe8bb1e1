// An engine's library, which has a text written.
#include <span>
#include <vector>

#include <specsample/specsample.hpp>

int text_length() {
    using specsample::Token;
    auto draft = [](std::span<const Token>) -> Eigen::VectorXf { return Eigen::Vector3f(0.5f, 0.3f, 0.2f); };
    auto target = [](std::span<const Token>) -> Eigen::VectorXf { return Eigen::Vector3f(0.2f, 0.3f, 0.5f); };
    specsample::Sampler sampler(draft, target, {.lookahead = 4, .seed = 42});
    const std::vector<Token> text = sampler.generate({0}, {.max_new_tokens = 16});
    return static_cast<int>(text.size());
}
