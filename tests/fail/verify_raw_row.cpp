// A distribution is not a row: it must be said how the token was drawn.
// expect: error: static assertion failed.*specsample::verify: the second argument must say what each token was drawn
// from.*write Sampled.row. for each
#include <array>

#include <specsample/random.hpp>
#include <specsample/verify.hpp>

using namespace specsample;

int main() {
    const std::vector<float> row{.5f, .5f};
    const std::vector<Token> tokens{1};
    Workspace workspace;
#ifdef FIXED
    const std::array distributions{Sampled{row}};
#else
    const std::array distributions{row};
#endif
    const auto round = verify(tokens, distributions, std::array{row, row}, TokenVerification{}, RoundRng(1, 2, 3),
                              RoundLimits{}, workspace);
    return static_cast<int>(round.accepted);
}
