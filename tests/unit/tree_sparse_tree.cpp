// Sparse trees against a dynamic programme, against all sets of nodes, and against all outcomes of a round.
#include <specsample/theory.hpp>
#include <specsample/tree/sparse_tree.hpp>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <random>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::theory;

namespace {

using Table = std::vector<std::vector<double>>;

/// The best sum of path products, by Sequoia's dynamic programme: over every way to share nodes between a child and
/// its younger siblings, for one row per depth, without any claim about which products are largest.
class Programme {
  public:
    explicit Programme(const Table& rows) : rows_(rows) {}
    double best(Index nodes) { return forest(0, 0, nodes); }

  private:
    /// The best sum for the children of one node in row `level`, from a rank on, with at most so many nodes in all.
    double forest(std::size_t level, std::size_t rank, Index nodes) {
        if (nodes == 0 || level == rows_.size() || rank == rows_[level].size()) return 0;
        const auto [entry, is_new] = known_.try_emplace({level, rank, nodes}, 0.);
        if (!is_new) return entry->second;
        double best = 0;  // this child and all after it are left out
        for (Index own = 1; own <= nodes; ++own)
            best = std::max(
                best, rows_[level][rank] * (1 + forest(level + 1, 0, own - 1)) + forest(level, rank + 1, nodes - own));
        return known_[{level, rank, nodes}] = best;
    }

    Table rows_;
    std::map<std::tuple<std::size_t, std::size_t, Index>, double> known_;
};

Table repeated(const std::vector<double>& row, Index depth) { return Table(static_cast<std::size_t>(depth), row); }

std::vector<double> falling_row(std::size_t size, std::mt19937& random) {
    std::uniform_real_distribution<double> uniform;
    std::vector<double> row(size);
    for (double& entry : row) entry = uniform(random);
    std::ranges::sort(row, std::greater{});
    return row;
}

/// Every node of a full tree, with its product.
struct Universe {
    explicit Universe(const Table& rows) {
        Index begin = root_node, end = 0;
        for (const auto& row : rows) {
            for (Index parent = begin; parent < end; ++parent)
                for (std::size_t rank = 0; rank < row.size(); ++rank) {
                    parents.push_back(parent);
                    ranks.push_back(static_cast<Index>(rank));
                    values.push_back((parent < 0 ? 1. : values[static_cast<std::size_t>(parent)]) * row[rank]);
                }
            begin = std::exchange(end, static_cast<Index>(parents.size()));
        }
    }
    std::vector<Index> parents, ranks;
    std::vector<double> values;
};

}  // namespace

TEST_CASE("sparse trees of an acceptance vector are worth what the compendium says", "[tree]") {
    const RankAcceptance acceptance{{.7, .15, .06}};
    const double expected[] = {1, 1.7, 2.19, 2.533, 2.7731, 2.9412, 3.0912, 3.2088, 3.3138, 3.4188};
    for (Index nodes = 0; nodes < 10; ++nodes) {
        CAPTURE(nodes);
        const TreeShape shape = sparse_tree(acceptance, nodes, 8);
        CHECK(shape.size() == nodes);
        CHECK(1 + expected_path_value(shape, acceptance) == Approx(expected[nodes]).margin(5e-5));
    }
}

TEST_CASE("a sparse tree is what the dynamic programme finds, for vectors and depth caps", "[tree]") {
    std::mt19937 random(1);
    for (int context = 0; context < 200; ++context) {
        const auto row = falling_row(1 + random() % 4, random);
        const auto nodes = static_cast<Index>(random() % 13), depth = static_cast<Index>(1 + random() % 6);
        CAPTURE(context, row, nodes, depth);
        const TreeShape shape = sparse_tree(row, nodes, depth);
        REQUIRE(shape.depth() <= depth);
        REQUIRE(shape.size() <= nodes);
        REQUIRE(expected_path_value(shape, row) ==
                Approx(Programme(repeated(row, depth)).best(nodes)).epsilon(1e-13).margin(1e-15));
    }
}

