// Every drafter beside the others on the shipped pair: tokens per round, and time against plain decoding.
//
//     compare_drafters           some 20 seconds
//     compare_drafters --quick   a look at it
//
// Trees take one target pass per path here, as the engine scores no trees: their time is not what they are for.
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>

#include "compare_drafters/measure.hpp"
#include "compare_drafters/texts.hpp"
#include "engine/tokenizer.hpp"
#include "generate/costs.hpp"
#include "generate/language_model.hpp"

namespace {

using namespace specsample;

/// A text that was written before, as a target that is sure of it.
struct Recorded {
    std::vector<Token> text;
    Index vocab;

    std::vector<Eigen::VectorXf> operator()(std::span<const Token> prefix, Index n) const {
        std::vector<Eigen::VectorXf> rows(static_cast<std::size_t>(n), Eigen::VectorXf::Zero(vocab));
        for (std::size_t i = 0; i < rows.size(); ++i) rows[i][at(prefix.size() - rows.size() + 1 + i)] = 1;
        return rows;
    }

  private:
    Token at(std::size_t place) const { return text[std::min(place, text.size() - 1)]; }
};

class Comparison {
  public:
    explicit Comparison(Index tokens)
        : target_(engine::Model::load(folder() / "target_1.8M_int8.bin")),
          draft_(engine::Model::load(folder() / "draft_230K_kd_int8.bin")),
          tokenizer_(engine::Tokenizer::load(folder() / "bpe2048.merges.u16", target_.vocab())),
          tokens_(tokens) {}

    void compare_written(const Texts& texts, double temperature) {
        TokenTexts prompts;
        for (const auto text : texts.prompts) prompts.push_back(encode(text));
        LanguageModel judge(target_, temperature, 1), drafter(draft_, temperature, 1);
        const auto model = [&] { return std::ref(drafter); };
        char title[64];
        std::snprintf(title, sizeof title, "%.*s, temperature %.2g", static_cast<int>(texts.name.size()),
                      texts.name.data(), temperature);
        print_head(title);

        double plain = 0;
        const auto line_of = [&](const char* name, auto drafts, auto rule, const char* rule_name, Index lookahead,
                                 auto length) {
            const Options options{.lookahead = lookahead, .seed = 1};
            const Measured measured =
                measure_drafter(Sampler(std::move(drafts), std::ref(judge), options, rule, std::move(length)), prompts,
                                {.max_new_tokens = tokens_, .max_length = judge.context()});
            if (lookahead == 0) plain = measured.seconds_per_token;
            print_line(name, rule_name, measured, plain);
        };
        const auto line = [&](const char* name, auto drafts, auto rule, const char* rule_name) {
            line_of(name, std::move(drafts), rule, rule_name, 4, FixedLength());
        };
        const TokenVerification token;
        const BlockVerification block;
        const TraversalVerification traversal;
        const Costs costs = measure(draft_, target_, prompts.front(), 9);
        Costs free = costs;
        free.draft = 0;
        const auto goodput = [](const Costs& at) { return GoodputLength(at.draft, at.verify_curve); };
        const Index most = std::ssize(costs.verify_curve) - 1;
        const TreeShape sparse = sparse_tree(std::vector<double>{.6, .15, .08}, 8, 4);

        line_of("plain", model(), token, "-", 0, FixedLength());
        line("model", model(), token, "token");
        line("model", model(), block, "block");
        line("model, stops when unsure", ChainDraft(model(), ConfidenceStop()), block, "block");
        line_of("model, as many as pay", model(), block, "block", most, goodput(costs));
        line("tree 2, 2, 1, 1", TreeDraft(model(), {2, 2, 1, 1}), traversal, "traversal");
        line("sparse tree of 8", TreeDraft(model(), sparse), traversal, "traversal");
        line("dynamic tree of 8", DynamicTreeDraft(model(), {.width = 3, .nodes = 8}), traversal, "traversal");
        line("2 beams", BeamDraft(model(), 2), traversal, "traversal");
        line("lookup", LookupDraft(), token, "token");
        line_of("lookup, as many as pay", LookupDraft(), token, "token", most, goodput(free));
        line("lookup, else model", FirstOf(LookupDraft({.min_match = 2}), model()), block, "block");
        line("lookup and model", United(LookupDraft({.min_match = 2}), model()), traversal, "traversal");
    }

    /// What is drafted where a text becomes another one that is known: the rounds that a perfect editor would take.
    void compare_recorded() {
        print_head("recorded edits, teacher-forced");
        LanguageModel drafter(draft_, 1, 1);
        const auto line = [&](const char* name, const auto& drafts, Index lookahead) {
            Measured sum;
            TokenTexts texts;
            double rounds = 0, written = 0, nodes = 0;
            for (const Edit& edit : recorded) {
                std::vector<Token> prompt = encode(edit.before), text = prompt;
                const std::vector<Token> after = tokenizer_.encode(edit.after);
                text.insert(text.end(), after.begin(), after.end());
                Sampler sampler(drafts, Recorded{text, target_.vocab()}, {.lookahead = lookahead, .seed = 1});
                texts.push_back(sampler.generate(prompt, {.max_new_tokens = std::ssize(after)}).tokens);
                if (texts.back() != after) throw std::logic_error("the text is not the recorded one");
                rounds += static_cast<double>(sampler.tally().rounds);
                nodes += static_cast<double>(sampler.tally().proposed);
                written += static_cast<double>(after.size());
            }
            sum = {written / rounds, nodes / rounds, 0, distinct_share(texts)};
            print_line(name, "token", sum, 0);
        };
        line("model", std::ref(drafter), 4);
        line("lookup, 4", LookupDraft(), 4);
        line("lookup, 8", LookupDraft(), 8);
        line("lookup of 2 and more, 8", LookupDraft({.min_match = 2}), 8);
        line("lookup, else model, 8", FirstOf(LookupDraft({.min_match = 2}), std::ref(drafter)), 8);
    }

  private:
    static std::filesystem::path folder() { return SPECSAMPLE_MODELS_DIR; }

    std::vector<Token> encode(std::string_view text) const {
        std::vector<Token> tokens = tokenizer_.encode(text);
        tokens.insert(tokens.begin(), tokenizer_.begin());
        return tokens;
    }

    engine::Model target_, draft_;
    engine::Tokenizer tokenizer_;
    Index tokens_;
};

}  // namespace

int main(int count, char** values) try {
    if (count > 2 || (count == 2 && std::string_view(values[1]) != "--quick"))
        throw std::invalid_argument("'" + std::string(values[count - 1]) + "' is unknown, but must be --quick");
    Comparison comparison(count == 2 ? 12 : 160);
    for (const Texts& texts : written) comparison.compare_written(texts, .8);
    comparison.compare_written(written.front(), 0);
    comparison.compare_recorded();
} catch (const std::exception& error) {
    std::fprintf(stderr, "compare_drafters: %s\n", error.what());
    return 1;
}
