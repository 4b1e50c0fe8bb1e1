// The smallest program with a Sampler of models whose rows are values.
#include <specsample/sampler_values.hpp>
using namespace specsample;
int main() {
    const float q[3] = {.2f, .3f, .5f}, p[3] = {.5f, .3f, .2f};
    const auto draft = [&](std::span<const Token>) { return Row::probs({q, 3}); };
    const auto target = [&](std::span<const Token>) { return Row::probs({p, 3}); };
    Sampler sampler(draft, target, {.lookahead = 4, .seed = 42});
    return static_cast<int>(sampler.generate({0}, {.max_new_tokens = 16}).tokens.size());
}
