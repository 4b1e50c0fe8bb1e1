// An engine whose requests have sampling parameters, masks and stop strings of their own. It keeps log-probabilities,
// counts rounds, and repeats a round in which a model returned a NaN.
// Prints
//   1: target row 0 is nan at id 3, but must be finite
//   0: "nomi; noki ninima4", ended by its stop string
//     -1.68 -1.27 -1.57 -2.05 -1.02 -2.57 -2.70 -2.01 -1.35 -2.93 -1.34 -2.00 -2.70
//     4 rounds of 3.25 tokens, acceptance 0.83, faults: 0, which change nothing
//   1: ";23;4;1;12341231;;;", ended by its budget
//     -2.12 -1.96 -1.91 -1.97 -1.47 -2.47 -1.83 -1.24 -3.25 -5.31 -2.16 -2.72 -1.00 -1.36 -1.68 -1.90
//     9 rounds of 1.78 tokens, acceptance 0.50, faults: 1, which change nothing
#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <string>

#include <specsample/sampler/stop_strings.hpp>
#include <specsample/shaping.hpp>
#include <specsample/specsample.hpp>

using namespace specsample;
constexpr Index K = 4, V = 16;    // drafted tokens per round; vocabulary
constexpr Index most_faults = 3;  // of one request, before it is given up
constexpr const char* pieces[V] = {"ka", "ki", "ku", "ma", "mi", "mu", "na", "ni",
                                   "no", ". ", " ",  "\n", "1",  "23", "4",  ";"};  // the texts of the tokens

std::string piece_of(Token token) { return pieces[token]; }

/// A toy for a causal model with a KV cache: an entry per position, computed from the entry before.
struct ToyModel {
    float scale;
    int broken_pass = 0;  // the one pass that returns a NaN, counted from 1
    std::vector<std::uint32_t> cache{};
    Index size() const { return std::ssize(cache); }
    void roll_back(Index positions) { cache.resize(static_cast<std::size_t>(positions)); }

    /// Compute the positions of `text` that the cache lacks; write the logits after each of the last n, [n][V].
    void forward(std::span<const Token> text, Index n, float* logits) {
        for (std::size_t i = cache.size(); i < text.size(); ++i)
            cache.push_back((i == 0 ? 7 : cache[i - 1]) * 31 + static_cast<std::uint32_t>(text[i]));
        float* next = logits;
        for (auto entry = cache.end() - n; entry != cache.end(); ++entry)
            for (std::uint32_t id = 0; id < V; ++id) *next++ = scale * static_cast<float>((*entry ^ id * 97) % 13);
        if (--broken_pass == 0) logits[3] = std::numeric_limits<float>::quiet_NaN();
    }
};

struct ToyRequest {
    int id;
    Index max_tokens;
    stop_strings::Reply<std::string (*)(Token)> stops;  // the strings that end the text
    std::vector<Token> text;                            // begins with the prompt
    SamplingParams params;
    ToyModel target{.4f}, draft{.2f};
    std::string reply{}, ended_by{};
    std::vector<double> log_probs{};
    Tally tally{};
};

/// Memory that requests share, because their rounds come one after another.
struct Memory {
    float draft_logits[K * V], target_logits[(K + 1) * V];
    filters::ShapedMemory<float> draft_rows[K], target_rows[K + 1];  // one for each row that is in use
    Workspace workspace;
    Scores scores;
};

