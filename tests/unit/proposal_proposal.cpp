// A proposal: what it takes, where it stops growing, and what it hands on.
#include <specsample/proposal/proposal.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "support/catch.hpp"

using namespace specsample;

namespace {

using Ids = std::vector<Token>;

/// A proposal that was just opened.
template <class L = PointMass>
Proposal<L> opened(Index depth, std::span<const Token> stop_tokens = {}, Index vocab = 10) {
    Proposal<L> proposal;
    proposal.open(depth, stop_tokens, vocab);
    return proposal;
}

}  // namespace

TEST_CASE("a chain grows to its depth", "[proposal]") {
    auto proposal = opened(3);
    Index node = root_node;
    while (proposal.grows(node)) node = proposal.add(node, 4 + proposal.size(), PointMass{});
    CHECK(proposal.size() == 3);
    CHECK(Ids(proposal.tokens().begin(), proposal.tokens().end()) == Ids{4, 5, 6});
    for (Index i = 0; i < 3; ++i) {
        CHECK(proposal.parent(i) == i - 1);
        CHECK(proposal.depth(i) == i + 1);
        CHECK(proposal.token(i) == 4 + i);
    }
    CHECK(proposal.depth(root_node) == 0);
    CHECK(proposal.grows(1));
    CHECK_FALSE(proposal.grows(2));
    CHECK_FALSE(proposal.fault());
}

TEST_CASE("a proposal without depth does not grow", "[proposal]") {
    CHECK_FALSE(opened(0).grows(root_node));
    CHECK(opened(0).size() == 0);
    CHECK(opened(1).grows(root_node));
    CHECK_FALSE(Proposal<PointMass>{}.grows(root_node));  // never opened
}

TEST_CASE("nothing grows from a stop token, which stays in the draft", "[proposal]") {
    const Ids stops{7, 9};
    auto proposal = opened(5, stops);
    CHECK(proposal.is_stop(7));
    CHECK(proposal.is_stop(9));
    CHECK_FALSE(proposal.is_stop(8));
    const Index other = proposal.add(root_node, 8, PointMass{}), stop = proposal.add(root_node, 9, PointMass{});
    CHECK(proposal.grows(root_node));
    CHECK(proposal.grows(other));
    CHECK_FALSE(proposal.grows(stop));
    CHECK(proposal.size() == 2);
    CHECK(proposal.token(stop) == 9);
}

TEST_CASE("a tree grows in any order, its depth per path", "[proposal]") {
    auto proposal = opened(2);
    const Index a = proposal.add(root_node, 1, PointMass{});
    const Index aa = proposal.add(a, 2, PointMass{});
    const Index b = proposal.add(root_node, 1, PointMass{});  // siblings may repeat a token
    const Index ab = proposal.add(a, 3, PointMass{});
    CHECK(std::array{a, aa, b, ab} == std::array<Index, 4>{0, 1, 2, 3});
    CHECK(proposal.grows(b));
    CHECK_FALSE(proposal.grows(aa));
    const Tree<Token, Index> tree = proposal.tree();
    CHECK(Ids(tree.tokens.begin(), tree.tokens.end()) == Ids{1, 2, 1, 3});
    CHECK(std::vector<Index>(tree.parents.begin(), tree.parents.end()) == std::vector<Index>{-1, 0, -1, 0});
    Links links;
    links.connect(tree.parents);
    CHECK(links.first_child(a) == aa);
    CHECK(links.next_sibling(aa) == ab);
}

TEST_CASE("the path to a node is written behind a text", "[proposal]") {
    auto proposal = opened(3);
    const Index a = proposal.add(root_node, 1, PointMass{});
    proposal.add(root_node, 2, PointMass{});
    const Index b = proposal.add(a, 3, PointMass{});
    const Index c = proposal.add(b, 4, PointMass{});
    Ids text{8, 9};
    proposal.append_path(root_node, text);
    CHECK(text == Ids{8, 9});
    proposal.append_path(c, text);
    CHECK(text == Ids{8, 9, 1, 3, 4});
    proposal.append_path(a, text);
    CHECK(text == Ids{8, 9, 1, 3, 4, 1});
    Ids empty;
    proposal.append_path(b, empty);
    CHECK(empty == Ids{1, 3});
}

