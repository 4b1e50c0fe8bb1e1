// The calls of five engines, on memory laid out as theirs: what an adopter would write, without a copy of a row.
//
//   llama_cpp           one sequence, logits by batch index, a drafter without a distribution
//   openvino            a tensor [B, K + 1, V] of logits, 64-bit ids, no rows of the draft
//   mlc                 ragged trees over shared matrices of probabilities
//   scale_llm           tensors of one lookahead in, padded ids out; xLLM has the same
//   onnxruntime_genai   sparse rows, and a caller that decides what becomes visible
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <specsample/specsample.hpp>
#include <specsample/verify/batch.hpp>

namespace layouts {

using namespace specsample;

/// What an engine knows besides its tensors.
struct Engine {
    Index vocab;
    double temperature;
    std::uint64_t seed;

    /// The random numbers of a round; `length` is the length of the text before it.
    RoundRng rng(Index request, Index length) const { return {seed, static_cast<std::uint64_t>(request), length}; }
};

// ---- 1. llama.cpp: one sequence, raw logits per batch index, int32 ids, a drafter without a distribution (n-gram)

using GetLogits = const float* (*)(void* context, int index);  // llama_get_logits_ith

inline std::vector<Token> llama_cpp(const Engine& engine, void* context, GetLogits get_logits,
                                    std::span<const std::int32_t> batch_index, std::span<const std::int32_t> draft,
                                    Index request, Index n_past) {
    const auto rows = [&](Index i) {
        const float* logits = get_logits(context, batch_index[static_cast<std::size_t>(i)]);
        return Logits(std::span(logits, static_cast<std::size_t>(engine.vocab)), engine.temperature);
    };
    Workspace workspace;
    const Round round = verify(draft, PointMass{}, rows, SampleMatch{}, engine.rng(request, n_past), {}, workspace);
    // llama_memory_seq_rm(memory, sequence, round.keep_target(n_past), -1);
    return {round.tokens.begin(), round.tokens.end()};
}

// ---- 2. OpenVINO GenAI: a tensor [B, K + 1, V] of logits, int64 ids, only one probability per drafted token

inline std::span<const Round> openvino(const Engine& engine, const float* tensor, const std::int64_t* ids,
                                       std::span<const Index> lengths, Index k, BatchWorkspace& memory) {
    const Index batch = std::ssize(lengths), positions = k + 1;
    const auto logits =
        logits_of(rows_in_memory(tensor, batch * positions, engine.vocab, engine.vocab), engine.temperature);
    const auto judge = [&](Index i, Workspace& workspace) {
        const std::span tokens(ids + i * k, static_cast<std::size_t>(k));
        return verify(tokens, PointMass{}, slice(logits, i * positions, (i + 1) * positions), TokenVerification{},
                      engine.rng(i, lengths[static_cast<std::size_t>(i)]), {}, workspace);
    };
    return verify_batch(batch, judge, memory);
}

// ---- 3. MLC-LLM: ragged trees over shared matrices of probabilities; row 0 of each is the committed token

inline std::span<const Round> mlc(const Engine& engine, const float* probs, const float* draft_probs,
                                  std::span<const std::int32_t> cum_verify_lengths, std::span<const std::int32_t> ids,
                                  std::span<const std::int64_t> token_tree_parent, std::span<const Index> lengths,
                                  BatchWorkspace& memory) {
    const auto p = rows_in_memory(probs, cum_verify_lengths.back(), engine.vocab, engine.vocab);
    const auto q = rows_in_memory(draft_probs, cum_verify_lengths.back(), engine.vocab, engine.vocab);
    const auto judge = [&](Index i, Workspace& workspace) {
        const auto at = static_cast<std::size_t>(i);
        const Index begin = cum_verify_lengths[at], end = cum_verify_lengths[at + 1];
        const auto nodes = [&](auto all) {
            return all.subspan(static_cast<std::size_t>(begin + 1), static_cast<std::size_t>(end - begin - 1));
        };
        std::vector<std::int64_t> parents;  // their nodes count from the committed token, ours from the first drafted
        for (const std::int64_t parent : nodes(token_tree_parent)) parents.push_back(parent - 1);
        const auto distributions = [&](Index node) { return Sampled(q.row(begin + 1 + node)); };
        return verify(Tree(nodes(ids), parents), distributions, slice(p, begin, end), RecursiveRejection{},
                      engine.rng(i, lengths[at]), {}, workspace);
    };
    return verify_batch(std::ssize(lengths), judge, memory);
}

// ---- 4. ScaleLLM, xLLM: ids [B, K], q [B, K, V], logits [B, K + 1, V]; int64 ids [B, K + 1] out, -1 behind the last

inline void scale_llm(const Engine& engine, const std::int64_t* draft_ids, const float* draft_probs,
                      const float* target_logits, std::span<const Index> lengths, Index k, std::int64_t* output) {
    const Index batch = std::ssize(lengths);
    const auto q = rows_in_memory(draft_probs, batch * k, engine.vocab, engine.vocab);
    const auto logits =
        logits_of(rows_in_memory(target_logits, batch * (k + 1), engine.vocab, engine.vocab), engine.temperature);
    const auto judge = [&](Index i, Workspace& workspace) {
        const auto distributions = [&, i](Index node) { return Sampled(q.row(i * k + node)); };
        return verify(std::span(draft_ids + i * k, static_cast<std::size_t>(k)), distributions,
                      slice(logits, i * (k + 1), (i + 1) * (k + 1)), TokenVerification{},
                      engine.rng(i, lengths[static_cast<std::size_t>(i)]), {}, workspace);
    };
    BatchWorkspace memory;
    write_padded(verify_batch(batch, judge, memory), std::span(output, static_cast<std::size_t>(batch * (k + 1))), -1);
}

// ---- 5. ONNX Runtime GenAI: sparse rows {int32 ids, floats} per position; the caller decides what becomes visible

struct SparseRow {
    std::vector<std::int32_t> ids;
    std::vector<float> probs;
};

template <class Emit>
Index onnxruntime_genai(const Engine& engine, std::span<const std::int32_t> draft,
                        const std::vector<SparseRow>& draft_rows, const std::vector<SparseRow>& target_rows,
                        Index request, Index length, Emit&& emit) {
    const auto row = [&](const SparseRow& at) { return Sparse(at.ids, at.probs, engine.vocab); };
    const auto rows = [&](Index i) { return row(target_rows[static_cast<std::size_t>(i)]); };
    const auto distributions = [&](Index i) { return Sampled(row(draft_rows[static_cast<std::size_t>(i)])); };
    Workspace workspace;
    Round round = verify(draft, distributions, rows, TokenVerification{}, engine.rng(request, length), {}, workspace);
    for (Index count = 0; count < std::ssize(round.tokens); ++count)
        if (!emit(round.tokens[static_cast<std::size_t>(count)])) round.truncate(count);
    return round.keep_target(length);  // state.RewindTo(this): no copies of a generator
}

}  // namespace layouts
