// A target that scores a token tree in one pass.
#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include <specsample/core/tree.hpp>

/// The tokens of a prefix and of the path to a node.
inline std::vector<specsample::Token> path_text(std::span<const specsample::Token> prefix,
                                                specsample::Tree<specsample::Token, specsample::Index> tree,
                                                specsample::Index node) {
    std::vector<specsample::Token> text(prefix.begin(), prefix.end());
    for (; node != specsample::root_node; node = tree.parents[static_cast<std::size_t>(node)])
        text.push_back(tree.tokens[static_cast<std::size_t>(node)]);
    std::reverse(text.begin() + std::ssize(prefix), text.end());
    return text;
}

/// A model of single rows, called once per node: each row is the model's after the node's own path. Takes trees only,
/// and counts its calls.
template <class M>
struct TreeTarget {
    M model;
    int passes = 0;

    auto operator()(std::span<const specsample::Token> prefix,
                    specsample::Tree<specsample::Token, specsample::Index> tree) {
        ++passes;
        std::vector<decltype(model(prefix))> rows;
        for (specsample::Index node = specsample::root_node; node < std::ssize(tree.tokens); ++node)
            rows.push_back(model(std::span<const specsample::Token>(path_text(prefix, tree, node))));
        return rows;
    }
};
template <class M>
TreeTarget(M) -> TreeTarget<M>;

/// The same, and it takes single rows, too.
template <class M>
struct RowAndTreeTarget : TreeTarget<M> {
    explicit RowAndTreeTarget(M rows) : TreeTarget<M>{std::move(rows)} {}

    using TreeTarget<M>::operator();
    auto operator()(std::span<const specsample::Token> prefix) { return this->model(prefix); }
};
