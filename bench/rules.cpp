// Every rule, beside a plain read of the rows that it claims to need: x_read near 1 shows that it makes no other pass.
//
//   token        the target's row where it stops, and the draft's row there after a rejection
//   block        both rows at every position that it rejects, the last of which it draws from; else one row
//   match        the target's row at every position that it reaches
//   recursive    both rows per child that it rejects: the pass for the next child, or the draw
//   traversal    the same, for every node that it visits bottom-up
//   named        a tree of point masses: the one row it draws from
#include "kernels.hpp"
#include "textbook_trees.hpp"

#include <functional>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include <specsample/drafters/children.hpp>
#include <specsample/drafters/draft_token.hpp>
#include <specsample/random.hpp>
#include <specsample/verify.hpp>

namespace bench {
namespace {

using specsample::no_node;
using specsample::Purpose;
using specsample::root_node;
using specsample::RoundRng;
using specsample::Token;

/// A row as a rule gets it: probabilities, or logits. The normaliser of a draft's logits is known from its draws.
template <Numbers numbers>
auto target_row(const Row& row) {
    if constexpr (numbers == Numbers::logits)
        return specsample::Logits(row);
    else
        return row;
}
template <Numbers numbers>
auto draft_row(const Row& row, const Pool& pool) {
    if constexpr (numbers == Numbers::logits)
        return specsample::Logits(row, 1, pool.contents().draft_log_sum).probs();
    else
        return row;
}
template <Numbers numbers>
using DistributionOf = specsample::Mixed<decltype(draft_row<numbers>(std::declval<Row>(), std::declval<Pool>()))>;

/// The draft of one case. Its draft distributions are views of the rows at the place where it is verified, so only the
/// other parts of them are stored.
struct Draft {
    RoundRng rng;
    std::vector<Token> tokens;
    std::vector<Index> parents;
    std::vector<std::vector<Token>> without;
    std::vector<double> rest;  ///< negative for a point mass
};

/// A drafter's policy for chains under GumbelMatch: the token is the first to arrive in the race that the rule judges.
struct SharedRace {};

/// Draw trees with branching[d] children per node of depth d, all from one row.
template <class View, class Children>
std::vector<Draft> draw_drafts(const View& row, const std::vector<Index>& branching, const Children& children) {
    std::vector<Draft> result;
    for (Index i = 0; i < 32; ++i) {
        Draft& draft = result.emplace_back(Draft{RoundRng(42, 0, i), {}, {}, {}, {}});
        const auto size = [&] { return static_cast<Index>(draft.tokens.size()); };
        Index begin = root_node, end = 0;  // the nodes of a level
        for (const Index count : branching) {
            for (Index node = begin; node < end; ++node) {
                const Index first = size();
                const auto add = [&](auto token, const specsample::Mixed<View>& distribution) {
                    draft.tokens.push_back(static_cast<Token>(token));
                    draft.parents.push_back(node);
                    draft.rest.push_back(distribution.is_point() ? -1 : distribution.rest());
                    auto& without = draft.without.emplace_back();
                    if (!distribution.is_point())
                        without.assign(distribution.without().begin(), distribution.without().end());
                };
                if constexpr (std::same_as<Children, SharedRace>) {
                    add(specsample::draft_token(specsample::GumbelMatch{}, draft.rng, first, row).token,
                        specsample::PointMass{});
                } else {
                    std::vector<Token> ids(static_cast<std::size_t>(count));
                    children(
                        row, std::span(ids),
                        [&](std::size_t n) { return draft.rng.at(Purpose::draft, first + static_cast<Index>(n)); },
                        add);
                }
            }
            begin = std::exchange(end, size());
        }
    }
    return result;
}

/// A draft and the place where it is verified: the root's rows are the pool's at `first`, those of the nodes are evenly
/// spread over the rest. So races along the pool read all of it, even for a rule that needs the root's rows only.
template <Numbers numbers>
struct Place {
    using Distribution = DistributionOf<numbers>;

    const Draft& draft;
    Pool pool;
    Index first;