/// One round of one request.
void step(ToyRequest& request, Memory& memory) {
    std::vector<Token>& text = request.text;
    const Index start = std::ssize(text);
    const Index target_had = request.target.size(), draft_had = request.draft.size();
    const auto q = logits_of(rows_in_memory(memory.draft_logits, K, V));  // the parameters bring the temperature
    const auto p = logits_of(rows_in_memory(memory.target_logits, K + 1, V));

    // The row after i drafted tokens: penalties and masks look at those, too. The draft is shaped like the target,
    // because a token that the target cannot write is drafted in vain.
    const auto shaped = [&](const auto& row, Index i, auto& numbers) {
        return shape(row, request.params, std::span(text.begin(), text.begin() + start + i), numbers);
    };
    constexpr TokenVerification rule;
    std::vector<DraftedFrom<decltype(shaped(q[0], 0, memory.draft_rows[0])), decltype(rule)>> distributions;
    const RoundRng rng(/*seed*/ 4, static_cast<std::uint64_t>(request.id), start);
    for (Index i = 0; i < K; ++i) {
        request.draft.forward(text, 1, memory.draft_logits + i * V);
        const auto drawn = draft_token(rule, rng, i, shaped(q[i], i, memory.draft_rows[i]));
        text.push_back(drawn.token);
        distributions.push_back(drawn.distribution);
    }
    request.target.forward(text, K + 1, memory.target_logits);

    // A stop string may begin in an earlier round and end inside a token. `until` is asked about the first token that
    // may follow, about the first two, and so on; true ends the text with the last of them.
    const auto until = [&](std::span<const Token> tokens) { return request.stops.ends(tokens); };
    const auto rows = [&](Index i) { return shaped(p[i], i, memory.target_rows[i]); };
    const RoundLimits limits{.max_tokens = request.max_tokens - std::ssize(request.log_probs), .until = until};
    const Round round = verify(std::span(text).last(K), distributions, rows, rule, rng, limits, memory.workspace);

    request.tally.record(round.counts());  // bad data is counted by its cause, and as nothing else
    // The model's own log-probabilities, as servers report them; those after shaping are token_scores(round, rows, ..).
    for (const TokenScore& score : token_scores(round, p, memory.scores)) request.log_probs.push_back(score.log_prob);
    text.resize(static_cast<std::size_t>(start));  // the draft goes; a round with a fault adds nothing
    text.insert(text.end(), round.tokens.begin(), round.tokens.end());
    for (Token token : round.tokens) request.reply += request.stops.show(token);  // nothing of a stop string
    // A fault also drops what the broken pass left in the caches. The next round drafts the same tokens again.
    request.target.roll_back(round ? round.keep_target(start) : target_had);
    request.draft.roll_back(round ? round.keep_draft(start) : draft_had);
    if (!round) std::printf("%d: %s\n", request.id, message(round).c_str());
    if (request.tally.faulty_rounds() > most_faults) request.ended_by = "faults";
    if (round.end == RoundEnd::budget) request.ended_by = "its budget";
    if (round.end == RoundEnd::included) request.ended_by = "its stop string";
    if (!request.ended_by.empty()) request.reply += request.stops.rest();
}

/// Write all texts to their ends, a round of each request in turn.
std::vector<ToyRequest> write(std::vector<ToyRequest> requests) {
    Memory memory;
    for (const ToyRequest& request : requests) request.params.check();  // bad parameters are refused before any work
    const auto runs = [](const ToyRequest& request) { return request.ended_by.empty(); };
    while (std::ranges::any_of(requests, runs))
        for (ToyRequest& request : requests)
            if (runs(request)) step(request, memory);
    return requests;
}

int main() {
    const std::array<std::uint32_t, 1> digits{0xf000};                                // bit i: token i may be written
    const filters::Bias no_line_break{11, -std::numeric_limits<double>::infinity()};  // the line break, 11, may not
    const SamplingParams prose{
        .temperature = .7, .top_k = 12, .top_p = .9, .repetition_penalty = 1.2, .logit_bias = {no_line_break}};
    const SamplingParams number{.temperature = 1.1, .min_p = .05, .mask = digits};
    std::vector<ToyRequest> requests{{0, 40, {{"1."}, piece_of}, {3, 7}, prose},
                                     {1, 16, {{"none"}, piece_of}, {1, 2}, number}};
    const std::vector<ToyRequest> undisturbed = write(requests);
    requests[1].target.broken_pass = 2;
    for (const ToyRequest& request : write(requests)) {
        const Tally& tally = request.tally;
        std::printf("%d: \"%s\", ended by %s\n ", request.id, request.reply.c_str(), request.ended_by.c_str());
        for (double log_prob : request.log_probs) std::printf(" %.2f", log_prob);
        std::printf("\n  %td rounds of %.2f tokens, acceptance %.2f, faults: %td, which change %s\n", tally.rounds,
                    tally.tokens_per_round(), tally.acceptance().value, tally.faulty_rounds(),
                    request.text == undisturbed.begin()[request.id].text ? "nothing" : "THE TEXT");
    }
}
