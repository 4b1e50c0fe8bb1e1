// Drafts as messages: to the bit, and whatever happens to a message on its way.
#include <specsample/drafters/wire.hpp>

#include <cmath>
#include <cstring>
#include <map>
#include <numeric>

#include <specsample/values.hpp>

#include "support/catch.hpp"
#include "support/texts.hpp"

using namespace specsample;
using texts::Dice;
using Message = std::vector<std::byte>;

namespace {

constexpr Index vocab = 300;

std::vector<float> any_logits(Dice& dice, Index size = vocab) {
    std::vector<float> logits;
    for (Index i = 0; i < size; ++i) logits.push_back(static_cast<float>(dice(1000)) / 100);
    return logits;
}

/// A tree of drawn and named tokens, over the rows of a request.
wire::Draft any_draft(Dice& dice, std::uint64_t request, Index start) {
    wire::Draft draft;
    draft.open(request, start, vocab);
    const RoundRng rng(5, request, start);
    for (Index node = 0; node < 6; ++node) {
        const Index parent = node == 0 ? root_node : dice(node + 1) - 1;
        if (dice(4) == 0) {
            draft.add_named(parent, static_cast<Token>(dice(vocab)));
            continue;
        }
        const std::vector<float> logits = any_logits(dice);
        const Index row = draft.add_row(Row::logits(logits, .7), 1 + dice(64));
        const std::vector<Token> without(dice(2) == 0 || draft.ids(row).size() < 2 ? 0u : 1u, draft.ids(row)[0]);
        const auto drawn = draft_token(TokenVerification{}, rng, node, draft.row(row), 0, without);
        draft.add(parent, drawn.token, row, without);
    }
    return draft;
}

Message written(const wire::Draft& draft) {
    Message message;
    draft.write(message);
    return message;
}

/// Write the checksum that a message should have.
void sign(Message& message) {
    if (message.size() >= 16)
        specsample::detail::WireWriter{message, 8}.set(specsample::detail::wire_checksum(message));
}

Round judged(const wire::Draft& draft, const std::vector<float>& logits, Workspace& workspace) {
    const auto row_of = [&](Index) { return Row::logits(logits, .8); };
    return verify(draft.tree(), draft.origins(), Rows(row_of), TokenVerification{}, RoundRng(9, 1, 2), {}, workspace);
}

}  // namespace

TEST_CASE("a row keeps its likeliest ids, with shares that add up to 1 to the bit") {
    Dice dice{1};
    for (const Index top : {1, 2, 3, 17, 64, 255, 256})
        for (const double temperature : {.001, .05, 1., 40.}) {
            const std::vector<float> logits = any_logits(dice);
            wire::Draft draft;
            draft.open(0, 0, vocab);
            REQUIRE(draft.add_row(Row::logits(logits, temperature), top) == 0);
            const auto ids = draft.ids(0);
            const auto probs = draft.probs(0);
            INFO("top " << top << ", temperature " << temperature << ", kept " << ids.size());
            float sum = 0, least_kept = 100, most_left = -100;
            for (const float share : probs) {
                CHECK(share > 0);
                CHECK(share * 65536 == std::floor(share * 65536));
                sum += share;
            }
            CHECK(sum == 1);
            CHECK(std::ranges::is_sorted(ids));
            for (Token id = 0; id < vocab; ++id) {
                const bool kept = std::ranges::binary_search(ids, id);
                float& bound = kept ? least_kept : most_left;
                bound = kept ? std::min(bound, logits[std::size_t(id)]) : std::max(bound, logits[std::size_t(id)]);
            }
            if (std::ssize(ids) == top) CHECK(least_kept >= most_left);
            CHECK(std::ssize(ids) <= top);
            if (temperature >= 1) {
                CHECK(std::ssize(ids) == top);
                double kept = 0;  // shares are those of the row, but for the rounding of each
                for (const Token id : ids) kept += std::exp(logits[std::size_t(id)] / temperature);
                for (std::size_t i = 0; i < ids.size(); ++i)
                    CHECK(probs[i] ==
                          Approx(std::exp(logits[std::size_t(ids[i])] / temperature) / kept).margin(256. / 65536));
            }
        }
    // One likely id, and as many as there can be that each get the smallest share.
    std::vector<double> peaked(vocab, 1e-9);
    peaked[7] = 1;
    wire::Draft draft;
    draft.open(0, 0, vocab);
    draft.add_row(Row::probs(peaked), 256);
    CHECK(draft.ids(0).size() == 256);
    CHECK(std::accumulate(draft.probs(0).begin(), draft.probs(0).end(), 0.f) == 1);
    CHECK(draft.probs(0)[7] == 1 - 255.f / 65536);
}

TEST_CASE("a draft that was written and read is the same draft, and is judged alike") {
    Dice dice{2};
    long accepted = 0;
    for (std::uint64_t request = 0; request < 60; ++request) {
        const wire::Draft sent = any_draft(dice, request, 17);
        const Message message = written(sent);
        wire::Draft received;
        REQUIRE_FALSE(received.read(message, request, 17, vocab));
        CHECK(written(received) == message);
        CHECK(received.request() == request);
        CHECK(received.start() == 17);
        CHECK(received.vocab() == vocab);
        CHECK(std::ranges::equal(received.tree().tokens, sent.tree().tokens));
        CHECK(std::ranges::equal(received.tree().parents, sent.tree().parents));
        REQUIRE(received.row_count() == sent.row_count());
        for (Index row = 0; row < sent.row_count(); ++row) {
            CHECK(std::ranges::equal(received.ids(row), sent.ids(row)));
            CHECK(std::memcmp(received.probs(row).data(), sent.probs(row).data(), sent.probs(row).size_bytes()) == 0);
        }
        const std::vector<float> logits = any_logits(dice);
        Workspace here, there;
        const Round a = judged(sent, logits, here), b = judged(received, logits, there);
        REQUIRE(a);
        REQUIRE(b);
        CHECK(std::ranges::equal(a.tokens, b.tokens));
        CHECK(std::ranges::equal(a.path, b.path));
        accepted += a.accepted;
    }
    CHECK(accepted > 3);
}

