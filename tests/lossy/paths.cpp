// Rules that judge whole paths of a token tree, and thresholds over siblings.
#include "exactness/cases.hpp"
#include "support/catch.hpp"

#include <specsample/lossy.hpp>
#include <specsample/theory.hpp>

using namespace cases;
using namespace specsample::theory;
using namespace specsample::lossy;

namespace {

/// A tree with its target rows; all tokens are point masses.
struct Drafted {
    std::vector<Token> tokens;
    std::vector<Index> parents;
    std::vector<Eigen::VectorXd> rows;

    template <class Rule>
    Round judge(const Rule& rule, const auto& rng, const RoundLimits& limits = {}) const {
        static Workspace workspace;
        return verify(Tree(tokens, parents), PointMass{}, rows, rule, rng, limits, workspace);
    }
    /// The accepted path if every random number is .5.
    template <class Rule>
    std::vector<Index> path(const Rule& rule, const RoundLimits& limits = {}) const {
        const Round round = judge(rule, ScriptedRng().set(Purpose::accept, 0, .5).set(Purpose::last, 0, .5), limits);
        CHECK(round);
        return {round.path.begin(), round.path.end()};
    }
};

using Nodes = std::vector<Index>;

/// Two first tokens, the second with two children, the first with one:  0 -> 2,  1 -> 3, 4.
Drafted two_levels() {
    return {{0, 1, 0, 1, 0},
            {-1, -1, 0, 1, 1},
            {row({.6, .4}), row({.02, .98}), row({.3, .7}), row({.5, .5}), row({.5, .5}), row({.5, .5})}};
}

}  // namespace

TEST_CASE("typical acceptance keeps the longest path, the likelier of two, the first of equals") {
    const TypicalAcceptance rule{.epsilon = .09, .delta = .3};
    Drafted draft = two_levels();
    CHECK(draft.path(rule) == Nodes{1, 3});  // node 2 has .02; of 3 and 4 the likelier
    draft.rows[2] = row({.5, .5});
    CHECK(draft.path(rule) == Nodes{1, 3});
    draft.rows[1] = row({.5, .5});
    CHECK(draft.path(rule) == Nodes{0, 2});  // .6 * .5 against .4 * .5
    draft.rows[2] = row({.01, .99});
    CHECK(draft.path(rule) == Nodes{1, 3});  // .4 * .99
    draft.rows[0] = row({.5, .5});
    draft.rows[2] = draft.rows[1];
    CHECK(draft.path(rule) == Nodes{0, 2});  // equals
}

TEST_CASE("where no first token is accepted the round is one token from p") {
    Drafted draft = two_levels();
    draft.tokens = {0, 0, 0, 1, 0};
    draft.rows[0] = row({.05, .95});
    CHECK(draft.path(TypicalAcceptance{}).empty());
    const Round round = draft.judge(TypicalAcceptance{}, ScriptedRng().set(Purpose::last, 0, .01));
    CHECK(round.last == LastToken::recovered);
    CHECK(round.tokens[0] == 0);
    CHECK(round.evaluated == 1);
}

TEST_CASE("a path that ends in a stop token has no last token, and limits cut it") {
    const Drafted draft = two_levels();
    const std::vector<Token> stops{1};
    const Round stopped =
        draft.judge(TypicalAcceptance{}, ScriptedRng().set(Purpose::last, 0, .5), {.stop_tokens = stops});
    CHECK(stopped.last == LastToken::recovered);  // 0 alone is likelier than the stop token, and has a last token
    CHECK(Nodes(stopped.path.begin(), stopped.path.end()) == Nodes{0});
    Drafted certain = draft;
    certain.rows[0] = row({.2, .8});
    const Round ended = certain.judge(TypicalAcceptance{}, ScriptedRng(), {.stop_tokens = stops});
    CHECK(ended.last == LastToken::stopped);
    CHECK(Nodes(ended.path.begin(), ended.path.end()) == Nodes{1});
    CHECK(draft.path(TypicalAcceptance{}, {.max_tokens = 1}) == Nodes{1});  // the beginning of the longer round
}

TEST_CASE("typical acceptance reads no row below a token that it does not accept") {
    Drafted draft = two_levels();
    std::vector<Index> asked;
    const auto rows = [&](Index i) -> const Eigen::VectorXd& {
        asked.push_back(i);
        return draft.rows[static_cast<std::size_t>(i)];
    };
    draft.rows[0] = row({.96, .04});
    Workspace workspace;
    (void)verify(Tree(draft.tokens, draft.parents), PointMass{}, rows, TypicalAcceptance{},
                 ScriptedRng().set(Purpose::last, 0, .5), {}, workspace);
    CHECK(asked == std::vector<Index>{0, 1, 1});  // that of the last token once more
}

TEST_CASE("the tutorial's three paths: the second is chosen") {
    // Mean log-probabilities -2.1, -1.0 and -3.2 over two tokens each.
    const double first = std::exp(-2.1), second = std::exp(-1.0), third = std::exp(-3.2);
    Drafted draft{{0, 1, 2, 0, 0, 0}, {-1, -1, -1, 0, 1, 2}, {}};
    draft.rows.assign(7, row({1, 0, 0, 0}));
    draft.rows[0] = row({first, second, third, 1 - first - second - third});
    draft.rows[1] = row({first, 1 - first, 0, 0});
    draft.rows[2] = row({second, 1 - second, 0, 0});
    draft.rows[3] = row({third, 1 - third, 0, 0});
    for (const auto score : {geometric_mean, arithmetic_mean}) {
        CHECK(draft.path(PathHeuristic{.threshold = .36, .score = score}) == Nodes{1, 4});
        CHECK(draft.path(PathHeuristic{.threshold = .37, .score = score}).empty());
    }
    CHECK(draft.path(PathHeuristic{.threshold = .13, .score = product}) == Nodes{1, 4});  // exp(-2) = .135
    CHECK(draft.path(PathHeuristic{.threshold = .14, .score = product}) == Nodes{1});
}

