// Recursive rejection and traversal verification on trees: exact distributions and published numbers.
#include <specsample/theory.hpp>

#include "exactness/trees.hpp"
#include "support/catch.hpp"

using namespace cases;
using namespace specsample::theory;
using namespace specsample::kernels;
using namespace specsample::children;

namespace {

constexpr RecursiveRejection recursive;
constexpr TraversalVerification traversal;

const std::vector<Branching> shapes{{2}, {3}, {2, 1}, {1, 2}, {2, 2}, {3, 1}, {2, 1, 1}};

/// Totals over all cases of a test.
struct Total {
    double worst = 0, gain = 0;
    long cases_seen = 0;

    /// Both rules on one tree: lossless, and traversal not behind.
    template <class Draft>
    std::pair<Seen, Seen> check(const Draft& draft, const Remembered& target, Index depth) {
        const Seen down = see(recursive, draft, target, depth), up = see(traversal, draft, target, depth);
        CHECK(down.distance < 1e-12);
        CHECK(up.distance < 1e-12);
        CHECK(std::abs(down.certainty - 1) < 1e-12);
        CHECK(std::abs(up.certainty - 1) < 1e-12);
        CHECK(up.tokens >= down.tokens - 1e-12);
        worst = std::max({worst, down.distance, up.distance});
        gain = std::max(gain, up.tokens - down.tokens);
        cases_seen += 2;
        return {down, up};
    }
    void report() const {
        WARN("largest total variation " << worst << " over " << cases_seen << " cases; traversal gains up to " << gain
                                        << " tokens");
    }
};

/// Expected tokens of both rules on a tree of a fixed model.
template <class Children>
std::pair<double, double> tokens(const Children& children, const FixedModel& draft, const FixedModel& target,
                                 const Branching& branching) {
    const TreeDrafter tree(draft, branching, children);
    const Index depth = std::ssize(branching);
    return {exact_tokens(recursive, tree, target, depth), exact_tokens(traversal, tree, target, depth)};
}

bool are(const std::pair<double, double>& tokens, double down, double up) {
    return std::abs(tokens.first - down) < 1e-13 && std::abs(tokens.second - up) < 1e-13;
}

/// Expected tokens of a draft of point masses: 1 + the target's probability of every path.
double path_mass(const Remembered& draft, const Remembered& target, const Branching& branching, std::vector<Token> text,
                 double mass) {
    const auto depth = text.size();
    if (depth == branching.size()) return mass;
    const Eigen::VectorXd p = target(text);
    std::vector<Token> top(static_cast<std::size_t>(branching[depth]));
    top.resize(static_cast<std::size_t>(top_ids(draft(text), top)));
    double total = mass;
    text.push_back(0);
    for (const Token token : top) {
        text.back() = token;
        if (p[token] > 0) total += path_mass(draft, target, branching, text, mass * p[token]);
    }
    return total;
}

}  // namespace

TEST_CASE("trees: a round, completed by the target, has the target's joint distribution") {
    Total total;
    for (const std::uint64_t seed : {50u, 60u, 70u})
        for (Index vocab = 1; vocab <= 4; ++vocab)
            for (const Pair& pair : pairs(vocab, seed))
                for (const Branching& branching : shapes)
                    for_children([&](const std::string& kind, const auto& children) {
                        INFO("V = " << vocab << ", " << to_string(branching) << " " << kind << ": " << pair.name);
                        const TreeDrafter tree(pair.draft, branching, children);
                        const auto [down, up] = total.check(tree, pair.target, std::ssize(branching));
                        if (kind != "top") return;
                        CHECK(total_variation(down.distribution, up.distribution) < 1e-13);
                        CHECK(down.tokens ==
                              Approx(path_mass(pair.draft, pair.target, branching, {}, 1)).epsilon(1e-13));
                    });
    CHECK(total.gain > .05);
    total.report();
}

