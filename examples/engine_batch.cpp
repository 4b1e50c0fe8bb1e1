// An engine that verifies many requests in one call. A request with bad logits fails alone; the others do not notice.
// Prints
//   1 2 6 5 4 1 14 11 0 4 1 14 11 12 14 1 14 11 15
//   3 1 5 4 2 5 12 8 5 9 12 5 1 14 11 8 2 1 14 11 0 15
//   4 4 4 1 14 14 11 target row 0 is nan at id 15, but must be finite
//   5 6 7 5 9 4 12 0 15
#include <algorithm>
#include <cstdio>
#include <limits>
#include <string>

#include <specsample/specsample.hpp>
#include <specsample/verify/batch.hpp>

#include "parallel_for.hpp"

using namespace specsample;
constexpr Index K = 4, V = 16;  // most drafted tokens per round; vocabulary

struct ToyRequest {
    std::uint64_t id;
    std::vector<Token> text, drafted{};
    std::string error{};
    bool is_running = true;
    /// Draft the tokens that followed an earlier occurrence of the last token, at most K.
    void draft() {
        drafted.clear();
        const auto before = std::find(text.rbegin() + 1, text.rend(), text.back()).base();
        if (before != text.begin()) drafted.assign(before, before + std::min(K, text.end() - before));
    }
    /// A toy target: the logits after the text and after each drafted token, [drafted + 1][V].
    void score(float* logits) const {
        for (Index row = 0; row <= std::ssize(drafted); ++row) {
            const std::uint32_t last = static_cast<std::uint32_t>(row == 0 ? text.back() : drafted.begin()[row - 1]);
            for (std::uint32_t token = 0; token < V; ++token)
                *logits++ = .4f * static_cast<float>((last * 53 ^ token * 97) % 13);
        }
        if (id == 2 && text.size() > 6) logits[-1] = std::numeric_limits<float>::quiet_NaN();  // a broken kernel
    }
};

/// Write all texts to their ends.
std::vector<ToyRequest> write(std::vector<ToyRequest> requests) {
    const std::vector<Token> stop_tokens{15};
    std::vector<float> logits(requests.size() * (K + 1) * V);
    BatchWorkspace memory;
    for (;;) {
        std::vector<ToyRequest*> batch;
        std::vector<Index> ends{0};  // request i has rows ends[i] .. ends[i + 1]
        for (ToyRequest& request : requests) {
            if (!request.is_running) continue;
            request.draft();
            request.score(logits.data() + ends.back() * V);
            ends.push_back(ends.back() + std::ssize(request.drafted) + 1), batch.push_back(&request);
        }
        if (batch.empty()) return requests;
        const auto rows = logits_of(rows_in_memory(logits.data(), ends.back(), V), /*temperature*/ .8);
        const auto judge = [&, end = ends.begin()](Index i, Workspace& workspace) {
            const ToyRequest& request = *batch.begin()[i];
            return verify(request.drafted, PointMass{}, slice(rows, end[i], end[i + 1]), TokenVerification{},
                          RoundRng(/*seed*/ 4, request.id, std::ssize(request.text)),
                          {.max_tokens = 40 - std::ssize(request.text), .stop_tokens = stop_tokens}, workspace);
        };
        const auto rounds = verify_batch(std::ssize(batch), judge, memory, loops::OnThreads{2});
        for (std::size_t i = 0; const Round& round : rounds) {
            ToyRequest& request = *batch[i++];
            request.text.insert(request.text.end(), round.tokens.begin(), round.tokens.end());
            request.is_running = round && round.end == RoundEnd::none, request.error = message(round);
        }
    }
}

int main() {
    const std::vector<ToyRequest> requests{{0, {1, 2}}, {1, {3}}, {2, {4, 4}}, {3, {5, 6, 7}}};
    for (const ToyRequest& request : write(requests)) {
        const bool is_same = write({requests[request.id]}).front().text == request.text;
        for (Token token : request.text) std::printf("%d ", token);
        std::printf("%s%s\n", request.error.c_str(), is_same ? "" : " other than alone");
    }
}
