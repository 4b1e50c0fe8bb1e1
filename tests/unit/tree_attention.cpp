// Positions and masks of token trees, against walks along the parents and against the cache after compaction.
#include <specsample/tree/attention.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <specsample/tree/tree_shape.hpp>
#include <specsample/verify/round.hpp>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::attention;

namespace {

using BoolMatrix = Eigen::Array<bool, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Nodes = std::vector<Index>;

/// The nodes from the prefix to a node.
template <class Parents>
Nodes path_to(const Parents& parents, Index node) {
    Nodes path;
    for (; node >= 0; node = static_cast<Index>(parents[static_cast<std::size_t>(node)]))
        path.insert(path.begin(), node);
    return path;
}

/// Random parents, each an earlier node or the prefix.
Nodes random_parents(Index size, std::mt19937& random) {
    Nodes parents;
    for (Index node = 0; node < size; ++node)
        parents.push_back(static_cast<Index>(random() % static_cast<unsigned>(node + 1)) - 1);
    return parents;
}

template <class Parents>
std::vector<std::string> mask_rows(const Parents& parents) {
    const auto size = static_cast<Index>(std::size(parents));
    BoolMatrix mask(size, size);
    mask.setConstant(true);
    ancestor_mask(parents, mask);
    std::vector<std::string> rows;
    for (Index i = 0; i < size; ++i) {
        std::string& row = rows.emplace_back();
        for (Index j = 0; j < size; ++j) row += mask(i, j) ? '1' : '0';
    }
    return rows;
}

}  // namespace

TEST_CASE("the tree of the compendium has its positions, mask and leaf paths", "[tree]") {
    const Nodes parents{-1, 0, 0, 1, 1, 2, 3};
    Nodes depths(7);
    position_ids(parents, 0, depths);
    CHECK(depths == Nodes{0, 1, 1, 2, 2, 2, 3});
    CHECK(mask_rows(parents) ==
          std::vector<std::string>{"1000000", "1100000", "1010000", "1101000", "1100100", "1010010", "1101001"});
    CHECK(leaf_paths(parents) == std::vector<Nodes>{{0, 1, 4}, {0, 2, 5}, {0, 1, 3, 6}});
}

TEST_CASE("drafted nodes behind the last token of the text are the same tree", "[tree]") {
    // The tree of the compendium, as it is drafted: without the root token.
    const TreeShape shape({-1, -1, 0, 0, 1, 2}, {0, 1, 0, 1, 0, 0});
    std::vector<std::int32_t> rooted(7);
    with_root(shape.parents(), rooted);
    CHECK(rooted == std::vector<std::int32_t>{-1, 0, 0, 1, 1, 2, 3});

    Nodes drafted(6), all(7);
    position_ids(shape.parents(), 20, drafted);  // after 20 tokens
    position_ids(rooted, 19, all);
    CHECK(drafted == Nodes{20, 20, 21, 21, 21, 22});
    CHECK(all == Nodes{19, 20, 20, 21, 21, 21, 22});
    CHECK(mask_rows(shape.parents()) ==
          std::vector<std::string>{"100000", "010000", "101000", "100100", "010010", "101001"});
    CHECK(leaf_paths(shape.parents()) == std::vector<Nodes>{{0, 3}, {1, 4}, {0, 2, 5}});

    std::vector<std::int8_t> alone(1);
    with_root(Nodes{}, alone);
    CHECK(alone == std::vector<std::int8_t>{-1});
}

TEST_CASE("a node sees the nodes on its path, in masks and in bits", "[tree]") {
    std::mt19937 random(1);
    for (const Index size : {1, 2, 3, 5, 8, 20, 63, 64, 65, 130}) {
        const Nodes parents = random_parents(size, random);
        BoolMatrix mask = BoolMatrix::Constant(size, size, true);
        const std::size_t width = mask_words(parents.size());
        REQUIRE(width == (size <= 64 ? 1u : size <= 128 ? 2u : 3u));
        std::vector<std::uint64_t> words(parents.size() * width, ~std::uint64_t{0});
        Nodes positions(parents.size());
        ancestor_mask(parents, mask);
        ancestor_bits(parents, words);
        position_ids(parents, 100, positions);
        for (Index i = 0; i < size; ++i) {
            const Nodes path = path_to(parents, i);
            CAPTURE(size, i, path);
            REQUIRE(positions[static_cast<std::size_t>(i)] == 99 + static_cast<Index>(path.size()));
            for (Index j = 0; j < static_cast<Index>(width) * 64; ++j) {
                const bool sees = std::ranges::find(path, j) != path.end();
                const auto word = words[static_cast<std::size_t>(i) * width + static_cast<std::size_t>(j) / 64];
                REQUIRE((word >> (j % 64) & 1) == (sees ? 1u : 0u));
                if (j < size) REQUIRE(mask(i, j) == sees);
            }
        }
    }
}

