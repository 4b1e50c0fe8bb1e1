// Tokens are ids.
// expect: error: static assertion failed.*specsample::verify: the first argument must be the drafted token ids
#include <array>

#include <specsample/random.hpp>
#include <specsample/verify.hpp>

using namespace specsample;

int main() {
    const std::vector<float> row{.5f, .5f};
    Workspace workspace;
#ifdef FIXED
    const std::vector<std::int64_t> tokens{1};
#else
    const std::vector<double> tokens{1};
#endif
    const auto round = verify(tokens, PointMass{}, std::array{row, row}, TokenVerification{}, RoundRng(1, 2, 3),
                              RoundLimits{}, workspace);
    return static_cast<int>(round.accepted);
}
