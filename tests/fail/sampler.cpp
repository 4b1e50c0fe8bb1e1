// The arguments of a sampler.
#include <string>

#include <specsample/sampler.hpp>

// case: length_without_record
// A length that cannot be told what came of a round.
// expect: error: static assertion failed.*specsample::Sampler: length must have next.most. and record.counts.
namespace length_without_record {

using namespace specsample;

struct Two {
    Index next(Index most) const { return most < 2 ? most : 2; }
#ifdef FIXED
    void record(const RoundCounts&) {}
#endif
};

int program() {
    const auto model = [](std::span<const Token>) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(2, .5f); };
    Sampler sampler(model, model, {}, TokenVerification{}, Two{});
    return static_cast<int>(sampler.generate({1, 0}).tokens.size());
}

}  // namespace length_without_record

// case: sampler_by_reference_wrapper
// A sentence is as good for a model shared by std::ref.
// expect: error: static assertion failed.*specsample::Sampler: draft.prefix. must return a row of probabilities
namespace sampler_by_reference_wrapper {

using specsample::Token;
using Prefix = std::span<const Token>;

int program() {
#ifdef FIXED
    auto draft = [](Prefix) { return std::vector<float>{.5f, .5f}; };
#else
    auto draft = [](Prefix) { return std::vector<int>{1, 1}; };
#endif
    auto target = [](Prefix) { return std::vector<float>{.5f, .5f}; };
    specsample::Sampler sampler(std::ref(draft), std::ref(target));
    return static_cast<int>(sampler.generate({1}).tokens.size());
}

}  // namespace sampler_by_reference_wrapper

// case: sampler_swapped
// Draft and target the wrong way round: a model that names its token cannot be the target.
// expect: error: static assertion failed.*specsample::Sampler: target.prefix. must return a row of probabilities
namespace sampler_swapped {

using specsample::Token;
using Prefix = std::span<const Token>;

int program() {
    const auto draft = [](Prefix) -> Token { return 0; };
    const auto target = [](Prefix) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(4, .25f); };
#ifdef FIXED
    specsample::Sampler sampler(draft, target);
#else
    specsample::Sampler sampler(target, draft);
#endif
    return static_cast<int>(sampler.generate({1, 2, 3}).tokens.size());
}

}  // namespace sampler_swapped

// case: sampler_without_a_rule
// A number is no rule, before anything is generated.
// expect: error: static assertion failed.*specsample::Rule: a rule must be callable with a context
namespace sampler_without_a_rule {

using namespace specsample;

int program() {
    const auto model = [](std::span<const Token>) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(2, .5f); };
#ifdef FIXED
    Sampler sampler(model, model, {}, TokenVerification{});
#else
    Sampler sampler(model, model, {}, 42);
#endif
    return static_cast<int>(sampler.tally().rounds);
}

}  // namespace sampler_without_a_rule

// case: stop_strings_without_text
// Stop strings are looked for in text, which a token has by its tokenizer.
// expect: error: static assertion failed.*specsample::stop_strings::Reply: piece must be callable with a Token
namespace stop_strings_without_text {

using namespace specsample;

int program() {
#ifdef FIXED
    const auto piece = [](Token) { return std::string("a"); };
#else
    const auto piece = [](const std::string& text) { return text; };
#endif
    stop_strings::Reply reply({"b"}, piece);
    return reply.has_ended() ? 1 : 0;
}

}  // namespace stop_strings_without_text
