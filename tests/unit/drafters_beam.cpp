// Trees of the model's likeliest paths, against searches over all paths.
#include <specsample/drafters/beam.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include <specsample/testing/models.hpp>

#include "support/catch.hpp"

using namespace specsample;
using specsample::testing::ContextModel;

namespace {

using Text = std::vector<Token>;

/// The paths of a draft tree's nodes.
std::set<Text> paths(const DraftTree<PointMass>& draft_tree) {
    std::set<Text> result;
    for (Index node = 0; node < draft_tree.size(); ++node) {
        Text text;
        draft_tree.append_path(node, text);
        result.insert(text);
    }
    return result;
}

template <class Draft>
DraftTree<PointMass> propose(Draft& draft, const Text& prefix, Index depth, std::span<const Token> stops, Index vocab) {
    DraftTree<PointMass> draft_tree;
    draft_tree.open(depth, stops, vocab);
    draft.propose(prefix, RoundRng(1, 0, std::ssize(prefix)), draft_tree);
    return draft_tree;
}

/// Probabilities of all texts of 1 .. depth tokens, and of the paths of a beam search of this width.
std::map<Text, double> searched(const ContextModel& model, const Text& prefix, Index depth, std::size_t width,
                                std::vector<Text>& beams) {
    std::map<Text, double> all;
    beams = {{}};
    for (Index level = 0; level < depth; ++level) {
        std::vector<std::pair<double, Text>> next;
        for (const Text& beam : beams) {
            Text text = prefix;
            text.insert(text.end(), beam.begin(), beam.end());
            const Eigen::VectorXd row = model(text);
            std::vector<std::pair<double, Token>> likely;
            for (Index id = 0; id < row.size(); ++id) likely.push_back({-row[id], static_cast<Token>(id)});
            std::ranges::sort(likely);
            for (const auto& [less, id] : std::span(likely).first(std::min(width, likely.size()))) {
                Text child = beam;
                child.push_back(id);
                const double prob = (beam.empty() ? 1 : all[beam]) * -less;
                all[child] = prob;
                next.push_back({-prob, child});
            }
        }
        std::ranges::stable_sort(next, {}, [](const auto& entry) { return entry.first; });
        beams.clear();
        for (const auto& [less, text] : std::span(next).first(std::min(width, next.size()))) beams.push_back(text);
    }
    return all;
}

}  // namespace

TEST_CASE("beams are those of a search, with what they share merged", "[draft]") {
    for (const std::uint64_t seed : {1u, 2u, 3u, 4u})
        for (const Index width : {1, 2, 3, 4})
            for (const Index depth : {1, 2, 4}) {
                INFO("seed " << seed << ", width " << width << ", depth " << depth);
                const ContextModel model(5, seed);
                const Text prefix{1, 2};
                BeamDrafter draft(model, width);
                const auto draft_tree = propose(draft, prefix, depth, {}, 5);
                std::vector<Text> beams;
                searched(model, prefix, depth, static_cast<std::size_t>(width), beams);
                std::set<Text> expected;
                for (const Text& beam : beams)
                    for (std::size_t size = 1; size <= beam.size(); ++size)
                        expected.insert({beam.begin(), beam.begin() + static_cast<Index>(size)});
                CHECK(paths(draft_tree) == expected);
                CHECK(draft_tree.size() == std::ssize(expected));  // no path twice
            }
}