TEST_CASE("trees: a target that scores many positions in one pass gives the same distribution") {
    const ContextModel draft(3, 1), target(3, 2);
    const TreeDrafter tree(draft, {2, 2});
    const TextDistribution lazily = round_distribution(traversal, tree, Remembered(target), 2);
    CHECK(total_variation(round_distribution(traversal, tree, target, 2), lazily) < 1e-14);
    CHECK(distance_from_target(recursive, tree, target, 2) < 1e-12);
    CHECK(distance_from_target(traversal, tree, target, 2) < 1e-12);
    CHECK(distance_from_target(traversal, TreeDrafter(ReusedBuffer{draft}, {2, 1}), target, 2) < 1e-12);
}

TEST_CASE("trees: two drafters, each with its own distribution") {
    Total total;
    for (Index vocab = 2; vocab <= 3; ++vocab) {
        const Remembered second = ContextModel(vocab, 58);
        for (const Pair& pair : pairs(vocab))
            for (Index depth = 1; depth <= 2; ++depth) {
                const Drafted both{[&](const auto& text, Index, const auto& rng, const auto& add) {
                    for (const Index i : {0, 1}) {
                        const Eigen::VectorXd& row = i == 0 ? pair.draft(text) : second(text);
                        add(draw(rng(i), RowWeights(detail::as_row(row))).index, Sampled(row));
                    }
                }};
                INFO("V = " << vocab << ", depth " << depth << ": " << pair.name);
                total.check(both, pair.target, depth);
            }
    }
    total.report();
}

TEST_CASE("trees: siblings that repeat a token, as samples and as point masses") {
    Total total;
    for (const Pair& pair : pairs(3))
        for (Index depth = 1; depth <= 2; ++depth) {
            const Drafted named_twice{[&](const auto& text, Index, const auto&, const auto& add) {
                const auto token = argmax(pair.draft(text));
                add(token, PointMass{});
                add(token, PointMass{});
            }};
            const Drafted sampled_then_named{[&](const auto& text, Index, const auto& rng, const auto& add) {
                const Eigen::VectorXd& row = pair.draft(text);
                const Index token = draw(rng(0), RowWeights(detail::as_row(row))).index;
                add(token, Sampled(row));
                add(token, PointMass{});
            }};
            const Drafted named_then_sampled{[&](const auto& text, Index, const auto& rng, const auto& add) {
                const Eigen::VectorXd& row = pair.draft(text);
                add(argmax(row), PointMass{});
                add(draw(rng(1), RowWeights(detail::as_row(row))).index, Sampled(row));
            }};
            INFO("depth " << depth << ": " << pair.name);
            total.check(named_twice, pair.target, depth);
            total.check(sampled_then_named, pair.target, depth);
            total.check(named_then_sampled, pair.target, depth);
        }
    total.report();
}

TEST_CASE("trees: where a row is exhausted, the remaining children may have any distribution that is declared") {
    Total total;
    const Token unused[] = {0, 1, 2};
    for (const Pair& pair : pairs(3)) {
        std::array<Token, 3> ids{};
        const Drafted padded{[&](const auto& text, Index depth, const auto& rng, const auto& add) {
            std::vector<Token> seen;
            const auto add_seen = [&](auto token, const auto& distribution) {
                add(token, distribution);
                seen.push_back(static_cast<Token>(token));
            };
            const auto draw_of = [&](std::size_t i) { return rng(static_cast<Index>(i)); };
            if (depth == 0) WithoutReplacement{}(detail::as_row(pair.draft(text)), ids, draw_of, add_seen);
            for (const Token token : unused)
                if (std::ranges::find(seen, token) == seen.end()) add(token, PointMass{});
        }};
        INFO(pair.name);
        total.check(padded, pair.target, 2);
    }
    // Two tokens in the support and three children wanted: two are drafted, and then everything is accepted or
    // residual.
    const TreeDrafter three(FixedModel{row({.5, .5, 0})}, {3}, WithoutReplacement{});
    for_rounds(recursive, three, ex3_target, 1,
               [](const Round& round, const Enumerator&) { CHECK(round.proposed == 2); });
    total.report();
}