TEST_CASE("a token that the target cannot have is a fault, and nothing grows after it", "[proposal]") {
    for (const std::int64_t bad : {std::int64_t{10}, std::int64_t{-1}, std::int64_t{1} << 40}) {
        auto proposal = opened(4);
        const Index node = proposal.add(root_node, 9, PointMass{});
        CHECK(proposal.add(node, bad, PointMass{}) == node);
        CHECK(proposal.size() == 1);
        REQUIRE(proposal.fault());
        CHECK(proposal.fault()->party == Party::draft);
        CHECK(proposal.fault()->cause == Cause::outside_vocabulary);
        CHECK(proposal.fault()->row == 1);
        CHECK(message(*proposal.fault()) ==
              "drafted token 1 is " + std::to_string(bad) + ", but must be inside the vocabulary [0, 10)");
        CHECK_FALSE(proposal.grows(root_node));
        CHECK_FALSE(proposal.grows(node));
    }
}

TEST_CASE("token ids of any integral type are taken", "[proposal]") {
    auto proposal = opened(1, {}, 300);
    proposal.add(root_node, std::uint8_t{200}, PointMass{});
    proposal.add(root_node, std::uint64_t{299}, PointMass{});
    proposal.add(root_node, short{0}, PointMass{});
    CHECK(Ids(proposal.tokens().begin(), proposal.tokens().end()) == Ids{200, 299, 0});
    proposal.add(root_node, ~std::uint64_t{0}, PointMass{});  // not -1, and not the prefix
    CHECK(proposal.fault());
    CHECK(proposal.size() == 3);
}

TEST_CASE("the first fault is kept", "[proposal]") {
    auto proposal = opened(2);
    proposal.blame({.party = Party::draft, .cause = Cause::empty, .row = 5});
    proposal.blame({.party = Party::draft, .cause = Cause::negative, .row = 6});
    REQUIRE(proposal.fault());
    CHECK(proposal.fault()->cause == Cause::empty);
    CHECK(proposal.fault()->row == 5);
}

TEST_CASE("every node keeps its law", "[proposal]") {
    const std::vector<double> row{.5, .25, .25}, other{.1, .9, 0};
    const Ids drawn{0};
    using View = row_view_t<std::vector<double>>;
    Proposal<Mixed<View>> proposal;
    proposal.open(2, {}, 3);
    proposal.add(root_node, 0, Sampled(row));
    proposal.add(root_node, 1, Sampled(row, drawn));
    proposal.add(0, 1, PointMass{});
    proposal.add(1, 1, Sampled(other));
    const auto& laws = proposal.laws();
    REQUIRE(laws.size() == 4);
    CHECK(laws[0].weight(0) == .5);
    CHECK(laws[1].weight(1) / laws[1].rest() == .5);
    CHECK(laws[1].weight(0) == 0);
    CHECK(laws[2].is_point());
    CHECK(laws[3].row().data() == other.data());  // borrowed, not copied

    auto raced = opened<Raced>(1);
    raced.add(root_node, 3, Raced{});
    CHECK(raced.laws().size() == 1);
}

TEST_CASE("opening a proposal again leaves nothing of the draft before", "[proposal]") {
    const Ids stops{1};
    auto proposal = opened(1, stops, 2);
    proposal.add(root_node, 1, PointMass{});
    proposal.add(root_node, 5, PointMass{});
    REQUIRE(proposal.fault());
    proposal.open(2, {}, 6);
    CHECK_FALSE(proposal.fault());
    CHECK(proposal.size() == 0);
    CHECK(proposal.laws().empty());
    CHECK(proposal.tree().parents.empty());
    CHECK_FALSE(proposal.is_stop(1));
    const Index node = proposal.add(root_node, 5, PointMass{});
    CHECK(node == 0);
    CHECK(proposal.depth(node) == 1);
    CHECK(proposal.grows(node));
}
