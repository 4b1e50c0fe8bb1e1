// The smallest program with a Sampler.
#include <specsample/specsample.hpp>

using specsample::Token;

int main() {
    auto draft = [](std::span<const Token>) { return Eigen::VectorXf{{.2f, .3f, .5f}}; };
    auto target = [](std::span<const Token>, Eigen::Index n) -> specsample::RowMajorMatrix<float> {
        return specsample::RowMajorMatrix<float>::Constant(n, 3, 1.f / 3);
    };
    specsample::Sampler sampler(draft, target, {.lookahead = 4, .seed = 42});
    return static_cast<int>(sampler.generate({0}, {.max_new_tokens = 16}).tokens.size());
}
