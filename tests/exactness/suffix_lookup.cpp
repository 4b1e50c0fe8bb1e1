// Lookup of suffixes, with and without texts that it has learned: the distributions of rounds that draft with it, and
// of several rounds, where each round learns from the one before it.
#include <specsample/drafters/suffix_lookup.hpp>
#include <specsample/drafters/united.hpp>
#include <specsample/theory.hpp>

#include <algorithm>

#include "exactness/trees.hpp"
#include "support/catch.hpp"
#include "support/texts.hpp"

using namespace cases;
using namespace specsample::theory;

namespace {

using texts::Text;

std::vector<Remembered> targets(Index vocab) {
    return {ContextModel(vocab, 81), ContextModel(vocab, 82, RowKind::with_zeros),
            ContextModel(vocab, 83, RowKind::peaked), ContextModel(vocab, 84, RowKind::point_masses)};
}

/// The texts that it has learned: none, one, and texts of which one is a part of another.
std::vector<SuffixLookupDrafter> drafters(SuffixLookupOptions options) {
    std::vector<SuffixLookupDrafter> all(3, SuffixLookupDrafter(options));
    all[1].learn(Text{0, 1, 1, 0, 1});
    for (const Text& text : {Text{1, 0, 0, 1, 0, 1, 1}, Text{0, 0, 1}, Text{0, 0, 1}}) all[2].learn(text);
    return all;
}

/// Totals of the rounds after prompts.
struct Total {
    double worst = 0;  ///< distance to the target's distribution
    double off = 0;    ///< from a certainty of 1
    long cases_seen = 0, branched = 0;

    template <class Rule, class Draft>
    void see(const Rule& rule, const Draft& draft, const Remembered& target, Index lookahead, const Text& prompt,
             const Text& stop_tokens = {}) {
        TextDistribution distribution;
        double certainty = 0;
        bool branches = false;
        for_rounds(rule, draft, target, lookahead,
                   [&](const Round& round, const Enumerator& paths) {
                       Text text = prompt;
                       text.insert(text.end(), round.tokens.begin(), round.tokens.end());
                       distribution[text] += paths.probability();
                       certainty += paths.probability();
                       branches = branches || round.proposed > lookahead;
                   },
                   prompt, {.stop_tokens = stop_tokens});
        const Index length = std::ssize(prompt) + lookahead + 1;
        worst = std::max(
            worst, total_variation(completed(distribution, target, length), completed({{prompt, 1.}}, target, length)));
        off = std::max(off, std::abs(certainty - 1));
        ++cases_seen;
        branched += branches;
    }

    void check() const {
        CHECK(worst < 1e-12);
        CHECK(off < 1e-12);
        CHECK(4 * branched > cases_seen);  // or nothing was tested
        WARN("largest total variation " << worst << " over " << cases_seen << " cases, " << branched
                                        << " with branches");
    }
};

}  // namespace

TEMPLATE_TEST_CASE("a round that drafts by suffix lookup, completed by the target, has the target's joint distribution",
                   "", TraversalVerification, RecursiveRejection) {
    Total total, stopped, united;
    for (Index vocab = 2; vocab <= 3; ++vocab)
        for (const Remembered& target : targets(vocab))
            for (const SuffixLookupDrafter& drafter : drafters({.nodes = 4}))
                for (const Text& prompt : texts::all_texts(vocab, 7 - vocab))
                    for (Index lookahead = 1; lookahead <= 3; ++lookahead) {
                        total.see(TestType{}, drafter, target, lookahead, prompt);
                        if (lookahead == 2) stopped.see(TestType{}, drafter, target, lookahead, prompt, {1});
                    }
    total.check();
    stopped.check();
    const Remembered model = ContextModel(2, 85), target = ContextModel(2, 86);
    for (const SuffixLookupDrafter& drafter : drafters({.nodes = 3}))
        for (const Text& prompt : texts::all_texts(2, 4)) {
            united.see(TestType{}, United(drafter, model), target, 2, prompt);
            united.see(TestType{}, FirstOf(drafter, model), target, 2, prompt);
        }
    united.check();
}

TEMPLATE_TEST_CASE("a chain of suffix lookup, completed by the target, has the target's joint distribution", "",
                   TokenVerification, BlockVerification) {
    Total total;
    for (const Remembered& target : targets(3))
        for (const SuffixLookupDrafter& drafter : drafters({.width = 1}))
            for (const Text& prompt : texts::all_texts(3, 4)) total.see(TestType{}, drafter, target, 3, prompt);
    CHECK(total.worst < 1e-12);
    CHECK(total.off < 1e-12);
    CHECK(total.branched == 0);
}

TEMPLATE_TEST_CASE("rounds that learn from earlier rounds have the target's joint distribution", "",
                   TraversalVerification, RecursiveRejection) {
    // Three rounds, each after every outcome of the last, with a drafter that has also learned that outcome as a text
    // of its own, and continues the same text or begins another.
    const Index vocab = 2, lookahead = 2, most_rounds = 3;
    for (const bool learns : {false, true})
        for (const Remembered& target : targets(vocab)) {
            struct Branch {
                SuffixLookupDrafter drafter;
                Text text;
                double probability;
            };
            const Text prompt{0, 1, 0};
            std::vector<Branch> branches{{SuffixLookupDrafter({.nodes = 4}), prompt, 1}};
            for (Index round = 0; round < most_rounds; ++round) {
                std::vector<Branch> next;
                for (const Branch& branch : branches) {
                    TextDistribution distribution;
                    for_rounds(
                        TestType{}, branch.drafter, target, lookahead,
                        [&](const Round& said, const Enumerator& paths) {
                            distribution[{said.tokens.begin(), said.tokens.end()}] += paths.probability();
                        },
                        branch.text);
                    for (const auto& [tokens, probability] : distribution) {
                        Branch longer = branch;
                        longer.text.insert(longer.text.end(), tokens.begin(), tokens.end());
                        longer.probability *= probability;
                        if (learns) longer.drafter.learn(longer.text);
                        next.push_back(std::move(longer));
                    }
                }
                branches = std::move(next);
            }
            TextDistribution distribution;
            for (const Branch& branch : branches) distribution[branch.text] += branch.probability;
            const Index length = std::ssize(prompt) + most_rounds * (lookahead + 1);
            const TextDistribution expected = completed({{prompt, 1.}}, target, length);
            CHECK(total_variation(completed(distribution, target, length), expected) < 1e-12);
        }
}

// Fixed seeds, four statistics of false-alarm probability 1e-9 each.
TEMPLATE_TEST_CASE("many rounds of suffix lookup have the target's joint distribution", "", TraversalVerification,
                   RecursiveRejection) {
    const Remembered target = ContextModel(2, 87);
    for (const SuffixLookupDrafter& drafter : {drafters({.nodes = 4})[0], drafters({.nodes = 4})[2]}) {
        const ChiSquare result = rounds(TestType{}, drafter, target, 2, 5, 20000);
        INFO(result.statistic << " of " << result.bound);
        CHECK(result.holds());
    }
}
