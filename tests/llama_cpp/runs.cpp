// The loops of llama_speculate: one text, and many texts in one context, each as if it were alone.
#include "llama_cpp/engine.hpp"
#include "llama_cpp/parallel.hpp"
#include "llama_cpp/run.hpp"
#include "support/catch.hpp"

using namespace specsample;

namespace {

using Tokens = std::vector<Token>;

/// The request for texts.
struct Task {
    double temperature = 0.8;
    bool has_model = true;  ///< false: drafts by lookup in the text
    Index lookahead = 4;
    Limits limits = {.max_new_tokens = 40, .max_length = 43, .stop_tokens = {0}};

    TextShape shape() const { return {{.temperature = temperature, .top_k = 6, .top_p = 0.98, .min_p = 0}, {}}; }
    Options options(std::uint64_t seed) const { return {.lookahead = lookahead, .seed = seed}; }
};

llama_context draft_context() { return {.model = {.window = 3}}; }  // another model

template <class Rule>
TextRun alone(const Task& task, const Rule& rule, const Tokens& prompt, std::uint64_t seed, llama_context& target) {
    llama_context draft = draft_context();
    Writers writers{.target = TextModel(std::make_shared<LlamaModel>(&target), task.shape())};
    if (task.has_model) writers.draft = TextModel(std::make_shared<LlamaModel>(&draft), task.shape());
    const TextRequest request{.prompt = prompt, .options = task.options(seed), .limits = task.limits};
    return run(writers, rule, request, [](const auto&, const auto*) {});
}

std::vector<ParallelText> several_texts() {
    std::vector<ParallelText> texts;
    const Tokens prompts[] = {{1, 2, 1}, {2, 2, 1}, {3, 4, 5, 6, 3, 4}, {4}, {1, 2, 1}, Tokens(42, 5), Tokens(43, 5)};
    for (const Tokens& prompt : prompts) texts.push_back({prompt, 7 + texts.size()});
    return texts;
}

template <class Rule>
void write_together(const Task& task, const Rule& rule, std::vector<ParallelText>& texts, llama_context& target,
                    std::size_t slots) {
    llama_context draft = draft_context();
    target.memory.unified = draft.memory.unified = false;
    ParallelWriter writer(task.has_model ? &draft : nullptr, &target, task.shape(), rule, task.options(0), task.limits,
                          slots);
    double seconds = 0;
    writer.write(texts, seconds);
}

template <class Rule>
void check_together(const Task& task, const Rule& rule, std::size_t slots = 7) {
    std::vector<ParallelText> texts = several_texts();
    const auto prompts = texts;
    llama_context together;
    write_together(task, rule, texts, together, slots);
    Index most_rounds = 0, rounds = 0, prompts_read = 0;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        llama_context target;
        const TextRun single = alone(task, rule, prompts[i].text, prompts[i].seed, target);
        CHECK(single.error.empty());
        CHECK(texts[i].run.tokens == single.tokens);
        CHECK(texts[i].run.ended == single.ended);
        CHECK(texts[i].run.tally == single.tally);
        rounds += single.tally.rounds;
        most_rounds = std::max(most_rounds, single.tally.rounds);
        prompts_read += !single.tokens.empty();
    }
    CHECK(prompts_read == 6);  // the last prompt fills its context
    const Index passes = std::ssize(together.decodes) - prompts_read;
    CHECK(passes >= most_rounds);
    if (slots >= texts.size()) CHECK(passes == most_rounds);
    if (slots == 1) CHECK(passes == rounds);
}

template <class Rule>
void check_together(const Rule& rule) {
    for (const bool has_model : {true, false})
        for (const double temperature : {0.0, 0.8})
            check_together({.temperature = temperature, .has_model = has_model}, rule);
}

}  // namespace

TEST_CASE("many texts at once are the same as each alone, in as many passes as the longest takes") {
    check_together(TokenVerification{});
    check_together(BlockVerification{});
    check_together(GumbelMatch{});
    check_together({.lookahead = 0}, TokenVerification{});
}

TEST_CASE("a text that has ended makes room for the next one") {
    for (const std::size_t slots : {1u, 2u, 3u}) {
        check_together({}, BlockVerification{}, slots);
        check_together({.has_model = false}, GumbelMatch{}, slots);
    }
}

TEST_CASE("a slot remembers nothing of the text before") {
    const Task task{.has_model = false, .limits = {.max_new_tokens = 4}};
    std::vector<ParallelText> texts;
    for (std::size_t i = 0; i < 40; ++i) {  // each goes on where the one before had ended, after other tokens
        Tokens prompt;
        for (std::size_t place = 0; place < 3 + 5 * i; ++place) prompt.push_back(Token(1 + (place * place + i) % 3));
        texts.push_back({prompt, 7 + i});
    }
    const auto prompts = texts;
    llama_context together;
    write_together(task, BlockVerification{}, texts, together, 1);
    for (std::size_t i = 0; i < texts.size(); ++i) {
        llama_context target;
        const TextRun single = alone(task, BlockVerification{}, prompts[i].text, prompts[i].seed, target);
        CHECK(texts[i].run.tokens == single.tokens);
        CHECK(texts[i].run.tally == single.tally);
    }
}

TEST_CASE("more texts at once than there are sequences are refused") {
    std::vector<ParallelText> texts = several_texts();
    llama_context target;
    CHECK_THROWS_WITH(write_together({}, TokenVerification{}, texts, target, 9),
                      ContainsSubstring("9 texts at once") && ContainsSubstring("n_seq_max is 8"));
}

TEST_CASE("many texts keep their tokens when the engine fails") {
    std::vector<ParallelText> texts = several_texts();
    llama_context target{.n_ctx = 150};
    const Task endless{.limits = {.max_new_tokens = 40, .max_length = 43}};
    CHECK_THROWS_WITH(write_together(endless, TokenVerification{}, texts, target, 7), ContainsSubstring("status 1"));
    for (std::size_t i = 0; i < 5; ++i) CHECK(texts[i].run.tokens.size() > 5);
}

TEST_CASE("a prompt is read with no draft behind it") {
    llama_context target;
    const TextRun run = alone({}, TokenVerification{}, {3, 4, 5, 6, 3, 4}, 7, target);
    REQUIRE(target.decodes.size() >= 2);
    CHECK(target.decodes[0] == 6);
    CHECK(target.decodes[1] == 5);
    CHECK(std::ssize(target.decodes) == 1 + run.tally.rounds);
    CHECK(std::ssize(run.tokens) == 1 + run.tally.tokens);
}

TEST_CASE("a text of no tokens and of one") {
    llama_context target;
    Task task{.limits = {.max_new_tokens = 0}};
    const TextRun none = alone(task, TokenVerification{}, {1, 2}, 7, target);
    CHECK(none.tokens.empty());
    CHECK(none.ended == Ended::budget);
    CHECK(target.decodes.empty());
    task.limits.max_new_tokens = 1;
    const TextRun one = alone(task, TokenVerification{}, {1, 2}, 7, target);
    CHECK(one.tokens.size() == 1);
    CHECK(one.ended == Ended::budget);
    CHECK(one.tally.rounds == 0);
    CHECK(target.decodes == std::vector{2});
}

TEST_CASE("a text that fails keeps what it has") {
    llama_context target{.n_ctx = 20};
    const TextRun run = alone({.limits = {.max_new_tokens = 40}}, TokenVerification{}, {1, 2}, 7, target);
    CHECK(run.ended == Ended::failed);
    CHECK(run.error.find("the context is full") != std::string::npos);
    CHECK(run.tokens.size() > 10);
}
