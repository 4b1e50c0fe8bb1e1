// Stops inside a draft keep the distribution; dropping a token for its probability does not.
#include <specsample/length.hpp>

#include "exactness/trees.hpp"
#include "support/catch.hpp"

using namespace cases;
using namespace specsample::kernels;

namespace {

/// A chain that is drafted until a stop ends it.
template <class Ending>
struct StoppedChain {
    using Distribution = Sampled<RememberedView>;

    Remembered model;
    Ending stop;

    template <class Source>
    void propose(std::span<const Token> prefix, const Source& rng, DraftTree<Distribution>& draft_tree) {
        std::vector<Token> text(prefix.begin(), prefix.end());
        for (Index node = root_node; draft_tree.grows(node);) {
            const Eigen::VectorXd& row = model(text);
            if (stop.before(detail::as_row(row))) return;
            const Index token = draw(rng.at(Purpose::draft, draft_tree.size()), RowWeights(detail::as_row(row))).index;
            if (drops(row[token])) return;
            node = draft_tree.add(node, token, Sampled(row));
            text.push_back(static_cast<Token>(token));
            if (stop.after(row[token])) return;
        }
    }

  private:
    /// No stop can ask for this: a token is dropped because of its own probability.
    bool drops(double prob) const {
        if constexpr (requires { stop.drops(prob); }) return stop.drops(prob);
        return false;
    }
};
template <class Ending>
StoppedChain(Remembered, Ending) -> StoppedChain<Ending>;

/// Both ways of stopping at once.
struct Both {
    EntropyStop entropy;
    ConfidenceStop confidence;

    bool before(const auto& row) const { return entropy.before(row); }
    bool after(double prob) const { return confidence.after(prob); }
};

/// The stop that breaks exactness: it drops a token because of its probability.
struct Drops {
    double least;

    static bool before(const auto&) { return false; }
    static bool after(double) { return false; }
    bool drops(double prob) const { return prob < least; }
};

/// Call f(name, stop) for stops that fire at some rows or tokens of small models, and not at others.
template <class F>
void for_stops(F&& f) {
    f("confidence .4", ConfidenceStop());
    f("confidence .7", ConfidenceStop(.7));
    f("entropy .75", EntropyStop(.75));
    f("entropy .95", EntropyStop(.95));
    f("AdaEDL", EntropyStop::below_acceptance(.6, .2));
    f("both", Both{EntropyStop(.9), ConfidenceStop(.5)});
}

}  // namespace

TEST_CASE("drafts that stop by confidence or entropy have the target's joint distribution") {
    double worst = 0;
    long cases_seen = 0, rounds_stopped = 0, rounds_whole = 0;
    for_stops([&](const std::string& name, const auto& stop) {
        const auto check = [&](const auto& rule, const StoppedChain<std::remove_cvref_t<decltype(stop)>>& draft,
                               const Pair& pair, Index lookahead) {
            const double distance = distance_from_target(rule, draft, pair.target, lookahead);
            INFO(name << ": " << pair.name << ", K = " << lookahead);
            CHECK(distance < 1e-12);
            worst = std::max(worst, distance);
            ++cases_seen;
            for_rounds(rule, draft, pair.target, lookahead, [&](const Round& round, const Enumerator&) {
                ++(round.proposed < lookahead ? rounds_stopped : rounds_whole);
            });
        };
        for (Index vocab = 2; vocab <= 3; ++vocab)
            for (const Pair& pair : pairs(vocab))
                for (Index lookahead = 1; lookahead <= 3; ++lookahead) {
                    const StoppedChain draft(pair.draft, stop);
                    check(TokenVerification{}, draft, pair, lookahead);
                    check(BlockVerification{}, draft, pair, lookahead);
                }
    });
    CHECK(cases_seen == 6 * 2 * 9 * 3 * 2);
    CHECK(rounds_stopped > 500);  // the stops do stop, and not always
    CHECK(rounds_whole > 500);
    WARN("largest total variation " << worst << " over " << cases_seen << " cases");
}

