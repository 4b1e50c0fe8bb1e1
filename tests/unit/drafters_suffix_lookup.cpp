// Lookup of suffixes: its trees, against a search of all texts, and the acceptance of a text that repeats.
#include <specsample/drafters/suffix_lookup.hpp>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include <specsample/drafters/united.hpp>
#include <specsample/sampler.hpp>
#include <specsample/shaping.hpp>
#include <specsample/testing.hpp>
#include <specsample/verify.hpp>

#include "support/catch.hpp"
#include "support/texts.hpp"

using namespace specsample;
using namespace specsample::filters;
using namespace specsample::testing;

namespace {

using texts::below;
using texts::random_text;
using texts::Text;
using Nodes = std::vector<std::pair<Index, Token>>;  // parent and token

constexpr Index vocab = 50;
constexpr RoundRng rng(1, 0, 0);

template <class Drafter>
Nodes proposed(Drafter& drafter, const Text& text, Index depth, const Text& stop_tokens = {}) {
    DraftTree<PointMass> draft_tree;
    draft_tree.open(depth, stop_tokens, vocab);
    drafter.propose(text, rng, draft_tree);
    REQUIRE(!draft_tree.fault());
    Nodes nodes;
    for (Index node = 0; node < draft_tree.size(); ++node)
        nodes.emplace_back(draft_tree.parent(node), draft_tree.token(node));
    return nodes;
}

/// The draft of a fresh drafter; it must be a chain.
Text chain(const Text& text, Index depth, const Text& stop_tokens = {}) {
    SuffixLookupDrafter drafter({.width = 1});
    Text tokens;
    for (const auto& [parent, token] : proposed(drafter, text, depth, stop_tokens)) {
        REQUIRE(parent == std::ssize(tokens) - 1);
        tokens.push_back(token);
    }
    return tokens;
}

/// The counts of the tokens that followed a string.
std::map<Token, Index> followers(const std::vector<Text>& texts, std::span<const Token> string) {
    std::map<Token, Index> found;
    for (const Text& text : texts)
        for (std::size_t i = 0; i + string.size() < text.size(); ++i)
            if (std::ranges::equal(string, std::span(text).subspan(i, string.size()))) ++found[text[i + string.size()]];
    return found;
}

/// The definition: again and again add the token whose path has the largest share, of all that may be added.
Nodes searched(const std::vector<Text>& texts, const SuffixLookupOptions& options, Index depth, Token stop) {
    struct Candidate {
        Index parent;
        Token token;
        double share;
        Text context;
        Index depth;
    };
    std::vector<Candidate> candidates;
    Nodes nodes;
    const auto offer = [&](Index parent, Text context, double share, Index level) {
        while (!context.empty() && followers(texts, context).empty()) context.erase(context.begin());
        if (level == depth || std::ssize(context) < options.min_match) return;
        Index total = 0;
        std::vector<std::pair<Index, Token>> order;
        for (const auto& [token, count] : followers(texts, context)) {
            total += count;
            order.emplace_back(-count, token);
        }
        std::ranges::sort(order);
        order.resize(std::min(order.size(), static_cast<std::size_t>(options.width)));
        for (const auto& [less, token] : order) {
            Text more = context;
            more.push_back(token);
            candidates.push_back({parent, token, share * static_cast<double>(-less) / static_cast<double>(total),
                                  std::move(more), level + 1});
        }
    };
    offer(root_node, texts.back(), 1, 0);
    while (!candidates.empty() && std::ssize(nodes) < options.nodes) {
        const auto best = std::ranges::min_element(candidates, [](const Candidate& a, const Candidate& b) {
            return std::tuple(-a.share, a.parent, a.token) < std::tuple(-b.share, b.parent, b.token);
        });
        const Candidate taken = *best;
        candidates.erase(best);
        nodes.emplace_back(taken.parent, taken.token);
        if (taken.token != stop) offer(std::ssize(nodes) - 1, taken.context, taken.share, taken.depth);
    }
    return nodes;
}

}  // namespace

