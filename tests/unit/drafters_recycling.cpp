// The table of past rows, and the target whose rows it learns.
#include <specsample/drafters/recycling.hpp>

#include <cmath>

#include <specsample/testing.hpp>

#include "support/catch.hpp"

using namespace specsample;
using recycling::Recorded;
using recycling::Table;
using specsample::testing::ContextModel;

TEST_CASE("a table keeps the likeliest ids of the newest row of each n-gram") {
    Table table({.context = 2, .top = 2});
    const auto row_after = [&](std::vector<Token> prefix) {
        const auto row = table(prefix);
        std::vector<double> dense;
        const auto view = row.probs();
        for (Index i = 0; i < row.size(); ++i) dense.push_back(view.coeff(i));
        return dense;
    };
    CHECK(row_after({1}).empty());
    table.learn(std::vector<Token>{}, Eigen::Vector4d(1, 0, 0, 0));  // no n-gram
    CHECK(row_after({1}) == std::vector<double>{0, 0, 0, 0});
    table.learn(std::vector<Token>{0, 1}, Eigen::Vector4d(.125, .5, .25, .125));
    const auto expected = std::vector<double>{0, .5 / .75, .25 / .75, 0};
    CHECK(row_after({0, 1}) == expected);
    CHECK(row_after({3, 1}) == expected);  // by the last token alone
    CHECK(row_after({1, 3}) == std::vector<double>{0, 0, 0, 0});
    table.learn(std::vector<Token>{2, 1}, Logits(Eigen::Vector4d(0, 0, 0, std::log(7.)), 1));
    CHECK(row_after({0, 1}) == expected);
    CHECK(row_after({3, 1}) == std::vector<double>{.125, 0, 0, .875});
    CHECK(row_after({2, 1}) == row_after({3, 1}));
    table.learn(std::vector<Token>{2, 1}, Eigen::Vector4d(0, 0, 1, 0));
    CHECK(row_after({2, 1}) == std::vector<double>{0, 0, 1, 0});
    table.learn(std::vector<Token>{2, 1}, Eigen::Vector4d(std::nan(""), 0, 0, 0));  // no distribution
    CHECK(row_after({2, 1}) == std::vector<double>{0, 0, 1, 0});
    CHECK_THROWS_WITH(table.learn(std::vector<Token>{0}, Eigen::Vector3d(1, 0, 0)),
                      "specsample::recycling::Table::learn: the size of the row is 3, but must be that of the rows "
                      "before, 4");
    table.clear();
    CHECK(row_after({2, 1}).empty());
    CHECK_THROWS_WITH(Table({.context = 0}), "specsample::recycling::Table: context is 0, but must be at least 1");
    CHECK_THROWS_WITH(Table({.capacity = 0}), "specsample::recycling::Table: capacity is 0, but must be 1 to 2^24");
}

TEST_CASE("few places keep what fits, and mix nothing up") {
    Table table({.context = 1, .top = 1, .capacity = 16});
    for (Token token = 0; token < 1000; ++token) {
        Eigen::VectorXf row = Eigen::VectorXf::Zero(1000);
        row[999 - token] = 1;
        table.learn(std::vector<Token>{token}, row);
    }
    Index known = 0;
    for (Token token = 0; token < 1000; ++token) {
        const auto row = table(std::vector<Token>{token});
        if (row.ids().size(1000) == 0) continue;
        ++known;
        CHECK(row.probs().coeff(999 - token) == 1);
    }
    CHECK(known > 8);
    CHECK(known <= 16);
}

TEST_CASE("a recorded target offers the calls of the target, and learns the row of every position and node") {
    const ContextModel model(3, 5);
    const std::vector<Token> text{2, 0, 1};
    const auto knows = [&](const Table& table, std::vector<Token> context, std::vector<Token> whole) {
        const auto row = table(context);
        const Eigen::VectorXd wanted = model(whole);
        for (Index i = 0; i < row.size(); ++i)
            if (std::abs(static_cast<double>(row.probs().coeff(i)) - wanted[i]) > 1e-6) return false;
        return row.size() == 3;
    };
    Table table({.context = 3, .top = 3});
    Recorded one([&](std::span<const Token> prefix) { return model(prefix); }, table);
    static_assert(specsample::Model<decltype(one)> && !specsample::detail::ManyModel<decltype(one)>);
    CHECK(one(text) == model(text));
    CHECK(knows(table, {2, 0, 1}, text));
    CHECK(knows(table, {0, 1}, text));

    const auto many = [&](std::span<const Token> prefix, Index count) {
        std::vector<Eigen::VectorXd> rows;
        for (Index i = count; i-- > 0;)
            rows.push_back(model(prefix.first(prefix.size() - static_cast<std::size_t>(i))));
        return rows;
    };
    table.clear();
    Recorded several(many, table);
    static_assert(!specsample::Model<decltype(several)> && specsample::detail::ManyModel<decltype(several)>);
    CHECK(several(text, 3).size() == 3);
    CHECK(knows(table, {2, 0, 1}, text));
    CHECK(knows(table, {2, 0}, {2, 0}));
    CHECK(knows(table, {2}, {2}));

    const auto tree = [&](std::span<const Token> prefix, Tree<Token, Index> drafted) {
        std::vector<Eigen::VectorXd> rows{model(prefix)};
        for (Index node = 0; node < std::ssize(drafted.tokens); ++node) {
            std::vector<Token> path;
            for (Index at = node; at != root_node; at = drafted.parents[static_cast<std::size_t>(at)])
                path.insert(path.begin(), drafted.tokens[static_cast<std::size_t>(at)]);
            path.insert(path.begin(), prefix.begin(), prefix.end());
            rows.push_back(model(path));
        }
        return rows;
    };
    table.clear();
    Recorded trees(tree, table);
    const std::vector<Token> tokens{0, 2, 1};
    const std::vector<Index> parents{root_node, root_node, 1};
    CHECK(trees(text, {tokens, parents}).size() == 4);
    CHECK(knows(table, {0, 1, 0}, {2, 0, 1, 0}));
    CHECK(knows(table, {0, 1, 2}, {2, 0, 1, 2}));
    CHECK(knows(table, {1, 2, 1}, {2, 0, 1, 2, 1}));
}