TEST_CASE("drafts that stop where a token is not worth its cost have the target's joint distribution") {
    // Costs under which drafts end at every place, with estimates as they begin, and as they are after rounds that
    // accepted nothing or all.
    long cases_seen = 0, rounds_stopped = 0, rounds_whole = 0;
    for (const double slope : {.3, .6, .8})
        for (const Index learned : {-1, 0, 3}) {
            confidence::Estimator estimator(50);
            for (int i = 0; i < 20 && learned >= 0; ++i)
                estimator.record(std::vector{.5, .6, .7},
                                 {.proposed = 3, .evaluated = std::max<Index>(learned, 1), .accepted = learned});
            const confidence::GoodputStop stop(
                estimator, [slope](Index n) { return 1 + slope * static_cast<double>(n - 1); }, .1);
            const auto check = [&](const auto& rule, const Pair& pair, Index lookahead) {
                const ChainDrafter draft(pair.draft, std::ref(stop));
                INFO(slope << ", " << learned << ": " << pair.name << ", K = " << lookahead);
                CHECK(distance_from_target(rule, draft, pair.target, lookahead) < 1e-12);
                ++cases_seen;
                for_rounds(rule, draft, pair.target, lookahead, [&](const Round& round, const Enumerator&) {
                    ++(round.proposed < lookahead ? rounds_stopped : rounds_whole);
                });
            };
            for (const Pair& pair : pairs(3))
                for (Index lookahead = 1; lookahead <= 3; ++lookahead) {
                    check(TokenVerification{}, pair, lookahead);
                    check(BlockVerification{}, pair, lookahead);
                }
        }
    CHECK(cases_seen == 9 * 9 * 3 * 2);
    CHECK(rounds_stopped > 500);
    CHECK(rounds_whole > 500);
}

TEST_CASE("the expected tokens of a confidence stop on the running example satisfy its recursion") {
    // Tokens 0 and 1 (.2 and .3) end a draft of token 2 (.5), which is accepted with .2 in all: at K tokens
    // E(K) = .3 + .5 * 2 + .2 (1 + E(K - 1)), E(1) = 1.7.
    const StoppedChain draft(Remembered(ex3_draft), ConfidenceStop(.4));
    const double expected[] = {1.7, 1.84, 1.868};
    for (Index lookahead = 1; lookahead <= 3; ++lookahead)
        CHECK(exact_tokens(TokenVerification{}, draft, ex3_target, lookahead) ==
              Approx(expected[lookahead - 1]).epsilon(1e-13));
    // The entropy of (.2, .3, .5) is 1.0297: its root is 1.0147.
    CHECK(exact_tokens(TokenVerification{}, StoppedChain(Remembered(ex3_draft), EntropyStop(1.01)), ex3_target, 3) ==
          Approx(1).epsilon(1e-13));
    CHECK(exact_tokens(TokenVerification{}, StoppedChain(Remembered(ex3_draft), EntropyStop(1.02)), ex3_target, 3) ==
          Approx(2.533).epsilon(1e-13));
}

TEST_CASE("stopped drafts have the target's distribution over many rounds of the keyed RNG") {
    // One false alarm in 1e9 each.
    const Remembered draft = ContextModel(3, 61), target = ContextModel(3, 62);
    const Both stop{EntropyStop(.95), ConfidenceStop(.4)};
    CHECK(rounds(TokenVerification{}, StoppedChain(draft, stop), target, 3, 4, 20000).holds());
    CHECK(rounds(BlockVerification{}, StoppedChain(draft, stop), target, 3, 4, 20000).holds());
}

TEST_CASE("a chain that drops drafted tokens below 1/4 or 2/5 is 1/10 or 3/20 off") {
    const auto distance = [](double least) {
        return distance_from_target(TokenVerification{}, StoppedChain(Remembered(ex3_draft), Drops{least}), ex3_target,
                                    1);
    };
    CHECK(distance(1. / 4) == Approx(1. / 10).epsilon(1e-13));
    CHECK(distance(2. / 5) == Approx(3. / 20).epsilon(1e-13));
    CHECK(distance(0) < 1e-14);
    for (const double least : {1. / 4, 2. / 5})
        for (Index lookahead = 1; lookahead <= 3; ++lookahead) {
            const StoppedChain drops(Remembered(ContextModel(3, 1)), Drops{least});
            CHECK(distance_from_target(TokenVerification{}, drops, ContextModel(3, 2), lookahead) > 1e-3);
            CHECK(distance_from_target(BlockVerification{}, drops, ContextModel(3, 2), lookahead) > 1e-3);
        }
}
