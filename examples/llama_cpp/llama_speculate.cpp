// Generates text with a llama.cpp model, faster by speculation: specsample runs the rounds, llama.cpp everything else.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "llama_cpp/arguments.hpp"
#include "llama_cpp/equality.hpp"
#include "llama_cpp/glue.hpp"
#include "llama_cpp/load.hpp"
#include "llama_cpp/lookahead.hpp"
#include "llama_cpp/parallel.hpp"
#include "llama_cpp/report.hpp"
#include "llama_cpp/run.hpp"
#include "llama_cpp/screen.hpp"
#include "llama_cpp/text_model.hpp"

namespace {

using specsample::Index;
using specsample::Token;

/// The number of leaves and nodes of a tree with these numbers of children at each depth.
struct TreeSize {
    Index leaves = 0;  ///< 0 for a chain, which needs no sequence but the text's
    Index nodes = 0;

    explicit TreeSize(const std::vector<Index>& children) : leaves(children.empty() ? 0 : 1) {
        for (const Index count : children) {
            if (leaves * count > 255) throw std::invalid_argument("--tree has more than the 255 leaves it may have");
            leaves *= count;
            nodes += leaves;
        }
    }
};

/// A loaded model, its context, and its cache of a text.
struct Engine {
    ModelOwner model;
    ContextOwner context;
    std::shared_ptr<LlamaModel> text;

    /// @param length   tokens of the longest text
    Engine(ModelOwner loaded, const Arguments& arguments, Index length) : model(std::move(loaded)) {
        const Index texts = arguments.parallel;
        const TreeSize tree(arguments.tree);
        const auto threads =
            arguments.threads > 0 ? arguments.threads : static_cast<Index>(std::thread::hardware_concurrency());
        context = ::context(*model, {.n_ctx = static_cast<std::uint32_t>(texts * length + tree.nodes),
                                     .n_batch = static_cast<std::uint32_t>(batch_size(arguments)),
                                     .n_seq_max = static_cast<std::uint32_t>(texts + tree.leaves),
                                     .one_cache = texts == 1,  // tokens of other texts would lie between those of one
                                     .threads = static_cast<std::int32_t>(threads),
                                     .abort = [](void*) { return interrupted().load(); }});
        text = std::make_shared<LlamaModel>(context.get());
    }

    const llama_vocab& vocab() const { return *llama_model_get_vocab(model.get()); }

    /// 0 for llama.cpp's own size, unless the drafts of many texts need more.
    static Index batch_size(const Arguments& arguments) {
        const Index needed = arguments.parallel * (arguments.lookahead + 1);
        return needed <= llama_context_default_params().n_batch ? 0 : needed;
    }
};

/// The results of many texts, written together or one after the other.
struct ParallelTexts {
    std::vector<ParallelText> texts{};
    double seconds = 0;

    bool are_whole() const {
        return std::ranges::none_of(texts, [](const auto& each) {
            return each.run.ended == Ended::interrupted || each.run.ended == Ended::failed;
        });
    }
    std::size_t tokens() const {
        std::size_t sum = 0;
        for (const auto& each : texts) sum += each.run.tokens.size();
        return sum;
    }
};

/// The models and requests that the command line asks for.
class Session {
  public:
    explicit Session(const Arguments& arguments) : arguments_(arguments) {
        static_cast<void>(TextShape(arguments, {}));  // throws before anything is loaded
        ModelOwner target = load(arguments.model);
        Index length = llama_model_n_ctx_train(target.get());
        ModelOwner draft;
        if (!arguments.draft_model.empty()) {
            draft = load(arguments.draft_model);
            same_vocabulary(*draft, *target);
            length = std::min<Index>(length, llama_model_n_ctx_train(draft.get()));
        }
        if (arguments.context > 0) length = arguments.context;
        set_prompts(*llama_model_get_vocab(target.get()), length);
        const Index cells = arguments.parallel > 1 ? needed(length) : length;
        target_.emplace(std::move(target), arguments, cells);
        if (draft) draft_.emplace(std::move(draft), arguments, cells);
        request_.prompt = prompts_.front();
        request_.limits = {.max_new_tokens = arguments.predict < 0 ? specsample::unlimited : arguments.predict,
                           .max_length = length,
                           .stop_tokens = end_tokens(vocab())};
        request_.options = {.lookahead = arguments.lookahead,
                            .seed = arguments.seed < 0 ? std::random_device()() : std::uint64_t(arguments.seed),
                            .check = specsample::Check::entries_read};
        banned_ = suppressed_tokens(vocab());
        if (arguments.ignore_eos)
            banned_.insert(banned_.end(), request_.limits.stop_tokens.begin(), request_.limits.stop_tokens.end());
    }

    const llama_vocab& vocab() const { return target_->vocab(); }
    Index length() const { return request_.limits.max_length; }
    std::uint64_t seed() const { return request_.options.seed; }

    TextRun speculate(const OnTextRound& on_round) {
        TextRequest request = request_;
        if (arguments_.adapts) {
            const PassCosts measured = costs(request_.prompt);
            request.options.lookahead = std::ssize(measured.verify_curve) - 1;  // a full context gives few measurements
            request.length = TextLookahead(measured);
        }
        return with_rule(arguments_.rule, [&](auto rule) { return run(writers(), rule, request, on_round); });
    }

