// A middle model that judges by a lossy rule: the tokens do not follow the distribution that the target would be told.
// expect: error: static assertion failed.*specsample::StagedDrafter: the rule between draft and middle model must be
// lossless
#include <specsample/lossy.hpp>
#include <specsample/sampler.hpp>

using namespace specsample;
using namespace specsample::lossy;

int main() {
    const auto model = [](std::span<const Token>) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(2, .5f); };
#ifdef FIXED
    StagedDrafter draft(model, model, 2, TokenVerification{});
#else
    StagedDrafter draft(model, model, 2, Lenience{.5});
#endif
    Sampler sampler(draft, model);
    return static_cast<int>(sampler.generate({1, 0}).tokens.size());
}
