// The laws as one small program: what a mutant must break.
//
// Exit code 0: every law holds. Exit code 3: one is violated, and printed. Anything else: the run itself broke.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <numbers>

#include "law/cases.hpp"
#include "law/kinds.hpp"
#include "law/trees.hpp"

namespace {

using namespace cases;

struct Violated {};

void law(bool holds, const std::string& what) {
    if (holds) return;
    std::printf("LAW VIOLATED: %s\n", what.c_str());
    throw Violated();
}

/// A refused round breaks the law as well: a coin used twice, or honest rows called bad.
template <class Check>
void law_of(const std::string& name, const Check& check) {
    try {
        law(check(), name);
    } catch (const std::logic_error& error) {
        law(false, name + ": " + error.what());
    }
}

/// Every kind of children as one type, so that a rule is compiled once for all of them.
struct AnyChildren {
    enum class Kind { independent, without_replacement, top, greedy } kind = Kind::without_replacement;

    template <class View, class CoinOf, class Add>
    void operator()(const View& row, std::span<Token> ids, const CoinOf& coin, const Add& add) const {
        switch (kind) {
            case Kind::independent:
                return Independent{}(row, ids, coin, add);
            case Kind::without_replacement:
                return WithoutReplacement{}(row, ids, coin, add);
            case Kind::top:
                return TopChildren{}(row, ids, coin, add);
            case Kind::greedy:  // says which ids were removed, and leaves their sum to the law
                return GreedyChildren{}(row, ids, coin, [&](auto token, const auto& law) {
                    if constexpr (RowLaw<std::remove_cvref_t<decltype(law)>>) {
                        add(token, Sampled(row, law.without()));
                    } else {
                        add(token, law);
                    }
                });
        }
    }
};
using Kind = AnyChildren::Kind;
using Draft = TreeDraft<Remembered, AnyChildren>;

/// The law of a round, completed by the target, is the target's, with and without a stop token.
template <class Rule, class Target>
bool is_lossless(const Rule& rule, const Draft& draft, const Target& target, Index depth) {
    for (const std::vector<Token>& stops : {std::vector<Token>{}, {1}}) {
        TextLaw law;
        for_rounds(rule, draft, target, depth,
                   [&](const Round& round, const Enumerator& paths) {
                       law[{round.tokens.begin(), round.tokens.end()}] += paths.probability();
                   },
                   {}, {.stop_tokens = stops});
        if (!(total_variation(completed(law, target, depth + 1), joint_law(target, depth + 1)) < 1e-12)) return false;
    }
    return true;
}

/// Every lossless rule, on chains and trees: the exact law of a round, and the statistics of many.
template <class Rule>
void prove(const std::string& name, const Rule& rule,
           const std::vector<Kind>& kinds = {Kind::without_replacement, Kind::independent, Kind::greedy, Kind::top}) {
    static_assert(Rule::lossless, "what is proved here is what the rule claims");
    for (Index vocab = 2; vocab <= 3; ++vocab)
        for (const Pair& pair : pairs(vocab))
            for (const Branching& branching : {Branching{}, {1}, {1, 1}, {1, 1, 1}, {2}, {3}, {2, 1}})
                for (const Kind kind : kinds)
                    law_of(name + " on " + to_string(branching) + ": " + pair.name, [&] {
                        const Index depth = std::ssize(branching);
                        return is_lossless(rule, {pair.draft, branching, {kind}}, pair.target, depth);
                    });
    const Remembered draft = ContextModel(3, 11), target = ContextModel(3, 12);
    law_of(name + ": rounds on chains", [&] {
        return rounds(rule, Draft(draft, {1, 1}, {kinds.front()}), target, 2, 4, 15000).holds() &&
               rounds(rule, Draft(draft, {1, 1}, {kinds.back()}), target, 2, 4, 15000).holds() &&
               rounds(rule, Draft(ex3_draft, {1}, {kinds.front()}), Remembered(ex3_target), 1, 2, 15000).holds();
    });
    law_of(name + ": rounds on trees", [&] {
        return rounds(rule, Draft(draft, {2, 1}, {kinds.front()}), target, 2, 4, 15000).holds();
    });
}

/// The text of a match rule does not depend on the draft; its noise is shared with a drafter that asks for it.
template <class Rule>
void prove_invariance(const std::string& name, const Rule& rule) {
    static_assert(Rule::drafter_invariant, "what is proved here is what the rule claims");
    const Remembered target = ContextModel(5, 14), other = ContextModel(5, 15);
    const auto text = [&](auto draft, Index lookahead) {
        Sampler sampler(std::ref(draft), std::ref(target), {.lookahead = lookahead, .seed = 6}, rule);
        return sampler.generate({1}, {.max_new_tokens = 60});
    };
    law_of(name + ": the text depends on the draft", [&] {
        const std::vector<Token> plain = text(Draft(other, {}, {}), 0);
        return text(Draft(other, {1, 1, 1}, {}), 3).tokens == plain &&
               text(Draft(other, {2, 2}, {Kind::greedy}), 2).tokens == plain;
    });
    if constexpr (requires { requires Rule::shares_noise; })
        law_of(name + ": the drafter does not share the noise", [&] {
            return text(target, 2).tally.accepted == 40 && text(Draft(target, {1, 1}, {}), 2).tally.accepted == 40;
        });
}

/// Models as users bring them: one buffer for all rows, a token in place of a row, many positions in one pass.
void prove_models() {
    const ContextModel target(3, 16), draft(3, 17);
    const TokenVerification rule;
    law_of("one buffer for all rows",
           [&] { return distance_from_target(rule, ReusedBuffer{draft}, target, 3) < 1e-12; });
    law_of("a draft that names tokens", [&] { return distance_from_target(rule, Greedy{draft}, target, 3) < 1e-12; });
    law_of("trees in one pass per path", [&] {
        return distance_from_target(rule, Draft(draft, {2, 1}, {}), target, 2) < 1e-12;
    });
}

/// Rows of other kinds than dense probabilities.
void prove_row_kinds() {
    const ContextModel draft(4, 18, Rows::with_zeros), target(4, 19, Rows::with_zeros), smooth(4, 20);
    const auto holds = [](auto drafts, auto targets, const ContextModel& meant) {
        return total_variation(exact_law(TokenVerification{}, drafts, targets, 2), joint_law(meant, 3)) < 1e-12;
    };
    law_of("logits before a sparse target", [&] { return holds(AsStridedLogits{smooth}, AsSparse{target}, target); });
    law_of("a sparse draft before logits", [&] { return holds(AsSparse{draft}, AsLogits{smooth}, smooth); });
    law_of("logits in one buffer before such logits",
           [&] { return holds(AsStridedLogits{draft}, AsStridedLogits{smooth}, smooth); });
    law_of("sparse rows", [&] { return holds(AsSparse{draft}, AsSparse{target}, target); });
}

/// A model under a frequency penalty of ln 2 and top-p .8, from their definitions.
struct ByDefinition {
    ContextModel model;

