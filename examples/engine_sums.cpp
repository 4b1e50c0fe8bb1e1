// An engine whose last layer sums each row of logits while it makes them: a block of logits is summed while it is in
// the nearest cache. verify then reads no row but for a block where it draws a token, and writes the text of
// engine_loop.cpp.
// Prints, a bar after each round:
//   12 8 | 12 9 1 12 6 | 4 2 11 8 | 9 14 | 0 13 14 | 12 | 10 13 9 15 |
#include <cstdio>

#include <specsample/kernels/logit_weights.hpp>
#include <specsample/values.hpp>

using namespace specsample;
constexpr Index K = 4, V = 16;  // drafted tokens per round; vocabulary

/// The engine's own loop over positions, on as many threads as it has; here on one.
void parallel_for(Index count, const auto& body) {
    for (Index i = 0; i < count; ++i) body(i);
}

/// A toy for a causal model: its logits are a function of the text.
struct ToyModel {
    float scale;
    double temperature = .8;

    /// Write the logits after the last n positions of `text`, and their sums.
    void forward(std::span<const Token> text, Index n, float (*logits)[V], kernels::LogitSums* sums) const {
        parallel_for(n, [&](Index i) {
            std::uint32_t state = 7;
            for (const Token token : text.first(text.size() - static_cast<std::size_t>(n - 1 - i)))
                state = state * 31 + static_cast<std::uint32_t>(token);
            const auto head = [&](Index first, std::span<float> block) {  // the last layer, some ids at a time
                for (auto id = static_cast<std::uint32_t>(first); float& logit : block)
                    logit = scale * static_cast<float>((state ^ id++ * 97) % 13);
            };
            sums[i] = kernels::LogitSums(std::span(logits[i]), temperature, head);
        });
    }
};

int main() {
    const ToyModel draft{.2f}, target{.4f};
    float draft_logits[K][V] = {}, target_logits[K + 1][V] = {};
    kernels::LogitSums draft_sums[K], target_sums[K + 1];
    const auto row = [&](Index i) { return Row::logits({target_logits[i], V}, target_sums[i]); };
    constexpr TokenVerification rule;
    std::vector<Origin> origins;                        // what each drafted token was drawn from
    std::vector<Token> text{1, 2, 3}, stop_tokens{15};  // the prompt; what ends the text
    Workspace workspace;
    for (Round round; round.end == RoundEnd::none;) {
        const Index start = std::ssize(text);
        const RoundRng rng(/*seed*/ 4, /*request*/ 0, start);
        origins.clear();
        for (Index i = 0; i < K; ++i) {  // draft
            draft.forward(text, 1, &draft_logits[i], &draft_sums[i]);
            const auto [token, origin] = draft_token(rule, rng, i, Row::logits({draft_logits[i], V}, draft_sums[i]));
            text.push_back(token);
            origins.push_back(origin);
        }
        target.forward(text, K + 1, target_logits, target_sums);  // score
        round = verify(std::span(text).last(K), origins, Rows(row), rule, rng,
                       {.max_tokens = 100, .stop_tokens = stop_tokens}, workspace);
        if (!round) return std::puts(message(round).c_str()), 1;  // bad data: nothing was decided
        text.resize(static_cast<std::size_t>(start));             // commit: the accepted tokens, and one more
        text.insert(text.end(), round.tokens.begin(), round.tokens.end());
        for (Token token : round.tokens) std::printf("%d ", token);
        std::printf("| ");
    }
    std::printf("\n");
}
