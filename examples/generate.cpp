// Real text from a real pair: a draft model guesses, a target model decides, every round is shown.
#include <cstdio>
#include <exception>
#include <optional>
#include <string>

#include "engine/model.hpp"
#include "engine/tokenizer.hpp"
#include "generate/arguments.hpp"
#include "generate/report.hpp"
#include "generate/run.hpp"
#include "generate/screen.hpp"

namespace {

std::string decode(const engine::Tokenizer& tokenizer, specsample::Token previous,
                   const std::vector<specsample::Token>& tokens) {
    std::string text;
    for (const auto token : tokens) {
        text += tokenizer.decode(previous, token);
        previous = token;
    }
    return text;
}

void generate(const Arguments& arguments) {
    const engine::Model target = engine::Model::load(arguments.target);
    const engine::Model draft = engine::Model::load(arguments.draft);
    if (draft.vocab() != target.vocab())
        throw std::invalid_argument("--draft has " + std::to_string(draft.vocab()) +
                                    " tokens, but must have the target's " + std::to_string(target.vocab()));
    const auto tokenizer = engine::Tokenizer::load(arguments.tokenizer, target.vocab());

    std::vector<specsample::Token> prompt = tokenizer.encode(arguments.prompt);
    prompt.insert(prompt.begin(), tokenizer.begin());
    const specsample::Index context = std::min(draft.context(), target.context());
    if (std::ssize(prompt) >= context)
        throw std::invalid_argument("the prompt has " + std::to_string(prompt.size()) +
                                    " tokens, but must have fewer than the models' context of " +
                                    std::to_string(context));
    const specsample::Limits limits{
        .max_new_tokens = arguments.max_tokens, .max_length = context, .stop_tokens = {tokenizer.end()}};
    specsample::Options options{.lookahead = arguments.lookahead, .seed = arguments.seed};
    Lookahead length;
    if (arguments.adapts) {
        Costs costs = measure(draft, target, prompt, options.lookahead + 1);
        if (arguments.draft_kind == DraftKind::lookup) costs.draft = 0;
        options.lookahead = std::ssize(costs.verify_curve) - 1;  // a short prompt gives few figures
        length = Lookahead(costs);
    }
    const LanguageModel drafter(draft, arguments.temperature, arguments.top_p);
    const LanguageModel judge(target, arguments.temperature, arguments.top_p);

    Screen screen(tokenizer, arguments.color);
    if (!arguments.json) screen.prompt(prompt);
    const Run speculative = run(drafter, judge, arguments.draft_kind, options, length, limits, prompt,
                                [&](const specsample::Round& round, const specsample::Token* rejected) {
                                    if (!arguments.json) screen.round(round, rejected);
                                });
    std::optional<Comparison> comparison;
    if (arguments.compare) {
        const specsample::Options plain{.lookahead = 0, .seed = arguments.seed};
        std::vector<specsample::Token> text = prompt;
        text.insert(text.end(), speculative.tokens.begin(), speculative.tokens.end());
        text.resize(std::min(text.size(), static_cast<std::size_t>(context)));
        comparison = {
            run(drafter, judge, DraftKind::model, plain, Lookahead(), limits, prompt, [](const auto&, const auto*) {}),
            measure(draft, target, text, std::max<specsample::Index>(9, arguments.lookahead + 1))};
    }
    if (arguments.json) {
        print_json(speculative, arguments.prompt, decode(tokenizer, prompt.back(), speculative.tokens), comparison);
    } else {
        print_table(speculative, comparison);
    }
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const Arguments arguments = parse({argv + 1, argv + argc});
        if (arguments.help) {
            std::fputs(usage.data(), stdout);
        } else {
            generate(arguments);
        }
    } catch (const std::exception& error) {
        std::fprintf(stderr, "generate: %s\n", error.what());
        return 2;
    }
}
