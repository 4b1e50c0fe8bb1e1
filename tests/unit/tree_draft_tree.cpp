// The draft tree: its tokens, its limits of growth, and its views.
#include <specsample/tree/draft_tree.hpp>

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "support/catch.hpp"

using namespace specsample;

namespace {

using Ids = std::vector<Token>;

/// A draft tree that was just opened.
template <class L = PointMass>
DraftTree<L> opened(Index depth, std::span<const Token> stop_tokens = {}, Index vocab = 10) {
    DraftTree<L> draft_tree;
    draft_tree.open(depth, stop_tokens, vocab);
    return draft_tree;
}

}  // namespace

TEST_CASE("a chain grows to its depth", "[tree]") {
    auto draft_tree = opened(3);
    Index node = root_node;
    while (draft_tree.grows(node)) node = draft_tree.add(node, 4 + draft_tree.size(), PointMass{});
    CHECK(draft_tree.size() == 3);
    CHECK(Ids(draft_tree.tokens().begin(), draft_tree.tokens().end()) == Ids{4, 5, 6});
    for (Index i = 0; i < 3; ++i) {
        CHECK(draft_tree.parent(i) == i - 1);
        CHECK(draft_tree.depth(i) == i + 1);
        CHECK(draft_tree.token(i) == 4 + i);
    }
    CHECK(draft_tree.depth(root_node) == 0);
    CHECK(draft_tree.grows(1));
    CHECK_FALSE(draft_tree.grows(2));
    CHECK_FALSE(draft_tree.fault());
}

TEST_CASE("a draft tree without depth does not grow", "[tree]") {
    CHECK_FALSE(opened(0).grows(root_node));
    CHECK(opened(0).size() == 0);
    CHECK(opened(1).grows(root_node));
    CHECK_FALSE(DraftTree<PointMass>{}.grows(root_node));  // never opened
}

TEST_CASE("nothing grows from a stop token, which stays in the draft", "[tree]") {
    const Ids stops{7, 9};
    auto draft_tree = opened(5, stops);
    CHECK(draft_tree.is_stop(7));
    CHECK(draft_tree.is_stop(9));
    CHECK_FALSE(draft_tree.is_stop(8));
    const Index other = draft_tree.add(root_node, 8, PointMass{}), stop = draft_tree.add(root_node, 9, PointMass{});
    CHECK(draft_tree.grows(root_node));
    CHECK(draft_tree.grows(other));
    CHECK_FALSE(draft_tree.grows(stop));
    CHECK(draft_tree.size() == 2);
    CHECK(draft_tree.token(stop) == 9);
}

TEST_CASE("a tree grows in any order, its depth per path", "[tree]") {
    auto draft_tree = opened(2);
    const Index a = draft_tree.add(root_node, 1, PointMass{});
    const Index aa = draft_tree.add(a, 2, PointMass{});
    const Index b = draft_tree.add(root_node, 1, PointMass{});  // siblings may repeat a token
    const Index ab = draft_tree.add(a, 3, PointMass{});
    CHECK(std::array{a, aa, b, ab} == std::array<Index, 4>{0, 1, 2, 3});
    CHECK(draft_tree.grows(b));
    CHECK_FALSE(draft_tree.grows(aa));
    const Tree<Token, Index> tree = draft_tree.view();
    CHECK(Ids(tree.tokens.begin(), tree.tokens.end()) == Ids{1, 2, 1, 3});
    CHECK(std::vector<Index>(tree.parents.begin(), tree.parents.end()) == std::vector<Index>{-1, 0, -1, 0});
    detail::Links links;
    links.connect(tree.parents);
    CHECK(links.first_child(a) == aa);
    CHECK(links.next_sibling(aa) == ab);
}

TEST_CASE("the path to a node is written behind a text", "[tree]") {
    auto draft_tree = opened(3);
    const Index a = draft_tree.add(root_node, 1, PointMass{});
    draft_tree.add(root_node, 2, PointMass{});
    const Index b = draft_tree.add(a, 3, PointMass{});
    const Index c = draft_tree.add(b, 4, PointMass{});
    Ids text{8, 9};
    draft_tree.append_path(root_node, text);
    CHECK(text == Ids{8, 9});
    draft_tree.append_path(c, text);
    CHECK(text == Ids{8, 9, 1, 3, 4});
    draft_tree.append_path(a, text);
    CHECK(text == Ids{8, 9, 1, 3, 4, 1});
    Ids empty;
    draft_tree.append_path(b, empty);
    CHECK(empty == Ids{1, 3});
}