TEST_CASE("a path that does not pass is kept as far as it does") {
    // Token probabilities .9, .2, .9: geometric means .9, .42, .55; arithmetic .9, .55, .67; products .9, .18, .16.
    const Drafted draft{{0, 0, 0}, {-1, 0, 1}, {row({.9, .1}), row({.2, .8}), row({.9, .1}), row({.5, .5})}};
    CHECK(draft.path(PathHeuristic{.threshold = .5}) == Nodes{0, 1, 2});  // the whole, though .42 on its way
    CHECK(draft.path(PathHeuristic{.threshold = .6}) == Nodes{0});
    CHECK(draft.path(PathHeuristic{.threshold = .6, .score = arithmetic_mean}) == Nodes{0, 1, 2});
    CHECK(draft.path(PathHeuristic{.threshold = .17, .score = product}) == Nodes{0, 1});
    CHECK(draft.path(PathHeuristic{.threshold = .95}).empty());
}

TEST_CASE("of the top paths the first that passes whole is taken, else the longest prefix") {
    // Paths .5 * .3 and .4 * .35 and .1 * 1; geometric means .387, .374, .316.
    const Drafted draft{{0, 1, 2, 0, 0, 0},
                        {-1, -1, -1, 0, 1, 2},
                        {row({.5, .4, .1}), row({.3, .7, 0}), row({.35, .65, 0}), row({1, 0, 0}), row({1, 0, 0}),
                         row({1, 0, 0}), row({1, 0, 0})}};
    CHECK(draft.path(PathHeuristic{.threshold = .38, .paths = Paths::top, .k = 3}) == Nodes{0, 3});
    const auto last = [](const PathSums& path) { return path.sum > 1.05 ? 1.0 : 0.0; };  // .8, .75, 1.1
    CHECK(draft.path(PathHeuristic{.threshold = .5, .score = last, .paths = Paths::top, .k = 2}).empty());
    CHECK(draft.path(PathHeuristic{.threshold = .5, .score = last, .paths = Paths::top, .k = 3}) == Nodes{2, 5});
    CHECK(draft.path(PathHeuristic{.threshold = .5, .score = last, .paths = Paths::top, .k = 99}) == Nodes{2, 5});
    CHECK(draft.path(PathHeuristic{.threshold = .45, .paths = Paths::top, .k = 2}) == Nodes{0});
}

TEST_CASE("a sampled path is drawn in proportion to its product, and never leaves the tree") {
    Drafted draft = two_levels();
    draft.rows[1] = row({.5, .5});
    std::map<Nodes, double> distribution;
    Enumerator().run([&](Enumerator& paths) {
        const Round round = draft.judge(PathHeuristic{.threshold = 0, .paths = Paths::sampled}, EnumeratedRng(paths));
        distribution[{round.path.begin(), round.path.end()}] += paths.probability();
    });
    const double all = .6 * .5 + .4 * .7 + .4 * .3;
    CHECK(distribution.size() == 3);
    CHECK(distribution[{0, 2}] == Approx(.3 / all));
    CHECK(distribution[{1, 3}] == Approx(.28 / all));
    CHECK(distribution[{1, 4}] == Approx(.12 / all));
}

TEST_CASE("paths through an impossible token are not looked at") {
    Drafted draft = two_levels();
    draft.rows[1] = row({0, 1});
    draft.rows[2] = row({0, 1});
    for (const Paths paths : {Paths::best, Paths::top}) {
        CHECK(draft.path(PathHeuristic{.threshold = 0, .paths = paths, .k = 4}) == Nodes{1, 3});
    }
    draft.tokens[3] = 0;
    for (const Paths paths : {Paths::best, Paths::top, Paths::sampled})
        CHECK(draft.path(PathHeuristic{.threshold = 0, .paths = paths}).empty());
}

TEST_CASE("thresholds at the children of a node decide by one uniform") {
    const auto enumerated = [](const TreeThresholds& rule, const std::vector<Token>& children) {
        const Drafted draft{children, Nodes(children.size(), -1),
                            std::vector<Eigen::VectorXd>(children.size() + 1, ex3_target.row)};
        Eigen::ArrayXd distribution = Eigen::ArrayXd::Zero(3);
        Enumerator().run([&](Enumerator& paths) {
            const Token token = draft.judge(rule, EnumeratedRng(paths)).tokens[0];
            distribution[token] += paths.probability();
        });
        return distribution;
    };
    const std::vector<Token> children{1, 2};
    CHECK((enumerated({.accumulated = .8}, children) - row({3. / 8, 3. / 8, 1. / 4}).array()).abs().maxCoeff() < 1e-14);
    for (const std::vector<Token>& some : {std::vector<Token>{}, {0}, {2}, {0, 1}, {2, 1}, {2, 0, 1}, {0, 1, 2}})
        for (const double single : {.2, .4, 1.})
            for (const double accumulated : {.3, .8, 1.}) {
                const TreeThresholds rule{.single = single, .accumulated = accumulated};
                CHECK((enumerated(rule, some) - rule.distribution_of(ex3_target.row, some)).abs().maxCoeff() < 1e-14);
            }
    // A sibling that repeats a token adds nothing to it.
    CHECK((enumerated({.accumulated = .8}, {1, 1, 2}) - enumerated({.accumulated = .8}, {1, 2})).abs().maxCoeff() <
          1e-14);
    CHECK((enumerated({}, {1, 1, 2}) - ex3_target.row.array()).abs().maxCoeff() < 1e-14);
}
