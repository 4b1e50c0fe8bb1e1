// One process drafts, another verifies: drafts come as messages over a socket on the loopback.
// Prints, a bar after each round:
//   12 12 6 2 2 | 11 5 0 6 1 | 1 0 1 13 6 | 2 2 9 0 8 | 11 9 15 |
#include <algorithm>
#include <cstdio>
#include <cstring>

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <specsample/drafters/wire.hpp>
#include <specsample/values.hpp>

using namespace specsample;
constexpr Index K = 4, V = 16;  // drafted tokens per round; vocabulary
constexpr TokenVerification rule;
using Message = std::vector<std::byte>;

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

/// Messages over a socket, each behind its size.
struct Connection {
    int socket;

    static bool whole(ssize_t moved, std::size_t size) { return moved == static_cast<ssize_t>(size); }
    bool send(std::span<const std::byte> message) const {
        const auto size = static_cast<std::uint32_t>(message.size());
        return whole(::send(socket, &size, sizeof size, MSG_NOSIGNAL), sizeof size) &&
               whole(::send(socket, message.data(), size, MSG_NOSIGNAL), size);
    }
    bool receive(Message& message) const {
        std::uint32_t size = 0;
        if (!whole(::recv(socket, &size, sizeof size, MSG_WAITALL), sizeof size)) return false;
        message.resize(size);
        return whole(::recv(socket, message.data(), size, MSG_WAITALL), size);
    }
};

/// Draft after every text that comes, until none does.
void serve_drafts(const Connection& target) {
    ToyModel model{.2f};
    wire::Draft draft;
    std::vector<Token> text;
    std::vector<float> logits(V);
    for (Message message; target.receive(message); target.send(message)) {
        std::vector<Token> shown(message.size() / sizeof(Token));
        std::memcpy(shown.data(), message.data(), message.size());
        const Index common = std::ranges::mismatch(text, shown).in1 - text.begin();
        model.roll_back(std::min(common, std::ssize(model.cache)));
        text = shown;
        const Index start = std::ssize(text);
        const RoundRng rng(/*seed*/ 4, /*request*/ 0, start);
        draft.open(0, start, V);
        for (Index i = 0; i < K; ++i) {
            model.forward(text, 1, logits.data());
            const Index row = draft.add_row(Row::logits(logits, .8), 8);  // 8 of the 16 ids
            text.push_back(draft_token(rule, rng, i, draft.row(row)).token);
            draft.add(i - 1, text.back(), row);
        }
        draft.write(message);
    }
}

int write_text(const Connection& drafter) {
    ToyModel target{.4f};
    float target_logits[(K + 1) * V] = {};
    const Rows p(Row::logits({target_logits, V}, .8), K + 1);
    std::vector<Token> text{1, 2, 3}, stop_tokens{15};
    wire::Draft draft;
    Workspace workspace;
    Message message;
    for (Round round; round.end == RoundEnd::none;) {
        const Index start = std::ssize(text);
        if (!drafter.send(std::as_bytes(std::span(text))) || !drafter.receive(message)) return 1;
        if (const auto fault = draft.read(message, 0, start, V))  // the round goes on without a draft
            std::puts(wire::message(*fault).c_str());
        const auto drafted = draft.tree().tokens;
        text.insert(text.end(), drafted.begin(), drafted.end());
        target.forward(text, std::ssize(drafted) + 1, target_logits);
        round = verify(drafted, draft.origins(), p.slice(0, std::ssize(drafted) + 1), rule, RoundRng(4, 0, start),
                       {.max_tokens = 100, .stop_tokens = stop_tokens}, workspace);
        if (!round) return std::puts(specsample::message(round).c_str()), 1;
        text.erase(text.begin() + start, text.end());
        text.insert(text.end(), round.tokens.begin(), round.tokens.end());
        target.roll_back(round.keep_target(start));
        for (Token token : round.tokens) std::printf("%d ", token);
        std::printf("| ");
    }
    std::printf("\n");
    return 0;
}

int main() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, any, size) != 0 || listen(listener, 1) != 0 || getsockname(listener, any, &size) != 0)
        return std::perror("a socket on the loopback"), 1;
    const pid_t drafter = fork();
    if (drafter == 0) {
        const int to_target = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(to_target, any, size) != 0) return 1;
        serve_drafts({to_target});
        return 0;
    }
    const int to_drafter = accept(listener, nullptr, nullptr);
    const int failed = write_text({to_drafter});
    close(to_drafter);
    waitpid(drafter, nullptr, 0);
    return failed;
}
