// Prompt lookup: its drafts, against a search of the whole text, and the acceptance of a text that repeats.
#include <specsample/drafters/lookup.hpp>

#include <algorithm>
#include <vector>

#include <specsample/sampler.hpp>
#include <specsample/shaping.hpp>
#include <specsample/testing.hpp>

#include "support/catch.hpp"
#include "support/texts.hpp"

using namespace specsample;
using namespace specsample::filters;
using namespace specsample::testing;

namespace {

using texts::below;
using texts::random_text;
using texts::Text;

constexpr Index vocab = 50;
constexpr RoundRng rng(1, 0, 0);

/// The draft after a text; it must be a chain.
template <class Drafter>
Text proposed(Drafter& drafter, const Text& text, Index depth, const Text& stop_tokens = {}) {
    DraftTree<PointMass> draft_tree;
    draft_tree.open(depth, stop_tokens, vocab);
    drafter.propose(text, rng, draft_tree);
    REQUIRE(!draft_tree.fault());
    for (Index node = 0; node < draft_tree.size(); ++node) REQUIRE(draft_tree.parent(node) == node - 1);
    return {draft_tree.tokens().begin(), draft_tree.tokens().end()};
}
Text proposed(const Text& text, Index depth, const Text& stop_tokens = {}) {
    LookupDrafter drafter;
    return proposed(drafter, text, depth, stop_tokens);
}

/// The definition: search the text, and let what is copied be searched as well.
Text searched(Text text, Index depth, const LookupOptions& options, Token stop) {
    const Index size = std::ssize(text);
    Index from = 0;
    for (Index n = std::min(options.max_match, size); n >= options.min_match && from == 0; --n)
        for (Index end = size - 1; end >= n && from == 0; --end)
            if (std::equal(text.end() - n, text.end(), text.begin() + (end - n))) from = end;
    if (from == 0) return {};
    while (std::ssize(text) < size + depth && (std::ssize(text) == size || text.back() != stop)) {
        text.push_back(text[static_cast<std::size_t>(from)]);
        ++from;
    }
    return {text.begin() + size, text.end()};
}

/// A model of texts that repeat: the token one period before has probability 1/2 and more, all others share the rest.
struct Copyist {
    Index period;

    Eigen::VectorXd operator()(std::span<const Token> prefix) const {
        Eigen::VectorXd row = Eigen::VectorXd::Constant(vocab, .5 / (vocab - 1));
        row[prefix[prefix.size() - static_cast<std::size_t>(period)]] = .5;
        return row;
    }
};

}  // namespace

TEST_CASE("lookup proposes what followed the longest end of the text where it occurred last") {
    CHECK(proposed({1, 2, 3, 4, 5, 1, 2, 3}, 3) == Text{4, 5, 1});
    CHECK(proposed({1, 2, 3, 4, 9, 2, 3, 5, 1, 2, 3}, 2) == Text{4, 9});  // three tokens before two that are later
    CHECK(proposed({2, 3, 4, 2, 3, 5, 2, 3}, 1) == Text{5});
    CHECK(proposed({1, 2, 3}, 4).empty());
    CHECK(proposed({}, 4).empty());
    CHECK(proposed({1, 1}, 0).empty());
}

TEST_CASE("a copy that reaches the end of the text goes on with itself") {
    CHECK(proposed({7, 7}, 5) == Text{7, 7, 7, 7, 7});
    CHECK(proposed({1, 2, 3, 1, 2, 3}, 7) == Text{1, 2, 3, 1, 2, 3, 1});
    CHECK(proposed({9, 1, 2, 1}, 5) == Text{2, 1, 2, 1, 2});
}

TEST_CASE("a stop token is the last that lookup proposes") {
    CHECK(proposed({1, 2, 3, 4, 5, 1}, 4, {3}) == Text{2, 3});
    CHECK(proposed({1, 2, 3, 4, 5, 1}, 4, {2}) == Text{2});
    CHECK(proposed({6, 6}, 4, {6}) == Text{6});
}

TEST_CASE("lookup proposes what a search proposes, however texts go on") {
    long tokens = 0, beyond = 0, empty = 0;
    for (const LookupOptions options :
         {LookupOptions{}, {.min_match = 2, .max_match = 2}, {.min_match = 1, .max_match = 5}})
        for (const Index alphabet : {2, 4, 30}) {
            LookupDrafter drafter(options);
            Text text;
            const auto seed = static_cast<std::uint64_t>(alphabet + options.max_match);
            for (Index step = 0; step < 300; ++step) {
                const Index kind = below(10, seed, 3 * step), more = below(6, seed, 3 * step + 1);
                if (kind == 0) {
                    text.resize(text.size() - std::min(text.size(), static_cast<std::size_t>(3 * more)));
                    drafter.rollback(std::ssize(text));
                }
                for (Index i = 0; i < more; ++i)
                    text.push_back(static_cast<Token>(below(alphabet, seed + 1000, 10 * step + i)));
                const Index depth = below(9, seed, 3 * step + 2);
                const Text expected = searched(text, depth, options, 1);
                REQUIRE(proposed(drafter, text, depth, {1}) == expected);
                tokens += std::ssize(expected);
                beyond += expected.size() > 4;
                empty += expected.empty() && depth > 0;
            }
        }
    CHECK(tokens > 3000);
    CHECK(beyond > 100);
    CHECK(empty > 100);
}