TEST_CASE("suffix lookup grows a tree of what followed most often") {
    SuffixLookupDrafter drafter({.nodes = 4});
    // After 1 2 came 3 4 twice, and 5 once. The path of 3 has two thirds, and so does that of 3 4.
    const Text text{1, 2, 3, 4, 9, 1, 2, 5, 8, 1, 2, 3, 4, 7, 6, 1, 2};
    CHECK(proposed(drafter, text, 4) == Nodes{{-1, 3}, {0, 4}, {-1, 5}, {1, 7}});
    CHECK(proposed(drafter, text, 2) == Nodes{{-1, 3}, {0, 4}, {-1, 5}, {2, 8}});
    CHECK(proposed(drafter, text, 1) == Nodes{{-1, 3}, {-1, 5}});
    CHECK(proposed(drafter, text, 0).empty());
    CHECK(proposed(drafter, {1, 2, 3}, 4).empty());
    CHECK(proposed(drafter, {}, 4).empty());
}

TEST_CASE("a chain of suffix lookup is of the most frequent tokens, and goes on after the end of the text") {
    CHECK(chain({1, 2, 3, 4, 5, 1, 2, 3}, 3) == Text{4, 5, 1});
    CHECK(chain({2, 4, 2, 5, 2, 5, 2}, 2) == Text{5, 2});
    CHECK(chain({7, 7}, 5) == Text{7, 7, 7, 7, 7});
    CHECK(chain({1, 2, 3, 1, 2, 3}, 7) == Text{1, 2, 3, 1, 2, 3, 1});
    CHECK(chain({1, 2, 3, 4, 5, 1}, 4, {3}) == Text{2, 3});
    CHECK(chain({6, 6}, 4, {6}) == Text{6});
}

TEST_CASE("suffix lookup proposes what a search of all texts proposes, however they go on") {
    long nodes = 0, branches = 0, empty = 0;
    for (const SuffixLookupOptions options : {SuffixLookupOptions{.nodes = 8, .width = 3},
                                              {.nodes = 20, .width = 2, .min_match = 2},
                                              {.nodes = 5, .width = 1},
                                              {.nodes = 3, .width = 9, .min_match = 3}})
        for (const Index alphabet : {2, 3, 8}) {
            SuffixLookupDrafter drafter(options);
            std::vector<Text> texts(1);
            const auto seed = static_cast<std::uint64_t>(alphabet + 10 * options.nodes);
            for (Index step = 0; step < 60; ++step) {
                const Index kind = below(16, seed, 3 * step), more = below(6, seed, 3 * step + 1);
                Text& text = texts.back();
                if (kind == 0 && texts.size() < 4) {
                    drafter.learn(text);
                    texts.emplace_back();
                } else if (kind == 1 && texts.size() < 4) {
                    // Of another, while this one is not at its end.
                    const Text past = random_text(12, alphabet, seed + static_cast<std::uint64_t>(step));
                    drafter.learn(past);
                    texts.insert(texts.begin(), past);
                } else if (kind < 6 || text.size() > 60) {
                    text.resize(text.size() - std::min(text.size(), static_cast<std::size_t>(kind < 3 ? 40 : more)));
                    drafter.rollback(std::ssize(text));
                }
                for (Index i = 0; i < more; ++i)
                    texts.back().push_back(static_cast<Token>(below(alphabet, seed + 1000, 10 * step + i)));
                const Index depth = below(7, seed, 3 * step + 2);
                const Nodes expected = searched(texts, options, depth, 1);
                INFO("step " << step << ", " << alphabet << " tokens, depth " << depth);
                REQUIRE(proposed(drafter, texts.back(), depth, {1}) == expected);
                nodes += std::ssize(expected);
                for (std::size_t i = 0; i < expected.size(); ++i)
                    branches += expected[i].first != static_cast<Index>(i) - 1;
                empty += expected.empty() && depth > 0;
            }
        }
    CHECK(nodes > 1000);
    CHECK(branches > 200);
    CHECK(empty > 20);
}

