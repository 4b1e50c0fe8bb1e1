// The rules on two real models, where they will be used.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include <specsample/specsample.hpp>
#include <specsample/theory.hpp>

#include "compare_rules/result.hpp"
#include "engine/tokenizer.hpp"
#include "generate/language_model.hpp"

/// A rule that also records bounds: the one-round bound of the chains it judges, the transport bound on accepting one
/// of the first drafts and, for a lossy rule, the total variation of its first position from the target.
template <class Rule>
struct Observed {
    static constexpr bool lossless = Rule::lossless;
    static constexpr bool shares_noise = requires { requires bool(Rule::shares_noise); };

    Rule rule;
    struct Sums {
        long rounds = 0;
        double bound = 0, first_bound = 0, variation = 0;
        double seconds = 0;  // spent on the bounds
    }* sums;

    template <class Context>
    specsample::Outcome operator()(const Context& context) const {
        ++sums->rounds;
        using Distribution = std::remove_cvref_t<decltype(context.distributions[0])>;
        const Stopwatch watch;
        if constexpr (requires(const Distribution& distribution) { distribution.row(); }) observe(context);
        sums->seconds += watch.seconds();
        return rule(context);
    }

  private:
    template <class Context>
    void observe(const Context& context) const {
        using namespace specsample;
        using namespace specsample::lossy;
        using namespace specsample::theory;
        const Index first = context.shape.first_child(root_node);
        if (first == no_node) return;
        std::vector<double> ratios;
        bool is_chain = true;
        for (Index node = first; node != no_node; node = context.shape.first_child(node)) {
            const auto& distribution = context.distributions[static_cast<std::size_t>(node)];
            if (distribution.is_point()) return;
            is_chain = is_chain && context.shape.next_sibling(node) == no_node;
            const auto row = context.row(context.shape.parent(node));
            ratios.push_back(static_cast<double>(row.view()[context.token(node)]) /
                             distribution.weight(context.token(node)));
        }
        if (is_chain) sums->bound += one_round_bound_of_path(ratios);
        Index count = 0;
        for (Index child = first; child != no_node; child = context.shape.next_sibling(child)) ++count;
        const auto row = context.row(root_node);
        const auto p = row.view();
        const auto q = context.distributions[static_cast<std::size_t>(first)].row();
        sums->first_bound += transport_bound(q, p, count);
        if constexpr (LossyRule<Rule>) sums->variation += total_variation_from_target(rule, q, p);
    }
};

/// Two models and some prompts.
class RealPair {
  public:
    /// @param texts   number of texts per prompt, of `tokens` each
    RealPair(specsample::Index tokens, std::size_t texts)
        : target_(load("target_1.8M_int8.bin"), 1, 1),
          draft_(load("draft_230K_kd_int8.bin"), 1, 1),
          tokens_(tokens),
          texts_(texts) {
        const auto tokenizer = engine::Tokenizer::load(folder() / "bpe2048.merges.u16", 2048);
        for (const char* text :
             {"The old lighthouse had not been lit for years when", "def add(first, second):\n    return",
              "She closed the letter, put it back in the drawer, and", "for i in range(10):\n    print("}) {
            prompts_.push_back(tokenizer.encode(text));
            prompts_.back().insert(prompts_.back().begin(), tokenizer.begin());
        }
    }

    LanguageModel& draft() { return draft_; }

    /// Write all texts, each as a request of its own.
    template <class Rule, class Draft>
    Result run(const std::string& name, const Rule& rule, Draft draft) {
        typename Observed<Rule>::Sums sums;
        specsample::Sampler sampler(std::move(draft), std::ref(target_), {.lookahead = 4, .seed = 1},
                                    Observed<Rule>{rule, &sums});
        const double models = draft_.seconds() + target_.seconds();
        const Stopwatch watch;
        double squares = 0;
        for (std::size_t i = 0; i < texts_ * prompts_.size(); ++i)
            squares += write(sampler, prompts_[i % prompts_.size()], i);
        const auto& tally = sampler.tally();
        const auto rounds = static_cast<double>(tally.rounds), measured = static_cast<double>(sums.rounds);
        Result result{.name = name, .tokens_per_round = tally.tokens_per_round()};
        result.error = std::sqrt(std::max(0.0, squares / rounds - std::pow(result.tokens_per_round, 2)) / rounds);
        const double elsewhere = draft_.seconds() + target_.seconds() - models + sums.seconds;
        result.microseconds = (watch.seconds() - elsewhere) / rounds * 1e6;
        result.first = tally.acceptance_at(0).value;
        if (sums.bound > 0) result.of_bound = result.tokens_per_round / (sums.bound / measured);
        if (sums.first_bound > 0) result.of_first_bound = result.first / (sums.first_bound / measured);
        result.variation = sums.variation / measured;
        return result;
    }

  private:
    static std::filesystem::path folder() { return SPECSAMPLE_MODELS_DIR; }
    static engine::Model load(const char* name) { return engine::Model::load(folder() / name); }

    /// @returns the sum of the squares of the rounds' lengths
    template <class Sampler>
    double write(Sampler& sampler, const std::vector<specsample::Token>& prompt, std::size_t request) {
        auto text = prompt;
        specsample::Tally before = sampler.tally();
        double squares = 0;
        (void)sampler.extend(text, {.max_new_tokens = tokens_, .max_length = target_.context(), .request = request},
                             [&](specsample::Token) {
                                 const auto& now = sampler.tally();
                                 if (now.rounds == before.rounds) return;
                                 squares += std::pow(static_cast<double>(now.tokens - before.tokens), 2);
                                 before = now;
                             });
        return squares + std::pow(static_cast<double>(sampler.tally().tokens - before.tokens), 2);
    }

    LanguageModel target_, draft_;
    specsample::Index tokens_;
    std::size_t texts_;
    std::vector<std::vector<specsample::Token>> prompts_;
};
