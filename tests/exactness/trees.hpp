// Trees, custom drafters, and distributions that are completed by the target without enumerating the completions.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "exactness/cases.hpp"
#include "support/any_children.hpp"

namespace cases {

/// A model whose rows are computed once, since rows take most of the time of an enumeration. All models are one type,
/// so that a rule is compiled once for all of them.
class Remembered {
  public:
    static constexpr bool stable_rows = true;

    template <class Model>
    Remembered(Model model) : model_(std::move(model)) {}

    const Eigen::VectorXd& operator()(std::span<const Token> prefix) const {
        key_.assign(prefix.begin(), prefix.end());
        const auto found = rows_->find(key_);
        return found != rows_->end() ? found->second : rows_->emplace(key_, model_(prefix)).first->second;
    }

  private:
    std::function<Eigen::VectorXd(std::span<const Token>)> model_;
    mutable std::vector<Token> key_;
    std::shared_ptr<std::map<std::vector<Token>, Eigen::VectorXd>> rows_ =
        std::make_shared<std::map<std::vector<Token>, Eigen::VectorXd>>();
};

/// Heads from one model, which continue as if every token were token 0.
struct Heads {
    Remembered model;
    std::size_t count;

    std::vector<Eigen::VectorXd> operator()(std::span<const Token> prefix) const {
        std::vector<Eigen::VectorXd> rows;
        std::vector<Token> text(prefix.begin(), prefix.end());
        for (; rows.size() < count; text.push_back(0)) rows.push_back(model(text));
        return rows;
    }
};

using RememberedView = detail::row_view_t<Eigen::VectorXd>;

/// A custom drafter: expand(text, depth, rng, add) adds the children of a node, whose path ends `text`; rng(i) is the
/// RNG of child i, add(token, distribution) adds a child. Breadth first.
template <class Expand>
struct Drafted {
    using Distribution = Mixed<RememberedView>;

    Expand expand;

    template <class Source>
    void propose(std::span<const Token> prefix, const Source& rng, DraftTree<Distribution>& draft_tree) {
        for (Index node = root_node; node < draft_tree.size(); ++node) {
            if (!draft_tree.grows(node)) continue;
            std::vector<Token> text(prefix.begin(), prefix.end());
            draft_tree.append_path(node, text);
            const Index first = draft_tree.size();
            expand(
                text, draft_tree.depth(node), [&](Index i) { return rng.at(Purpose::draft, first + i); },
                [&](auto token, const Distribution& distribution) { draft_tree.add(node, token, distribution); });
        }
    }
};
template <class Expand>
Drafted(Expand) -> Drafted<Expand>;

/// Two models of one type, by name.
struct Pair {
    std::string name;
    Remembered draft, target;
};

/// Pairs of models that depend on the context, of every kind of row.
inline std::vector<Pair> pairs(Index vocab, std::uint64_t seed = 50) {
    const ContextModel smooth(vocab, seed + 1), other(vocab, seed + 2), zeros(vocab, seed + 3, RowKind::with_zeros),
        other_zeros(vocab, seed + 4, RowKind::with_zeros), peaked(vocab, seed + 5, RowKind::peaked),
        masses(vocab, seed + 6, RowKind::point_masses), other_masses(vocab, seed + 7, RowKind::point_masses);
    return {{"smooth, smooth", smooth, other},
            {"p = q", smooth, smooth},
            {"near tie", Nudged<ContextModel>{smooth, 1e-9}, smooth},
            {"zeros, zeros", zeros, other_zeros},
            {"zeros, peaked", zeros, peaked},
            {"peaked, zeros", peaked, zeros},
            {"point masses, smooth", masses, smooth},
            {"smooth, point masses", smooth, masses},
            {"point masses, point masses", masses, other_masses}};
}

/// The number of children of each node, by depth.
using Branching = std::vector<Index>;

inline std::string to_string(const Branching& branching) {
    std::string text = "(";
    for (const Index count : branching) text += (text.size() > 1 ? "," : "") + std::to_string(count);
    return text + ")";
}

/// Call f(name, children) for every kind of children.
inline void for_children(const std::function<void(const std::string& name, const any::Children& children)>& f) {
    f("independent", {any::Kind::independent});
    f("without replacement", {any::Kind::without_replacement});
    f("top", {any::Kind::top});
    f("greedy", {any::Kind::greedy});
}

/// A round's distribution completed by the target: exact_distribution, with the completions as products instead of
/// paths.
template <class Target>
TextDistribution completed(const TextDistribution& rounds, const Target& target, Index length) {
    TextDistribution distribution, open = rounds;
    while (!open.empty()) {
        TextDistribution longer;
        for (const auto& [text, probability] : open) {
            if (std::ssize(text) >= length) {
                distribution[text] += probability;
                continue;
            }
            const Eigen::VectorXd row = target(std::span<const Token>(text));
            std::vector<Token> next = text;
            next.push_back(0);
            for (Index i = 0; i < row.size(); ++i) {
                next.back() = static_cast<Token>(i);
                if (row[i] > 0) longer[next] += probability * row[i];
            }
        }
        open = std::move(longer);
    }
    return distribution;
}

/// The results of one enumeration of a rule's rounds.
struct Seen {
    TextDistribution distribution;  ///< of a round without completion
    double distance = 0;            ///< of its completed distribution to the target's
    double tokens = 0;              ///< expected
    double certainty = 0;           ///< the probability of all paths: 1
};

template <class Rule, class Draft, class Target>
Seen see(const Rule& rule, const Draft& draft, const Target& target, Index depth) {
    Seen seen;
    for_rounds(rule, draft, target, depth, [&](const Round& round, const Enumerator& paths) {
        seen.distribution[{round.tokens.begin(), round.tokens.end()}] += paths.probability();
        seen.tokens += paths.probability() * static_cast<double>(round.tokens.size());
        seen.certainty += paths.probability();
    });
    seen.distance =
        total_variation(completed(seen.distribution, target, depth + 1), joint_distribution(target, depth + 1));
    return seen;
}

}  // namespace cases