TEST_CASE("what suffix lookup has learned is found, and counts as often as it was learned") {
    SuffixLookupDrafter drafter({.nodes = 2});
    CHECK(proposed(drafter, {3}, 2).empty());
    drafter.learn(Text{1, 2, 3, 4, 5});
    CHECK(proposed(drafter, {3}, 2) == Nodes{{-1, 4}, {0, 5}});
    CHECK(proposed(drafter, {9, 2, 3}, 2) == Nodes{{-1, 4}, {0, 5}});
    CHECK(proposed(drafter, {5}, 2).empty());  // nothing came after it, nor does 1 2 3: no string goes on in a new text
    drafter.learn(Text{3, 6});
    CHECK(proposed(drafter, {3}, 1) == Nodes{{-1, 4}, {-1, 6}});
    drafter.learn(Text{3, 6});
    CHECK(proposed(drafter, {3}, 1) == Nodes{{-1, 6}, {-1, 4}});
    drafter.learn({});
    CHECK(proposed(drafter, {2, 3}, 1) == Nodes{{-1, 4}});  // longer, and so alone
}

TEST_CASE("a text that suffix lookup has drafted for counts once when it is learned") {
    for (const bool whole : {false, true}) {
        SuffixLookupDrafter drafter({.nodes = 2});
        drafter.learn(Text{3, 4, 9, 3, 4});
        const Text text{7, 3, 5, 8, 3, 5, 8, 3, 5};
        proposed(drafter, whole ? text : Text{7, 3, 5, 8}, 3);
        drafter.learn(text);
        CHECK(proposed(drafter, {3}, 1) == Nodes{{-1, 5}, {-1, 4}});  // 3 and 2
        drafter.learn(Text{3, 4});
        CHECK(proposed(drafter, {3}, 1) == Nodes{{-1, 4}, {-1, 5}});  // 3 and 3
    }
}

TEST_CASE("suffix lookup reads a text anew where it can see that it is another") {
    SuffixLookupDrafter drafter({.width = 1});
    drafter.learn(Text{40, 41});
    CHECK(proposed(drafter, {1, 2, 3, 1}, 2) == Nodes{{-1, 2}, {0, 3}});
    CHECK(proposed(drafter, {4, 5, 4}, 2) == Nodes{{-1, 5}, {0, 4}});           // shorter
    CHECK(proposed(drafter, {6, 8, 6, 9, 8}, 2) == Nodes{{-1, 6}, {0, 9}});     // another token at its end
    CHECK(proposed(drafter, {6, 8, 6, 9, 8, 6}, 2) == Nodes{{-1, 9}, {0, 8}});  // longer
    CHECK(proposed(drafter, {}, 2).empty());
    drafter.rollback(7);  // it has nothing to forget
    CHECK(proposed(drafter, {3, 40}, 1) == Nodes{{-1, 41}});
}

TEST_CASE("suffix lookup refuses wrong options by name") {
    CHECK_THROWS_WITH(SuffixLookupDrafter({.nodes = 0}),
                      "specsample::SuffixLookupDrafter: nodes is 0, but must be at least 1");
    CHECK_THROWS_WITH(SuffixLookupDrafter({.width = -2}), ContainsSubstring("width is -2, but must be at least 1"));
    CHECK_THROWS_WITH(SuffixLookupDrafter({.min_match = 0}),
                      ContainsSubstring("min_match is 0, but must be at least 1"));
    SuffixLookupDrafter drafter;
    CHECK_THROWS_WITH(drafter.rollback(-1), ContainsSubstring("length is -1, but must be 0 to the 0 tokens"));
}

TEST_CASE("a path of a learned text ends before a token that the target cannot have") {
    SuffixLookupDrafter drafter;
    drafter.learn(Text{1, 2, 12, 3, 1, 2, 12, 1, 4});
    DraftTree<PointMass> draft_tree;
    draft_tree.open(4, {}, 10);
    drafter.propose(Text{1}, rng, draft_tree);
    CHECK_FALSE(draft_tree.fault());
    CHECK(std::ranges::find(draft_tree.tokens(), 12) == draft_tree.tokens().end());
    std::vector<Text> paths;
    for (Index node = 0; node < draft_tree.size(); ++node) draft_tree.append_path(node, paths.emplace_back());
    CHECK(std::ranges::find(paths, Text{2}) != paths.end());
    CHECK(std::ranges::find(paths, Text{4}) != paths.end());
    CHECK(std::ranges::none_of(paths, [](const Text& path) { return path.size() > 1 && path[0] == 2; }));
}

