// Overlaps of drafters: what is recorded, what a drafter gains, and that every round scores all drafters by one row.
#include <specsample/drafters/choosing.hpp>

#include <cmath>
#include <limits>

#include <specsample/drafters/lookup.hpp>
#include <specsample/drafters/tree.hpp>
#include <specsample/sampler.hpp>
#include <specsample/testing.hpp>

#include "support/catch.hpp"

using namespace specsample;
using choosing::BestOf;
using choosing::Overlaps;
using choosing::Watched;

namespace {

using Text = std::span<const Token>;

/// A drafter that names the same token at every place, and counts how often it was asked for a whole draft.
struct Naming {
    using Distribution = PointMass;
    Token token;
    std::vector<int>* drafts;
    std::size_t number;

    template <class Source, class L>
    void propose(Text, const Source&, DraftTree<L>& draft_tree) {
        if (draft_tree.depth_limit() > 1) ++(*drafts)[number];
        if (token >= 0) draft_tree.add(root_node, token, PointMass{});
    }
};

}  // namespace

TEST_CASE("a score is a mean in which a number counts half after a half-life") {
    Overlaps overlaps({.half_life = 2});
    CHECK(overlaps.overlap(0) == 1);  // nothing is known: it is tried
    overlaps.record(0, .25);
    CHECK(overlaps.overlap(0) == .25);
    overlaps.record(0, .5);
    overlaps.record(0, .75);
    const double half = std::exp2(-.5);
    CHECK(overlaps.overlap(0) == Approx((.25 * .5 + .5 * half + .75) / (.5 + half + 1)).epsilon(1e-14));
    CHECK(overlaps.overlap(1) == 1);
    overlaps.record(3, -1e-17);
    CHECK(overlaps.overlap(3) == 0);
    overlaps.record(2, 1 + 1e-7);
    CHECK(overlaps.overlap(2) == 1);
    overlaps.record(3, std::nan(""));
    CHECK(overlaps.overlap(3) == 0);
    overlaps.clear();
    CHECK(overlaps.overlap(0) == 1);
}

TEST_CASE("a gain is the expected tokens of a round over what it costs") {
    Overlaps overlaps({.lookahead = 3, .costs = {.5}});
    for (const Index drafter : {0, 1}) overlaps.record(drafter, .5);
    CHECK(overlaps.gain(1) == Approx(1 + .5 + .25 + .125).epsilon(1e-14));
    CHECK(overlaps.gain(0) == Approx(1.875 / 2.5).epsilon(1e-14));
    CHECK(overlaps.gain(7) == 4);
}

TEST_CASE("overlaps refuse what they cannot use") {
    CHECK_THROWS_WITH(Overlaps({.half_life = 0}),
                      "specsample::choosing::Overlaps: half_life is 0, but must be a finite number above 0");
    CHECK_THROWS_WITH(Overlaps({.half_life = std::numeric_limits<double>::infinity()}),
                      "specsample::choosing::Overlaps: half_life is inf, but must be a finite number above 0");
    CHECK_THROWS_WITH(Overlaps({.lookahead = 0}),
                      "specsample::choosing::Overlaps: lookahead is 0, but must be at least 1");
    CHECK_THROWS_WITH(Overlaps({.costs = {.1, -1}}),
                      "specsample::choosing::Overlaps: a cost is -1, but must be a finite number >= 0");
    Overlaps overlaps;
    CHECK_THROWS_WITH(overlaps.record(-1, .5),
                      "specsample::choosing::Overlaps::record: drafter is -1, but must be at least 0");
}

TEST_CASE("every round scores all drafters by the row that the target computes for it") {
    const Eigen::Vector4d p(.5, .25, .125, .125), q(.125, .25, .5, .125);
    const auto target = [&](Text) { return p; };
    const auto model = [&](Text) { return q; };
    std::vector<int> drafts(2);
    Overlaps overlaps;
    Sampler sampler(BestOf(overlaps, Naming{2, &drafts, 0}, model, TreeDrafter(model, {3})), Watched(target, overlaps),
                    {.lookahead = 2, .seed = 1}, RecursiveRejection{});
    std::vector<Token> text;
    static_cast<void>(sampler.step(text));
    CHECK(overlaps.overlap(0) == .125);
    CHECK(overlaps.overlap(1) == .125 + .25 + .125 + .125);
    CHECK(overlaps.overlap(2) == overlaps.overlap(1));
}

