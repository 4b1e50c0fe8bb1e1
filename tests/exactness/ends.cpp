// A predicate that ends texts: the target's joint distribution up to its ends, for every drafter and both directions of
// a walk, and nothing is asked of a model or of the predicate past an end.
#include "exactness/all_drafters.hpp"
#include "support/catch.hpp"
#include "support/tree_target.hpp"

using namespace cases;

namespace {

/// Ends some texts, with their last token or before it, as the text alone says.
StopDecision decide(std::span<const Token> text) {
    std::int64_t sum = 3;
    for (const Token token : text) sum = 5 * sum + 2 * token + 1;
    return sum % 7 == 0 ? StopDecision::include : sum % 7 == 1 ? StopDecision::exclude : StopDecision::go_on;
}

bool has_ended(std::span<const Token> text) {
    for (std::size_t length = 1; length <= text.size(); ++length)
        if (decide(text.first(length)) != StopDecision::go_on) return true;
    return false;
}

/// A draft model that must not be asked past an end.
struct BeforeEnds {
    ContextModel model;

    Eigen::VectorXd operator()(std::span<const Token> text) const {
        if (has_ended(text)) throw std::logic_error("a draft model was asked past an end");
        return model(text);
    }
};

/// A target whose rows past an end are faults: a grammar that is over.
struct OverAtEnds {
    ContextModel model;

    Eigen::VectorXd operator()(std::span<const Token> text) const {
        Eigen::VectorXd row = model(text);
        if (has_ended(text)) row.setZero();
        return row;
    }
};

/// Texts that a target writes after those given, up to a length. A text that is ended has -1 behind it.
template <class Target>
TextDistribution continued(TextDistribution open, const Target& target, Index length) {
    TextDistribution distribution;
    while (!open.empty()) {
        TextDistribution longer;
        for (const auto& [text, probability] : open) {
            if (std::ssize(text) >= length || (!text.empty() && text.back() == -1)) {
                distribution[text] += probability;
                continue;
            }
            const Eigen::VectorXd row = target(std::span<const Token>(text));
            std::vector<Token> next = text;
            for (Index i = 0; i < row.size(); ++i) {
                next.push_back(static_cast<Token>(i));
                const StopDecision decision = decide(next);
                std::vector<Token> key = decision == StopDecision::exclude ? text : next;
                if (decision != StopDecision::go_on) key.push_back(-1);
                if (row[i] > 0) longer[key] += probability * row[i];
                next.pop_back();
            }
        }
        open = std::move(longer);
    }
    return distribution;
}

/// The distance of a rule's rounds, continued by the target, from the target's own texts.
template <class Rule, class Draft, class Target>
double distance(const Rule& rule, const Draft& draft, const Target& target, const Remembered& rows, Index lookahead) {
    TextDistribution rounds;
    const auto until = [](std::span<const Token> text) {
        CHECK_FALSE(has_ended(text.first(text.size() - 1)));
        return decide(text);
    };
    for_rounds(rule, draft, target, lookahead,
               [&](const Round& round, Enumerator& paths) {
                   std::vector<Token> text(round.tokens.begin(), round.tokens.end());
                   const bool ended = round.end == RoundEnd::included || round.end == RoundEnd::excluded;
                   CHECK((ended || !has_ended(text)));
                   if (ended) {
                       CHECK(round.discarded <= 1);
                       text.push_back(-1);
                   }
                   rounds[text] += paths.probability();
               },
               {}, {.until = until});
    return total_variation(continued(rounds, rows, lookahead + 1), continued({{{}, 1}}, rows, lookahead + 1));
}

/// The largest distance of the rules for chains and trees of any distributions.
template <class Draft, class Target>
double worst_of_rules(const Draft& draft, const Target& target, const Remembered& rows, Index lookahead) {
    return std::max({distance(RecursiveRejection{}, draft, target, rows, lookahead),
                     distance(TraversalVerification{}, draft, target, rows, lookahead),
                     distance(SampleMatch{}, draft, target, rows, lookahead)});
}

}  // namespace

TEST_CASE("a text that a predicate ends has the target's distribution, with every drafter", "[distribution]") {
    for (const RowKind kind : {RowKind::smooth, RowKind::with_zeros})
        for (const Index vocab : {2, 3}) {
            const Remembered rows(OverAtEnds{ContextModel(vocab, 80, kind)});
            const Remembered a(BeforeEnds{ContextModel(vocab, 81)}), b(BeforeEnds{ContextModel(vocab, 82)});
            for (const Named& named : drafters(a, b, ContextModel(vocab, 83))) {
                INFO(named.name << ", V = " << vocab);
                CHECK(worst_of_rules(named.drafter, rows, rows, vocab == 2 ? 3 : 2) < 1e-12);
            }
        }
}

TEST_CASE("a text that a predicate ends has the target's distribution at every lookahead", "[distribution]") {
    const ContextModel model(3, 90), draft(3, 91);
    const Remembered rows(OverAtEnds{model});
    const any::Model many(OverAtEnds{model});
    for (Index lookahead = 0; lookahead <= 3; ++lookahead) {
        INFO("K = " << lookahead);
        CHECK(worst_of_rules(Remembered(BeforeEnds{draft}), rows, rows, lookahead) < 1e-12);
        CHECK(worst_of_rules(Remembered(BeforeEnds{draft}), many, rows, lookahead) < 1e-12);
        CHECK(distance(GumbelMatch{}, Remembered(BeforeEnds{draft}), rows, rows, std::min<Index>(lookahead, 2)) <
              1e-12);
        if (lookahead == 2) {
            const AnyDrafter tree = TreeDrafter(Remembered(BeforeEnds{draft}), {2, 2});
            CHECK(worst_of_rules(tree, many, rows, 2) < 1e-12);
            CHECK(worst_of_rules(tree, TreeTarget(OverAtEnds{model}), rows, 2) < 1e-12);
            const TreeDrafter independent(Remembered(BeforeEnds{draft}), {2, 2}, Independent{});
            CHECK(distance(KSeq{}, independent, rows, rows, 2) < 1e-12);
        }
    }
}

TEST_CASE("children of every kind end where a predicate ends the text", "[distribution]") {
    const Remembered rows(OverAtEnds{ContextModel(3, 92)}), draft(BeforeEnds{ContextModel(3, 93)});
    for_children([&](const std::string& name, const any::Children& children) {
        INFO(name);
        CHECK(worst_of_rules(TreeDrafter(draft, {2, 2}, children), rows, rows, 2) < 1e-12);
    });
}