TEST_CASE("a dynamic tree has the likeliest of the nodes that its search scored", "[draft]") {
    for (const std::uint64_t seed : {1u, 2u, 3u})
        for (const Index nodes : {1, 2, 5, 9, 1000}) {
            INFO("seed " << seed << ", nodes " << nodes);
            const ContextModel model(5, seed);
            const Text prefix{3};
            DynamicTreeDrafter draft(model, {.width = 3, .nodes = nodes});
            const auto draft_tree = propose(draft, prefix, 3, {}, 5);
            std::vector<Text> beams;
            const auto all = searched(model, prefix, 3, 3, beams);
            std::vector<double> probs;
            for (const auto& [text, prob] : all) probs.push_back(prob);
            std::ranges::sort(probs, std::greater<>());
            probs.resize(std::min(probs.size(), static_cast<std::size_t>(nodes)));
            std::vector<double> found;
            for (const Text& path : paths(draft_tree)) found.push_back(all.at(path));
            std::ranges::sort(found, std::greater<>());
            CHECK(found == probs);
            CHECK(draft_tree.size() == std::ssize(found));
        }
}

TEST_CASE("a dynamic tree has as many of the likeliest nodes as pay", "[draft]") {
    std::set<std::size_t> sizes;
    const auto check = [&](std::uint64_t seed, const auto& cost, const auto& cost_of) {
        const ContextModel model(5, seed);
        const Text prefix{3};
        DynamicTreeDrafter draft(model, {.width = 3, .nodes = 20}, cost);
        std::vector<double> probs, found;
        std::vector<Text> beams;
        const auto all = searched(model, prefix, 3, 3, beams);
        for (const auto& [text, prob] : all) probs.push_back(prob);
        std::ranges::sort(probs, std::greater<>());
        probs.resize(20);
        std::size_t best = 0;
        double tokens = 1, most = 1;
        for (std::size_t size = 1; size <= probs.size(); ++size) {
            tokens += probs[size - 1];
            const double speed = tokens / cost_of(static_cast<Index>(size + 1));
            if (speed >= most) most = speed, best = size;
        }
        probs.resize(best);
        for (const Text& path : paths(propose(draft, prefix, 3, {}, 5))) found.push_back(all.at(path));
        std::ranges::sort(found, std::greater<>());
        INFO("seed " << seed << ", size " << best);
        CHECK(found == probs);
        sizes.insert(best);
    };
    for (const std::uint64_t seed : {1u, 2u, 3u}) {
        for (const double slope : {0., .05, .1, .2, .5, 2.}) {
            const auto line = [slope](Index n) { return 1 + slope * static_cast<double>(n - 1); };
            check(seed, line, line);
            std::vector<double> times;
            for (Index n = 1; n <= 21; ++n) times.push_back(3 * line(n));
            check(seed, times, line);
        }
        // A pass takes as long for 2 to 5 positions, and a little longer for more.
        const auto steps = [](Index n) { return n == 1 ? 1 : n <= 5 ? 1.6 : 1.7; };
        check(seed, steps, steps);
    }
    CHECK((sizes.contains(0) && sizes.contains(20) && sizes.size() > 4));
}

TEST_CASE("paths as likely as their beginnings keep them", "[draft]") {
    const auto sure = [](std::span<const Token> prefix) {
        Eigen::VectorXd row = Eigen::VectorXd::Zero(4);
        row[std::ssize(prefix) % 4] = 1;
        return row;
    };
    DynamicTreeDrafter draft(sure, {.width = 4, .nodes = 3});
    const auto draft_tree = propose(draft, {}, 8, {}, 4);
    CHECK(paths(draft_tree) == std::set<Text>{{0}, {0, 1}, {0, 1, 2}});
}

TEST_CASE("nothing follows a stop token of a beam", "[draft]") {
    const auto model = [](std::span<const Token>) -> Eigen::VectorXd { return Eigen::Vector3d(.5, .3, .2); };
    const std::vector<Token> stops{0};
    BeamDrafter beams(model, 2);
    CHECK(paths(propose(beams, {}, 2, stops, 3)) == std::set<Text>{{0}, {1}, {1, 0}, {1, 1}});
    DynamicTreeDrafter tree(model, {.width = 2, .nodes = 3});
    CHECK(paths(propose(tree, {}, 3, stops, 3)) == std::set<Text>{{0}, {1}, {1, 0}});
}