TEST_CASE("a named token that the target cannot have is declined, and the draft ends there", "[tree]") {
    for (const std::int64_t bad : {std::int64_t{10}, std::int64_t{-1}, std::int64_t{1} << 40}) {
        auto draft_tree = opened(4);
        const Index node = draft_tree.add(root_node, 9, PointMass{});
        const Index none = draft_tree.add(node, bad, PointMass{});
        CHECK(none == draft_tree.declined);
        CHECK_FALSE(draft_tree.grows(none));
        CHECK(draft_tree.add(none, 1, PointMass{}) == draft_tree.declined);
        CHECK(draft_tree.size() == 1);
        CHECK_FALSE(draft_tree.fault());
        CHECK(draft_tree.grows(root_node));
        CHECK(draft_tree.grows(node));  // for other drafters

        Index count = 0;
        for (Index end = root_node; draft_tree.grows(end); ++count) end = draft_tree.add(end, bad, PointMass{});
        CHECK(count == 1);

        DraftTree<SharedNoise> shared;  // no token of a match rule depends on the draft
        shared.open(4, {}, 10);
        CHECK(shared.add(root_node, bad, SharedNoise{}) == shared.declined);
        CHECK_FALSE(shared.fault());
    }
}

TEST_CASE("a drawn token that the target cannot have is a fault, and nothing grows after it", "[tree]") {
    const std::vector<double> row{.5, .25, .25};
    DraftTree<Mixed<detail::row_view_t<std::vector<double>>>> draft_tree;
    draft_tree.open(4, {}, 2);
    const Index node = draft_tree.add(root_node, 1, Sampled(row));
    CHECK(draft_tree.add(node, 2, Sampled(row)) == draft_tree.declined);
    CHECK(draft_tree.size() == 1);
    REQUIRE(draft_tree.fault());
    CHECK(draft_tree.fault()->side == Side::draft);
    CHECK(draft_tree.fault()->cause == Cause::outside_vocabulary);
    CHECK(draft_tree.fault()->row == 1);
    CHECK(message(*draft_tree.fault()) ==
          "drafted token 1 is 2, but must be inside the vocabulary [0, 2)"
          "; for a draft with another one see vocabularies::mapped and vocabularies::IdMap::same_ids");
    CHECK_FALSE(draft_tree.grows(root_node));
    CHECK_FALSE(draft_tree.grows(node));
}

TEST_CASE("nodes from a named one on are dropped, and those before it stay", "[tree]") {
    auto draft_tree = opened(4);
    const Index a = draft_tree.add(root_node, 1, PointMass{}), b = draft_tree.add(root_node, 2, PointMass{});
    draft_tree.add(a, 3, PointMass{});
    draft_tree.add(b, 4, PointMass{});
    CHECK(draft_tree.decline_from(2));
    CHECK(Ids(draft_tree.tokens().begin(), draft_tree.tokens().end()) == Ids{1, 2});
    CHECK(draft_tree.links().first_child(a) == no_node);
    CHECK(draft_tree.distributions().size() == 2);
    CHECK(draft_tree.add(b, 5, PointMass{}) == 2);
}

TEST_CASE("a predicate ends a path where it ends the text, and is asked about a node once", "[tree]") {
    for (const StopDecision decision : {StopDecision::include, StopDecision::exclude}) {
        std::map<Ids, int> asked;
        const auto until = [&](std::span<const Token> path) {
            ++asked[{path.begin(), path.end()}];
            return path.back() == 7 ? decision : StopDecision::go_on;
        };
        DraftTree<PointMass> draft_tree;
        const Ids stops{9};
        draft_tree.open(3, stops, 10, until);
        const Index a = draft_tree.add(root_node, 1, PointMass{}), end = draft_tree.add(a, 7, PointMass{});
        const Index beyond = draft_tree.add(end, 2, PointMass{}), stop = draft_tree.add(a, 9, PointMass{});
        for (int again = 0; again < 2; ++again) {
            CHECK(draft_tree.ends(beyond));  // asked about last, after all nodes above it
            CHECK(draft_tree.grows(a));
            CHECK_FALSE(draft_tree.grows(end));
            CHECK(draft_tree.ends(stop));
            CHECK_FALSE(draft_tree.ends(root_node));
        }
        CHECK(asked == std::map<Ids, int>{{{1}, 1}, {{1, 7}, 1}});
        draft_tree.open(3, stops, 10);
        CHECK_FALSE(draft_tree.ends(draft_tree.add(root_node, 7, PointMass{})));
    }
}