    /// The same text by plain decoding, and by llama.cpp's rule, which takes rows as they are.
    TextComparison compare(const TextRun& speculative) {
        const auto silent = [](const auto&, const auto*) {};
        TextRequest plain = request_;
        plain.options.lookahead = 0;
        Writers plainly{.target = shaped(*target_)}, llama_cpp = writers();
        llama_cpp.target = llama_cpp.target.with(TextShape());
        SamplerChain chain(arguments_, banned_, llama_vocab_n_tokens(&vocab()), seed());
        for (const Token token : request_.prompt) chain.accept(token);
        TextComparison result{
            .plain = with_rule(arguments_.rule, [&](auto rule) { return run(plainly, rule, plain, silent); }),
            .equality = run(llama_cpp, EqualityRule{&chain}, request_, silent),
            .costs = {},
            .margin = {}};
        for (const TextRun* each : {&result.plain, &result.equality})
            if (each->ended == Ended::failed) throw std::runtime_error(each->error);
        result.margin = margin_where_they_part(speculative, result.plain);
        std::vector<Token> text = request_.prompt;
        text.insert(text.end(), speculative.tokens.begin(), speculative.tokens.end());
        text.resize(std::min(text.size(), std::size_t(std::max<Index>(length() - arguments_.lookahead, 1))));
        result.costs = costs(text);
        return result;
    }

    /// Write a text for every prompt, `at_once` at a time, each with a seed of its own.
    ParallelTexts write(std::size_t at_once) {
        ParallelTexts result;
        for (const auto& prompt : prompts_) result.texts.push_back({prompt, seed() + result.texts.size()});
        llama_context* draft = draft_ ? draft_->context.get() : nullptr;
        try {
            with_rule(arguments_.rule, [&](auto rule) {
                ParallelWriter writer(draft, target_->context.get(), TextShape(arguments_, banned_), rule,
                                      request_.options, request_.limits, at_once);
                writer.write(result.texts, result.seconds);
            });
        } catch (const Interrupted&) {
            end(result.texts, Ended::interrupted);
        } catch (const std::exception& error) {
            end(result.texts, Ended::failed, error.what());
        }
        return result;
    }

    /// The difference of the two largest logits after a text: how close a call the next token was.
    double margin_after(std::span<const Token> text) const {
        target_->text->keep({});  // other texts may have written to the cache
        Eigen::ArrayXf row = (*target_->text)(text, 1)[0];
        std::ranges::nth_element(row, row.begin() + 1, std::ranges::greater());
        return row[0] - row[1];
    }

  private:
    /// Sets the ending of all texts that have none yet.
    static void end(std::vector<ParallelText>& texts, Ended ended, const std::string& error = {}) {
        for (auto& each : texts) {
            if (each.run.ended != Ended::not_yet) continue;
            each.run.ended = ended;
            each.run.error = error;
        }
    }

    /// Reads one prompt, or many: one per line of a file, or the same for as many texts as are written at once.
    void set_prompts(const llama_vocab& vocab, Index length) {
        for (const auto& text : arguments_.prompts()) {
            prompts_.push_back(tokenise(vocab, text, true));
            const auto size = std::ssize(prompts_.back());
            if (size == 0) throw std::invalid_argument("the prompt is empty");
            if (size >= length)
                throw std::invalid_argument("the prompt has " + std::to_string(size) +
                                            " tokens, but must have fewer than the context of " +
                                            std::to_string(length));
        }
    }

    /// The number of tokens of the longest text and a draft after it.
    Index needed(Index length) const {
        const auto size = [](const auto& prompt) { return std::ssize(prompt); };
        const Index longest = size(std::ranges::max(prompts_, {}, size));
        return arguments_.predict < 0 ? length : std::min(length, longest + arguments_.predict + arguments_.lookahead);
    }

    TextModel shaped(const Engine& engine) const { return {engine.text, TextShape(arguments_, banned_)}; }

    /// At temperature 0 the draft's distribution has one token, so a tree's children are its likeliest tokens instead.
    Writers writers() const {
        const bool are_likeliest = arguments_.temperature <= 0 && !arguments_.tree.empty();
        Writers result{.target = shaped(*target_), .tree = {arguments_.tree, are_likeliest}};
        if (draft_) result.draft = shaped(*draft_);
        if (are_likeliest) {
            const Index most = std::ranges::max(arguments_.tree);
            result.draft =
                result.draft->with(TextShape({.temperature = 1, .top_k = most, .top_p = 1, .min_p = 0}, banned_));
        }
        return result;
    }

    /// The difference of the two largest logits where two texts part: how close a call it was.
    std::optional<double> margin_where_they_part(const TextRun& run, const TextRun& other) const {
        const auto end = std::ranges::mismatch(run.tokens, other.tokens).in1;
        if (arguments_.temperature > 0 || end == run.tokens.end()) return std::nullopt;
        std::vector<Token> text = request_.prompt;
        text.insert(text.end(), run.tokens.begin(), end);
        return margin_after(text);
    }

