// A seed is no source.
// expect: error: static assertion failed.*specsample::verify: the fifth argument must be a source of random numbers;
// write specsample::RoundRng
#include <array>

#include <specsample/random.hpp>
#include <specsample/verify.hpp>

using namespace specsample;

int main() {
    const std::vector<float> row{.5f, .5f};
    const std::vector<Token> tokens{1};
    Workspace workspace;
#ifdef FIXED
    const RoundRng rng(42, 0, 0);
#else
    const int rng = 42;
#endif
    const auto round =
        verify(tokens, PointMass{}, std::array{row, row}, TokenVerification{}, rng, RoundLimits{}, workspace);
    return static_cast<int>(round.accepted);
}
