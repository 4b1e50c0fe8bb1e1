// A number is no rule.
// expect: error: static assertion failed.*specsample::Rule: a rule must be callable with a context; give one as in
// TokenVerification
#include <array>

#include <specsample/random.hpp>
#include <specsample/verify.hpp>

using namespace specsample;

int main() {
    const std::vector<float> row{.5f, .5f};
    const std::vector<Token> tokens{1};
    Workspace workspace;
#ifdef FIXED
    const TokenVerification rule;
#else
    const int rule = 42;
#endif
    const auto round =
        verify(tokens, PointMass{}, std::array{row, row}, rule, RoundRng(1, 2, 3), RoundLimits{}, workspace);
    return static_cast<int>(round.accepted);
}