TEST_CASE("leaf paths are the paths to the nodes that nothing follows", "[tree]") {
    std::mt19937 random(2);
    for (Index size = 0; size < 40; ++size) {
        const Nodes parents = random_parents(size, random);
        std::vector<Nodes> paths;
        for (Index node = 0; node < size; ++node)
            if (std::ranges::find(parents, node) == parents.end()) paths.push_back(path_to(parents, node));
        REQUIRE(leaf_paths(parents) == paths);
    }
}

TEST_CASE("below a root token every node sees that as well, one place on", "[tree]") {
    std::mt19937 random(3);
    for (Index size = 0; size < 40; ++size) {
        const Nodes parents = random_parents(size, random);
        Nodes rooted(parents.size() + 1);
        with_root(parents, rooted);
        BoolMatrix mask(size, size), with(size + 1, size + 1);
        ancestor_mask(parents, mask);
        ancestor_mask(rooted, with);
        REQUIRE(with.col(0).all());
        REQUIRE_FALSE(with.row(0).tail(size).any());
        REQUIRE((with.bottomRightCorner(size, size) == mask).all());
    }
}

TEST_CASE("compaction leaves in the cache what the last accepted node sees, in order", "[tree]") {
    std::mt19937 random(4);
    for (int context = 0; context < 200; ++context) {
        const auto size = static_cast<Index>(1 + random() % 40);
        const auto start = static_cast<Index>(1 + random() % 9);
        const Nodes parents = random_parents(size, random);
        BoolMatrix mask(size, size);
        ancestor_mask(parents, mask);
        Nodes positions(parents.size());
        position_ids(parents, start, positions);
        const auto last = static_cast<Index>(random() % static_cast<unsigned>(size));
        const Nodes path = path_to(parents, last);

        // a slot holds its position and its node; -1 for the text before the tree
        std::vector<std::pair<Index, Index>> slots;
        for (Index slot = 0; slot < start; ++slot) slots.emplace_back(slot, -1);
        for (Index node = 0; node < size; ++node) slots.emplace_back(positions[static_cast<std::size_t>(node)], node);
        const Round round{.path = path, .accepted = static_cast<Index>(path.size())};
        round.compact(start, [&](Index from, Index to) {
            slots[static_cast<std::size_t>(to)] = slots[static_cast<std::size_t>(from)];
        });
        slots.resize(static_cast<std::size_t>(round.keep_target(start)));

        Nodes seen;
        for (Index node = 0; node < size; ++node)
            if (mask(last, node)) seen.push_back(node);
        CAPTURE(context, start, path);
        REQUIRE(std::ssize(slots) == start + std::ssize(seen));
        for (Index slot = 0; slot < std::ssize(slots); ++slot) {
            const auto [position, node] = slots[static_cast<std::size_t>(slot)];
            REQUIRE(position == slot);
            REQUIRE(node == (slot < start ? -1 : seen[static_cast<std::size_t>(slot - start)]));
        }
    }
}

TEMPLATE_TEST_CASE("parents and positions are of any integral type", "[tree]", std::int8_t, std::int32_t,
                   std::int64_t) {
    const std::vector<TestType> parents{-1, 0, 0, 1};
    std::array<TestType, 4> positions{};
    position_ids(parents, 7, positions);
    CHECK(positions == std::array<TestType, 4>{7, 8, 8, 9});
    std::vector<TestType> rooted(5);
    with_root(std::span(parents), std::span(rooted));
    CHECK(rooted == std::vector<TestType>{-1, 0, 1, 1, 2});
    std::vector<std::uint16_t> unsigned_positions(4);
    position_ids(std::span<const TestType>(parents), 7, unsigned_positions);
    CHECK(unsigned_positions == std::vector<std::uint16_t>{7, 8, 8, 9});
    CHECK(mask_rows(parents) == std::vector<std::string>{"1000", "1100", "1010", "1101"});
}