TEST_CASE("trees: the published acceptance of several children of one node") {
    const FixedModel target{row({.75, .25})}, draft{row({.25, .75})};
    CHECK(are(tokens(Independent{}, ex3_draft, ex3_target, {2}), 1 + 19. / 25, 1 + 19. / 25));
    CHECK(are(tokens(WithoutReplacement{}, ex3_draft, ex3_target, {2}), 1 + 41. / 50, 1 + 41. / 50));
    CHECK(are(tokens(GreedyChildren{}, ex3_draft, ex3_target, {2}), 1 + 9. / 10, 1 + 9. / 10));
    CHECK(are(tokens(Independent{}, ex3_draft, ex3_target, {3}), 1 + 101. / 125, 1 + 101. / 125));
    CHECK(are(tokens(WithoutReplacement{}, ex3_draft, ex3_target, {3}), 2, 2));
    CHECK(are(tokens(GreedyChildren{}, ex3_draft, ex3_target, {3}), 2, 2));
    CHECK(are(tokens(Independent{}, draft, target, {2}), 1 + 5. / 8, 1 + 5. / 8));
    CHECK(are(tokens(WithoutReplacement{}, draft, target, {2}), 2, 2));
}

TEST_CASE("trees: the published tokens per round of recursive rejection and of traversal") {
    const auto wor = [](const FixedModel& draft, const FixedModel& target, const Branching& branching) {
        return tokens(WithoutReplacement{}, draft, target, branching);
    };
    CHECK(are(wor(toy_draft, toy_target, {2, 1}), 8. / 3, 25. / 9));
    CHECK(are(wor(ex3_draft, ex3_target, {2}), 91. / 50, 91. / 50));
    CHECK(are(wor(ex3_draft, ex3_target, {2, 1}), 1197. / 500, 1227. / 500));
    CHECK(are(wor(ex3_draft, ex3_target, {2, 2}), 6231. / 2500, 6321. / 2500));
    CHECK(are(wor(ex3_draft, ex3_target, {3, 1}), 27. / 10, 69. / 25));
}

TEST_CASE("trees with one child per node have the distribution of chains") {
    for (const Pair& pair : pairs(3))
        for_children([&](const std::string& kind, const auto& children) {
            if (kind == "top") return;
            const TreeDrafter tree(pair.draft, {1, 1, 1}, children);
            INFO(kind << ": " << pair.name);
            CHECK(total_variation(round_distribution(recursive, tree, pair.target, 3),
                                  round_distribution(TokenVerification{}, pair.draft, pair.target, 3)) < 1e-14);
            CHECK(total_variation(round_distribution(traversal, tree, pair.target, 3),
                                  round_distribution(BlockVerification{}, pair.draft, pair.target, 3)) < 1e-14);
        });
}

TEST_CASE("the random child of a greedy draft is worth judging first") {
    double first = 0, last = 0;
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
        const Remembered draft = ContextModel(3, 200 + seed), target = ContextModel(3, 300 + seed);
        std::map<std::vector<Token>, std::array<Token, 1>> kept;  // distributions point here
        const Drafted named_first{[&](const auto& text, Index, const auto& rng, const auto& add) {
            const Eigen::VectorXd& row = draft(text);
            const auto& named = kept[text] = {static_cast<Token>(argmax(row))};
            add(named[0], PointMass{});
            const Drawn rest = draw(rng(1), WithoutWeights(detail::as_row(row), named));
            add(rest.index, Sampled(row, named, rest.sum));
        }};
        const Seen other = see(recursive, named_first, target, 2);
        CHECK(other.distance < 1e-12);
        last += other.tokens;
        first += exact_tokens(recursive, TreeDrafter(draft, {2, 2}, GreedyChildren{}), target, 2);
    }
    CHECK(first > last + .1);
}
