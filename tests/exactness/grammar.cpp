// The distribution of a text under a grammar is that of the target's rows masked and normalised, each at its own state:
// on chains and on trees, with every drafter, with cursors that roll back and with cursors that are copied.
#include <functional>

#include <specsample/shaping/grammar.hpp>
#include <specsample/theory.hpp>

#include "exactness/trees.hpp"
#include "support/any_children.hpp"
#include "support/any_shaper.hpp"
#include "support/catch.hpp"
#include "unit/shaping_grammar_toys.hpp"

using namespace cases;
using namespace specsample::theory;
using namespace specsample::filters;
using toys::allowed_after;
using toys::Calls;
using toys::CloneOnly;
using toys::Rewinding;

namespace {

// The toys' end token is outside of this vocabulary: something is possible after every text of the grammar.
constexpr Index vocab = 5;

/// A model under the grammar by definition: every row from the beginning of its text.
struct Constrained {
    ContextModel model;

    Eigen::VectorXd operator()(std::span<const Token> text) const {
        Eigen::VectorXd row = model(text);
        const std::uint32_t allowed = allowed_after(text);
        for (Index id = 0; id < vocab; ++id)
            if ((allowed >> id & 1) == 0) row[id] = 0;
        return row / row.sum();
    }
};

/// Any model one row at a time: a target is shaped when a walk reaches its row.
struct OneByOne {
    std::function<Eigen::VectorXd(std::span<const Token>)> model;

    Eigen::VectorXd operator()(std::span<const Token> prefix) const { return model(prefix); }
};

const ContextModel draft(vocab, 61), target(vocab, 62), peaked(vocab, 63, RowKind::peaked);

/// The distance of a rule's distribution from the constrained target's, after texts inside and outside of brackets.
template <class Rule, class Draft, class Target>
double worst_distance(const Rule& rule, const Draft& drafts, const Target& judge, const ContextModel& model,
                      Index lookahead) {
    double worst = 0;
    for (const auto& prompt : {std::vector<Token>{},
                               {toys::square_open},
                               {toys::round_open, toys::square_open},
                               {toys::round_open, toys::letter, toys::round_close}})
        worst = std::max(worst, total_variation(exact_distribution(rule, drafts, judge, lookahead, prompt),
                                                joint_distribution(Constrained{model}, lookahead + 1, prompt)));
    return worst;
}

/// Allows the same ids everywhere.
struct Fixed {
    std::uint32_t ids;

    std::array<std::uint32_t, 1> mask() const { return {ids}; }
    void accept(Token) {}
};

}  // namespace

TEMPLATE_TEST_CASE("a chain under a grammar has the constrained target's distribution", "", TokenVerification,
                   BlockVerification, SampleMatch, GumbelMatch) {
    Calls calls;
    const any::Shaper shared = Grammar{Rewinding(calls)}, copied = Grammar{CloneOnly(calls)};
    for (Index lookahead = 0; lookahead <= 2; ++lookahead) {
        INFO("lookahead " << lookahead);
        CHECK(worst_distance(TestType{}, shaped(draft, shared), shaped(target, shared), target, lookahead) < 1e-12);
        CHECK(worst_distance(TestType{}, shaped(draft, copied), shaped(peaked, copied), peaked, lookahead) < 1e-12);
        CHECK(worst_distance(TestType{}, draft, shaped(target, shared), target, lookahead) < 1e-12);
        CHECK(worst_distance(TestType{}, OneByOne{peaked}, shaped(OneByOne{target}, copied), target, lookahead) <
              1e-12);
    }
}

