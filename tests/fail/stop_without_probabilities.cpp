// A stop that looks at probabilities, on a drafter that returns none.
// expect: error: static assertion failed.*specsample::ChainDrafter: a stop looks at probabilities, but draft\(prefix\)
// returns a token
#include <specsample/length.hpp>
#include <specsample/sampler.hpp>

using namespace specsample;

int main() {
    const auto target = [](std::span<const Token>) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(2, .5f); };
#ifdef FIXED
    const auto draft = target;
#else
    const auto draft = [](std::span<const Token>) { return Token{1}; };
#endif
    Sampler sampler(ChainDrafter(draft, ConfidenceStop{}), target);
    return static_cast<int>(sampler.generate({1, 0}).tokens.size());
}
