// What an engine logs of each round: an audit of its tokens, and the acceptance that its rows allow. An engine that
// judges at another temperature than the user asked for is found by the audit.
// Prints
//   judged at 0.8: acceptance 0.778, 95% interval 0.777 to 0.779; audit of 3880 tokens: no alarm
//   judged at 1.2: acceptance 0.677, 95% interval 0.676 to 0.679; audit of 3880 tokens: the draft's distribution
#include <cstdio>

#include <specsample/metrics/audit.hpp>
#include <specsample/metrics/overlap_estimate.hpp>
#include <specsample/specsample.hpp>
#include <specsample/theory/acceptance.hpp>

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

struct Log {
    metrics::Audit audit;              // bets that the tokens do not follow their target rows
    metrics::OverlapEstimate overlap;  // the same acceptance as accepted / evaluated, with less noise

    /// `target`: the rows that the user asked for. A round with a fault has nothing to log.
    void add(const auto& draft, const auto& target, const Round& round) {
        for (Index i = 0; const Token token : round.tokens) {
            i < K ? audit.observe(draft[i], target[i], token) : audit.observe(target[i], token);  // the bonus token
            ++i;
        }
        for (Index i = 0; i < round.evaluated; ++i) overlap.add(i, theory::acceptance(draft[i], target[i]));
    }
};

/// Write texts at a temperature, by a loop as in engine_loop.cpp, where .8 was asked for.
Log write(double temperature) {
    float draft_logits[K * V] = {}, target_logits[(K + 1) * V] = {};
    const auto q = logits_of(rows_in_memory(draft_logits, K, V), temperature);
    const auto p = logits_of(rows_in_memory(target_logits, K + 1, V), temperature);
    const auto asked = logits_of(rows_in_memory(target_logits, K + 1, V), .8);
    constexpr TokenVerification rule;
    std::vector<DraftedFrom<decltype(q[0]), decltype(rule)>> distributions;
    Workspace workspace;
    Log log;
    for (std::uint64_t request = 0; request < 40; ++request) {  // each draws its own random numbers
        ToyModel draft{.2f}, target{.4f};
        std::vector<Token> text{1, 2, static_cast<Token>(request % V)};
        for (Round round; round.end == RoundEnd::none;) {
            const Index start = std::ssize(text);
            const RoundRng rng(/*seed*/ 4, request, start);
            distributions.clear();
            for (unsigned i = 0; i < K; ++i) {
                draft.forward(text, 1, &draft_logits[i * V]);
                const auto [token, distribution] = draft_token(rule, rng, i, q[i]);
                text.push_back(token);
                distributions.push_back(distribution);
            }
            target.forward(text, K + 1, target_logits);
            round =
                verify(std::span(text).last(K), distributions, p, rule, rng, {.max_tokens = 100 - start}, workspace);
            log.add(q, asked, round);
            text.erase(text.begin() + start, text.end());
            text.insert(text.end(), round.tokens.begin(), round.tokens.end());
            target.roll_back(round.keep_target(start));
            draft.roll_back(round.keep_draft(start));
        }
    }
    return log;
}

int main() {
    for (const double temperature : {.8, 1.2}) {
        const Log log = write(temperature);
        const metrics::Estimate acceptance = log.overlap.acceptance();
        std::printf("judged at %.1f: acceptance %.3f, 95%% interval %.3f to %.3f; audit of %d tokens: ", temperature,
                    acceptance.value, acceptance.low, acceptance.high, static_cast<int>(log.audit.tokens()));
        std::printf("%s\n", log.audit.alarm(1e-6) ? log.audit.leaning().data() : "no alarm");
    }
}