TEST_CASE("a sparse tree is what the dynamic programme finds, for tables of ragged rows", "[tree]") {
    std::mt19937 random(2);
    for (int context = 0; context < 200; ++context) {
        Table rows(1 + random() % 5);
        for (auto& row : rows) row = falling_row(random() % 5, random);
        const auto nodes = static_cast<Index>(random() % 13), depth = static_cast<Index>(random() % 6);
        Table capped = rows;
        capped.resize(std::min(rows.size(), static_cast<std::size_t>(depth)));
        CAPTURE(context, rows, nodes, depth);
        const TreeShape shape = sparse_tree(rows, nodes, depth);
        REQUIRE(shape.size() <= nodes);
        REQUIRE(expected_path_value(shape, rows) == Approx(Programme(capped).best(nodes)).epsilon(1e-13).margin(1e-15));
    }
}

TEST_CASE("no set of nodes with their parents is worth more than the sparse tree", "[tree]") {
    // All 2^12 subsets; elder siblings may be missing in them.
    std::mt19937 random(3);
    for (int context = 0; context < 20; ++context) {
        const Table rows{falling_row(3, random), falling_row(3, random)};
        const Universe all(rows);
        std::vector<double> best(all.values.size() + 1);
        for (unsigned set = 0; set < 1u << all.values.size(); ++set) {
            double sum = 0;
            std::size_t size = 0;
            bool closed = true;
            for (std::size_t node = 0; node < all.values.size(); ++node) {
                if (!(set >> node & 1u)) continue;
                closed = closed && (all.parents[node] < 0 || (set >> all.parents[node] & 1u));
                sum += all.values[node];
                ++size;
            }
            if (closed) best[size] = std::max(best[size], sum);
        }
        for (std::size_t nodes = 0; nodes < best.size(); ++nodes)
            REQUIRE(expected_path_value(sparse_tree(rows, static_cast<Index>(nodes)), rows) ==
                    Approx(best[nodes]).epsilon(1e-13));
    }
}

TEST_CASE("equal products are taken by depth, then parent, then rank", "[tree]") {
    // Of every node whose parent is in, the best by that order; products of powers of 2 are exact and often equal.
    for (const Table& rows : {repeated({.5, .5, .25}, 4), repeated({1, 1}, 4), Table{{.5, .25, .25}, {1, .5}, {.5, .5}},
                              Table{{.5, .5}, {.5, .25, .25}, {1, 1}}}) {
        const Universe all(rows);
        const std::size_t size = all.values.size();
        std::vector<Index> taken_at(size, -1), parents, ranks;
        std::vector<std::vector<Index>> paths;
        std::vector<std::vector<Index>> path_of(size);
        for (Index count = 0; count < std::min<Index>(40, static_cast<Index>(size)); ++count) {
            using Key = std::tuple<double, std::size_t, Index, Index, std::size_t>;
            Key first{1, 0, 0, 0, 0};
            for (std::size_t node = 0; node < size; ++node) {
                const auto parent = static_cast<std::size_t>(all.parents[node]);
                const bool at_root = all.parents[node] < 0;
                if (taken_at[node] >= 0 || (!at_root && taken_at[parent] < 0)) continue;
                path_of[node] = at_root ? std::vector<Index>{} : path_of[parent];
                path_of[node].push_back(all.ranks[node]);
                first = std::min(first, Key{-all.values[node], path_of[node].size(), at_root ? -1 : taken_at[parent],
                                            all.ranks[node], node});
            }
            taken_at[std::get<4>(first)] = count;
            paths.push_back(path_of[std::get<4>(first)]);
            CAPTURE(rows, paths);
            REQUIRE(sparse_tree(rows, count + 1) == tree_of_paths(paths));
        }
    }
}

