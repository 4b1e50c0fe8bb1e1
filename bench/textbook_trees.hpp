// The textbook's form of the rules for trees: every row that a walk needs is made into probabilities, every residual is
// stored.
#pragma once

#include "textbook.hpp"

#include <cmath>
#include <vector>

namespace bench::textbook {

/// A drafted tree, and the rows of its nodes as probabilities.
/// @tparam Target, Draft   target(node) and draft(node) give the rows after a node
template <class Target, class Draft>
struct Tree {
    std::span<const Token> tokens;
    std::span<const Index> parents;
    std::span<const std::vector<Token>> without;  ///< the ids that could not be drawn, by node
    std::span<const double> rest;                 ///< negative for a point mass, by node
    Target target;
    Draft draft;

    std::vector<Index> children(Index node) const {
        std::vector<Index> result;
        for (std::size_t i = 0; i < parents.size(); ++i)
            if (parents[i] == node) result.push_back(static_cast<Index>(i));
        return result;
    }
    Token token(Index node) const { return tokens[static_cast<std::size_t>(node)]; }

    /// The distribution that the token of a node was drawn from, given its parent's row.
    Eigen::ArrayXf distribution(Index node, const Eigen::ArrayXf& row) const {
        const auto at = static_cast<std::size_t>(node);
        Eigen::ArrayXf result = row;
        if (rest[at] < 0) {
            result.setZero();
            result[tokens[at]] = 1;
        } else if (!without[at].empty()) {
            for (const Token id : without[at]) result[id] = 0;
            result /= result.sum();
        }
        return result;
    }
};

/// What a walk accepted: the node and its depth.
struct Walked {
    Index node = specsample::root_node;
    Index depth = 0;
    Index last = 0;
};

inline double accept_draw(const specsample::RoundRng& rng, Index node) {
    return rng.at(specsample::Purpose::accept, node).uniform();
}
inline double last_draw(const specsample::RoundRng& rng) { return rng.at(specsample::Purpose::last, 0).uniform(); }

/// Recursive rejection: SpecInfer where siblings are independent.
template <class Tree>
Walked top_down(const Tree& tree, const specsample::RoundRng& rng) {
    Walked at;
    for (bool goes_on = true; goes_on;) {
        goes_on = false;
        Eigen::ArrayXf residual = tree.target(at.node);
        const Eigen::ArrayXf row = tree.draft(at.node);
        for (const Index child : tree.children(at.node)) {
            const Eigen::ArrayXf q = tree.distribution(child, row);
            const Token token = tree.token(child);
            if (accept(accept_draw(rng, child), residual[token], q[token])) {
                at = {child, at.depth + 1, 0};
                goes_on = true;
                break;
            }
            residual = (residual - q).cwiseMax(0);
            residual /= residual.sum();
        }
        if (!goes_on) at.last = draw(residual, last_draw(rng));
    }
    return at;
}

/// Traversal verification, which is block verification on a chain: the subtree of a node is judged before the node.
/// @param share   the probability with which the path to the node is a draft of the target
template <class Tree>
bool bottom_up(const Tree& tree, const specsample::RoundRng& rng, Walked node, float share, Walked& accepted) {
    Eigen::ArrayXf residual = tree.target(node.node) * share;
    const std::vector<Index> children = tree.children(node.node);
    const Eigen::ArrayXf row = children.empty() ? Eigen::ArrayXf() : Eigen::ArrayXf(tree.draft(node.node));
    float mass = share;
    for (const Index child : children) {
        const Eigen::ArrayXf q = tree.distribution(child, row);
        const Token token = tree.token(child);
        const float ratio = std::min(1.f, residual[token] / q[token]);
        if (bottom_up(tree, rng, {child, node.depth + 1, 0}, ratio, accepted)) return true;
        const float left = 1 - residual.min(q).sum();
        residual = (residual - q).cwiseMax(0) / left;
        mass = residual.sum();
    }
    if (node.node != specsample::root_node && !(accept_draw(rng, node.node) < static_cast<double>(mass))) return false;
    accepted = node;
    accepted.last = draw(residual / residual.sum(), last_draw(rng));
    return true;
}
template <class Tree>
Walked bottom_up(const Tree& tree, const specsample::RoundRng& rng) {
    Walked accepted;
    bottom_up(tree, rng, {}, 1, accepted);
    return accepted;
}

/// K-SEQ: the threshold of every node by 25 bisections.
template <class Tree>
Walked k_seq(const Tree& tree, const specsample::RoundRng& rng) {
    Walked at;
    for (bool goes_on = true; goes_on;) {
        goes_on = false;
        const Eigen::ArrayXf p = tree.target(at.node);
        const std::vector<Index> children = tree.children(at.node);
        if (children.empty()) {
            at.last = draw(p, last_draw(rng));
            break;
        }
        const Eigen::ArrayXf q = tree.draft(at.node);
        const auto count = static_cast<float>(children.size());
        const auto beta = [&](float rho) { return q.min(p / rho).sum(); };
        const auto emitted = [&](float rho) { return 1 - std::pow(1 - beta(rho), count); };
        float low = 1, high = count;
        for (int step = 0; step < 25; ++step) {
            const float middle = (low + high) / 2;
            (emitted(middle) > middle * beta(middle) ? low : high) = middle;
        }
        for (const Index child : children) {
            const Token token = tree.token(child);
            if (accept(accept_draw(rng, child), p[token] / high, q[token])) {
                at = {child, at.depth + 1, 0};
                goes_on = true;
                break;
            }
        }
        const float factor = goes_on ? 0 : emitted(high) / beta(high);
        if (!goes_on) at.last = draw(Eigen::ArrayXf((p - q.min(p / high) * factor).cwiseMax(0)), last_draw(rng));
    }
    return at;
}

}  // namespace bench::textbook
