// A length that cannot be told what came of a round.
// expect: error: static assertion failed.*specsample::Sampler: length must have next.most. and record.counts.
#include <specsample/sampler.hpp>

using namespace specsample;

struct Two {
    Index next(Index most) const { return most < 2 ? most : 2; }
#ifdef FIXED
    void record(const RoundCounts&) {}
#endif
};

int main() {
    const auto model = [](std::span<const Token>) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(2, .5f); };
    Sampler sampler(model, model, {}, TokenVerification{}, Two{});
    return static_cast<int>(sampler.generate({1, 0}).tokens.size());
}
