// A draft that returns a part of its own local row.
// expect: error: static assertion failed.*specsample::Sampler: draft.prefix. returns an Eigen expression, .*\.eval
#include <specsample/sampler.hpp>

using specsample::Index;
using specsample::Token;
using Prefix = std::span<const Token>;

int main() {
    const auto good = [](Prefix) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(4, .25f); };
#ifdef FIXED
    const auto draft = [](Prefix) {
        Eigen::VectorXf row = Eigen::VectorXf::Constant(8, .25f);
        return row.head(4).eval();
    };
#else
    const auto draft = [](Prefix) {
        Eigen::VectorXf row = Eigen::VectorXf::Constant(8, .25f);
        return row.head(4);
    };
#endif
    specsample::Sampler sampler(draft, good);
    return static_cast<int>(sampler.generate({1, 2, 3}).tokens.size());
}
