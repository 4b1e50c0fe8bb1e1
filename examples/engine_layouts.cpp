// One round of two requests, on memory laid out as five engines have it: engine_layouts.hpp has their calls.
// Prints
//   llama.cpp          1 6
//   OpenVINO GenAI     6
//   OpenVINO GenAI     6
//   MLC-LLM            1 7
//   MLC-LLM            4 7
//   ScaleLLM           4 -1 -1 4 1 5
//   ONNX Runtime GenAI 1
#include <cstdio>

#include "engine_layouts.hpp"

using namespace layouts;

namespace {

constexpr Index V = 8, K = 2;
const Engine engine{.vocab = V, .temperature = .8, .seed = 7};
const std::vector<Index> lengths{5, 9};           // of the texts before the round
const std::vector<std::int64_t> ids{1, 2, 4, 1};  // [2, K]: the drafted tokens

/// A toy tensor of logits, [count, V].
std::vector<float> logits(Index count, int model) {
    std::vector<float> tensor;
    for (Index row = 0; row < count; ++row)
        for (Index id = 0; id < V; ++id)
            tensor.push_back(.5f * static_cast<float>((row * 5 + id * 3 + model * (row + id)) % 7));
    return tensor;
}
/// The probabilities of logits.
std::vector<float> probs(const std::vector<float>& of) {
    std::vector<float> result;
    for (auto row = of.begin(); row != of.end(); row += V) {
        const Eigen::VectorXf softmax = kernels::softmax(std::span(row, V), engine.temperature);
        result.insert(result.end(), softmax.begin(), softmax.end());
    }
    return result;
}

void print(const char* name, const auto& tokens) {
    std::printf("%-18s", name);
    for (const auto token : tokens) std::printf(" %d", static_cast<int>(token));
    std::printf("\n");
}

}  // namespace

int main() {
    const std::vector<float> target = logits(2 * (K + 1), 0), draft = probs(logits(2 * K, 1));

    // llama.cpp: the first request, whose outputs lie in the batch at 0, 1 and 2.
    const GetLogits get = [](void* all, int i) { return static_cast<const float*>(all) + i * V; };
    const std::vector<std::int32_t> places{0, 1, 2}, drafted{1, 2};
    print("llama.cpp", llama_cpp(engine, const_cast<float*>(target.data()), get, places, drafted, 0, lengths[0]));

    BatchWorkspace memory;
    for (const Round& round : openvino(engine, target.data(), ids.data(), lengths, K, memory))
        print("OpenVINO GenAI", round.tokens);

    // MLC-LLM: a committed token and two alternatives for the next one, and a committed token and a chain of two.
    const std::vector<std::int32_t> cumulative{0, 3, 6}, nodes{0, 1, 2, 0, 4, 1};
    const std::vector<std::int64_t> parents{-1, 0, 0, -1, 0, 1};
    const std::vector<float> p = probs(target), q = probs(logits(2 * (K + 1), 1));
    for (const Round& round : mlc(engine, p.data(), q.data(), cumulative, nodes, parents, lengths, memory))
        print("MLC-LLM", round.tokens);

    std::vector<std::int64_t> output(2 * (K + 1));
    scale_llm(engine, ids.data(), draft.data(), target.data(), lengths, K, output.data());
    print("ScaleLLM", output);

    // ONNX Runtime GenAI: the first request, with all but three ids cut from its rows.
    const std::vector<SparseRow> q_rows{{{1, 4, 6}, {.6f, .2f, .2f}}, {{0, 2, 6}, {.1f, .8f, .1f}}};
    const std::vector<SparseRow> p_rows{
        {{1, 4, 6}, {.5f, .3f, .2f}}, {{0, 2, 6}, {.2f, .7f, .1f}}, {{3, 5, 7}, {.4f, .4f, .2f}}};
    std::vector<Token> seen;
    onnxruntime_genai(engine, drafted, q_rows, p_rows, 0, lengths[0], [&](Token token) {
        if (token == 2) return false;  // the text would end with a stop string
        seen.push_back(token);
        return true;
    });
    print("ONNX Runtime GenAI", seen);
}
