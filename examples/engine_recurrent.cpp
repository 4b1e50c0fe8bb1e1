// An engine whose models have a recurrent state: a state-space model, linear attention, or a hybrid. A state that has
// read a rejected token is wrong, and cannot be cut: recurrent::Rewound takes back a copy.
// Prints, a bar after each round:
//   10 1 14 10 14 | 9 5 3 12 11 | 7 10 12 | 8 10 8 14 11 | 13 4 11 1 11 | 9 1 0 | 10 |
//   4 tokens read again by the target
//   the text of plain decoding
#include <algorithm>
#include <cstdio>

#include <specsample/models/recurrent.hpp>
#include <specsample/specsample.hpp>

using namespace specsample;
constexpr Index V = 16;  // vocabulary

/// A toy for a recurrent model: one number stands for the states of all layers. engine/state_space.hpp is a real one.
struct ToyModel {
    using State = std::uint32_t;
    float scale;
    State state{};

    /// Read tokens, copy the state after the first `sure` of them, and return the logits after each of the last n.
    RowMajorMatrix<float> read(std::span<const Token> tokens, Index n, Index sure, State& copy) {
        RowMajorMatrix<float> logits(n, V);
        for (Index i = 0, first = std::ssize(tokens) - n + 1; i <= std::ssize(tokens); ++i) {
            if (i > 0) state = state * 31 + static_cast<State>(tokens[static_cast<std::size_t>(i - 1)]) + 7;
            if (i == sure) copy = state;
            if (i < first) continue;
            for (State id = 0; id < V; ++id) logits(i - first, id) = scale * static_cast<float>((state ^ id * 97) % 13);
        }
        return logits;
    }
    void restore(const State& copy) { state = copy; }
};

/// Write a text with drafts of K tokens; with K = 0 by plain decoding.
std::vector<Token> write(Index K, bool prints) {
    recurrent::Rewound draft(ToyModel{.3f}, K + 2);  // a copy per drafted token
    recurrent::Rewound target(ToyModel{.4f});        // a copy where the draft begins
    constexpr GumbelMatch rule;                      // under which no draft changes the text
    constexpr double temperature = 0.8;
    const std::vector<SharedNoise> origins(static_cast<std::size_t>(K));  // what the drafted tokens were drawn from
    std::vector<Token> text{1, 2, 3};
    Workspace workspace;
    for (Round round; round.end == RoundEnd::none;) {
        const Index start = std::ssize(text);
        const RoundRng rng(/*seed*/ 5, /*request*/ 0, start);
        for (Index i = 0; i < K; ++i) {
            const RowMajorMatrix<float> row = draft(text, 1);
            text.push_back(draft_token(rule, rng, i, Logits(row.row(0), temperature)).token);
        }
        const RowMajorMatrix<float> rows = target(text, K + 1);  // one pass: accepted tokens again, then the draft
        round = verify(std::span(text).last(static_cast<std::size_t>(K)), origins, logits_of(rows, temperature), rule,
                       rng, {.max_tokens = 30 - start}, workspace);
        if (!round) return std::puts(message(round).c_str()), text;
        text.resize(static_cast<std::size_t>(start));
        text.insert(text.end(), round.tokens.begin(), round.tokens.end());
        for (const Token token : round.tokens)
            if (prints) std::printf("%d ", token);
        if (prints) std::printf("| ");
    }
    if (prints) std::printf("\n%td tokens read again by the target\n", target.read_again());
    return text;
}

int main() {
    const bool is_same = write(4, true) == write(0, false);
    std::puts(is_same ? "the text of plain decoding" : "another text than that of plain decoding");
    return is_same ? 0 : 1;
}
