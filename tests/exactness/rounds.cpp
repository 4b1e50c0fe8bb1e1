// Many rounds with the keyed RNG. Random numbers that two rounds share cannot be seen by enumerating one round.
#include <array>

#include <specsample/theory.hpp>

#include "exactness/trees.hpp"
#include "support/catch.hpp"

using namespace cases;
using namespace specsample::theory;
using namespace specsample::children;

namespace {

/// The bug: random numbers keyed by absolute position, so that a later round uses those of an earlier one again. A
/// node's position is the round's start plus its depth; `place` tells the nodes of one depth apart.
class PositionRng {
  public:
    struct Node {
        Index depth = 0, place = 0;
    };

    PositionRng(std::uint64_t request, Index start, std::span<const Node> nodes)
        : request_(request), start_(start), nodes_(nodes) {}

    Rng at(Purpose purpose, Index node) const {
        // The position of the last token is not known here: its number is fresh, which only makes the bug smaller.
        const Node at = purpose == Purpose::last ? Node{} : nodes_[static_cast<std::size_t>(node)];
        return Rng(
            {.seed = 4, .request = request_, .position = start_ + at.depth, .purpose = purpose, .node = at.place});
    }

  private:
    std::uint64_t request_;
    Index start_;
    std::span<const Node> nodes_;
};

constexpr std::array<PositionRng::Node, 3> chain{{{0, 0}, {1, 0}, {2, 0}}};
/// Of TreeDrafter(.., {2, 2}): the root's children, then those of the first and of the second.
constexpr std::array<PositionRng::Node, 6> bushes{{{0, 0}, {0, 1}, {1, 0}, {1, 1}, {1, 2}, {1, 3}}};

/// Counts of texts of `length` tokens, over rounds with PositionRng.
template <class Rule, class Draft, class Target>
TextDistribution position_keyed(const Rule& rule, const Draft& draft, const Target& target, Index lookahead,
                                Index length, std::span<const PositionRng::Node> nodes, int samples) {
    Sampler sampler(draft, target, {.lookahead = lookahead}, rule);
    TextDistribution observed;
    std::vector<Token> text;
    for (int request = 0; request < samples; ++request) {
        text.clear();
        while (std::ssize(text) < length) {
            const PositionRng rng(static_cast<std::uint64_t>(request), std::ssize(text), nodes);
            const Round round = sampler.step(text, {}, rng);
            text.insert(text.end(), round.tokens.begin(), round.tokens.end());
        }
        text.resize(static_cast<std::size_t>(length));
        ++observed[text];
    }
    return observed;
}

TextDistribution frequencies(TextDistribution counts, int samples) {
    for (auto& [text, count] : counts) count /= samples;
    return counts;
}

/// Always drafts token 0: the greedy draft of the toy.
constexpr auto first_token = [](std::span<const Token>) { return Token{0}; };

}  // namespace

// Fixed seeds; every statistic has a false-alarm probability of 1e-9, and there are some sixty.
TEMPLATE_TEST_CASE("many rounds of the keyed source have the target's joint distribution, on chains", "",
                   BlockVerification, SampleMatch, GumbelMatch) {
    constexpr TestType rule;
    for (const Index lookahead : {0, 1, 2, 3}) {
        const ChiSquare result = rounds(rule, ContextModel(3, 31), ContextModel(3, 32), lookahead, 4, 40000);
        INFO("lookahead " << lookahead << ": " << result.statistic << " of " << result.bound);
        CHECK(result.holds());
    }
    CHECK(rounds(rule, ex3_draft, ex3_target, 2, 3, 40000).holds());
    CHECK(rounds(rule, toy_draft, toy_target, 2, 5, 40000).holds());
    CHECK(rounds(rule, toy_draft, toy_target, 3, 5, 40000).holds());
    CHECK(rounds(rule, first_token, toy_target, 2, 5, 40000).holds());
    CHECK(rounds(rule, Greedy{ContextModel(3, 33)}, ContextModel(3, 34), 3, 4, 40000).holds());
    CHECK(rounds(rule, ReusedBuffer{ContextModel(3, 35)}, ContextModel(3, 36), 3, 4, 40000).holds());
}