TEST_CASE("a sparse tree ends where nothing more can be accepted", "[tree]") {
    CHECK(sparse_tree({{.7, .15, .06}}, 0) == TreeShape{});
    CHECK(sparse_tree({{.7, .15, .06}}, 5, 0) == TreeShape{});
    CHECK(sparse_tree(std::vector<double>{}, 5) == TreeShape{});
    CHECK(sparse_tree(Table{}, 5) == TreeShape{});
    CHECK(sparse_tree(std::vector{0.}, 5) == TreeShape{});
    CHECK(sparse_tree({{{.6, .2}, {.5, .1}}}, 50) == expansion_tree({2, 2}));
    CHECK(sparse_tree({{{.6, .2}, {}, {.5, .1}}}, 50) == expansion_tree({2}));
    CHECK(sparse_tree({{.5, .2, 0.}}, 50, 2) == expansion_tree({2, 2}));
    CHECK(sparse_tree({{.9, .8, .7}}, 50, 1) == expansion_tree({3}));
    CHECK(sparse_tree(std::vector{1.}, 6) == expansion_tree({1, 1, 1, 1, 1, 1}));
    CHECK(sparse_tree(std::vector{.9}, 6, 4) == expansion_tree({1, 1, 1, 1}));
    // 2^-1074 is the smallest number above 0, or 2^-1022 where those below are flushed
    const TreeShape deep = sparse_tree(std::vector{.5}, 2000);
    CHECK(deep.size() > 1000);
    CHECK(deep.size() < 1100);
}

TEST_CASE("the value of full trees is the geometric sum of what a level accepts", "[tree]") {
    const RankAcceptance acceptance{{.5, .25, .125}};
    const double level = .875;
    CHECK(expected_path_value(expansion_tree({3}), acceptance) == level);
    CHECK(expected_path_value(expansion_tree({3, 3}), acceptance) == level + level * level);
    CHECK(expected_path_value(expansion_tree({3, 3, 3}), acceptance) == level * (1 + level * (1 + level)));
    CHECK(expected_path_value(expansion_tree({2, 3}), acceptance) == .75 * (1 + level));
    CHECK(expected_path_value(expansion_tree({1, 1, 1}), acceptance) == .5 + .25 + .125);
    CHECK(expected_path_value(TreeShape{}, acceptance) == 0);
    CHECK(expected_path_value(TreeShape({-1}, {2}), acceptance) == .125);
    CHECK(expected_path_value(expansion_tree({2, 2}), {{{.5, .25}, {.125, .5}}}) == .75 * 1.625);
}

TEST_CASE("the value of a shape is the mean number of accepted tokens over all outcomes", "[tree]") {
    // At every depth one rank is accepted, or none: 4^3 outcomes.
    const Table rows{{.6, .2, .1}, {.5, .2, .2}, {.3, .3, .05}};
    for (Index nodes = 0; nodes <= 39; ++nodes) {
        const TreeShape shape = sparse_tree(rows, nodes);
        double mean = 0;
        for (int outcome = 0; outcome < 64; ++outcome) {
            double chance = 1;
            Index node = root_node, accepted = 0;
            bool alive = true;
            for (std::size_t depth = 0; depth < 3; ++depth) {
                const auto rank = static_cast<std::size_t>(outcome >> (2 * depth) & 3);
                chance *= rank < 3 ? rows[depth][rank] : 1 - rows[depth][0] - rows[depth][1] - rows[depth][2];
                Index next = no_node;
                for (Index child = alive ? shape.first_child(node) : no_node; child != no_node;
                     child = shape.next_sibling(child))
                    if (shape.rank(child) == static_cast<Index>(rank)) next = child;
                alive = next != no_node;
                if (alive) node = next, ++accepted;
            }
            mean += chance * static_cast<double>(accepted);
        }
        CAPTURE(nodes);
        REQUIRE(shape.size() == nodes);
        REQUIRE(expected_path_value(shape, rows) == Approx(mean).epsilon(1e-13));
    }
}

