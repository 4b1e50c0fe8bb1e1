// The laws as one small program: what a mutant must break.
//
// Exit code 0: every law holds. Exit code 3: one is violated, and printed. Anything else: the run itself broke.
#include <cstdio>
#include <exception>

#include "law/cases.hpp"

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

/// Every lossless rule: the exact joint law of a round on every pair of models, and the statistics of many rounds.
template <class Rule>
void prove(const Rule& rule) {
    static_assert(Rule::lossless, "what is proved here is what the rule claims");
    for_cases(3, 3, [&](const std::string& name, const auto& draft, const auto& target, Index lookahead) {
        law_of(name, [&] { return distance_from_target(rule, draft, target, lookahead) < 1e-12; });
    });
    law_of("rounds of a keyed source",
           [&] { return rounds(rule, ContextModel(3, 11), ContextModel(3, 12), 2, 4, 20000).holds(); });
    law_of("rounds of the running example", [&] { return rounds(rule, ex3_draft, ex3_target, 1, 2, 20000).holds(); });
}

/// The coin 0 accepts and draws nothing that has no probability.
void prove_zero_coin() {
    const ScriptedCoins coins =
        ScriptedCoins().set(Purpose::draft, 0, 0).set(Purpose::accept, 0, 0).set(Purpose::last, 0, 0);
    Sampler sampler(FixedModel{row({1, 0, 0})}, FixedModel{row({0, 0.5, 0.5})}, {.lookahead = 1});
    const Round round = sampler.step(std::vector<Token>{}, {}, coins);
    law(round.accepted == 0, "a token of probability 0 was accepted");
    law(round.tokens[0] == 1, "a token of probability 0 was drawn");
}

/// A draw over many blocks follows the inverse CDF.
void prove_inverse_cdf() {
    Eigen::VectorXd weights(5000);
    for (Index i = 0; i < weights.size(); ++i) weights[i] = static_cast<double>((i * 7) % 11);
    const RowWeights drawn_from(as_row(weights));
    for (int step = 0; step < 2000; ++step) {
        const double u = (step + 0.5) / 2000;
        Index expected = 0;
        for (double sum = weights[0]; sum <= u * weights.sum();) sum += weights[++expected];
        law(draw_index(drawn_from, [&] { return u; }).index == expected, "the inverse CDF over many blocks");
    }
}

}  // namespace

int main() {
    try {
        prove_zero_coin();
        prove_inverse_cdf();
        prove(TokenVerification{});
    } catch (const Violated&) {
        return 3;
    } catch (const std::exception& error) {
        std::printf("broken run: %s\n", error.what());
        return 1;
    }
    std::puts("every law holds");
}