TEMPLATE_TEST_CASE("many rounds of the keyed source have the target's joint distribution, on trees", "",
                   RecursiveRejection, TraversalVerification, SampleMatch, GumbelMatch) {
    constexpr TestType rule;
    const Remembered draft = ContextModel(3, 31), target = ContextModel(3, 32);
    for (const Branching& branching : {Branching{3}, {2, 2}, {2, 1, 1}})
        for_children([&](const std::string& kind, const auto& children) {
            const ChiSquare result = rounds(rule, TreeDrafter(draft, branching, children), target, 3, 4, 20000);
            INFO(kind << " " << to_string(branching) << ": " << result.statistic << " of " << result.bound);
            CHECK(result.holds());
        });
    CHECK(rounds(rule, TreeDrafter(ex3_draft, {2, 2}), ex3_target, 2, 3, 40000).holds());
    CHECK(rounds(rule, TreeDrafter(toy_draft, {2, 1}), toy_target, 2, 5, 40000).holds());
}

TEST_CASE("random numbers keyed by absolute position bias block verification by 1/18 on two tokens of the toy") {
    constexpr int samples = 200000;
    const TextDistribution expected = joint_distribution(toy_target, 2);
    const TextDistribution observed =
        position_keyed(BlockVerification{}, first_token, toy_target, 2, 2, chain, samples);
    CHECK_FALSE(chi_square(observed, expected, samples).holds());

    const TextDistribution published{{{0, 0}, 1. / 9}, {{0, 1}, 2. / 9}, {{1, 0}, 1. / 6}, {{1, 1}, 1. / 2}};
    CHECK(total_variation(published, expected) == Approx(1. / 18).epsilon(1e-14));
    const ChiSquare as_published = chi_square(observed, published, samples);
    INFO(as_published.statistic << " of " << as_published.bound);
    CHECK(as_published.holds());
    WARN("P(BA) " << observed.at({1, 0}) / samples << " of 1/6, P(BB) " << observed.at({1, 1}) / samples << " of 1/2");
}

TEST_CASE("random numbers keyed by absolute position leave token verification's distribution alone") {
    constexpr int samples = 200000;
    CHECK(chi_square(position_keyed(TokenVerification{}, first_token, toy_target, 2, 2, chain, samples),
                     joint_distribution(toy_target, 2), samples)
              .holds());
    CHECK(chi_square(position_keyed(TokenVerification{}, toy_draft, toy_target, 2, 4, chain, samples),
                     joint_distribution(toy_target, 4), samples)
              .holds());
    CHECK(chi_square(position_keyed(TokenVerification{}, ex3_draft, ex3_target, 3, 4, chain, samples),
                     joint_distribution(ex3_target, 4), samples)
              .holds());
}

TEST_CASE("random numbers keyed by absolute position bias block verification of samples, and traversal on trees") {
    constexpr int samples = 100000;
    const auto bias = [&](const auto& rule, const auto& draft, const auto& target, Index depth, Index length,
                          std::span<const PositionRng::Node> nodes) {
        const TextDistribution observed = position_keyed(rule, draft, target, depth, length, nodes, samples);
        CHECK_FALSE(chi_square(observed, joint_distribution(target, length), samples).holds());
        return total_variation(frequencies(observed, samples), joint_distribution(target, length));
    };
    const double toy = bias(BlockVerification{}, toy_draft, toy_target, 2, 3, chain);
    const double ex3 = bias(BlockVerification{}, ex3_draft, ex3_target, 2, 3, chain);
    const double named =
        bias(TraversalVerification{}, TreeDrafter(ex3_draft, {2, 2}, TopChildren{}), ex3_target, 2, 3, bushes);
    const double sampled = bias(TraversalVerification{}, TreeDrafter(ex3_draft, {2, 2}), ex3_target, 2, 3, bushes);
    CHECK(toy > .03);
    CHECK(ex3 > .01);
    WARN("total variation: block on the toy " << toy << ", on three tokens " << ex3 << "; traversal of named children "
                                              << named << ", of drawn ones " << sampled);
}
