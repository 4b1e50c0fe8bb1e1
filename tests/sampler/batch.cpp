// Texts that are written in batches, with requests that come and go, are the same as those of a sampler for each alone.
#include <specsample/verify/batch.hpp>

#include <optional>
#include <variant>

#include <specsample/specsample.hpp>
#include <specsample/testing.hpp>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::testing;

namespace {

constexpr Index vocab = 7;
const ContextModel draft_model(vocab, 61), target(vocab, 62);

using AnyRule = std::variant<TokenVerification, BlockVerification, SampleMatch>;

/// A request of an engine: its parameters, its text, and its place in the flat memory of a step.
struct Running {
    AnyRule rule;
    Index lookahead;
    std::uint64_t request;
    Index new_tokens;
    std::vector<Token> stop_tokens;
    std::vector<Token> text{1, 2};
    ChainDrafter<ContextModel> drafter{draft_model};
    DraftTree<ChainDrafter<ContextModel>::Distribution> draft_tree{};

    Index left() const { return 2 + new_tokens - std::ssize(text); }
    RoundRng rng() const { return {11, request, std::ssize(text)}; }
    RoundLimits limits() const { return {.max_tokens = left(), .stop_tokens = stop_tokens, .check = Check::every_row}; }

    void draft() {
        draft_tree.open(lookahead, stop_tokens, vocab);
        drafter.propose(text, rng(), draft_tree);
    }

    std::vector<Token> alone() const {
        return std::visit(
            [&](const auto& each) -> std::vector<Token> {
                return Sampler(draft_model, target, {.lookahead = lookahead, .seed = 11}, each)
                    .generate({1, 2}, {.max_new_tokens = new_tokens, .stop_tokens = stop_tokens, .request = request});
            },
            rule);
    }
};

std::vector<Running> requests() {
    std::vector<Running> all;
    for (std::uint64_t i = 0; i < 12; ++i) {
        const AnyRule rules[]{TokenVerification{}, BlockVerification{}, SampleMatch{}};
        all.push_back({.rule = rules[i % 3],
                       .lookahead = static_cast<Index>(i % 5),
                       .request = 100 + i,
                       .new_tokens = static_cast<Index>(5 + 7 * i),
                       .stop_tokens = i % 4 == 1 ? std::vector<Token>{3} : std::vector<Token>()});
    }
    return all;
}

/// One step of an engine: all drafts, one pass of the target over the flat positions of all, one batch. Returns the
/// tokens as the engine takes them, [requests x 5].
std::vector<std::int64_t> step(std::vector<Running*>& batch, BatchWorkspace& memory) {
    std::vector<Index> ends{0};
    RowMajorMatrix<double> flat(static_cast<Index>(5 * batch.size()), vocab);
    for (Running* each : batch) {
        each->draft();
        std::vector<Token> context = each->text;
        context.insert(context.end(), each->draft_tree.tokens().begin(), each->draft_tree.tokens().end());
        const Index count = each->draft_tree.size() + 1;
        flat.middleRows(ends.back(), count) = target(context, count);
        ends.push_back(ends.back() + count);
    }
    const auto rounds = verify_batch(
        std::ssize(batch),
        [&](Index i, Workspace& workspace) {
            const auto at = static_cast<std::size_t>(i);
            const Running& each = *batch[at];
            return std::visit(
                [&](const auto& rule) {
                    return Request{each.draft_tree.tokens(),
                                   each.draft_tree.distributions(),
                                   slice(flat, ends[at], ends[at + 1]),
                                   rule,
                                   each.rng(),
                                   each.limits()}(workspace);
                },
                each.rule);
        },
        memory);
    for (const Round& round : rounds) CHECK(round);
    std::vector<std::int64_t> ids(5 * batch.size());
    write_padded(rounds, ids);
    return ids;
}

/// Append a row of padded ids; false where the text ends.
bool append(Running& request, std::span<const std::int64_t> ids) {
    for (const std::int64_t id : ids) {
        if (id < 0) break;
        request.text.push_back(static_cast<Token>(id));
    }
    return request.left() > 0 && !request.limits().stops(request.text.back());
}

/// Write all texts, at most `most` at a time, those of a batch in an order that changes with every step.
void write(std::vector<Running>& all, std::size_t most) {
    BatchWorkspace memory;
    std::vector<Running*> batch, waiting;
    for (Running& each : all) waiting.push_back(&each);
    while (!batch.empty() || !waiting.empty()) {
        for (; batch.size() < most && !waiting.empty(); waiting.pop_back()) batch.push_back(waiting.back());
        std::rotate(batch.begin(), batch.begin() + 1, batch.end());
        const auto ids = step(batch, memory);
        std::vector<Running*> next;
        for (std::size_t i = 0; i < batch.size(); ++i)
            if (append(*batch[i], std::span(ids).subspan(5 * i, 5))) next.push_back(batch[i]);
        batch = next;
    }
}

}  // namespace

TEST_CASE("texts of a batch are the texts of their requests alone, whatever is in the batch beside them") {
    for (const std::size_t most : {1u, 2u, 5u, 12u}) {
        auto all = requests();
        write(all, most);
        for (const Running& each : all) {
            INFO("request " << each.request << ", at most " << most << " in a batch");
            CHECK(std::vector<Token>(each.text.begin() + 2, each.text.end()) == each.alone());
        }
    }
}
