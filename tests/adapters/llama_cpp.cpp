// llama.cpp: logits of a batch, and the candidates that a sampler chain leaves.
#include <algorithm>

#include "adapters/adapters.hpp"
#include "llama_cpp/llama.h"
#include "support/catch.hpp"
#include "support/numbers.hpp"

using namespace adapters;
using namespace specsample::kernels;

namespace {

/// A context after llama_decode: the logits of `batch` positions, row after row, in memory that the next call reuses.
struct Context {
    std::uint64_t model;
    std::vector<float> logits = {};

    const float* decode(std::span<const Token> text, Index batch) {
        logits.clear();
        for (Index i = 0; i < batch; ++i) {
            const auto row = logits_after(model, text.first(text.size() - static_cast<std::size_t>(batch - 1 - i)));
            logits.insert(logits.end(), row.begin(), row.end());
        }
        return logits.data();
    }
};

/// A sampler chain: top-k and temperature, its candidates by probability, the likeliest first.
std::vector<llama_token_data> sampler_chain(const float* logits, std::size_t k) {
    const std::vector<float> row(logits, logits + vocab);
    const std::vector<double> probs = dense(row, k);
    std::vector<llama_token_data> candidates;
    for (const Index id : top_of(row, k)) {
        const auto at = static_cast<std::size_t>(id);
        candidates.push_back(
            {static_cast<llama_token>(id), row[at] / float(temperature), static_cast<float>(probs[at])});
    }
    std::ranges::sort(candidates, std::greater(), &llama_token_data::p);
    return candidates;
}

}  // namespace

TEST_CASE("llama.cpp: logits of a batch are judged where they lie") {
    Context draft{1}, target{2};
    std::vector<Token> text{1};
    Index proposed = 0, accepted = 0;
    Workspace workspace;
    while (text.size() < 120) {
        const RoundRng rng(7, 0, static_cast<Index>(text.size()));

        // Draft: every row that a token was drawn from is kept until the round ends.
        std::vector<llama_token> tokens;
        std::vector<Logits<std::vector<float>>> rows;
        std::vector<Token> path = text;
        for (Index node = 0; node < lookahead; ++node) {
            const float* logits = draft.decode(path, 1);
            rows.emplace_back(std::vector<float>(logits, logits + vocab), temperature);
            tokens.push_back(static_cast<llama_token>(
                specsample::draw(rng.at(Purpose::draft, node), row_weights(rows.back())).index));
            path.push_back(tokens.back());
        }

        // Target: one batch of lookahead + 1 positions, llama_get_logits(ctx).
        const float* logits = target.decode(path, lookahead + 1);
        const auto distributions = [&](Index node) { return Sampled(rows[static_cast<std::size_t>(node)]); };
        const Round round =
            verify(tokens, distributions, logits_of(rows_in_memory(logits, lookahead + 1, vocab), temperature),
                   TokenVerification{}, rng, {.check = Check::every_row}, workspace);
        REQUIRE(round);
        text.insert(text.end(), round.tokens.begin(), round.tokens.end());
        proposed += round.proposed;
        accepted += round.accepted;
        // llama_memory_seq_rm(memory, sequence, round.keep_target(start), -1)
    }
    CHECK(text == dense_text());
    CHECK(accepted > proposed / 5);
    CHECK(accepted < proposed);
}

TEST_CASE("llama.cpp: candidates after a sampler chain are sparse rows") {
    constexpr std::size_t k = 40;
    Context draft{1}, target{2};

    // Candidates come by probability: sort them by their ids, then view them.
    const auto by_id = [](std::vector<llama_token_data> candidates) {
        std::ranges::sort(candidates, {}, &llama_token_data::id);
        return candidates;
    };
    const auto row_of = [](const llama_token_data_array& candidates) {
        const std::span all(candidates.data, candidates.size);
        return Sparse(member(all, &llama_token_data::id), member(all, &llama_token_data::p), vocab);
    };
    const auto row_of_logits = [](const llama_token_data_array& candidates) {  // the same, where p is not filled in
        const std::span all(candidates.data, candidates.size);
        return Sparse(member(all, &llama_token_data::id), Logits(member(all, &llama_token_data::logit)), vocab);
    };

    std::vector<Token> text{1};
    Workspace workspace;
    while (text.size() < 120) {
        const RoundRng rng(7, 0, static_cast<Index>(text.size()));
        std::vector<llama_token> tokens;
        std::vector<std::vector<llama_token_data>> q, p;
        std::vector<llama_token_data_array> q_arrays, p_arrays;
        std::vector<Token> path = text;
        for (Index node = 0; node < lookahead; ++node) {
            q.push_back(by_id(sampler_chain(draft.decode(path, 1), k)));
            q_arrays.push_back({q.back().data(), q.back().size(), -1, false});
            tokens.push_back(static_cast<llama_token>(
                specsample::draw(rng.at(Purpose::draft, node), row_weights(row_of(q_arrays.back()))).index));
            path.push_back(tokens.back());
        }
        const float* logits = target.decode(path, lookahead + 1);
        for (Index i = 0; i <= lookahead; ++i) {
            p.push_back(by_id(sampler_chain(logits + i * vocab, k)));
            p_arrays.push_back({p.back().data(), p.back().size(), -1, false});
        }
        const auto distributions = [&](Index node) {
            return Sampled(row_of(q_arrays[static_cast<std::size_t>(node)]));
        };
        const auto rows = [&](Index i) { return row_of_logits(p_arrays[static_cast<std::size_t>(i)]); };
        const Round round =
            verify(tokens, distributions, rows, TokenVerification{}, rng, {.check = Check::every_row}, workspace);
        REQUIRE(round);
        text.insert(text.end(), round.tokens.begin(), round.tokens.end());
    }
    CHECK(text == dense_text(k));
}
