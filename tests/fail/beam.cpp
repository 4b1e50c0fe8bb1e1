// Models of a beam search.
#include <specsample/beam.hpp>
#include <specsample/sampler.hpp>

// case: beam_draft_returns_a_token
// A draft for a beam search that names its token, so that nothing can be ranked.
// expect: error: static assertion failed.*specsample::beam::BeamSearch: draft.prefix. must return a row of
// probabilities
namespace beam_draft_returns_a_token {

using specsample::Token;
using Prefix = std::span<const Token>;

int program() {
    const auto good = [](Prefix) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(4, .25f); };
#ifdef FIXED
    const auto draft = good;
#else
    const auto draft = [](Prefix) -> Token { return 0; };
#endif
    specsample::beam::BeamSearch search(draft, good);
    return static_cast<int>(search.generate({1, 2, 3}).beams.size());
}

}  // namespace beam_draft_returns_a_token

// case: beam_target_returns_a_token
// A target for a beam search that names its token: the sentence is that of a sampler, and the only one.
// expect: error: static assertion failed.*specsample::Sampler: target.prefix. must return a row of probabilities
namespace beam_target_returns_a_token {

using specsample::Token;
using Prefix = std::span<const Token>;

int program() {
    const auto good = [](Prefix) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(4, .25f); };
#ifdef FIXED
    const auto target = good;
#else
    const auto target = [](Prefix) -> Token { return 0; };
#endif
    specsample::beam::BeamSearch search(good, target);
    return static_cast<int>(search.generate({1, 2, 3}).beams.size());
}

}  // namespace beam_target_returns_a_token
