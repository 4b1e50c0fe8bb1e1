// An engine whose texts must follow a grammar: every row is masked by its own context, drafted tokens included.
// Prints, a bar after each round:
//   [16,[|0671|01|009],|6|7|6271]|.
#include <algorithm>
#include <array>
#include <cstdio>
#include <string>

#include <specsample/shaping.hpp>
#include <specsample/specsample.hpp>

using namespace specsample;
using namespace specsample::kernels;
constexpr Index K = 4, V = 14;              // most drafted tokens per round; vocabulary
constexpr char names[] = "[],0123456789.";  // a token is a character; the last one ends a text
constexpr Token end_of_text = 13;

/// A matcher for nested lists of numbers, such as [1,[23,4]]. A matcher needs mask, accept and rollback, no more.
struct Lists {
    std::string text{};

    /// Bit i: may token i come next?
    std::array<std::uint32_t, 1> mask() const {
        const auto depth = std::ranges::count(text, '[') - std::ranges::count(text, ']');
        const char last = text.empty() ? ',' : text.back();
        const bool begins = last == ',' || last == '[';
        std::string next = depth == 0 ? (text.empty() ? "[" : last == ']' ? "." : "") : begins ? "" : "],";
        if (depth > 0 && last != ']') next += "0123456789";
        if (depth > 0 && depth < 3 && begins) next += "[";
        std::uint32_t bits = 0;
        for (char c : next) bits |= 1u << std::string_view(names).find(c);
        return {bits};
    }
    void accept(Token token) { text.push_back(names[token]); }
    void rollback(Index tokens) { text.erase(text.end() - tokens, text.end()); }
};

/// A toy model: the logits after the last n tokens of a text, [n][V].
void forward(float scale, std::span<const Token> text, std::size_t n, float* logits) {
    for (Token token : text.last(n))
        for (std::uint32_t id = 0; id < V; ++id)
            *logits++ = scale * static_cast<float>((static_cast<std::uint32_t>(token * 37) ^ id * 97) % 13);
}

int main() {
    constexpr double temperature = 0.8;
    std::vector<Token> text{5, 7}, stop_tokens{end_of_text};
    const Grammar grammar(Lists{}, std::ssize(text));  // the grammar begins after the prompt; copies share the matcher
    RowMajorMatrix<float> logits(K + 1, V), draft_logits(K, V);
    filters::ShapedMemory<float> memory[K + 1], draft_memory[K];  // one for each row in use
    const auto masked = [&](auto row, Index length, auto& numbers) {
        return shape(Logits(row, temperature), grammar, std::span(text.begin(), text.begin() + length), numbers);
    };
    constexpr TokenVerification rule;
    std::vector<DraftedFrom<decltype(masked(logits.row(0), 0, memory[0])), decltype(rule)>> distributions;
    Workspace workspace;
    for (Round round; round.end == RoundEnd::none;) {
        const Index start = std::ssize(text);
        const RoundRng rng(/*seed*/ 2, /*request*/ 0, start);
        distributions.clear();
        for (Index i = 0; i < K && text.back() != end_of_text; ++i) {  // nothing follows the end
            forward(.1f, text, 1, draft_logits.row(i).data());
            const auto drawn = draft_token(rule, rng, i, masked(draft_logits.row(i), start + i, draft_memory[i]));
            text.push_back(drawn.token);
            distributions.push_back(drawn.distribution);
        }
        const std::vector<Token> drafted(text.begin() + start, text.end());
        forward(.2f, text, drafted.size() + 1, logits.data());

        const auto rows = [&](Index i) { return masked(logits.row(i), start + i, memory[i]); };
        round = verify(drafted, distributions, rows, rule, rng, {.max_tokens = 100 - start, .stop_tokens = stop_tokens},
                       workspace);
        if (!round) return std::puts(message(round).c_str()), 1;

        text.erase(text.begin() + start, text.end());
        text.insert(text.end(), round.tokens.begin(), round.tokens.end());
        for (Token token : round.tokens) std::printf("%c", names[token]);
        std::printf(round.end == RoundEnd::none ? "|" : "\n");
    }
}
