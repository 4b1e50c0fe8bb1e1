// The calls of five engines, on memory laid out as theirs (examples/engine_layouts.hpp): their rounds equal the rounds
// of dense rows that are verified one request at a time.
#include <algorithm>

#include <specsample/verify/batch.hpp>

#include "adapters/adapters.hpp"
#include "engine_layouts.hpp"
#include "support/catch.hpp"

using namespace adapters;
using namespace layouts;
using namespace specsample::kernels;

namespace {

constexpr Index requests = 5;
const Engine engine{.vocab = vocab, .temperature = temperature, .seed = 11};
const std::vector<Index> lengths(requests, 2);  // of the texts

/// A request of a batch: a text of its own, and a draft after it.
struct Drafted {
    std::vector<Token> text, tokens;
    std::vector<Index> parents;
    std::vector<std::vector<float>> draft_logits, target_logits;  ///< of node i; after node i - 1

    Drafted(Index request, std::vector<Index> shape) : text{1, static_cast<Token>(request)}, parents(std::move(shape)) {
        const RoundRng rng = rng_of(request);
        target_logits.push_back(logits_after(2, text));
        for (Index node = 0; node < std::ssize(parents); ++node) {
            draft_logits.push_back(logits_after(1, path(parents[static_cast<std::size_t>(node)])));
            tokens.push_back(static_cast<Token>(
                draw(rng.at(Purpose::draft, node), RowWeights(detail::as_row(dense(draft_logits.back())))).index));
            target_logits.push_back(logits_after(2, path(node)));
        }
    }

    static RoundRng rng_of(Index request) { return engine.rng(request, 2); }

    std::vector<Token> path(Index node) const {
        if (node < 0) return text;
        auto context = path(parents[static_cast<std::size_t>(node)]);
        context.push_back(tokens[static_cast<std::size_t>(node)]);
        return context;
    }

    /// Judged on probabilities that are all written down.
    template <class Rule>
    std::vector<Token> expected(Index request, const Rule& rule, std::size_t k = vocab) const {
        const auto row = [&](const std::vector<float>& logits) { return dense(logits, k); };
        std::vector<std::vector<double>> q, p;
        for (const auto& logits : draft_logits) q.push_back(row(logits));
        for (const auto& logits : target_logits) p.push_back(row(logits));
        Workspace workspace;
        const auto distributions = [&](Index node) { return Sampled(q[static_cast<std::size_t>(node)]); };
        const Round round = verify(Tree(tokens, parents), distributions, p, rule, rng_of(request), {}, workspace);
        return {round.tokens.begin(), round.tokens.end()};
    }
};

std::vector<Index> chain(Index length) {
    std::vector<Index> parents;
    for (Index node = 0; node < length; ++node) parents.push_back(node - 1);
    return parents;
}

/// Rows one behind the other.
template <class Scalar>
std::vector<Scalar> flat(const std::vector<std::vector<Scalar>>& rows) {
    std::vector<Scalar> memory;
    for (const auto& row : rows) memory.insert(memory.end(), row.begin(), row.end());
    return memory;
}

std::vector<float> floats(const std::vector<double>& row) { return {row.begin(), row.end()}; }

}  // namespace

TEST_CASE("llama.cpp's call: rows by batch index, a draft without a distribution") {
    for (Index request = 0; request < 40; ++request) {
        const Drafted drafted(request, chain(request % 4));
        // A batch in which this sequence's outputs come last first.
        std::vector<std::vector<float>> outputs(drafted.target_logits.rbegin(), drafted.target_logits.rend());
        std::vector<std::int32_t> index;
        for (std::size_t i = 0; i < outputs.size(); ++i)
            index.push_back(static_cast<std::int32_t>(outputs.size() - 1 - i));
        const GetLogits get = [](void* context, int i) -> const float* {
            return (*static_cast<std::vector<std::vector<float>>*>(context))[static_cast<std::size_t>(i)].data();
        };
        const auto tokens = llama_cpp(engine, &outputs, get, index, drafted.tokens, request, 2);
        CHECK(tokens == drafted.expected(request, SampleMatch{}));
    }
}

TEST_CASE("OpenVINO's call: a tensor of logits, wide ids, no draft rows") {
    constexpr Index k = 3;
    std::vector<float> tensor;
    std::vector<std::int64_t> ids;
    std::vector<std::vector<Token>> expected;
    for (Index i = 0; i < requests; ++i) {
        const Drafted drafted(i, chain(k));
        for (const float x : flat(drafted.target_logits)) tensor.push_back(x);
        ids.insert(ids.end(), drafted.tokens.begin(), drafted.tokens.end());
        std::vector<std::vector<double>> p;
        for (const auto& logits : drafted.target_logits) p.push_back(dense(logits));
        Workspace workspace;
        const Round round =
            verify(drafted.tokens, PointMass{}, p, TokenVerification{}, Drafted::rng_of(i), {}, workspace);
        expected.emplace_back(round.tokens.begin(), round.tokens.end());
    }
    BatchWorkspace memory;
    (void)openvino(engine, tensor.data(), ids.data(), lengths, k, memory);
    for (std::size_t i = 0; i < expected.size(); ++i) CHECK(std::ranges::equal(memory.rounds[i].tokens, expected[i]));
}

