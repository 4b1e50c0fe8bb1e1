// The loop of an engine that marks its texts: the noise of every position is a keyed function of the tokens before it,
// and whoever has the key can tell the text later. Speculation changes neither the text nor the mark.
// Prints tokens, and the probability that other texts agree with a key as well:
//   44 8 40 47 44 46 15 63
//   2.7e-85 the engine's key
//   1.1e-01 another key
#include <cstdio>

#include <specsample/random/watermark.hpp>
#include <specsample/specsample.hpp>

using namespace specsample;
constexpr Index K = 4, V = 64;  // drafted tokens per round; vocabulary
constexpr double sampling_temperature = 1;
constexpr GumbelMatch rule;

/// A toy for a model: logits that are a function of the last two tokens.
struct ToyModel {
    float scale;

    void forward(std::span<const Token> text, float* logits) const {
        std::uint32_t state = 7;
        for (const Token token : text.last(2)) state = state * 31 + static_cast<std::uint32_t>(token);
        for (std::uint32_t id = 0; id < V; ++id) logits[id] = scale * static_cast<float>((state ^ id * 97) % 13);
    }
};

/// Write `length` tokens after a prompt.
std::vector<Token> reply(const watermark::Mark& mark, std::vector<Token> text, std::size_t length) {
    const ToyModel draft{.25f}, target{.3f};
    const auto prompt = std::ssize(text);
    float draft_logits[K][V] = {}, target_logits[K + 1][V] = {};
    Workspace workspace;
    while (text.size() < static_cast<std::size_t>(prompt) + length) {
        const Index start = std::ssize(text);
        const watermark::Source rng(mark, text, prompt, RoundRng(/*seed*/ 4, /*request*/ 0, start), start);
        for (Index i = 0; i < K; ++i) {  // draft
            draft.forward(text, draft_logits[i]);
            const Logits row(std::span<const float>(draft_logits[i]), sampling_temperature);
            text.push_back(draft_token(rule, rng, i, row).token);
        }
        std::vector<Logits<std::span<const float>>> rows;
        for (Index i = 0; i <= K; ++i) {  // score
            target.forward(std::span(text).first(static_cast<std::size_t>(start + i)), target_logits[i]);
            rows.emplace_back(std::span<const float>(target_logits[i]), sampling_temperature);
        }
        const Round round = verify(std::span(text).last(K), SharedNoise{}, rows, rule, rng, {}, workspace);
        text.resize(static_cast<std::size_t>(start));  // commit
        text.insert(text.end(), round.tokens.begin(), round.tokens.end());
    }
    return {text.begin() + prompt, text.begin() + prompt + static_cast<std::ptrdiff_t>(length)};
}

int main() {
    const watermark::Mark mark{.key = 0x5eed, .context = 4}, other{.key = 0xbad, .context = 4};
    const std::vector<Token> text = reply(mark, {1, 2, 3}, 80);
    for (const Token token : std::span(text).first(8)) std::printf("%d ", token);
    std::printf("\n%.1e the engine's key\n", watermark::evidence(mark, text).p_value());
    std::printf("%.1e another key\n", watermark::evidence(other, text).p_value());
}
