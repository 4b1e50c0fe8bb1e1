// An engine that drafts a token tree: siblings are drawn without replacement, one pass scores all nodes, and the cache
// entries of the accepted nodes are moved together.
// Prints, a bar after each round:
//   3 13 9 6 | 10 14 6 14 | 4 12 10 | 1 13 0 7 | 9 3 14 2 | 12 0 | 15 |
#include <algorithm>
#include <cstdio>

#include <specsample/specsample.hpp>

using namespace specsample;
using namespace specsample::kernels;
constexpr Index K = 6, V = 16;  // drafted nodes per round; vocabulary

/// A toy for a causal model with a KV cache: an entry per slot, computed from the entry of the position before.
struct ToyModel {
    float scale;
    std::vector<std::uint32_t> cache{};
    void roll_back(Index slots) { cache.resize(static_cast<std::size_t>(slots)); }

    /// One pass: appends tokens, token i after what slot before[i] has seen. Returns the logits after each.
    RowMajorMatrix<float> forward(std::span<const Token> tokens, std::span<const Index> before) {
        RowMajorMatrix<float> logits(std::ssize(tokens), V);
        float* logit = logits.data();
        for (std::size_t i = 0; i < tokens.size(); ++i) {
            const std::uint32_t seen = before[i] < 0 ? 7 : cache.begin()[before[i]];
            cache.push_back(seen * 31 + static_cast<std::uint32_t>(tokens[i]));
            for (std::uint32_t id = 0; id < V; ++id)
                *logit++ = scale * static_cast<float>((cache.back() ^ id * 97) % 13);
        }
        return logits;
    }
};

int main() {
    constexpr double temperature = 0.8;
    constexpr Index inner = 3;                      // the nodes with children come first
    const Index parents[K] = {-1, -1, 0, 0, 1, 2};  // -1: a child of the text
    const Index first_sibling[K] = {0, 0, 2, 2, 4, 5}, depth[K] = {0, 0, 1, 1, 1, 2};
    ToyModel draft{.2f}, target{.4f};
    Eigen::VectorXf q[inner + 1];  // the draft's rows after the text, after node 0, 1, 2
    Token nodes[K];
    constexpr TraversalVerification rule;
    std::vector<DraftedFrom<Eigen::VectorXf, decltype(rule)>> distributions;
    std::vector<Token> text{1}, stop_tokens{15};
    Workspace workspace;
    const auto drafted_after = [&](Token token, Index slot) -> Eigen::VectorXf {
        return softmax(draft.forward(std::span(&token, 1), std::span(&slot, 1)).row(0), temperature);
    };
    for (Round round; round.end == RoundEnd::none;) {
        const Index start = std::ssize(text);
        const RoundRng rng(/*seed*/ 7, /*request*/ 0, start);
        for (Token token : std::span(text).subspan(draft.cache.size()))  // draft
            q[0] = drafted_after(token, std::ssize(draft.cache) - 1);
        distributions.clear();
        for (Index node = 0; node < K; ++node) {
            const std::span<const Token> older(nodes + first_sibling[node], nodes + node);  // its siblings
            const auto drawn = draft_token(rule, rng, node, q[parents[node] + 1], depth[node], older);
            nodes[node] = std::max(drawn.token, 0);  // where nothing is left, any token is exact
            distributions.push_back(drawn.distribution);
            if (node < inner) q[node + 1] = drafted_after(nodes[node], start + parents[node]);
        }

        std::vector<Token> tokens{text.back()};  // score: the last token of the text is not in the cache yet
        tokens.insert(tokens.end(), nodes, nodes + K);
        std::vector<Index> before{start - 2};
        for (Index parent : parents) before.push_back(start + parent);
        const RowMajorMatrix<float> logits = target.forward(tokens, before);

        round = verify(Tree(nodes, parents), distributions, logits_of(logits, temperature), rule, rng,
                       {.max_tokens = 100, .stop_tokens = stop_tokens}, workspace);
        if (!round) return std::puts(message(round).c_str()), 1;
        text.insert(text.end(), round.tokens.begin(), round.tokens.end());  // commit
        round.compact(start, [cache = target.cache.begin()](Index from, Index to) { cache[to] = cache[from]; });
        target.roll_back(round.keep_target(start));
        draft.roll_back(start);  // the draft reads the accepted tokens again
        for (Token token : round.tokens) std::printf("%d ", token);
        std::printf("| ");
    }
    std::printf("\n");
}
