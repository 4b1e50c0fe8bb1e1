// The loop of an engine that owns its models, caches and logits: draft, score in one pass, verify, commit, roll back.
// Prints, a bar after each round:
//   12 8 | 12 9 1 12 6 | 4 2 11 8 | 9 14 | 0 13 14 | 12 | 10 13 9 15 |
#include <cstdio>

#include <specsample/values.hpp>

using namespace specsample;
constexpr Index K = 4, V = 16;  // drafted tokens per round; vocabulary

/// A toy for a causal model with a KV cache: an entry per position, computed from the entry before.
struct ToyModel {
    float scale;
    std::vector<std::uint32_t> cache{};
    void roll_back(Index positions) { cache.resize(static_cast<std::size_t>(positions)); }

    /// Compute the positions of `text` that the cache lacks; write the logits after each of the last n, [n][V].
    void forward(std::span<const Token> text, Index n, float* logits) {
        for (std::size_t i = cache.size(); i < text.size(); ++i)
            cache.push_back((i == 0 ? 7 : cache[i - 1]) * 31 + static_cast<std::uint32_t>(text[i]));
        for (auto entry = cache.end() - n; entry != cache.end(); ++entry)
            for (std::uint32_t id = 0; id < V; ++id) *logits++ = scale * static_cast<float>((*entry ^ id * 97) % 13);
    }
};

int main() {
    constexpr double temperature = 0.8;
    ToyModel draft{.2f}, target{.4f};
    float draft_logits[K * V] = {}, target_logits[(K + 1) * V] = {};  // the engine's: [K][V], [K + 1][V]
    const Rows q(Row::logits({draft_logits, V}, temperature), K);     // the rows, where they lie
    const Rows p(Row::logits({target_logits, V}, temperature), K + 1);
    constexpr TokenVerification rule;
    std::vector<Origin> origins;                        // what each drafted token was drawn from
    std::vector<Token> text{1, 2, 3}, stop_tokens{15};  // the prompt; what ends the text
    Workspace workspace;
    for (Round round; round.end == RoundEnd::none;) {
        const Index start = std::ssize(text);
        const RoundRng rng(/*seed*/ 4, /*request*/ 0, start);
        origins.clear();
        for (unsigned i = 0; i < K; ++i) {  // draft
            draft.forward(text, 1, &draft_logits[i * V]);
            const auto [token, origin] = draft_token(rule, rng, i, q[i]);
            text.push_back(token);
            origins.push_back(origin);
        }
        target.forward(text, K + 1, target_logits);  // score

        round = verify(std::span(text).last(K), origins, p, rule, rng, {.max_tokens = 100, .stop_tokens = stop_tokens},
                       workspace);
        if (!round) return std::puts(message(round).c_str()), 1;  // bad data: nothing was decided

        text.erase(text.begin() + start, text.end());  // commit: the accepted tokens, and one more
        text.insert(text.end(), round.tokens.begin(), round.tokens.end());
        target.roll_back(round.keep_target(start));  // roll back
        draft.roll_back(round.keep_draft(start));
        for (Token token : round.tokens) std::printf("%d ", token);
        std::printf("| ");
    }
    std::printf("\n");
}