TEST_CASE("MLC's call: ragged trees over shared matrices") {
    const std::vector<std::vector<Index>> shapes{{-1, -1, 0, 0, 1}, {}, {-1, 0, 1}, {-1, -1, -1}, {-1, 0, 0, 2}};
    std::vector<float> probs, draft_probs;
    std::vector<std::int32_t> cumulative{0}, ids;
    std::vector<std::int64_t> parents;
    std::vector<std::vector<Token>> expected;
    for (Index i = 0; i < requests; ++i) {
        const Drafted drafted(i, shapes[static_cast<std::size_t>(i)]);
        for (const auto& logits : drafted.target_logits)
            for (const float x : floats(dense(logits))) probs.push_back(x);
        draft_probs.insert(draft_probs.end(), vocab, 0.f);  // nothing was drafted where the committed token is
        ids.push_back(drafted.text.back());
        parents.push_back(-1);
        for (std::size_t node = 0; node < drafted.tokens.size(); ++node) {
            for (const float x : floats(dense(drafted.draft_logits[node]))) draft_probs.push_back(x);
            ids.push_back(drafted.tokens[node]);
            parents.push_back(drafted.parents[node] + 1);
        }
        cumulative.push_back(static_cast<std::int32_t>(ids.size()));
        expected.push_back(drafted.expected(i, RecursiveRejection{}));
    }
    BatchWorkspace memory;
    (void)mlc(engine, probs.data(), draft_probs.data(), cumulative, ids, parents, lengths, memory);
    for (std::size_t i = 0; i < expected.size(); ++i) CHECK(std::ranges::equal(memory.rounds[i].tokens, expected[i]));
}

TEST_CASE("ScaleLLM's call: tensors of one lookahead in, padded ids out") {
    constexpr Index k = 3;
    std::vector<std::int64_t> ids, output(requests * (k + 1)), padded;
    std::vector<float> q, logits;
    for (Index i = 0; i < requests; ++i) {
        const Drafted drafted(i, chain(k));
        ids.insert(ids.end(), drafted.tokens.begin(), drafted.tokens.end());
        for (const auto& row : drafted.draft_logits)
            for (const float x : floats(dense(row))) q.push_back(x);
        for (const float x : flat(drafted.target_logits)) logits.push_back(x);
        const auto expected = drafted.expected(i, TokenVerification{});
        padded.insert(padded.end(), expected.begin(), expected.end());
        padded.resize(static_cast<std::size_t>((i + 1) * (k + 1)), -1);
    }
    scale_llm(engine, ids.data(), q.data(), logits.data(), lengths, k, output.data());
    CHECK(output == padded);
}

TEST_CASE("ONNX Runtime GenAI's call: sparse rows, and a caller that stops in the middle") {
    constexpr std::size_t top = 12;
    const auto sparse = [](const std::vector<float>& logits) {
        const auto probs = dense(logits, top);
        SparseRow row;
        for (const Index id : top_of(logits, top)) {
            row.ids.push_back(static_cast<std::int32_t>(id));
            row.probs.push_back(static_cast<float>(probs[static_cast<std::size_t>(id)]));
        }
        return row;
    };
    int stopped = 0;
    for (Index request = 0; request < 40; ++request) {
        std::vector<Token> text{1, static_cast<Token>(request)}, tokens;
        std::vector<SparseRow> q, p{sparse(logits_after(2, text))};
        std::vector<std::vector<double>> dense_q, dense_p{dense(logits_after(2, text), top)};
        std::vector<Token> path = text;
        for (Index node = 0; node < 3; ++node) {
            q.push_back(sparse(logits_after(1, path)));
            dense_q.push_back(dense(logits_after(1, path), top));
            const Sparse row(q.back().ids, q.back().probs, vocab);
            tokens.push_back(
                static_cast<Token>(draw(Drafted::rng_of(request).at(Purpose::draft, node), row_weights(row)).index));
            path.push_back(tokens.back());
            p.push_back(sparse(logits_after(2, path)));
            dense_p.push_back(dense(logits_after(2, path), top));
        }
        Workspace workspace;
        const auto distributions = [&](Index node) { return Sampled(dense_q[static_cast<std::size_t>(node)]); };
        const Round whole =
            verify(tokens, distributions, dense_p, TokenVerification{}, Drafted::rng_of(request), {}, workspace);
        const std::vector<Token> expected(whole.tokens.begin(), whole.tokens.end());

        std::vector<Token> seen;
        const auto emit = [&](Token token) {
            if (seen.size() == 2) return false;
            seen.push_back(token);
            return true;
        };
        const Index kept = onnxruntime_genai(engine, tokens, q, p, request, 2, emit);
        const std::size_t count = std::min<std::size_t>(2, expected.size());
        CHECK(std::equal(seen.begin(), seen.end(), expected.begin(), expected.begin() + static_cast<Index>(count)));
        CHECK(kept == 2 + std::min<Index>(whole.accepted, 2));
        stopped += expected.size() > 2 ? 1 : 0;
    }
    CHECK(stopped > 0);
}
