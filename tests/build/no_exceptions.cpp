// The library without exceptions and without type information (-fno-exceptions -fno-rtti).
#include <specsample/specsample.hpp>
#include <specsample/verify/batch.hpp>

int main() {
    const auto row = [](std::span<const specsample::Token>) -> Eigen::VectorXf { return Eigen::Vector2f(0.5f, 0.5f); };
    specsample::Sampler sampler(row, row, {.lookahead = 2});
    const bool writes = sampler.generate({0}, {.max_new_tokens = 8}).tokens.size() == 8;

    // A batch in which two requests break the contract says so in their rounds.
    using namespace specsample;
    const std::array<Token, 2> tokens{0, 1};
    const std::array<int, 2> late{-1, 5};
    const RowMajorMatrix<float> rows = RowMajorMatrix<float>::Constant(3, 2, .5f);
    const RoundRng rng(1, 2, 3);
    const TokenVerification rule;
    const auto judge = [&](Index i, Workspace& workspace) -> Round {
        if (i == 1) return Request{tokens, PointMass{}, rows, rule, rng, RoundLimits{.max_tokens = 0}}(workspace);
        if (i == 2) return Request{Tree{tokens, late}, PointMass{}, rows, rule, rng}(workspace);
        return Request{tokens, PointMass{}, rows, rule, rng}(workspace);
    };
    BatchWorkspace memory;
    const auto rounds = verify_batch(4, judge, memory);
    const bool told = rounds[0] && !rounds[1].error.empty() && !rounds[2].error.empty() && rounds[3];
    return writes && told ? 0 : 1;
}