TEST_CASE("targets are watched by each of their calls") {
    using specsample::testing::ContextModel;
    const ContextModel model(3, 5), other(3, 6);
    const std::vector<Token> text{2, 0, 1};
    const auto one = [&](Text prefix) { return model(prefix); };
    const auto many = [&](Text prefix, Index count) {
        std::vector<Eigen::VectorXd> rows;
        for (Index i = count; i-- > 0;) rows.push_back(model(prefix.first(prefix.size() - std::size_t(i))));
        return rows;
    };
    const auto tree = [&](Text prefix, Tree<Token, Index> drafted) {
        return std::vector<Eigen::VectorXd>(drafted.tokens.size() + 1, model(prefix));
    };
    const auto check = [&](auto&& ask) {
        Overlaps overlaps;
        BestOf drafter(overlaps, ChainDrafter([&](Text prefix) { return other(prefix); }), LookupDrafter());
        DraftTree<typename decltype(drafter)::Distribution> draft;
        draft.open(2, {}, 3);
        drafter.propose(text, RoundRng(1, 0, 3), draft);
        ask(overlaps);
        CHECK(overlaps.overlap(0) == Approx(model(text).cwiseMin(other(text)).sum()).epsilon(1e-6));  // kept as floats
        CHECK(overlaps.overlap(1) == 1);  // it proposes nothing
    };
    std::vector<Token> longer = text;
    longer.insert(longer.end(), {0, 2});
    check([&](Overlaps& overlaps) { CHECK(Watched(one, overlaps)(text) == model(text)); });
    check([&](Overlaps& overlaps) { CHECK(Watched(many, overlaps)(longer, 3).size() == 3); });
    const std::vector<Token> tokens{0, 1};
    const std::vector<Index> parents{root_node, root_node};
    check([&](Overlaps& overlaps) { CHECK(Watched(tree, overlaps)(text, {tokens, parents}).size() == 3); });
    // Rows that do not say how many they are.
    struct Rows {
        Eigen::VectorXd first;
        const Eigen::VectorXd& operator[](std::size_t) const { return first; }
    };
    const auto unsized = [&](Text prefix, Index count) {
        return Rows{model(prefix.first(prefix.size() - std::size_t(count - 1)))};
    };
    check([&](Overlaps& overlaps) { CHECK(Watched(unsized, overlaps)(longer, 3)[0] == model(text)); });
    // A second row after the prefix scores nothing.
    check([&](Overlaps& overlaps) {
        Watched watched(one, overlaps);
        static_cast<void>(watched(text));
        overlaps.clear();
        overlaps.record(0, model(text).cwiseMin(other(text)).sum());
        static_cast<void>(watched(text));
    });
}

TEST_CASE("a row after another prefix scores nothing") {
    const auto target = [](Text) { return Eigen::Vector2d(.5, .5); };
    std::vector<int> drafts(1);
    Overlaps overlaps;
    BestOf drafter(overlaps, Naming{0, &drafts, 0});
    Watched watched(target, overlaps);
    DraftTree<PointMass> draft;
    draft.open(2, {}, 2);
    drafter.propose(std::vector<Token>{1, 0, 1}, RoundRng(1, 0, 3), draft);
    static_cast<void>(watched(std::vector<Token>{1, 0, 1, 0}));
    CHECK(overlaps.overlap(0) == 1);
    static_cast<void>(watched(std::vector<Token>{1, 0, 1}));
    CHECK(overlaps.overlap(0) == 1);  // the first row of a round is the one that follows its text
}

TEST_CASE("the drafter with the best scores drafts, and the next best where it proposes nothing") {
    const Eigen::Vector4d p(.5, .25, .125, .125);
    const auto target = [&](Text) { return p; };
    std::vector<int> drafts(3);
    Overlaps overlaps;
    Sampler sampler(BestOf(overlaps, Naming{-1, &drafts, 0}, Naming{3, &drafts, 1}, Naming{0, &drafts, 2}),
                    Watched(target, overlaps), {.lookahead = 2, .seed = 1});
    std::vector<Token> text;
    for (int round = 0; round < 5; ++round) static_cast<void>(sampler.step(text));
    CHECK(drafts == std::vector<int>{5, 1, 4});  // the first one proposes nothing, and the second is tried once
    CHECK(overlaps.overlap(1) == Approx(.125));
    CHECK(overlaps.overlap(2) == Approx(.5));
}
