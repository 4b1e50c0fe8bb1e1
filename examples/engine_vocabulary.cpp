// An engine whose draft model has token ids of its own: texts are mapped to them, and rows back to the target's ids.
// Prints, a bar after each round:
//   12 5 4 | 1 14 | 1 | 14 | 11 | 8 11 12 5 15 |
#include <algorithm>
#include <cstdio>

#include <specsample/shaping.hpp>
#include <specsample/specsample.hpp>
#include <specsample/vocabularies.hpp>

using namespace specsample;
using namespace specsample::kernels;
using namespace specsample::vocabularies;
constexpr Index K = 4, V = 16, draft_vocab = 10;  // drafted tokens per round; vocabulary sizes of target and draft

/// The target id of each draft id. The draft knows fewer tokens, in another order; its id 3 stands for no token.
constexpr Token target_id[draft_vocab] = {12, 1, 4, -1, 5, 0, 2, 11, 15, 8};
constexpr Token unknown = 3;

/// A toy model: the logit of a token after another one, both in target ids.
float logit(Token last, Token next) {
    return .4f *
           static_cast<float>((static_cast<std::uint32_t>(last * 53) ^ static_cast<std::uint32_t>(next * 97)) % 13);
}
/// The target: the logits after the last n tokens of a text, [n][V].
void run_target(std::span<const Token> text, Index n, RowMajorMatrix<float>& logits) {
    for (Index i = 0; i < n; ++i)
        for (Token id = 0; id < V; ++id) logits(i, id) = logit(text.end()[i - n], id);
}
/// The draft: reads a text in its own ids, writes the logits of its own ids.
void run_draft(std::span<const Token> text, Index i, RowMajorMatrix<float>& logits) {
    for (Token id = 0; id < draft_vocab; ++id)
        logits(i, id) = id == unknown ? 0 : .5f * logit(target_id[text.back()], target_id[id]);
}

int main() {
    constexpr double temperature = 0.8;
    const IdMap map(target_id, V);
    const auto in_draft_ids = [](Token token) {
        const auto found = std::ranges::find(target_id, token);
        return found == std::end(target_id) ? unknown : static_cast<Token>(found - target_id);
    };
    RowMajorMatrix<float> logits(K + 1, V), draft_logits(K, draft_vocab);
    filters::ShapedMemory<float> memory[K];  // the draft's rows over target ids
    std::vector<Token> text{1, 2, 3}, stop_tokens{15};
    Workspace workspace;

    const auto mapped_row = [&](Index i) {
        return push_forward(map, Logits(draft_logits.row(i), temperature), memory[i]);
    };
    constexpr TokenVerification rule;
    std::vector<DraftedFrom<decltype(mapped_row(0)), decltype(rule)>> distributions;
    for (Round round; round.end == RoundEnd::none;) {
        const Index start = std::ssize(text);
        const RoundRng rng(/*seed*/ 4, /*request*/ 0, start);
        std::vector<Token> draft_text;  // an engine would keep this, and the draft's cache, between rounds
        std::ranges::transform(text, std::back_inserter(draft_text), in_draft_ids);
        distributions.clear();
        for (Index i = 0; i < K; ++i) {
            run_draft(draft_text, i, draft_logits);
            const auto [token, distribution] = draft_token(rule, rng, i, mapped_row(i));
            text.push_back(token);
            distributions.push_back(distribution);
            draft_text.push_back(in_draft_ids(text.back()));
        }
        run_target(text, K + 1, logits);

        round = verify(std::span(text).last(K), distributions, logits_of(logits, temperature), rule, rng,
                       {.max_tokens = 100, .stop_tokens = stop_tokens}, workspace);
        if (!round) return std::puts(message(round).c_str()), 1;

        text.erase(text.begin() + start, text.end());
        text.insert(text.end(), round.tokens.begin(), round.tokens.end());
        for (Token token : round.tokens) std::printf("%d ", token);
        std::printf("| ");
    }
    std::printf("\n");
}