TEST_CASE("a message that lost or changed a byte is refused by what is wrong with it") {
    Dice dice{3};
    const Message message = written(any_draft(dice, 3, 4));
    wire::Draft draft;
    for (std::size_t size = 0; size < message.size(); ++size) {
        const auto fault = draft.read(std::span(message).first(size), 3, 4, vocab);
        REQUIRE(fault == wire::Fault::truncated);
        REQUIRE(draft.tree().tokens.empty());
    }
    for (std::size_t at = 0; at < message.size(); ++at)
        for (const int bit : {0, 7}) {
            Message changed = message;
            changed[at] ^= std::byte{1} << bit;
            const auto fault = draft.read(changed, 3, 4, vocab);
            INFO("byte " << at);
            REQUIRE(fault == (at < 4   ? wire::Fault::version
                              : at < 8 ? wire::Fault::truncated
                                       : wire::Fault::corrupted));
        }
    Message longer = message;
    longer.push_back(std::byte{0});
    CHECK(draft.read(longer, 3, 4, vocab) == wire::Fault::truncated);
    CHECK(draft.read(message, 2, 4, vocab) == wire::Fault::another_round);
    CHECK(draft.read(message, 3, 5, vocab) == wire::Fault::another_round);
    CHECK(draft.read(message, 3, 4, vocab - 1) == wire::Fault::another_round);
    CHECK_FALSE(draft.read(message, 3, 4, vocab));
    CHECK(wire::message(wire::Fault::corrupted) ==
          "specsample::wire: the message does not have the checksum that it says");
}

TEST_CASE("a message with a right checksum is a draft that can be judged, or is malformed") {
    Dice dice{4};
    std::map<std::string, long> seen;
    const std::vector<float> logits = any_logits(dice);
    Workspace workspace;
    std::vector<Message> messages;
    for (int i = 0; i < 20; ++i) messages.push_back(written(any_draft(dice, 3, 4)));
    for (int i = 0; i < 3000; ++i) {
        Message changed = messages[static_cast<std::size_t>(i) % messages.size()];
        for (Index changes = 1 + dice(3); changes > 0; --changes) {
            const auto at = static_cast<std::size_t>(16 + dice(std::ssize(changed) - 16));
            changed[at] = static_cast<std::byte>(dice(3) == 0 ? 255 * dice(2) : dice(256));
        }
        sign(changed);
        wire::Draft draft;
        const auto fault = draft.read(changed, 3, 4, vocab);
        if (!fault) {
            const Round round =
                judged(draft, logits, workspace);  // a token that is not in its row is a fault of the round
            CHECK((round.fault || !round.tokens.empty()));
            CHECK(written(draft) == changed);
        }
        ++seen[fault ? wire::message(*fault) : "a draft"];
    }
    CHECK(seen.size() == 3);
    for (const auto& [what, count] : seen) {
        INFO(what << ": " << count);
        CHECK(count > 20);
    }
}

TEST_CASE("what does not belong into a draft is refused by name") {
    wire::Draft draft;
    CHECK_THROWS_WITH(draft.open(0, -1, 4), "specsample::wire::Draft: start is -1, but must be at least 0");
    CHECK_THROWS_WITH(draft.open(0, 0, 0), "specsample::wire::Draft: vocab is 0, but must be 1 to 2^31 - 1");
    draft.open(0, 0, 4);
    const std::vector<float> row{.5f, .5f, 0, 0}, other{1, 0};
    CHECK_THROWS_WITH(draft.add_row(Row::probs(other)),
                      "specsample::wire::Draft::add_row: the size of the row is 2, but must be the vocabulary, 4");
    CHECK_THROWS_WITH(draft.add_row(Row::probs(row), 257),
                      "specsample::wire::Draft::add_row: top is 257, but must be 1 to 256");
    CHECK_THROWS_WITH(draft.add(root_node, 0, 0),
                      "specsample::wire::Draft::add: row is 0, but must be one of the 0 rows");
    CHECK_THROWS_WITH(draft.row(0), "specsample::wire::Draft: row is 0, but must be one of the 0 rows");
    CHECK(draft.add_row(Row::probs(row)) == 0);
    CHECK(draft.ids(0).size() == 2);
    CHECK(written(draft).size() == 44 + 2 + 2 * 6);
    CHECK_THROWS_WITH(draft.add(root_node, 4, 0),
                      "specsample::wire::Draft::add: token is 4, but must be in the vocabulary of 4");
    CHECK_THROWS_WITH(draft.add_named(0, 1),
                      "specsample::wire::Draft::add: parent is 0, but must be root_node or an earlier node");
    CHECK(draft.tree().tokens.empty());
    const std::vector<float> nothing(4, 0.f);
    const Index empty = draft.add_row(Row::probs(nothing));
    CHECK(draft.ids(empty).empty());
    CHECK(draft_token(TokenVerification{}, RoundRng(1, 0, 0), 0, draft.row(empty)).token == -1);
}