    Pair at(Index node) const {
        const Index spacing = pool.positions() / (static_cast<Index>(draft.tokens.size()) + 1);
        return pool[first + (node - root_node) * spacing];
    }

    struct Rows {
        const Place& place;
        std::size_t size() const { return place.draft.tokens.size() + 1; }
        auto operator[](std::size_t i) const { return target_row<numbers>(place.at(static_cast<Index>(i) - 1).target); }
    };
    struct Distributions {
        const Place& place;
        std::size_t size() const { return place.draft.tokens.size(); }
        Distribution operator[](std::size_t i) const {
            const double rest = place.draft.rest[i];
            if (rest < 0) return specsample::PointMass{};
            const auto row = draft_row<numbers>(place.at(place.draft.parents[i]).draft, place.pool);
            return specsample::Sampled(row, place.draft.without[i], rest);
        }
    };

    template <class Rule>
    specsample::Round judge(const Rule& rule, specsample::Workspace& workspace) const {
        return specsample::verify(specsample::Tree{draft.tokens, draft.parents}, Distributions{*this}, Rows{*this},
                                  rule, draft.rng, {}, workspace);
    }
};

/// The rows that a rule needs at a node: both, or the target's alone.
struct Need {
    Index node;
    bool both;
};

/// A rule that also lists the rows that it needed in a round, by the list above.
template <class Rule>
struct Listing : Rule {
    const Draft& draft;
    std::vector<Need>& needs;

    template <class T>
    specsample::Outcome operator()(const T& context) const {
        const specsample::Outcome outcome = Rule::operator()(context);
        if constexpr (requires { Rule::drafter_invariant; }) {
            list(context.shape, outcome.node);
        } else {
            for (Index node = root_node; node < context.shape.size(); ++node)
                list_until(context.state(node).rejected, node, context.shape);
            if (needs.empty() || needs.back().node != outcome.node) needs.push_back({outcome.node, false});
        }
        return outcome;
    }

