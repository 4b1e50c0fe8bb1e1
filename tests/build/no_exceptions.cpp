// The library without exceptions and without type information (-fno-exceptions -fno-rtti).
#include <specsample/specsample.hpp>

int main() {
    const auto row = [](std::span<const specsample::Token>) -> Eigen::VectorXf { return Eigen::Vector2f(0.5f, 0.5f); };
    specsample::Sampler sampler(row, row, {.lookahead = 2});
    return sampler.generate({0}, {.max_new_tokens = 8}).tokens.size() == 8 ? 0 : 1;
}
