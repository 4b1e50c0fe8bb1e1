// A rule says whether it is lossless.
// expect: error: static assertion failed.*specsample::Rule: a rule must say whether it keeps the target.s distribution;
// write static constexpr bool lossless
#include <array>

#include <specsample/random.hpp>
#include <specsample/verify.hpp>

using namespace specsample;

struct Never {
#ifdef FIXED
    static constexpr bool lossless = false;
#endif
    template <class T>
    Outcome operator()(const T&) const {
        return {};
    }
};

int main() {
    const std::vector<float> row{.5f, .5f};
    const std::vector<Token> tokens{1};
    Workspace workspace;
    const auto round =
        verify(tokens, PointMass{}, std::array{row, row}, Never{}, RoundRng(1, 2, 3), RoundLimits{}, workspace);
    return static_cast<int>(round.accepted);
}
