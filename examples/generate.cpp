// Generates text with a real pair of models: the draft model drafts, the target model verifies, every round is shown.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/model.hpp"
#include "engine/tokenizer.hpp"
#include "generate/arguments.hpp"
#include "generate/costs.hpp"
#include "generate/drafts.hpp"
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

LanguageModel load_target(const Arguments& arguments, const RowShaper& shaper) {
    const auto weights = engine::Weights::load(arguments.target);
    const auto pages =
        arguments.page == 0 ? nullptr : std::make_shared<engine::PagePool>(weights->config.cache(), arguments.page);
    const auto team = std::make_shared<engine::Team>(arguments.threads);
    return LanguageModel(std::make_shared<engine::Model>(weights, pages, team), shaper);
}

/// What a model that was trained on chats writes after a plain text is seldom what is wanted.
void hint_at_chat(const Arguments& arguments, const engine::Tokenizer& tokenizer) {
    if (!arguments.chat && !arguments.json && tokenizer.chat(arguments.prompt))
        std::fputs("generate: the model continues this text; with --chat it answers it as a message\n", stderr);
}

std::vector<specsample::Token> tokens_of(const Arguments& arguments, const engine::Tokenizer& tokenizer) {
    if (!arguments.chat) return tokenizer.with_begin(tokenizer.encode(arguments.prompt));
    if (const auto chat = tokenizer.chat(arguments.prompt)) return *chat;
    throw std::invalid_argument("--chat needs a tokenizer with a form of chats, but " + arguments.tokenizer.string() +
                                " has none");
}

void generate(const Arguments& arguments) {
    const RowShaper shaper(arguments.temperature, arguments.top_p);
    const LanguageModel target = load_target(arguments, shaper);
    const Drafts drafts(arguments, target, shaper);
    const auto tokenizer = engine::Tokenizer::load(arguments.tokenizer, target.engine()->vocab());

    const std::vector<specsample::Token> prompt = tokens_of(arguments, tokenizer);
    const specsample::Index context = std::min(drafts.context(), target.context());
    if (std::ssize(prompt) >= context)
        throw std::invalid_argument("the prompt has " + std::to_string(prompt.size()) +
                                    " tokens, but must have fewer than the models' context of " +
                                    std::to_string(context));
    Request request{
        .rule = arguments.rule,
        .options = {.lookahead = arguments.lookahead, .seed = arguments.seed},
        .adapts = arguments.adapts,
        .limits = {.max_new_tokens = arguments.max_tokens, .max_length = context, .stop_tokens = {tokenizer.end()}}};
    Screen screen(tokenizer, arguments.color);
    hint_at_chat(arguments, tokenizer);
    if (!arguments.json) arguments.chat ? screen.message(arguments.prompt, prompt.back()) : screen.prompt(prompt);
    const Run speculative =
        run(drafts, target, request, prompt, [&](const specsample::Round& round, const specsample::Token* rejected) {
            if (!arguments.json) screen.round(round, rejected);
        });
    std::optional<Comparison> comparison;
    if (arguments.compare) {
        request.options.lookahead = 0;
        request.adapts = false;
        std::vector<specsample::Token> text = prompt;
        text.insert(text.end(), speculative.tokens.begin(), speculative.tokens.end());
        text.resize(std::min(text.size(), static_cast<std::size_t>(context)));
        comparison = {run(drafts, target, request, prompt, [](const auto&, const auto*) {}),
                      measure(drafts, *target.engine(), text, std::max<specsample::Index>(9, arguments.lookahead + 1))};
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
