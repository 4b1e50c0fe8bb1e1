// The distribution of shaped text is that of the shaped target: every shaper, at every position with its own context,
// on chains and on trees.
#include <specsample/shaping.hpp>
#include <specsample/theory.hpp>
#include <specsample/vocabularies.hpp>

#include "exactness/trees.hpp"
#include "support/any_shaper.hpp"
#include "support/catch.hpp"
#include "support/tree_target.hpp"

using namespace cases;
using namespace specsample::vocabularies;
using namespace specsample::theory;
using namespace specsample::kernels;
using namespace specsample::filters;
using namespace specsample::children;

namespace {

/// Logits per context: the logarithms of a model's rows.
struct LogitModel {
    ContextModel model;

    Eigen::VectorXd operator()(std::span<const Token> prefix) const { return model(prefix).array().log().matrix(); }
    RowMajorMatrix<double> operator()(std::span<const Token> prefix, Index count) const {
        return model(prefix, count).array().log().matrix();
    }
};

/// The same models, one row at a time.
struct OneByOne {
    ContextModel model;

    Eigen::VectorXd operator()(std::span<const Token> prefix) const { return model(prefix); }
};

/// Another mask after every context; the last token is always allowed.
inline std::vector<std::uint32_t> mask_after(std::span<const Token> context) {
    const std::uint32_t last = context.empty() ? 0 : static_cast<std::uint32_t>(context.back());
    return {8u | (1u << ((last + static_cast<std::uint32_t>(context.size())) % 4)) | (1u << last)};
}

/// Call f(name, shaper) for every shaper, and for some pipelines of them.
template <class F>
void for_pipelines(F&& call) {
    const auto f = [&](const char* name, const any::Shaper& shaper) { call(name, shaper); };
    f("temperature", Temperature{.6});
    f("argmax", Temperature{0});
    f("top-k", TopK{2});
    f("top-p", TopP{.7});
    f("min-p", MinP{.3});
    f("typical-p", TypicalP{.6});
    f("repetition penalty", RepetitionPenalty{1.5});
    f("frequency penalty", FrequencyPenalty{.8});
    f("presence penalty", PresencePenalty{1.2, {.last_n = 2}});
    f("logit bias", LogitBias{{{1, 1.}, {2, -.5}}});
    f("mask", TokenMask{mask_after});
    f("top-n-sigma", TopNSigma{1});
    f("epsilon cut-off", EpsilonCutoff{.2});
    f("eta cut-off", EtaCutoff{.5});
    f("XTC", Xtc{.5, .2, 3});
    f("no repeated n-gram", NoRepeatNgram{2});
    f("DRY", Dry{.multiplier = 1.2, .base = 2, .allowed_length = 1, .sequence_breakers = {{0}}});
    f("bad words", BadWords{{{1, 2}, {0, 0}}});
    f("min tokens", MinTokens{.min_tokens = 2, .stop_token_ids = {1}});
    f("thinking budget", ThinkingBudget{.start = {1}, .end = {2, 0}, .budget = 1});
    f("dynamic temperature", DynamicTemperature{.9, .6});
    f("all of them", Pipeline{LogitBias{{{1, .5}}}, RepetitionPenalty{1.2}, FrequencyPenalty{.4}, PresencePenalty{.2},
                              TokenMask{mask_after}, Temperature{.8}, TopK{3}, TypicalP{.95}, TopP{.9}, MinP{.05}});
    f("penalties after filters", Pipeline{TopP{.9}, FrequencyPenalty{1}, Temperature{1.5}});
}

constexpr Index vocab = 4;

/// The largest distance over every kind of model, shaped on both sides or on the target's alone.
template <class Rule>
double worst_distance(const Rule& rule, const any::Shaper& pipeline, Index lookahead) {
    const ContextModel draft(vocab, 41), target(vocab, 42);
    double worst = 0;
    const auto see = [&](auto drafts, auto judges) {
        worst = std::max(worst, distance_from_target(rule, drafts, judges, lookahead));
    };
    see(shaped(draft, pipeline), shaped(target, pipeline));
    see(draft, shaped(target, pipeline));
    see(shaped(OneByOne{draft}, pipeline), shaped(OneByOne{target}, pipeline));
    see(shaped(from_logits(LogitModel{draft}), pipeline), shaped(from_logits(LogitModel{target}), pipeline));
    return worst;
}

}  // namespace

TEMPLATE_TEST_CASE("a chain judged by shaped rows has the shaped target's distribution", "", TokenVerification,
                   BlockVerification) {
    for_pipelines([](const char* name, const any::Shaper& pipeline) {
        for (Index lookahead = 1; lookahead <= 2; ++lookahead) {
            INFO(name << ", lookahead " << lookahead);
            CHECK(worst_distance(TestType{}, pipeline, lookahead) < 1e-12);
        }
    });
}

TEST_CASE("a tree judged by shaped rows has the shaped target's distribution") {
    const ContextModel draft(3, 41), target(3, 42);
    for_pipelines([&](const char* name, const any::Shaper& pipeline) {
        INFO(name);
        const auto judge = shaped(target, pipeline);
        for (const auto& shape : {std::vector<Index>{2}, {2, 1}}) {
            const Index depth = std::ssize(shape);
            CHECK(distance_from_target(TokenVerification{}, TreeDrafter(shaped(draft, pipeline), shape, Independent{}),
                                       judge, depth) < 1e-12);
            CHECK(distance_from_target(TokenVerification{}, TreeDrafter(shaped(draft, pipeline), shape),
                                       shaped(from_logits(LogitModel{target}), pipeline), depth) < 1e-12);
        }
    });
}

