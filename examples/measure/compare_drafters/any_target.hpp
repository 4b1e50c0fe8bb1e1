// Targets of every kind behind one type: the rows of a chain or of a tree, by value.
#pragma once

#include <functional>
#include <span>

#include <specsample/specsample.hpp>

#include "generate/language_model.hpp"

using TokenTree = specsample::Tree<specsample::Token, specsample::Index>;

class AnyTarget {
  public:
    using Rows = LanguageModel::Rows;

    /// Wraps a target that takes counts and trees; copies share it.
    template <class Target>
    explicit AnyTarget(Target& target)
        : chain_([&target](auto prefix, auto n) { return target(prefix, n); }),
          tree_([&target](auto prefix, const auto& tree) { return target(prefix, tree); }) {}

    Rows operator()(std::span<const specsample::Token> prefix, specsample::Index n) const { return chain_(prefix, n); }
    Rows operator()(std::span<const specsample::Token> prefix, const TokenTree& tree) const {
        return tree_(prefix, tree);
    }

  private:
    std::function<Rows(std::span<const specsample::Token>, specsample::Index)> chain_;
    std::function<Rows(std::span<const specsample::Token>, const TokenTree&)> tree_;
};

/// The prefix, followed by the path to a node of a tree behind it.
inline std::vector<specsample::Token> text_of(std::span<const specsample::Token> prefix, const TokenTree& tree,
                                              specsample::Index node) {
    std::vector<specsample::Token> text;
    for (; node >= 0; node = tree.parents[static_cast<std::size_t>(node)])
        text.push_back(tree.tokens[static_cast<std::size_t>(node)]);
    text.insert(text.end(), prefix.rbegin(), prefix.rend());
    std::ranges::reverse(text);
    return text;
}