TEMPLATE_TEST_CASE("a tree under a grammar has the constrained target's distribution", "", TokenVerification,
                   BlockVerification, SampleMatch) {
    Calls calls;
    const any::Shaper shared = Grammar{Rewinding(calls)}, copied = Grammar{CloneOnly(calls)};
    for (const Branching& branching : {Branching{2}, {2, 1}, {1, 2}}) {
        INFO(to_string(branching));
        const Index depth = std::ssize(branching);
        const auto distance = [&](const auto& drafts, const auto& judge) {
            return worst_distance(TestType{}, drafts, judge, target, depth);
        };
        const auto tree = [&](const auto& drafts, any::Kind kind) {
            return TreeDrafter(drafts, branching, any::Children{kind});
        };
        const auto without = any::Kind::without_replacement, independent = any::Kind::independent;
        CHECK(distance(tree(shaped(draft, shared), without), shaped(target, shared)) < 1e-12);
        CHECK(distance(tree(shaped(draft, copied), independent), shaped(target, copied)) < 1e-12);
        CHECK(distance(tree(draft, independent), shaped(OneByOne{target}, shared)) < 1e-12);
        CHECK(distance(tree(draft, independent), shaped(target, shared)) < 1e-12);
    }
}

// Fixed seeds, a statistic of false-alarm probability 1e-9 each.
TEST_CASE("many rounds under a grammar have the constrained target's joint distribution") {
    Calls calls;
    const any::Shaper shared = Grammar{Rewinding(calls)}, copied = Grammar{CloneOnly(calls)};
    CHECK(rounds(TokenVerification{}, shaped(draft, shared), shaped(target, shared), 3, 3, 20000).holds());
    CHECK(rounds(BlockVerification{}, draft, shaped(target, copied), 3, 3, 20000).holds());
    CHECK(total_variation(joint_distribution(shaped(target, copied), 3), joint_distribution(Constrained{target}, 3)) <
          1e-15);
}

TEST_CASE("a mask on the draft as well raises acceptance from 1/2 to 6/7") {
    const OneByOne p{FixedModel{row({.4, .3, .2, .1})}}, q{FixedModel{row({.3, .5, .2, 0})}};
    const any::Shaper grammar = Grammar{Fixed{0b1101}};
    const auto masked = shaped(p, grammar);
    const auto acceptance = [&](const auto& drafts) {
        return exact_tokens(TokenVerification{}, drafts, masked, 1) - 1;
    };
    CHECK(acceptance(q) == Approx(1. / 2).epsilon(1e-14));
    CHECK(acceptance(shaped(q, grammar)) == Approx(6. / 7).epsilon(1e-14));
    const TextDistribution distribution = joint_distribution(FixedModel{row({4. / 7, 0, 2. / 7, 1. / 7})}, 2);
    CHECK(total_variation(exact_distribution(TokenVerification{}, q, masked, 1), distribution) < 1e-15);
    CHECK(total_variation(exact_distribution(TokenVerification{}, shaped(q, grammar), masked, 1), distribution) <
          1e-15);
}

TEST_CASE("a mask on the draft alone leaves the target's distribution without a grammar") {
    Calls calls;
    CHECK(distance_from_target(TokenVerification{}, shaped(draft, any::Shaper(Grammar{Rewinding(calls)})), target, 2) <
          1e-12);
}

TEST_CASE("one mask for all positions of a round gives another distribution") {
    // The bug of an engine that asks the matcher once, where the round starts.
    struct OneMask {
        std::size_t round_start;

        void operator()(Candidates<double>& row, std::span<const Token> context) const {
            const std::uint32_t allowed = allowed_after(context.first(std::min(round_start, context.size())));
            keep_where(row, [&](Token id) { return (allowed >> id & 1) != 0; });
        }
    };
    const TextDistribution distribution = joint_distribution(Constrained{target}, 3);
    Calls calls;
    const auto drafts = shaped(draft, any::Shaper(Grammar{Rewinding(calls)}));
    CHECK(total_variation(exact_distribution(TokenVerification{}, drafts,
                                             shaped(target, any::Shaper(Grammar{Rewinding(calls)})), 2),
                          distribution) < 1e-12);
    CHECK(total_variation(exact_distribution(TokenVerification{}, drafts, shaped(target, any::Shaper(OneMask{0})), 2),
                          distribution) > .05);
}
