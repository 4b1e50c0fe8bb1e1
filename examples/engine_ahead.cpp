// An engine that drafts while its target scores: a second thread drafts for each way in which the round is likely to
// end. Where the round ends in one of these, the next draft is there already. The text is that of engine_loop.cpp.
// Prints, a bar after each round, and how many drafts were there:
//   12 8 | 12 9 1 12 6 | 4 2 11 8 | 9 14 | 0 13 14 | 12 | 10 13 9 15 |
//   3 of 7
#include <cstdio>
#include <thread>

#include <specsample/drafters/ahead.hpp>
#include <specsample/values.hpp>

using namespace specsample;
constexpr Index K = 4, V = 16;  // drafted tokens per round; vocabulary
constexpr double sampling_temperature = 0.8;
constexpr TokenVerification rule;

/// A toy for a causal model: its logits are a function of the text.
struct ToyModel {
    float scale;

    /// Write the logits after the last n positions of `text`.
    void forward(std::span<const Token> text, Index n, float (*logits)[V]) const {
        for (Index i = 0; i < n; ++i) {
            std::uint32_t state = 7;
            for (const Token token : text.first(text.size() - static_cast<std::size_t>(n - 1 - i)))
                state = state * 31 + static_cast<std::uint32_t>(token);
            for (std::uint32_t id = 0; id < V; ++id) logits[i][id] = scale * static_cast<float>((state ^ id * 97) % 13);
        }
    }
};

RoundRng rng_at(Index start) { return RoundRng(/*seed*/ 4, /*request*/ 0, start); }

/// A draft: what was drawn, and what it was drawn from.
struct Draft {
    float logits[K + 1][V] = {};  ///< the last row guesses the bonus token
    std::vector<Token> tokens{};
    std::vector<Origin> origins{};

    void make(const ToyModel& model, std::vector<Token> text) {
        const RoundRng rng = rng_at(std::ssize(text));
        tokens.clear(), origins.clear();
        for (Index i = 0; i < K; ++i) {
            model.forward(text, 1, &logits[i]);
            const auto [token, origin] = draft_token(rule, rng, i, Row::logits({logits[i], V}, sampling_temperature));
            text.push_back(token), tokens.push_back(token), origins.push_back(origin);
        }
        model.forward(text, 1, &logits[K]);
    }
};

std::vector<Token> after(std::vector<Token> text, std::span<const Token> more) {
    text.insert(text.end(), more.begin(), more.end());
    return text;
}

int main() {
    const ToyModel draft_model{.2f}, target_model{.4f};
    float target_logits[K + 1][V] = {};
    const auto p = [&](Index i) { return Row::logits({target_logits[i], V}, sampling_temperature); };
    std::vector<Token> text{1, 2, 3}, stop_tokens{15};  // the prompt; what ends the text
    std::vector<ahead::RoundOutcome> outcomes;
    ahead::OutcomeTable<Draft> made, in_use;
    Draft first, *draft = nullptr;
    Workspace workspace;
    int ready = 0, rounds = 0;
    for (Round round; round.end == RoundEnd::none; ++rounds) {
        if (draft == nullptr) (draft = &first)->make(draft_model, text);  // this one was not foreseen
        std::thread scoring([&] { target_model.forward(after(text, draft->tokens), K + 1, target_logits); });

        const auto q = [&](Index i) { return Logits(std::span(draft->logits[i]), sampling_temperature); };
        ahead::likely_outcomes(draft->tokens, q, K + 1, /*acceptance*/ .6, /*most*/ 12, outcomes);
        made.clear();
        for (const ahead::RoundOutcome& outcome : outcomes) {  // meanwhile
            const auto accepted = std::span(draft->tokens).first(static_cast<std::size_t>(outcome.accepted));
            made.add(outcome).make(draft_model, after(after(text, accepted), {&outcome.last, 1}));
        }
        scoring.join();

        round = verify(draft->tokens, draft->origins, Rows(p), rule, rng_at(std::ssize(text)),
                       {.max_tokens = 100, .stop_tokens = stop_tokens}, workspace);
        if (!round) return std::puts(message(round).c_str()), 1;  // bad data: nothing was decided
        text.insert(text.end(), round.tokens.begin(), round.tokens.end());
        for (const Token token : round.tokens) std::printf("%d ", token);
        std::printf("| ");
        draft = made.find(round.accepted, round.tokens.back());
        ready += draft != nullptr;
        std::swap(made, in_use);  // the draft lies there until its round is over
    }
    std::printf("\n%d of %d\n", ready, rounds);
}
