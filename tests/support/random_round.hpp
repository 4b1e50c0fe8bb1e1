// Random drafts of any shape over known models, with all data of a round, for tests of properties.
#pragma once

#include <algorithm>
#include <vector>

#include <specsample/testing/models.hpp>
#include <specsample/verify.hpp>

#include "support/rules.hpp"

namespace random_round {

using namespace specsample;
using namespace specsample::kernels;
using View = detail::row_view_t<const Eigen::VectorXd&>;

/// Parents of a random tree: node i hangs below any node before it, or the root.
inline std::vector<Index> random_parents(Index size, std::uint64_t seed) {
    std::vector<Index> parents;
    for (Index i = 0; i < size; ++i)
        parents.push_back(
            static_cast<Index>(Rng({.seed = seed, .position = i}).uniform() * static_cast<double>(i + 1)) - 1);
    return parents;
}

inline std::vector<Index> chain_parents(Index size) {
    std::vector<Index> parents;
    for (Index i = 0; i < size; ++i) parents.push_back(i - 1);
    return parents;
}

/// A text, and a draft after it. Every node is drawn from its parent's row of the draft, independently of its siblings.
struct Draft {
    std::vector<Token> text;
    std::vector<Index> parents;
    RoundRng rng;
    Index vocab;
    std::vector<Token> tokens;
    std::vector<Eigen::VectorXd> draft_rows, target_rows;  ///< of node i; after node i - 1

    template <class DraftModel, class TargetModel>
    Draft(std::vector<Token> given, std::vector<Index> shape, const DraftModel& draft, const TargetModel& target,
          const RoundRng& source)
        : text(std::move(given)), parents(std::move(shape)), rng(source) {
        target_rows.push_back(target(text));
        vocab = target_rows[0].size();
        for (Index node = 0; node < size(); ++node) {
            draft_rows.push_back(draft(context(parent(node))));
            tokens.push_back(static_cast<Token>(
                specsample::draw(rng.at(Purpose::draft, node), RowWeights(detail::as_row(draft_rows.back()))).index));
            target_rows.push_back(target(context(node)));
        }
    }

    Index size() const { return std::ssize(parents); }
    Index parent(Index node) const { return parents[static_cast<std::size_t>(node)]; }

    /// The text, and the drafted tokens down to a node.
    std::vector<Token> context(Index node) const {
        if (node < 0) return text;
        std::vector<Token> path = context(parent(node));
        path.push_back(tokens[static_cast<std::size_t>(node)]);
        return path;
    }

    /// The same with a target that makes no token possible after one that ends the text, as a grammar that is over.
    template <class Ends>
    Draft over_after(const Ends& ends) const {
        Draft over = *this;
        for (Index node = 0; node < size(); ++node) {
            const std::vector<Token> path = context(node);
            if (std::any_of(path.begin() + std::ssize(text), path.end(), ends))
                over.target_rows[static_cast<std::size_t>(node + 1)].setZero();
        }
        return over;
    }

    Tree<Token, Index> tree() const { return {tokens, parents}; }
    std::vector<Sampled<View>> distributions() const { return {draft_rows.begin(), draft_rows.end()}; }

    template <class Rule>
    Round judge(const Rule& rule, const RoundLimits& limits, Workspace& workspace) const {
        return verify(tree(), rules::drafted_for(rule, distributions()), target_rows, rule, rng, limits, workspace);
    }
};

/// The draft of a given number: lookaheads 0 .. 5, chains and trees, all kinds of rows.
inline Draft draft_of(std::uint64_t seed) {
    using testing::ContextModel, testing::RowKind;
    constexpr std::array kinds{RowKind::smooth, RowKind::with_zeros, RowKind::peaked, RowKind::point_masses};
    const Index vocab = 2 + static_cast<Index>(seed % 5), size = static_cast<Index>(seed / 5 % 6);
    const bool is_tree = seed / 30 % 2 == 1;
    std::vector<Token> text(seed % 7, 1);
    return Draft(std::move(text), is_tree ? random_parents(size, seed) : chain_parents(size),
                 ContextModel(vocab, 2 * seed, kinds[seed / 60 % 3]),
                 ContextModel(vocab, 2 * seed + 1, kinds[seed % 4]), RoundRng(seed, seed % 3, std::ssize(text)));
}

}  // namespace random_round
