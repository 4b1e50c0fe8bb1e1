// Lookup and pools of n-grams: the distributions of rounds that draft with them, and their acceptance, which is the
// target's probability of the drafted tokens.
#include <specsample/drafters/lookup.hpp>
#include <specsample/drafters/ngram_pool.hpp>
#include <specsample/theory.hpp>

#include <algorithm>

#include "exactness/trees.hpp"
#include "support/catch.hpp"
#include "support/texts.hpp"

using namespace cases;
using namespace specsample::theory;

namespace {

using texts::Text;

/// The draft that a lookup must make, by searching the text.
Text searched(Text text, Index depth, Index max_match) {
    const Index size = std::ssize(text);
    for (Index n = std::min(max_match, size); n >= 1; --n)
        for (Index end = size - 1; end >= n; --end)
            if (std::equal(text.end() - n, text.end(), text.begin() + (end - n))) {
                for (Index i = 0; i < depth; ++i) text.push_back(text[static_cast<std::size_t>(end + i)]);
                return {text.begin() + size, text.end()};
            }
    return {};
}

/// The expected tokens of a round whose draft is one path: 1, and the target's probability of every part of it.
double path_tokens(const Text& path, Text text, const Remembered& target) {
    double total = 1, mass = 1;
    for (const Token token : path) {
        total += mass *= target(text)[token];
        text.push_back(token);
    }
    return total;
}

/// Totals of the rounds after prompts.
struct Total {
    double worst = 0;  ///< distance to the target's distribution
    double off = 0;    ///< from the known expected number of tokens
    long cases_seen = 0, proposed = 0;

    /// @param tokens   the expected tokens, negative where they are not known
    template <class Rule, class Draft>
    void see(const Rule& rule, const Draft& draft, const Remembered& target, Index lookahead, const Text& prompt,
             double tokens, const Text& stop_tokens = {}) {
        TextDistribution distribution;
        double seen = 0;
        for_rounds(rule, draft, target, lookahead,
                   [&](const Round& round, const Enumerator& paths) {
                       Text text = prompt;
                       text.insert(text.end(), round.tokens.begin(), round.tokens.end());
                       distribution[text] += paths.probability();
                       seen += paths.probability() * static_cast<double>(round.tokens.size());
                       proposed += round.proposed;
                   },
                   prompt, {.stop_tokens = stop_tokens});
        const Index length = std::ssize(prompt) + lookahead + 1;
        const TextDistribution expected = completed({{prompt, 1.}}, target, length);
        worst = std::max(worst, total_variation(completed(distribution, target, length), expected));
        if (tokens >= 0) off = std::max(off, std::abs(seen - tokens));
        ++cases_seen;
    }

    void check() const {
        CHECK(worst < 1e-12);
        CHECK(off < 1e-12);
        CHECK(proposed > cases_seen);  // or nothing was tested
        WARN("largest total variation " << worst << " over " << cases_seen << " cases");
    }
};

std::vector<Remembered> targets(Index vocab) {
    return {ContextModel(vocab, 71), ContextModel(vocab, 72, RowKind::with_zeros),
            ContextModel(vocab, 73, RowKind::peaked), ContextModel(vocab, 74, RowKind::point_masses)};
}

}  // namespace

TEMPLATE_TEST_CASE("a round that drafts by lookup, completed by the target, has the target's joint distribution", "",
                   TokenVerification, BlockVerification, SampleMatch) {
    Total total;
    for (Index vocab = 2; vocab <= 3; ++vocab)
        for (const Remembered& target : targets(vocab))
            for (const Text& prompt : texts::all_texts(vocab, 4))
                for (Index lookahead = 1; lookahead <= 3; ++lookahead)
                    total.see(TestType{}, LookupDrafter(), target, lookahead, prompt,
                              path_tokens(searched(prompt, lookahead, 3), prompt, target));
    total.check();
}

TEMPLATE_TEST_CASE("memories of other texts, with or without rollback, do not change the distribution of lookup", "",
                   TokenVerification, BlockVerification, SampleMatch) {
    Total told, untold, stopped;
    const Remembered target = ContextModel(3, 75);
    const Text before{0, 1, 2, 2, 0, 1, 1, 0};
    DraftTree<PointMass> draft_tree;
    for (const Text& prompt : texts::all_texts(3, 4)) {
        const auto common = std::ranges::mismatch(before, prompt).in1 - before.begin();
        LookupDrafter after_rollback({.max_match = 2}), stale({.max_match = 2});
        for (LookupDrafter* drafter : {&after_rollback, &stale}) {
            draft_tree.open(3, {}, 3);
            drafter->propose(before, RoundRng(1, 0, 0), draft_tree);
        }
        after_rollback.rollback(common);
        told.see(TestType{}, after_rollback, target, 3, prompt, path_tokens(searched(prompt, 3, 2), prompt, target));
        // This one is not told that its text begins differently: `before` ends as the prompt does.
        stale.rollback(std::min<Index>(2, std::ssize(prompt)));
        untold.see(TestType{}, std::as_const(stale), target, 3, prompt, -1);
        stopped.see(TestType{}, LookupDrafter(), target, 3, prompt, -1, {1});
    }
    told.check();
    untold.check();
    stopped.check();
}

TEMPLATE_TEST_CASE(
    "a round that drafts from a pool of n-grams, completed by the target, has the target's joint distribution", "",
    TokenVerification, BlockVerification, SampleMatch) {
    Total total;
    for (Index vocab = 2; vocab <= 3; ++vocab)
        for (const Remembered& target : targets(vocab))
            for (std::uint64_t seed = 0; seed < 8; ++seed) {
                NgramPool pool(4, 4);
                Text text;
                for (Index i = 0; i < 14; ++i)
                    text.push_back(static_cast<Token>(Rng({.seed = seed, .position = i}).bits() %
                                                      static_cast<std::uint64_t>(vocab)));
                pool.add(text);
                for (const Text& prompt : texts::all_texts(vocab, 2))
                    for (Index lookahead = 1; lookahead <= 3; ++lookahead) {
                        // Paths that begin alike are counted once.
                        double tokens = 1;
                        TextDistribution paths;
                        if (!prompt.empty())
                            pool.for_tails(prompt.back(), [&](std::span<const Token> tail) {
                                for (Index n = 1; n <= lookahead; ++n) paths[Text(tail.begin(), tail.begin() + n)] = 1;
                            });
                        for (const auto& [path, one] : paths) {
                            Text shorter = path;
                            shorter.pop_back();
                            tokens += path_tokens(path, prompt, target) - path_tokens(shorter, prompt, target);
                        }
                        total.see(TestType{}, PoolDrafter(pool), target, lookahead, prompt, tokens);
                    }
            }
    total.check();
}

// Fixed seeds, six statistics of false-alarm probability 1e-9 each.
TEMPLATE_TEST_CASE("many rounds of lookup have the target's joint distribution", "", TokenVerification,
                   BlockVerification, SampleMatch) {
    const Remembered target = ContextModel(2, 76);
    for (const Index lookahead : {1, 3}) {
        const ChiSquare result = rounds(TestType{}, LookupDrafter(), target, lookahead, 5, 40000);
        INFO("lookahead " << lookahead << ": " << result.statistic << " of " << result.bound);
        CHECK(result.holds());
    }
}