TEST_CASE("token ids of any integral type are taken", "[tree]") {
    auto draft_tree = opened(1, {}, 300);
    draft_tree.add(root_node, std::uint8_t{200}, PointMass{});
    draft_tree.add(root_node, std::uint64_t{299}, PointMass{});
    draft_tree.add(root_node, short{0}, PointMass{});
    CHECK(Ids(draft_tree.tokens().begin(), draft_tree.tokens().end()) == Ids{200, 299, 0});
    draft_tree.add(root_node, ~std::uint64_t{0}, PointMass{});  // not -1, and not the prefix
    CHECK(draft_tree.size() == 3);
}

TEST_CASE("the first fault is kept", "[tree]") {
    auto draft_tree = opened(2);
    draft_tree.blame({.side = Side::draft, .cause = Cause::empty, .row = 5});
    draft_tree.blame({.side = Side::draft, .cause = Cause::negative, .row = 6});
    REQUIRE(draft_tree.fault());
    CHECK(draft_tree.fault()->cause == Cause::empty);
    CHECK(draft_tree.fault()->row == 5);
}

TEST_CASE("every node keeps its distribution", "[tree]") {
    const std::vector<double> row{.5, .25, .25}, other{.1, .9, 0};
    const Ids drawn{0};
    using View = detail::row_view_t<std::vector<double>>;
    DraftTree<Mixed<View>> draft_tree;
    draft_tree.open(2, {}, 3);
    draft_tree.add(root_node, 0, Sampled(row));
    draft_tree.add(root_node, 1, Sampled(row, drawn));
    draft_tree.add(0, 1, PointMass{});
    draft_tree.add(1, 1, Sampled(other));
    const auto& distributions = draft_tree.distributions();
    REQUIRE(distributions.size() == 4);
    CHECK(distributions[0].weight(0) == .5);
    CHECK(distributions[1].weight(1) / distributions[1].rest() == .5);
    CHECK(distributions[1].weight(0) == 0);
    CHECK(distributions[2].is_point());
    CHECK(distributions[3].row().data() == other.data());  // borrowed, not copied

    auto raced = opened<SharedNoise>(1);
    raced.add(root_node, 3, SharedNoise{});
    CHECK(raced.distributions().size() == 1);
}

TEST_CASE("opening a draft tree again leaves nothing of the draft before", "[tree]") {
    const Ids stops{1};
    auto draft_tree = opened(1, stops, 2);
    draft_tree.add(root_node, 1, PointMass{});
    draft_tree.blame({.side = Side::draft});
    REQUIRE(draft_tree.fault());
    draft_tree.open(2, {}, 6);
    CHECK_FALSE(draft_tree.fault());
    CHECK(draft_tree.size() == 0);
    CHECK(draft_tree.distributions().empty());
    CHECK(draft_tree.view().parents.empty());
    CHECK_FALSE(draft_tree.is_stop(1));
    const Index node = draft_tree.add(root_node, 5, PointMass{});
    CHECK(node == 0);
    CHECK(draft_tree.depth(node) == 1);
    CHECK(draft_tree.grows(node));
}

TEST_CASE("a draw without a token ends a draft, and is a fault only of a bad row", "[tree]") {
    using View = detail::row_view_t<std::vector<double>>;
    const std::vector<double> zeros(3), good{.5, .25, .25}, bad{.5, std::numeric_limits<double>::quiet_NaN(), .5}, none;
    for (const std::vector<double>* row : {&zeros, &none}) {
        DraftTree<Sampled<View>> draft_tree;
        draft_tree.open(4, {}, 3);
        CHECK(draft_tree.add(root_node, -1, Sampled(*row)) == draft_tree.declined);
        CHECK(draft_tree.decline(*row) == draft_tree.declined);
        CHECK_FALSE(draft_tree.fault());
    }
    DraftTree<Sampled<View>> draft_tree;
    draft_tree.open(4, {}, 3);
    draft_tree.add(root_node, 0, Sampled(good));
    CHECK(draft_tree.add(0, -1, Sampled(bad)) == draft_tree.declined);
    REQUIRE(draft_tree.fault());
    CHECK(draft_tree.fault()->cause == Cause::not_finite);
    CHECK(draft_tree.fault()->row == 1);
}
