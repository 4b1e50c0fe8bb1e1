#pragma once

// The loop that all tokenizers share: join the cheapest pair of neighbours until no pair joins.

#include <cstddef>
#include <optional>
#include <queue>
#include <tuple>
#include <vector>

#include "engine/token.hpp"

namespace engine {

/// The result of joining two neighbouring tokens, and its cost.
struct Joint {
    double cost;
    Token token;
};

/// Joins pairs of `tokens`, the cheapest first and the leftmost of equals; `join(left, right)` gives an optional Joint.
/// Uses a heap over linked neighbours: n log n time for a text of any length.
template <class Join>
std::vector<Token> merge_pairs(const std::vector<Token>& tokens, Join join) {
    constexpr Token gone = -1;
    struct Node {
        Token token;
        std::size_t previous, next;
    };
    struct Candidate {
        Joint joint;
        std::size_t left;
        Token left_token, right_token;
        bool operator<(const Candidate& other) const {  // std::priority_queue pops the greatest
            return std::tie(joint.cost, left) > std::tie(other.joint.cost, other.left);
        }
    };

    const std::size_t end = tokens.size();
    std::vector<Node> nodes;
    for (std::size_t i = 0; i < end; ++i) nodes.push_back({tokens[i], i == 0 ? end : i - 1, i + 1});

    std::priority_queue<Candidate> candidates;
    const auto consider = [&](std::size_t left) {
        if (left == end || nodes[left].next == end) return;
        const Token a = nodes[left].token;
        const Token b = nodes[nodes[left].next].token;
        if (const std::optional<Joint> joint = join(a, b)) candidates.push({*joint, left, a, b});
    };
    for (std::size_t i = 0; i < end; ++i) consider(i);

    while (!candidates.empty()) {
        const Candidate best = candidates.top();
        candidates.pop();
        Node& left = nodes[best.left];
        const std::size_t right = left.next;
        const bool stale = left.token != best.left_token || right == end || nodes[right].token != best.right_token;
        if (stale) continue;
        left.token = best.joint.token;
        left.next = nodes[right].next;
        if (left.next != end) nodes[left.next].previous = best.left;
        nodes[right].token = gone;
        consider(left.previous);
        consider(best.left);
    }

    std::vector<Token> merged;
    for (const Node& node : nodes) {
        if (node.token != gone) merged.push_back(node.token);
    }
    return merged;
}

}  // namespace engine