TEST_CASE("the tokens of all sizes are those of the dynamic programme", "[tree]") {
    std::mt19937 random(4);
    for (int context = 0; context < 10; ++context) {
        Table rows(4);
        for (auto& row : rows) row = falling_row(1 + random() % 3, random);
        const RowMajorMatrix<double> tokens = sparse_tree_tokens(rows, 15, 6);
        REQUIRE(tokens.rows() == 7);
        REQUIRE(tokens.cols() == 16);
        for (Index depth = 0; depth <= 6; ++depth) {
            Table capped = rows;
            capped.resize(static_cast<std::size_t>(std::min<Index>(depth, 4)));
            Programme programme(capped);
            for (Index nodes = 0; nodes <= 15; ++nodes) {
                CAPTURE(context, depth, nodes);
                REQUIRE(tokens(depth, nodes) == Approx(1 + programme.best(nodes)).epsilon(1e-13));
            }
        }
    }
    CHECK(sparse_tree_tokens(std::vector{.5}, 0, 0) == RowMajorMatrix<double>::Ones(1, 1));
    CHECK(sparse_tree_tokens(std::vector{.5}, 0, 3) == RowMajorMatrix<double>::Ones(4, 1));
    CHECK(sparse_tree_tokens(std::vector{.5}, 3, 0) == RowMajorMatrix<double>::Ones(1, 4));
}

TEST_CASE("acceptances that are none are refused by name", "[tree]") {
    const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
    CHECK_THROWS_WITH((RankAcceptance{{.5, 1.5}}), "specsample::RankAcceptance: rank 1 is 1.5, but must be in [0, 1]");
    CHECK_THROWS_WITH((RankAcceptance{{.5, -.25}}),
                      "specsample::RankAcceptance: rank 1 is -0.25, but must be in [0, 1]");
    CHECK_THROWS_WITH(RankAcceptance(Table{{.5}, {.5, 2}}),
                      "specsample::RankAcceptance: rank 1 of depth 2 is 2, but must be in [0, 1]");
    CHECK_THROWS_AS((RankAcceptance{{.5, nan}}), std::invalid_argument);
    CHECK_THROWS_AS((RankAcceptance{{inf, .5}}), std::invalid_argument);
}

TEST_CASE("rows that rise are refused where the largest products would be no tree", "[tree]") {
    CHECK_THROWS_AS(sparse_tree({{.2, .7}}, 3), std::invalid_argument);
    CHECK_THROWS_WITH(sparse_tree({{.5, .25, .75}}, 3),
                      "specsample::sparse_tree: rank 2 is 0.75, but must be at most 0.25, that before");
    CHECK_THROWS_WITH(sparse_tree({{{.5, .5}, {.25, .5}}}, 3),
                      "specsample::sparse_tree: rank 1 of depth 2 is 0.5, but must be at most 0.25, that before");
    CHECK_THROWS_WITH(sparse_tree_tokens({{.25, .5}}, 3, 3),
                      "specsample::sparse_tree_tokens: rank 1 is 0.5, but must be at most 0.25, that before");
    CHECK_NOTHROW(expected_path_value(expansion_tree({2}), {{.25, .5}}));
    CHECK_NOTHROW(sparse_tree({{.5, .5, .5}}, 3));
}

TEST_CASE("bounds below 0 and ranks without an acceptance are refused", "[tree]") {
    const RankAcceptance acceptance{{.5, .25}};
    CHECK_THROWS_WITH(sparse_tree(acceptance, -1), "specsample::sparse_tree: nodes is -1, but must be at least 0");
    CHECK_THROWS_WITH(sparse_tree(acceptance, 1, -1),
                      "specsample::sparse_tree: max_depth is -1, but must be at least 0");
    CHECK_THROWS_WITH(sparse_tree_tokens(acceptance, -1, 1),
                      "specsample::sparse_tree_tokens: max_nodes is -1, but must be at least 0");
    CHECK_THROWS_WITH(sparse_tree_tokens(acceptance, 1, -1),
                      "specsample::sparse_tree_tokens: max_depth is -1, but must be at least 0");
    CHECK_THROWS_WITH(expected_path_value(expansion_tree({3}), acceptance),
                      "specsample::expected_path_value: the rank of node 2 is 2, but must be below the 2 of its depth");
    CHECK_THROWS_WITH(expected_path_value(expansion_tree({1, 1}), Table{{.5}}),
                      "specsample::expected_path_value: the rank of node 1 is 0, but must be below the 0 of its depth");
}
