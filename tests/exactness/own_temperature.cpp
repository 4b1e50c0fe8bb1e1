// Models that bring a temperature along, under processors: the text has the distribution of the changed logits at that
// temperature, with drafts of every kind, at temperature 0 too.
#include <specsample/shaping.hpp>
#include <specsample/vocabularies.hpp>

#include "exactness/cases.hpp"
#include "support/any_model.hpp"
#include "support/any_shaper.hpp"
#include "support/catch.hpp"

using namespace cases;
using namespace specsample::vocabularies;
using namespace specsample::filters;

namespace {

constexpr Index vocab = 4;

/// Logits per context: the logarithms of a model's rows.
struct LogitModel {
    ContextModel model;

    Eigen::VectorXd operator()(std::span<const Token> prefix) const { return model(prefix).array().log().matrix(); }
};

/// Never the token that the model is surest of, which a grammar forbids.
struct NotTheSurest {
    ContextModel model;

    std::vector<std::uint32_t> operator()(std::span<const Token> context) const {
        return {15u ^ (1u << kernels::argmax(model(context)))};
    }
};

}  // namespace

TEST_CASE("a model's own temperature divides the logits that processors leave") {
    const ContextModel draft(vocab, 41), target(vocab, 42);
    struct Case {
        const char* name;
        any::Shaper processor, filter;
    };
    const Case all[] = {
        {"mask", TokenMask{NotTheSurest{target}}, Pipeline{}},
        {"bias", LogitBias{{{1, 1.}, {2, -.5}}}, TopK{3}},
        {"penalties", Pipeline{PresencePenalty{1.2}, RepetitionPenalty{1.5}}, MinP{.1}},
        {"several", Pipeline{LogitBias{{{3, .7}}}, TokenMask{NotTheSurest{target}}}, Pipeline{TopK{2}, TopP{.9}}}};
    for (const double temperature : {0., 1e-3, .5, 2.})
        for (const auto& [name, processor, filter] : all) {
            INFO(name << ", temperature " << temperature);
            const Pipeline pipeline{processor, filter};
            const auto judge = shaped(from_logits(LogitModel{target}, temperature), pipeline);
            // The logits are changed, then divided, then filtered.
            const auto stated =
                shaped(from_logits(LogitModel{target}), Pipeline{processor, Temperature{temperature}, filter});
            const IdMap same = IdMap::same_ids(vocab, vocab);
            for (Index lookahead = 0; lookahead <= 2; ++lookahead) {
                const TextDistribution expected = joint_distribution(stated, lookahead + 1);
                const auto distance = [&](const auto& rule, const auto& drafts) {
                    return total_variation(exact_distribution(rule, drafts, judge, lookahead), expected);
                };
                CHECK(distance(TokenVerification{}, draft) < 1e-12);
                CHECK(distance(BlockVerification{}, shaped(from_logits(LogitModel{draft}, temperature), pipeline)) <
                      1e-12);
                CHECK(distance(TokenVerification{},
                               shaped(mapped(from_logits(LogitModel{draft}, temperature), same), pipeline)) < 1e-12);
            }
        }
}
