// A token drawn with the target's own noise, before a rule that judges by a ratio.
// expect: error: static assertion failed.*specsample::verify: a token .* .SharedNoise. has no ratio; judge it by a
// match rule
#include <vector>

#include <specsample/random.hpp>
#include <specsample/verify.hpp>

using namespace specsample;

int main() {
    const std::vector<Token> tokens{1};
    const std::vector<std::vector<float>> rows{{.5f, .5f}, {.5f, .5f}};
    Workspace workspace;
#ifdef FIXED
    const GumbelMatch rule;
#else
    const TokenVerification rule;
#endif
    const auto round = verify(tokens, SharedNoise{}, rows, rule, RoundRng(1, 2, 3), RoundLimits{}, workspace);
    return static_cast<int>(round.accepted);
}
