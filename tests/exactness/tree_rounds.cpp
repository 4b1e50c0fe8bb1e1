// verify on the caller's trees: the order of nodes, invalid trees, the path, stop tokens and budgets.
#include <array>
#include <functional>

#include <specsample/theory.hpp>
#include <specsample/tree.hpp>

#include "exactness/trees.hpp"
#include "support/catch.hpp"
#include "support/rules.hpp"

using namespace cases;
using namespace specsample::theory;

namespace {

/// A tree with a distribution and a token per node, and the model of the rows of its nodes.
struct Given {
    std::vector<Token> tokens;
    std::vector<int> parents;
    std::vector<Index> depths = {};

    std::vector<Token> path(Index node) const {
        std::vector<Token> text;
        for (; node != root_node; node = parents[static_cast<std::size_t>(node)])
            text.insert(text.begin(), tokens[static_cast<std::size_t>(node)]);
        return text;
    }
};

// (2,2) with a repeated token: {0 {1, 2}, 2 {2, 0}}, breadth first and depth first.
const Given breadth_first{{0, 2, 1, 2, 2, 0}, {-1, -1, 0, 0, 1, 1}};
const Given depth_first{{0, 1, 2, 2, 2, 0}, {-1, 0, 0, -1, 3, 3}};

/// A row that is rotated by the last token. With these two, every decision of the trees above can go either way.
Remembered turned(const Eigen::Vector3d& row) {
    return [row](std::span<const Token> prefix) -> Eigen::VectorXd {
        Eigen::VectorXd result(3);
        for (Index i = 0; i < 3; ++i) result[i] = row[(i + 3 - (prefix.empty() ? 0 : prefix.back() + 1)) % 3];
        return result;
    };
}
const Remembered target = turned({.2, .5, .3}), drafter = turned({.45, .28, .27});

/// Children are judged as drawn from the drafter's row, each from the whole of it.
struct Distributions {
    const Given& given;
    auto operator()(Index node) const {
        return Sampled(drafter(given.path(given.parents[static_cast<std::size_t>(node)])));
    }
};
struct TargetRows {
    const Given& given;
    const Eigen::VectorXd& operator()(Index row) const { return target(given.path(row - 1)); }
};

/// Call f(round, paths) for every round of a given tree.
template <class Rule>
void for_given(const Rule& rule, const Given& given, const RoundLimits& limits,
               const std::function<void(const Round& round, const Enumerator& paths)>& f) {
    Workspace workspace;
    Enumerator().run([&](Enumerator& paths) {
        f(verify(Tree{given.tokens, given.parents}, rules::drafted_for(rule, Distributions{given}), TargetRows{given},
                 rule, EnumeratedRng(paths), limits, workspace),
          paths);
    });
}

template <class Rule>
TextDistribution given_distribution(const Rule& rule, const Given& given, const RoundLimits& limits = {}) {
    TextDistribution distribution;
    for_given(rule, given, limits, [&](const Round& round, const Enumerator& paths) {
        distribution[{round.tokens.begin(), round.tokens.end()}] += paths.probability();
    });
    return distribution;
}

/// The error of verify for these parents.
std::string refusal(const std::vector<Token>& tokens, const std::vector<int>& parents) {
    Workspace workspace;
    const Eigen::VectorXd p = row({.5, .3, .2});
    const auto rows = [&](Index) -> const Eigen::VectorXd& { return p; };
    try {
        (void)verify(Tree{tokens, parents}, PointMass{}, rows, TraversalVerification{}, RoundRng(1, 0, 0), {},
                     workspace);
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEMPLATE_TEST_CASE("a tree has one distribution, whether its nodes come breadth first or depth first", "",
                   RecursiveRejection, TraversalVerification, SampleMatch, GumbelMatch, GreedyMatch) {
    const TextDistribution distribution = given_distribution(TestType{}, breadth_first);
    CHECK(distribution.size() >= (std::same_as<TestType, GreedyMatch> ? 1u : 7u));
    CHECK(total_variation(distribution, given_distribution(TestType{}, depth_first)) < 1e-15);
}

TEMPLATE_TEST_CASE("the path of a round names the nodes of its accepted tokens, from the root on", "",
                   RecursiveRejection, TraversalVerification, SampleMatch) {
    for (const Given& given : {breadth_first, depth_first})
        for_given(TestType{}, given, {}, [&](const Round& round, const Enumerator&) {
            REQUIRE(std::ssize(round.path) == round.accepted);
            Index parent = root_node;
            for (std::size_t i = 0; i < round.path.size(); ++i) {
                const auto node = static_cast<std::size_t>(round.path[i]);
                CHECK(given.parents[node] == parent);
                CHECK(given.tokens[node] == round.tokens[i]);
                parent = round.path[i];
            }
            CHECK(round.tokens.size() == round.path.size() + 1);
            CHECK(round.proposed == 6);
        });
}

TEST_CASE("a parent must be the prefix or an earlier node, and every token has one") {
    CHECK_THAT(refusal({0, 1}, {-1, 1}), ContainsSubstring("parents[1] is 1, but must be -1 or a node before 1"));
    CHECK_THAT(refusal({0, 1}, {-1, 2}), ContainsSubstring("parents[1] is 2, but must be -1 or a node before 1"));
    CHECK_THAT(refusal({0, 1}, {-2, 0}), ContainsSubstring("parents[0] is -2, but must be -1 or a node before 0"));
    CHECK_THAT(refusal({0, 1}, {0, 0}), ContainsSubstring("parents[0] is 0, but must be -1 or a node before 0"));
    CHECK_THAT(refusal({0, 1}, {-1}),
               ContainsSubstring("the number of tree.parents is 1, but must be that of tree.tokens, 2"));
    CHECK_THAT(refusal({}, {-1}), ContainsSubstring("the number of tree.parents is 1"));
    CHECK(refusal({0, 1}, {-1, -1}).empty());
    CHECK(refusal({}, {}).empty());
}

TEMPLATE_TEST_CASE("parents and ids may be of any integral type", "", short, long, std::uint8_t) {
    // An unsigned parent cannot name the prefix, so only a draft without tokens has such parents.
    const bool unsigned_parent = std::is_unsigned_v<TestType>;
    const std::vector<TestType> parents =
        unsigned_parent ? std::vector<TestType>{} : std::vector<TestType>{TestType(-1)};
    const std::vector<TestType> tokens(parents.size(), TestType(2));
    const Eigen::VectorXd p = row({0, 0, 1});
    const auto rows = [&](Index) -> const Eigen::VectorXd& { return p; };
    Workspace workspace;
    const Round round =
        verify(Tree{tokens, parents}, PointMass{}, rows, RecursiveRejection{}, RoundRng(1, 0, 0), {}, workspace);
    CHECK(round.tokens.size() == tokens.size() + 1);
}

TEMPLATE_TEST_CASE("a drafted stop token in a tree ends the round where it is accepted, and its row is not asked for",
                   "", RecursiveRejection, TraversalVerification, SampleMatch, GumbelMatch) {
    const std::array<Token, 1> stops{2};
    const Given leaves{{0, 2, 1, 2}, {-1, -1, 0, 0}};  // stop tokens are leaves
    Workspace workspace;
    TextDistribution distribution;
    bool stopped = false;
    Enumerator().run([&](Enumerator& paths) {
        const Distributions distributions{leaves};
        const auto rows = [&](Index row) -> const Eigen::VectorXd& {
            if (row > 0 && leaves.tokens[static_cast<std::size_t>(row - 1)] == 2) FAIL("the row after a stop token");
            return target(leaves.path(row - 1));
        };
        const Round round = verify(Tree{leaves.tokens, leaves.parents}, rules::drafted_for(TestType{}, distributions),
                                   rows, TestType{}, EnumeratedRng(paths), {.stop_tokens = stops}, workspace);
        if (round.last == LastToken::stopped) {
            stopped = true;
            CHECK(round.tokens.back() == 2);
            CHECK(std::ssize(round.tokens) == round.accepted);
        }
        distribution[{round.tokens.begin(), round.tokens.end()}] += paths.probability();
    });
    CHECK(stopped);
    // As the same tree without stop tokens, cut after the first one.
    TextDistribution cut;
    for (const auto& [text, probability] : given_distribution(TestType{}, leaves)) {
        const auto stop = std::ranges::find(text, 2);
        cut[{text.begin(), stop == text.end() ? stop : stop + 1}] += probability;
    }
    CHECK(total_variation(distribution, cut) < 1e-14);
}

TEMPLATE_TEST_CASE("a budget cuts a round of a tree, and changes nothing before the cut", "", RecursiveRejection,
                   TraversalVerification, SampleMatch, GumbelMatch) {
    const TextDistribution whole = given_distribution(TestType{}, breadth_first);
    for (Index budget = 1; budget <= 3; ++budget) {
        TextDistribution cut;
        for (const auto& [text, probability] : whole)
            cut[{text.begin(), text.begin() + std::min(budget, std::ssize(text))}] += probability;
        CHECK(total_variation(given_distribution(TestType{}, breadth_first, {.max_tokens = budget}), cut) < 1e-14);
    }
}

TEMPLATE_TEST_CASE("trees: a prompt, a budget and stop tokens leave the distribution alone", "", RecursiveRejection,
                   TraversalVerification, SampleMatch, GumbelMatch) {
    const std::vector<Token> prompt{2, 0, 1};
    const TextDistribution expected = joint_distribution(target, 3, prompt);
    const TreeDrafter tree(drafter, {2, 2});
    const auto distance = [&](const Limits& limits) {
        return total_variation(exact_distribution(TestType{}, tree, target, 2, prompt, limits), expected);
    };
    CHECK(distance({}) < 1e-12);
    for (Index budget = 1; budget <= 3; ++budget) CHECK(distance({.max_new_tokens = budget}) < 1e-12);
    for (Index length = 4; length <= 7; ++length) CHECK(distance({.max_length = length}) < 1e-12);
    CHECK(distance({.stop_tokens = {1}}) < 1e-12);
    CHECK(distance({.stop_tokens = {0, 2}}) < 1e-12);
}

TEMPLATE_TEST_CASE("trees: a text with a smaller budget is the beginning of the longer one", "", RecursiveRejection,
                   TraversalVerification, SampleMatch, GumbelMatch) {
    Sampler sampler(TreeDrafter(ContextModel(4, 71), {2, 2, 1}), ContextModel(4, 72), {.lookahead = 3, .seed = 9},
                    TestType{});
    for (std::uint64_t request = 0; request < 30; ++request) {
        const std::vector<Token> whole = sampler.generate({1}, {.max_new_tokens = 12, .request = request});
        for (Index budget = 0; budget <= 12; ++budget) {
            const std::vector<Token> part = sampler.generate({1}, {.max_new_tokens = budget, .request = request});
            REQUIRE(part == std::vector<Token>(whole.begin(), whole.begin() + budget));
        }
    }
}
