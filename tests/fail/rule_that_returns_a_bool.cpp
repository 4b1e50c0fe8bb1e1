// A rule says more than yes or no.
// expect: error: static assertion failed.*specsample::Rule: rule.context. must return a specsample::Outcome
#include <array>

#include <specsample/random.hpp>
#include <specsample/verify.hpp>

using namespace specsample;

struct Never {
    static constexpr bool lossless = false;
    template <class T>
#ifdef FIXED
    Outcome operator()(const T&) const {
        return {};
    }
#else
    bool operator()(const T&) const {
        return false;
    }
#endif
};

int main() {
    const std::vector<float> row{.5f, .5f};
    const std::vector<Token> tokens{1};
    Workspace workspace;
    const auto round =
        verify(tokens, PointMass{}, std::array{row, row}, Never{}, RoundRng(1, 2, 3), RoundLimits{}, workspace);
    return static_cast<int>(round.accepted);
}