  private:
    /// The target's rows alone, from the root to a node.
    template <class Shape>
    void list(const Shape& shape, Index node) const {
        if (node != root_node) list(shape, shape.parent(node));
        needs.push_back({node, false});
    }
    /// Both rows, for every drawn child of the node up to the one that was rejected last.
    template <class Shape>
    void list_until(Index last, Index node, const Shape& shape) const {
        if (last == no_node) return;
        for (Index child = shape.first_child(node);; child = shape.next_sibling(child)) {
            if (draft.rest[static_cast<std::size_t>(child)] >= 0) needs.push_back({node, true});
            if (child == last) return;
        }
    }
};

/// The rows that one round of a rule needs.
template <Numbers numbers, class Rule>
std::vector<Need> needs(const Place<numbers>& place, const Rule& rule) {
    std::vector<Need> result;
    specsample::Workspace workspace;
    place.judge(Listing<Rule>{rule, place.draft, result}, workspace);
    return result;
}

/// A draft and the rows that one rule needs for it.
struct Case {
    Draft draft;
    std::vector<Need> needs;
};

/// The textbook's form of each rule, where there is one.
template <class Tree>
auto textbook_walk(const specsample::BlockVerification&, const Tree& tree, const RoundRng& rng) {
    return textbook::bottom_up(tree, rng);
}
template <class Tree>
auto textbook_walk(const specsample::KSeq&, const Tree& tree, const RoundRng& rng) {
    return textbook::k_seq(tree, rng);
}
template <class Tree>
auto textbook_walk(const specsample::TokenVerification&, const Tree& tree, const RoundRng& rng) {
    return textbook::top_down(tree, rng);
}

template <Numbers numbers, class Rule>
Index textbook_round(const Rule& rule, const Place<numbers>& place) {
    const auto probs = [](const Row& row) -> Eigen::ArrayXf {
        return numbers == Numbers::logits ? textbook::softmax(row) : Eigen::ArrayXf(row);
    };
    const auto target = [&](Index node) { return probs(place.at(node).target); };
    const auto draft = [&](Index node) { return probs(place.at(node).draft); };
    const textbook::Tree<decltype(target), decltype(draft)> tree{
        place.draft.tokens, place.draft.parents, place.draft.without, place.draft.rest, target, draft};
    return textbook_walk(rule, tree, place.draft.rng).depth;
}

template <Numbers numbers, class Rule, class Children>
Race race_rule(const Setting& setting, const Rule& rule, const std::vector<Index>& branching,
               const Children& children) {
    const Pool pool(setting);
    std::vector<Case> cases;
    for (const Draft& draft : draw_drafts(draft_row<numbers>(pool[0].draft, pool), branching, children))
        cases.push_back({draft, needs(Place<numbers>{draft, pool, 0}, rule)});
    const auto workspace = std::make_shared<specsample::Workspace>();
    const auto ours = [=](const Case& one, Index first) {
        return Place<numbers>{one.draft, pool, first}.judge(rule, *workspace).accepted;
    };
    const auto read = [=](const auto& reader, const Case& one, Index first) {
        decltype(reader(pool[0].target)) sum = 0;
        for (const Need& need : one.needs) {
            const Pair at = Place<numbers>{one.draft, pool, first}.at(need.node);
            sum += need.both ? reader(at.target, at.draft) : reader(at.target);
        }
        return sum;
    };
    if constexpr (requires { Rule::drafter_invariant; }) {
        return make_race(setting, 1, std::move(cases), ours, nullptr, read);
    } else {
        const auto textbook = [=](const Case& one, Index first) {
            return textbook_round(rule, Place<numbers>{one.draft, pool, first});
        };
        for (const Case& one : cases)
            if (textbook(one, 0) != ours(one, 0))
                return {.refused = "the textbook's form accepted another number of tokens"};
        return make_race(setting, 1, std::move(cases), ours, textbook, read);
    }
}

}  // namespace

void add_rules(Kernels& kernels) {
    using namespace specsample;
    using namespace specsample::children;
    const auto add_one = [&]<Numbers numbers>(std::integral_constant<Numbers, numbers>, const std::string& name,
                                              const std::vector<Index>& branching, const auto& rule,
                                              const auto& children) {
        const auto race = [=](const Setting& setting) {
            return race_rule<numbers>(setting, rule, branching, children);
        };
        kernels.push_back({"rule/" + name, "rules", race, {.numbers = numbers}});
    };
    const auto add = std::bind_front(add_one, std::integral_constant<Numbers, Numbers::probs>{});
    const auto add_logits = std::bind_front(add_one, std::integral_constant<Numbers, Numbers::logits>{});
    const std::vector<Index> chain{1, 1, 1, 1}, tree{2, 2}, large{4, 2, 6};  // 4, 6 and 60 tokens
    add("token/chain", chain, TokenVerification{}, Independent{});
    add("block/chain", chain, BlockVerification{}, Independent{});
    add("sample_match/chain", chain, SampleMatch{}, Independent{});
    add("greedy_match/chain", chain, GreedyMatch{}, Independent{});
    add("gumbel_match/chain", chain, GumbelMatch{}, SharedRace{});
    add("recursive/tree", tree, RecursiveRejection{}, WithoutReplacement{});
    add("traversal/tree", tree, TraversalVerification{}, WithoutReplacement{});
    add("k_seq/tree", tree, KSeq{}, Independent{});
    add("token/named_tree", tree, TokenVerification{}, TopChildren{});
    add("sample_match/named_tree", tree, SampleMatch{}, TopChildren{});
    add("traversal/tree_60", large, TraversalVerification{}, WithoutReplacement{});
    add("token/named_tree_60", large, TokenVerification{}, TopChildren{});
    add_logits("block/chain/logits", chain, BlockVerification{}, Independent{});
    add_logits("k_seq/tree/logits", tree, KSeq{}, Independent{});
    add_logits("spec_infer/tree_60/logits", large, SpecInfer{}, Independent{});
    add_logits("traversal/tree_60/logits", large, TraversalVerification{}, WithoutReplacement{});
    add_logits("traversal/named_tree_60/logits", large, TraversalVerification{}, TopChildren{});
}

}  // namespace bench
