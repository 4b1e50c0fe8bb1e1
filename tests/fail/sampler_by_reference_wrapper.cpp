// A sentence is as good for a model shared by std::ref.
// expect: error: static assertion failed.*specsample::Sampler: draft.prefix. must return a row of probabilities
#include <specsample/sampler.hpp>

using specsample::Token;
using Prefix = std::span<const Token>;

int main() {
#ifdef FIXED
    auto draft = [](Prefix) { return std::vector<float>{.5f, .5f}; };
#else
    auto draft = [](Prefix) { return std::vector<int>{1, 1}; };
#endif
    auto target = [](Prefix) { return std::vector<float>{.5f, .5f}; };
    specsample::Sampler sampler(std::ref(draft), std::ref(target));
    return static_cast<int>(sampler.generate({1}).tokens.size());
}
