// Drafters whose rows are of two types, in one tree.
// expect: error: static assertion failed.*specsample: drafters that propose together must return rows of one type
#include <vector>

#include <specsample/drafters.hpp>
#include <specsample/sampler.hpp>

using namespace specsample;

int main() {
    const auto model = [](std::span<const Token>) -> std::vector<float> { return {.5f, .5f}; };
#ifdef FIXED
    const auto other = [](std::span<const Token>) -> std::vector<float> { return {.25f, .75f}; };
#else
    const auto other = [](std::span<const Token>) -> std::vector<double> { return {.25, .75}; };
#endif
    Sampler sampler(United(model, other), model);
    return static_cast<int>(sampler.generate({1, 0}).tokens.size());
}