TEST_CASE("masks are written into matrices, maps and blocks of any scalar", "[tree]") {
    const Nodes parents{-1, 0, 0, 1};
    Eigen::MatrixXd expected(4, 4);
    expected << 1, 0, 0, 0, 1, 1, 0, 0, 1, 0, 1, 0, 1, 1, 0, 1;

    Eigen::MatrixXf column_major(4, 4);
    ancestor_mask(parents, column_major);
    CHECK(column_major.cast<double>() == expected);

    std::vector<std::uint8_t> memory(16, 7);
    ancestor_mask(parents, Eigen::Map<RowMajorMatrix<std::uint8_t>>(memory.data(), 4, 4));
    CHECK(memory == std::vector<std::uint8_t>{1, 0, 0, 0, 1, 1, 0, 0, 1, 0, 1, 0, 1, 1, 0, 1});

    RowMajorMatrix<double> wide = RowMajorMatrix<double>::Constant(5, 7, 2.);  // behind 3 columns of a prefix
    ancestor_mask(parents, wide.topRightCorner(4, 4));
    CHECK(wide.topRightCorner(4, 4) == expected);
    CHECK((wide.leftCols(3).array() == 2.).all());
    CHECK((wide.row(4).array() == 2.).all());
}

TEST_CASE("a tree without nodes has nothing to write", "[tree]") {
    const Nodes none;
    Nodes positions;
    BoolMatrix mask(0, 0);
    CHECK_NOTHROW(position_ids(none, 5, positions));
    CHECK_NOTHROW(ancestor_mask(none, mask));
    CHECK_NOTHROW(ancestor_bits(none, {}));
    CHECK(leaf_paths(none).empty());
    CHECK(mask_words(0) == 0);
}

TEST_CASE("a parent that is no earlier node is refused by name, in all of them", "[tree]") {
    Nodes positions(3), rooted(4);
    BoolMatrix mask(3, 3);
    std::vector<std::uint64_t> words(3);
    const std::string cycle = ": parents[1] is 2, but must be -1 or a node before 1";
    const Nodes bad{-1, 2, 1};
    CHECK_THROWS_WITH(position_ids(bad, 0, positions), "specsample::position_ids" + cycle);
    CHECK_THROWS_WITH(ancestor_mask(bad, mask), "specsample::ancestor_mask" + cycle);
    CHECK_THROWS_WITH(ancestor_bits(bad, words), "specsample::ancestor_bits" + cycle);
    CHECK_THROWS_WITH(leaf_paths(bad), "specsample::leaf_paths" + cycle);
    CHECK_THROWS_WITH(with_root(bad, rooted), "specsample::with_root" + cycle);
    CHECK_THROWS_AS(leaf_paths(Nodes{0}), std::invalid_argument);
    CHECK_THROWS_AS(leaf_paths(Nodes{-2}), std::invalid_argument);
    CHECK_THROWS_AS(leaf_paths(std::vector<std::uint32_t>{~0u}), std::invalid_argument);
}

TEST_CASE("outputs of another size, or too narrow, are refused by name", "[tree]") {
    const Nodes parents{-1, 0, 1};
    Nodes positions(2), rooted(3);
    BoolMatrix wide(3, 4), high(4, 3);
    std::vector<std::uint64_t> words(4);
    CHECK_THROWS_WITH(position_ids(parents, 0, positions),
                      "specsample::position_ids: the number of positions is 2, but must be 3");
    CHECK_THROWS_WITH(ancestor_mask(parents, wide),
                      "specsample::ancestor_mask: the number of columns is 4, but must be 3");
    CHECK_THROWS_WITH(ancestor_mask(parents, high),
                      "specsample::ancestor_mask: the number of rows is 4, but must be 3");
    CHECK_THROWS_WITH(ancestor_bits(parents, words),
                      "specsample::ancestor_bits: the number of words is 4, but must be 3");
    CHECK_THROWS_WITH(with_root(parents, rooted),
                      "specsample::with_root: the number of rooted parents is 3, but must be 4");

    std::vector<std::int8_t> narrow(3);
    CHECK_NOTHROW(position_ids(parents, 125, narrow));
    CHECK_THROWS_WITH(position_ids(parents, 126, narrow),
                      "specsample::position_ids: a number is 128, but must be inside the range of the type "
                      "it is written as");
    std::vector<std::uint32_t> no_sign(4);
    CHECK_THROWS_AS(with_root(parents, no_sign), std::invalid_argument);
}
