// A number is no rule, before anything is generated.
// expect: error: static assertion failed.*specsample::Rule: a rule must be callable with a context
#include <specsample/sampler.hpp>

using namespace specsample;

int main() {
    const auto model = [](std::span<const Token>) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(2, .5f); };
#ifdef FIXED
    Sampler sampler(model, model, {}, TokenVerification{});
#else
    Sampler sampler(model, model, {}, 42);
#endif
    return static_cast<int>(sampler.tally().rounds);
}
