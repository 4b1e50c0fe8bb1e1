// Rows hold probabilities.
// expect: error: static assertion failed.*specsample::verify: the third argument must be the target.s rows of floating
// point
#include <array>

#include <specsample/random.hpp>
#include <specsample/verify.hpp>

using namespace specsample;

int main() {
    const std::vector<float> row{.5f, .5f};
    const std::vector<Token> tokens{1};
    Workspace workspace;
#ifdef FIXED
    const std::vector<std::vector<float>> rows{{.5f, .5f}, {.5f, .5f}};
#else
    const std::vector<std::vector<int>> rows{{1, 0}, {0, 1}};
#endif
    const auto round = verify(tokens, std::array{Sampled{row}}, rows, TokenVerification{}, RoundRng(1, 2, 3),
                              RoundLimits{}, workspace);
    return static_cast<int>(round.accepted);
}