TEST_CASE("a search that meets a bad row blames the draft", "[draft]") {
    BeamDrafter negative([](std::span<const Token>) -> Eigen::VectorXd { return Eigen::VectorXd::Constant(3, -1); }, 2);
    const auto nothing = propose(negative, {1}, 2, {}, 3);
    REQUIRE(nothing.fault());
    CHECK(nothing.fault()->side == Side::draft);
    CHECK(nothing.size() == 0);
}

TEST_CASE("a search ends where the model has nothing to offer", "[draft]") {
    BeamDrafter zeros([](std::span<const Token>) -> Eigen::VectorXd { return Eigen::VectorXd::Zero(3); }, 2);
    CHECK(propose(zeros, {1}, 2, {}, 3).size() == 0);
    CHECK_FALSE(propose(zeros, {1}, 2, {}, 3).fault());
    BeamDrafter large([](std::span<const Token>) -> Eigen::VectorXd { return Eigen::VectorXd::Constant(5, .2); }, 5);
    CHECK(paths(propose(large, {1}, 1, {}, 3)) == std::set<Text>{{0}, {1}, {2}});
    const auto ends_after_one = [](std::span<const Token> text) -> Eigen::VectorXd {
        return text.back() == 1 ? Eigen::VectorXd() : Eigen::VectorXd(Eigen::Vector3d(.3, .5, .2));
    };
    BeamDrafter beams(ends_after_one, 2);
    CHECK(paths(propose(beams, {0}, 2, {}, 3)) == std::set<Text>{{0}, {1}, {0, 0}, {0, 1}});
    DynamicTreeDrafter tree(ends_after_one, {.width = 2, .nodes = 9});
    CHECK(paths(propose(tree, {0}, 2, {}, 3)) == std::set<Text>{{0}, {1}, {0, 0}, {0, 1}});
    BeamDrafter draft(ContextModel(3, 1), 2);
    CHECK(propose(draft, {1}, 0, {}, 3).size() == 0);
}

TEST_CASE("a search forgets the one before", "[draft]") {
    const ContextModel model(4, 3);
    BeamDrafter beams(model, 3);
    DynamicTreeDrafter tree(model, {.width = 3, .nodes = 7});
    Text prefix;
    for (const Index depth : {4, 1, 3, 2, 0, 4}) {
        prefix.push_back(static_cast<Token>(depth % 4));
        CAPTURE(depth);
        BeamDrafter fresh_beams(model, 3);
        DynamicTreeDrafter fresh_tree(model, {.width = 3, .nodes = 7});
        CHECK(paths(propose(beams, prefix, depth, {}, 4)) == paths(propose(fresh_beams, prefix, depth, {}, 4)));
        CHECK(paths(propose(tree, prefix, depth, {}, 4)) == paths(propose(fresh_tree, prefix, depth, {}, 4)));
    }
}

TEST_CASE("sizes of searches are checked", "[draft]") {
    const ContextModel model(3, 1);
    CHECK_THROWS_WITH(BeamDrafter(model, 0), ContainsSubstring("BeamDrafter: width is 0, but must be at least 1"));
    CHECK_THROWS_WITH(BeamDrafter(model, -1), ContainsSubstring("width is -1"));
    CHECK_THROWS_WITH(DynamicTreeDrafter(model, {.nodes = 0}), ContainsSubstring("nodes is 0, but must be at least 1"));
    CHECK_THROWS_WITH(DynamicTreeDrafter(model, {.nodes = 4}, std::vector{1., 1.1, 1.2, 1.3}),
                      ContainsSubstring("DynamicTreeDrafter: size of the verify_cost table is 4, but must be at least "
                                        "nodes + 1"));
    DynamicTreeDrafter free(model, {.nodes = 4}, [](Index) { return 0.; });
    CHECK_THROWS_WITH(propose(free, {}, 2, {}, 3),
                      ContainsSubstring("verify_cost is 0, but must be finite and above 0"));
}
