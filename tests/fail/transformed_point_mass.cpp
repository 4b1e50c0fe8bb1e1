// A target transform in front of a draft that has no row.
// expect: error: static assertion failed.*specsample::lossy::Transformed: a point mass or SharedNoise has no draft
// row
#include <array>
#include <vector>

#include <specsample/lossy.hpp>
#include <specsample/random.hpp>
#include <specsample/verify.hpp>

using namespace specsample;
using namespace specsample::lossy;

int main() {
    const std::vector<Token> tokens{1};
    const std::vector<std::vector<float>> rows{{.5f, .5f}, {.5f, .5f}};
    Workspace workspace;
#ifdef FIXED
    const std::array distributions{Sampled(rows[0])};
#else
    const PointMass distributions;
#endif
    return static_cast<int>(
        verify(tokens, distributions, rows, Transformed(Chow{.1}), RoundRng(1, 2, 3), {}, workspace).tokens.size());
}