TEST_CASE("a text that is not the one before is read anew where that can be seen") {
    LookupDrafter drafter;
    CHECK(proposed(drafter, {1, 2, 3, 1}, 2) == Text{2, 3});
    CHECK(proposed(drafter, {4, 5, 4}, 2) == Text{5, 4});           // shorter
    CHECK(proposed(drafter, {6, 8, 6, 9, 8}, 2) == Text{6, 9});     // another token at its end
    CHECK(proposed(drafter, {6, 8, 6, 9, 8, 6}, 2) == Text{9, 8});  // longer
    CHECK(proposed(drafter, {}, 2).empty());
    CHECK(proposed(drafter, {3, 3}, 2) == Text{3, 3});

    // One token shorter, with the dropped token still behind it in memory.
    const Text whole{1, 2, 3, 1};
    CHECK(proposed(drafter, whole, 2) == Text{2, 3});
    DraftTree<PointMass> draft_tree;
    draft_tree.open(2, {}, vocab);
    drafter.propose(std::span(whole).first(3), rng, draft_tree);
    CHECK(draft_tree.size() == 0);
}

TEST_CASE("after a rollback only what was kept counts") {
    LookupDrafter drafter;
    CHECK(proposed(drafter, {1, 2, 3, 4, 3, 4}, 2) == Text{3, 4});
    drafter.rollback(3);
    CHECK(proposed(drafter, {1, 2, 3, 1, 4}, 2).empty());
    drafter.rollback(3);
    CHECK(proposed(drafter, {1, 2, 3, 1}, 2) == Text{2, 3});
    drafter.rollback(0);
    drafter.rollback(7);  // it has nothing to forget
    CHECK(proposed(drafter, {5, 5}, 1) == Text{5});
}

TEST_CASE("lookup refuses wrong options by name") {
    CHECK_THROWS_WITH(LookupDrafter({.min_match = 0}), ContainsSubstring("min_match is 0, but must be at least 1"));
    CHECK_THROWS_WITH(LookupDrafter({.min_match = 3, .max_match = 2}),
                      ContainsSubstring("max_match is 2, but must be at least min_match, 3"));
    LookupDrafter drafter;
    CHECK_THROWS_WITH(drafter.rollback(-1), ContainsSubstring("length is -1, but must be 0 to the 0 tokens"));
}

TEST_CASE("a copy ends before a token that the target cannot have") {
    LookupDrafter drafter;
    DraftTree<PointMass> draft_tree;
    draft_tree.open(4, {}, 10);
    drafter.propose(Text{1, 2, 12, 1}, rng, draft_tree);
    CHECK_FALSE(draft_tree.fault());
    CHECK(std::ranges::equal(draft_tree.tokens(), Text{2}));
}

TEST_CASE("lookup adds to the drafts of others, under any distribution that a point mass converts to") {
    using View = detail::row_view_t<Eigen::VectorXd>;
    const Eigen::VectorXd row = Eigen::VectorXd::Constant(vocab, 1. / vocab);
    DraftTree<Mixed<View>> draft_tree;
    draft_tree.open(5, {}, vocab);
    draft_tree.add(root_node, 40, Sampled(row));
    draft_tree.add(0, 41, Sampled(row));
    LookupDrafter drafter;
    drafter.propose(Text{1, 2, 1}, rng, draft_tree);
    CHECK(std::ranges::equal(draft_tree.tokens(), Text{40, 41, 2, 1, 2, 1, 2}));
    CHECK(draft_tree.parent(2) == root_node);
    CHECK(draft_tree.parent(3) == 2);
    CHECK(draft_tree.distributions()[2].is_point());
}

TEST_CASE("a text that copies itself is accepted at temperature 0") {
    const Index period = 40;
    Text prompt = random_text(period, vocab, 3);
    const auto target = shaped(Copyist{period}, Temperature{0});
    const Index lookahead = 8, length = 300;
    const Generation made =
        Sampler(LookupDrafter(), target, {.lookahead = lookahead}).generate(prompt, {.max_new_tokens = length});
    for (Index i = 0; i < length; ++i)
        REQUIRE(made.tokens[static_cast<std::size_t>(i)] == prompt[static_cast<std::size_t>(i % period)]);
    // Up to three leading tokens of the copy may be looked up wrongly; from then on everything is accepted.
    CHECK(made.tally.rounds < 3 + length / (lookahead + 1) + 3);
    CHECK(static_cast<double>(made.tally.accepted) > .97 * static_cast<double>(made.tally.evaluated));
}

TEST_CASE("a sampler's texts do not depend on the texts before them") {
    const ContextModel target(3, 8, RowKind::peaked);
    Sampler used(LookupDrafter(), target, {.lookahead = 4, .seed = 5});
    Text before;
    Index proposed_tokens = 0;
    for (std::uint64_t request = 0; request < 30; ++request) {
        // Every other prompt is another text, which only the sampler can tell: it is longer than the one before, and
        // has the same token where that ended.
        const bool hidden = request % 2 == 1;
        Text prompt = random_text(hidden ? std::ssize(before) + 2 : 5, 3, request);
        if (hidden) prompt[before.size() - 1] = before.back();
        const Limits limits{.max_new_tokens = 30, .request = request};
        Sampler fresh(LookupDrafter(), target, {.lookahead = 4, .seed = 5});
        const Generation made = used.generate(prompt, limits), expected = fresh.generate(prompt, limits);
        CHECK(made.tokens == expected.tokens);
        CHECK(made.tally == expected.tally);
        proposed_tokens += made.tally.proposed;
        before = prompt;
        before.insert(before.end(), made.tokens.begin(), made.tokens.end());
    }
    CHECK(proposed_tokens > 1000);
}