TEST_CASE("suffix lookup is one of several drafters, under any distribution that a point mass converts to") {
    using View = detail::row_view_t<Eigen::VectorXd>;
    const ContextModel model(vocab, 1);
    DraftTree<Mixed<View>> draft_tree;
    const auto fill = [&](auto drafter, const Text& text) {
        draft_tree.open(2, {}, vocab);
        drafter.propose(text, rng, draft_tree);
        return draft_tree.size();
    };
    const SuffixLookupDrafter lookup({.nodes = 3});
    const Text repeats{1, 2, 1, 3, 1}, other{1, 2, 3};
    CHECK(fill(United(model, lookup), repeats) == 5);
    CHECK(draft_tree.parent(2) == root_node);
    CHECK(draft_tree.parent(3) == root_node);
    CHECK(draft_tree.parent(4) == 2);
    CHECK(std::ranges::equal(draft_tree.tokens().subspan(2), Text{2, 3, 1}));
    for (std::size_t node = 0; node < 5; ++node) CHECK(draft_tree.distributions()[node].is_point() == (node > 1));
    CHECK(fill(FirstOf(lookup, model), repeats) == 3);
    CHECK(fill(FirstOf(lookup, model), other) == 2);
    CHECK_FALSE(draft_tree.distributions()[0].is_point());
    STATIC_REQUIRE(Rewindable<decltype(FirstOf(lookup, model))>);
}

TEST_CASE("a text that was learned is accepted at temperature 0") {
    const ContextModel model(vocab, 6);
    const auto target = shaped(model, Temperature{0});
    SuffixLookupDrafter lookup({.nodes = 8, .width = 2});
    Sampler sampler(std::ref(lookup), target, {.lookahead = 8}, TraversalVerification{});
    const Text prompt{4, 1, 7};
    const Limits limits{.max_new_tokens = 90};
    const Generation first = sampler.generate(prompt, limits);
    Text past = prompt;
    past.insert(past.end(), first.tokens.begin(), first.tokens.end());
    lookup.learn(past);
    const Generation second = sampler.generate(prompt, limits);
    CHECK(second.tokens == first.tokens);
    CHECK(second.tally.rounds == 10);  // 8 and a bonus token each
    CHECK(second.tally.accepted > first.tally.accepted);
}

TEST_CASE("a sampler's texts with suffix lookup do not depend on the texts before them") {
    const ContextModel target(3, 8, RowKind::peaked);
    Sampler used(SuffixLookupDrafter(), target, {.lookahead = 4, .seed = 5}, TraversalVerification{});
    Text before;
    Index proposed_tokens = 0;
    for (std::uint64_t request = 0; request < 20; ++request) {
        // Every other prompt is another text, which only the sampler can tell: it is longer than the one before, and
        // has the same token where that ended.
        const bool hidden = request % 2 == 1;
        Text prompt = random_text(hidden ? std::ssize(before) + 2 : 5, 3, request);
        if (hidden) prompt[before.size() - 1] = before.back();
        const Limits limits{.max_new_tokens = 30, .request = request};
        Sampler fresh(SuffixLookupDrafter(), target, {.lookahead = 4, .seed = 5}, TraversalVerification{});
        const Generation made = used.generate(prompt, limits), expected = fresh.generate(prompt, limits);
        CHECK(made.tokens == expected.tokens);
        CHECK(made.tally == expected.tally);
        proposed_tokens += made.tally.proposed;
        before = prompt;
        before.insert(before.end(), made.tokens.begin(), made.tokens.end());
    }
    CHECK(proposed_tokens > 1000);
}