    PassCosts costs(const std::vector<Token>& text) const {
        Writers measured = writers();
        const Index most = std::min(arguments_.lookahead, length() - std::ssize(text)) + 1;
        return measure(measured.draft ? &*measured.draft : nullptr, measured.target, text, most);
    }

    Arguments arguments_;
    std::optional<Engine> target_, draft_;
    std::vector<std::vector<Token>> prompts_;
    std::vector<Token> banned_;
    TextRequest request_;
};

/// Reports a text that did not end well. Returns the exit code.
int conclude(const TextRun& run, Index length) {
    switch (run.ended) {
        case Ended::context:
            std::fprintf(stderr, "llama_speculate: the context of %d tokens is full; -c makes it larger\n",
                         static_cast<int>(length));
            return 3;
        case Ended::interrupted:
            std::fprintf(stderr, "llama_speculate: interrupted after %zu tokens\n", run.tokens.size());
            return 130;
        case Ended::failed:
            std::fprintf(stderr, "llama_speculate: %s, after %zu tokens\n", run.error.c_str(), run.tokens.size());
            return 2;
        default:
            return 0;
    }
}

/// Prints where a text that was written among others differs from the same text written alone.
void print_difference(const Session& session, const ParallelText& text, const ParallelText& alone) {
    std::printf("  %s", difference(alone.run, text.run).c_str());
    const auto [here, there] = std::ranges::mismatch(text.text, alone.text);
    if (here == text.text.end() || there == alone.text.end()) return;
    std::printf(", where the two largest logits differ by %.2g", session.margin_after({text.text.begin(), here}));
}

void print_table(const Session& session, const ParallelTexts& together, const ParallelTexts& alone) {
    std::printf("\n  text         seed   tokens   rounds  tokens/round   ended by\n");
    for (std::size_t i = 0; i < together.texts.size(); ++i) {
        const ParallelText& text = together.texts[i];
        std::printf("  %-4zu %12llu %8zu %8d %13.2f   %-12s", i + 1, static_cast<unsigned long long>(text.seed),
                    text.run.tokens.size(), static_cast<int>(text.run.tally.rounds), text.run.tally.tokens_per_round(),
                    name(text.run.ended).data());
        if (!alone.texts.empty()) print_difference(session, text, alone.texts[i]);
        std::printf("\n");
    }
    for (const auto* each : {&together, &alone})
        if (each->tokens() > 0)
            std::printf("  %-18s %4zu tokens in %.2f s: %.1f tokens a second\n",
                        each == &together ? "together" : "one after another", each->tokens(), each->seconds,
                        static_cast<double>(each->tokens()) / each->seconds);
}

/// The exit code of many texts: that of the first which did not end well.
int conclude(const ParallelTexts& together, Index length) {
    for (const auto& each : together.texts)
        if (const int code = conclude(each.run, length); code != 0) return code;
    return 0;
}

int write_together(const Arguments& arguments) {
    Session session(arguments);
    catch_interrupts();
    const auto at_once = static_cast<std::size_t>(arguments.parallel);
    const ParallelTexts together = session.write(at_once);
    for (std::size_t i = 0; i < together.texts.size(); ++i) {
        std::printf("[%zu] ", i + 1);
        for (const Token token : together.texts[i].text) std::fputs(piece(session.vocab(), token).c_str(), stdout);
        std::printf("\n");
    }
    const bool compares = arguments.compare && together.are_whole();
    print_table(session, together, compares ? session.write(1) : ParallelTexts());
    std::fflush(stdout);
    return conclude(together, session.length());
}

int speculate(const Arguments& arguments) {
    Session session(arguments);
    catch_interrupts();
    TextScreen screen(session.vocab(), arguments.color);
    if (!arguments.json) screen.prompt(*arguments.prompt);
    const TextRun run = session.speculate([&](const specsample::Round& round, const Token* rejected) {
        if (!arguments.json) screen.round(round, rejected);
    });
    screen.close();
    std::optional<TextComparison> comparison;
    const bool is_whole = run.ended != Ended::interrupted && run.ended != Ended::failed;
    if (arguments.compare && is_whole) comparison = session.compare(run);
    if (arguments.json) {
        std::string text;
        for (const Token token : run.tokens) text += piece(session.vocab(), token);
        print_json(run, *arguments.prompt, text, session.seed(), comparison);
    } else {
        print_table(run, session.seed(), comparison);
    }
    std::fflush(stdout);
    if (interrupted() && is_whole) std::fprintf(stderr, "llama_speculate: interrupted while comparing\n");
    return interrupted() && is_whole ? 130 : conclude(run, session.length());
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const Arguments arguments = parse({argv + 1, argv + argc});
        if (arguments.help) {
            std::fputs(usage.data(), stdout);
            return 0;
        }
        return arguments.parallel > 1 ? write_together(arguments) : speculate(arguments);
    } catch (const Interrupted&) {
        std::fprintf(stderr, "llama_speculate: interrupted before the first token\n");
        return 130;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "llama_speculate: %s\n", error.what());
        return 2;
    }
}