    Eigen::VectorXd operator()(std::span<const Token> prefix) const {
        Eigen::VectorXd row = model(prefix);
        for (const Token token : prefix) row[token] /= 2;
        row /= row.sum();
        std::vector<Token> ids{0, 1, 2, 3};
        std::ranges::stable_sort(ids, [&](Token a, Token b) { return row[a] > row[b]; });
        double before = 0;
        for (const Token id : ids) {
            const double mass = row[id];
            if (before >= .8) row[id] = 0;
            before += mass;
        }
        return row / row.sum();
    }
};

/// Shaped rows: every position with its own context, whether rows come one by one or many at once.
void prove_shaping() {
    const ContextModel draft(4, 21), target(4, 22);
    const Pipeline pipeline{FrequencyPenalty{std::numbers::ln2}, TopP{.8}};
    const TextLaw law = joint_law(ByDefinition{target}, 3);
    law_of("shaped rows, many at once", [&] {
        return total_variation(exact_law(TokenVerification{}, draft, shaped(target, pipeline), 2), law) < 1e-12;
    });
    law_of("shaped rows of logits, one by one", [&] {
        const auto logits = [](const ContextModel& model) {
            return [=](std::span<const Token> prefix) { return Logits(logits_of_row(model(prefix), 1)); };
        };
        return total_variation(
                   exact_law(TokenVerification{}, shaped(logits(draft), pipeline), shaped(logits(target), pipeline), 2),
                   law) < 1e-12;
    });
}

/// The coin 0 accepts and draws nothing that has no probability.
void prove_zero_coin() {
    const ScriptedCoins coins =
        ScriptedCoins().set(Purpose::draft, 0, 0).set(Purpose::accept, 0, 0).set(Purpose::last, 0, 0);
    Sampler sampler(Remembered(FixedModel{row({1, 0, 0})}), Remembered(FixedModel{row({0, 0.5, 0.5})}),
                    {.lookahead = 1});
    const Round round = sampler.step(std::vector<Token>{}, {}, coins);
    law(round.accepted == 0, "a token of probability 0 was accepted");
    law(round.tokens[0] == 1, "a token of probability 0 was drawn");
}

/// A draw over many blocks follows the inverse CDF.
void prove_inverse_cdf() {
    Eigen::VectorXd weights(5000);
    for (Index i = 0; i < weights.size(); ++i) weights[i] = static_cast<double>((i * 7) % 11);
    const RowWeights drawn_from(as_row(weights));
    const double total = weights.sum();
    for (int step = 0; step < 2000; ++step) {
        const double u = (step + 0.5) / 2000;
        Index expected = 0;
        for (double sum = weights[0]; sum <= u * total;) sum += weights[++expected];
        law(draw_index(drawn_from, [&] { return u; }).index == expected, "the inverse CDF over many blocks");
    }
}

}  // namespace

int main() {
    try {
        prove_zero_coin();
        prove_inverse_cdf();
        prove_models();
        prove_row_kinds();
        prove_shaping();
        prove("token verification", TokenVerification{});
        prove("block verification", BlockVerification{});
        prove("K-SEQ", KSeq{}, {Kind::independent});
        prove("sample match", SampleMatch{});
        prove("Gumbel match", GumbelMatch{});
        prove_invariance("sample match", SampleMatch{});
        prove_invariance("Gumbel match", GumbelMatch{});
    } catch (const Violated&) {
        return 3;
    } catch (const std::exception& error) {
        std::printf("broken run: %s\n", error.what());
        return 1;
    }
    std::puts("every law holds");
}