TEST_CASE("a tree that a shaped target scores in one pass has the shaped target's distribution") {
    const ContextModel draft(3, 41), target(3, 42);
    const auto check = [&](const auto& on_trees, const auto& by_path, const auto& drafts) {
        for (const auto& shape : {std::vector<Index>{2}, {2, 1}}) {
            const Index depth = std::ssize(shape);
            const TextDistribution distribution = joint_distribution(by_path, depth + 1);
            CHECK(total_variation(exact_distribution(TokenVerification{}, TreeDrafter(drafts, shape, Independent{}),
                                                     on_trees, depth),
                                  distribution) < 1e-12);
            CHECK(total_variation(
                      exact_distribution(TraversalVerification{}, TreeDrafter(drafts, shape), on_trees, depth),
                      distribution) < 1e-12);
        }
    };
    RowAndTreeTarget rows(target);
    RowAndTreeTarget logits(LogitModel{target});
    for_pipelines([&](const char* name, const any::Shaper& pipeline) {
        INFO(name);
        check(shaped(std::ref(rows), pipeline), shaped(target, pipeline), shaped(draft, pipeline));
        check(shaped(from_logits(std::ref(logits)), pipeline), shaped(target, pipeline), draft);
    });
    check(from_logits(std::ref(logits), .7), from_logits(LogitModel{target}, .7), draft);
    const IdMap map(std::vector{2, 0, 1}, 3);
    check(mapped(std::ref(rows), map), mapped(target, map), draft);
    CHECK(rows.passes > 1000);
    CHECK(logits.passes > 1000);
}

TEST_CASE("sampling parameters have the distribution of their pipeline") {
    const SamplingParams settings{
        .temperature = .8, .top_k = 3, .min_p = .05, .repetition_penalty = 1.3, .frequency_penalty = .5};
    const Pipeline pipeline{RepetitionPenalty{1.3}, FrequencyPenalty{.5}, Temperature{.8}, TopK{3}, MinP{.05}};
    const ContextModel draft(vocab, 41), target(vocab, 42);
    CHECK(total_variation(joint_distribution(shaped(target, settings), 3),
                          joint_distribution(shaped(target, pipeline), 3)) < 1e-15);
    CHECK(distance_from_target(TokenVerification{}, shaped(draft, settings), shaped(target, settings), 2) < 1e-12);
}

TEST_CASE("all parameters at once have the distribution of plain decoding") {
    SamplingParams settings{.top_p = .95,
                            .top_n_sigma = 2,
                            .epsilon_cutoff = .05,
                            .eta_cutoff = .1,
                            .xtc = {.probability = .5, .threshold = .3, .seed = 1},
                            .dynatemp_range = .4,
                            .repetition_penalty = 1.2,
                            .dry = {.multiplier = .8, .allowed_length = 1},
                            .no_repeat_ngram_size = 3,
                            .bad_words = {{{2, 3}}},
                            .min_tokens = 2,
                            .stop_token_ids = {3},
                            .thinking = {.start = {0}, .end = {1}, .budget = 1}};
    const ContextModel draft(vocab, 41), target(vocab, 42);
    CHECK(distance_from_target(TokenVerification{}, shaped(draft, settings), shaped(target, settings), 3) < 1e-12);
    CHECK(distance_from_target(BlockVerification{}, draft, shaped(target, settings), 2) < 1e-12);
}

TEST_CASE("a decision of XTC that is made once for every round gives another distribution") {
    // The bug of an engine whose XTC draws from the generator of its text.
    const Xtc by_position{.5, .2, 3};
    struct ByRound {
        Xtc xtc;
        std::size_t start;

        void operator()(Candidates<double>& row, std::span<const Token> context) const {
            Xtc{double(xtc.changes(Index(start))), xtc.threshold}(row, context);
        }
    };
    const ContextModel draft(3, 41), target(3, 42);
    const TextDistribution distribution = joint_distribution(shaped(target, by_position), 3);
    CHECK(total_variation(exact_distribution(TokenVerification{}, draft, shaped(target, ByRound{by_position, 0}), 2),
                          distribution) > .05);
}

TEST_CASE("a penalty that does not see the drafted tokens gives another distribution") {
    // The bug of an engine that uses one window for all positions of a round.
    struct OneWindow {
        std::size_t round_start;

        void operator()(Candidates<double>& row, std::span<const Token> context) const {
            FrequencyPenalty{1.5}(row, context.first(std::min(round_start, context.size())));
        }
    };
    const ContextModel draft(3, 41), target(3, 42);
    const TextDistribution distribution = joint_distribution(shaped(target, FrequencyPenalty{1.5}), 3);
    CHECK(total_variation(exact_distribution(TokenVerification{}, draft, shaped(target, FrequencyPenalty{1.5}), 2),
                          distribution) < 1e-12);
    CHECK(total_variation(exact_distribution(TokenVerification{}, draft, shaped(target, OneWindow{0}), 2),
                          distribution) > .05);
}

// Fixed seeds, a statistic of false-alarm probability 1e-9 each.
TEST_CASE("many rounds of shaped models have the shaped target's joint distribution") {
    const SamplingParams settings{.temperature = .8, .top_k = 3, .top_p = .95, .frequency_penalty = .5};
    const auto draft = shaped(from_logits(LogitModel{ContextModel(4, 37)}), settings);
    const auto target = shaped(from_logits(LogitModel{ContextModel(4, 38)}), settings);
    CHECK(rounds(TokenVerification{}, draft, target, 3, 3, 20000).holds());
    CHECK(rounds(BlockVerification{}, draft, target, 3, 3, 20000).holds());
}
