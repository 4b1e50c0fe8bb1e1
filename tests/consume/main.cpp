// A consumer: two toy models, one text.
#include <cstdio>
#include <span>
#include <vector>

#include <specsample/specsample.hpp>

int main() {
    using specsample::Token;
    auto draft = [](std::span<const Token>) -> Eigen::VectorXf { return Eigen::Vector3f(0.5f, 0.3f, 0.2f); };
    auto target = [](std::span<const Token>) -> Eigen::VectorXf { return Eigen::Vector3f(0.2f, 0.3f, 0.5f); };
    specsample::Sampler sampler(draft, target, {.lookahead = 4, .seed = 42});
    const std::vector<Token> text = sampler.generate({0}, {.max_new_tokens = 16});
    std::printf("%zu tokens\n", text.size());
    return text.size() == 16 ? 0 : 1;
}
