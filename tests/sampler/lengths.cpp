// Adaptive lookaheads: the calls that a length gets, and stops inside a draft.
#include <specsample/length.hpp>
#include <specsample/specsample.hpp>
#include <specsample/testing.hpp>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::testing;

namespace {

constexpr Index vocab = 5;

/// Goes through a list of lookaheads, and records the rounds that it is given.
struct Listed {
    std::vector<Index> list;
    std::vector<RoundCounts> told{};
    mutable std::vector<Index> most{};

    Index next(Index at_most) const {
        most.push_back(at_most);
        return std::min(at_most, list[told.size() % list.size()]);
    }
    void record(const RoundCounts& counts) { told.push_back(counts); }
};

/// Stops where the likeliest token is not likely, or after an unlikely token.
struct Careful {
    double least_before = 0, least_after = 0;

    template <class Row>
    bool before(const Row& row) const {
        return row.maxCoeff() < least_before;
    }
    bool after(double prob) const { return prob < least_after; }
};

}  // namespace

TEST_CASE("a length sets the lookahead of every round, and records its result", "[sampler]") {
    Listed length{{3, 0, 1, 5}};
    Sampler sampler(ContextModel(vocab, 1), ContextModel(vocab, 2), {.lookahead = 4, .seed = 1}, TokenVerification{},
                    std::ref(length));
    const auto text = sampler.generate({1}, {.max_new_tokens = 100});
    REQUIRE(std::ssize(length.told) == text.tally.rounds);
    const std::vector<Index> expected{3, 0, 1, 4};
    Tally tally;
    for (std::size_t i = 0; i < length.told.size(); ++i) {
        CHECK(length.most[i] == 4);
        CHECK(length.told[i].proposed == std::min(expected[i % 4], 100 - tally.tokens));  // no more than are left
        tally.record(length.told[i]);
    }
    CHECK(tally == text.tally);
}

TEST_CASE("a hard limit leaves a length less room", "[sampler]") {
    Listed length{{4}};
    Sampler sampler(ContextModel(vocab, 1), ContextModel(vocab, 1), {.lookahead = 4, .seed = 1}, TokenVerification{},
                    std::ref(length));
    (void)sampler.generate({1, 2, 3}, {.max_new_tokens = 100, .max_length = 10});  // 7 tokens: 5, then room for 2
    CHECK(length.most == std::vector<Index>{4, 1});
}

TEST_CASE("a fault and a step tell a length nothing", "[sampler]") {
    Listed length{{2}};
    bool bad = false;
    const auto target = [&](std::span<const Token>) -> Eigen::VectorXd {
        return Eigen::VectorXd::Constant(vocab, bad ? 0. : 1. / vocab);
    };
    Sampler sampler(ContextModel(vocab, 1), target, {.lookahead = 4}, TokenVerification{}, std::ref(length));
    (void)sampler.step(std::vector<Token>{1});
    CHECK(length.told.empty());
    bad = true;
    CHECK_THROWS_AS(sampler.generate({1}), Fault);
    CHECK(length.told.empty());
}

TEST_CASE("the fixed length is the lookahead", "[sampler]") {
    Sampler fixed(ContextModel(vocab, 1), ContextModel(vocab, 2), {.lookahead = 3, .seed = 9}, BlockVerification{},
                  FixedLength{});
    Sampler plain(ContextModel(vocab, 1), ContextModel(vocab, 2), {.lookahead = 3, .seed = 9}, BlockVerification{});
    CHECK(fixed.generate({1}).tokens == plain.generate({1}).tokens);
}

TEST_CASE("a text does not depend on what a length learnt from others", "[sampler]") {
    const auto sampler = [](auto length) {
        return Sampler(ContextModel(vocab, 1), ContextModel(vocab, 2), {.lookahead = 6, .seed = 9}, BlockVerification{},
                       length);
    };
    const GoodputLength goodput(.1, [](Index n) { return 1 + .1 * static_cast<double>(n - 1); });
    auto fresh = sampler(goodput);
    const auto text = fresh.generate({1}, {.max_new_tokens = 200}).tokens;
    (void)fresh.generate({2}, {.max_new_tokens = 50, .request = 1});
    CHECK(fresh.generate({1}, {.max_new_tokens = 200}).tokens == text);
    CHECK(fresh.tally().proposed < 6 * fresh.tally().rounds);  // it did adapt
    auto shared = goodput;
    auto goes_on = sampler(std::ref(shared));
    CHECK(goes_on.generate({1}, {.max_new_tokens = 200}).tokens == text);
    CHECK(goes_on.generate({1}, {.max_new_tokens = 200}).tokens != text);
}

TEST_CASE("a step drafts what it would in a fresh sampler, whatever was written before", "[sampler]") {
    const auto made = [](auto length) {
        return Sampler(ContextModel(vocab, 1), ContextModel(vocab, 2), {.lookahead = 6, .seed = 9}, BlockVerification{},
                       length);
    };
    const GoodputLength goodput(.1, [](Index n) { return 1 + .1 * static_cast<double>(n - 1); });
    auto used = made(goodput);
    (void)used.generate({2}, {.max_new_tokens = 200});
    for (std::uint64_t request = 0; request < 200; ++request) {
        auto fresh = made(goodput);
        const std::vector<Token> text{1, static_cast<Token>(request % vocab)};
        const Round expected = fresh.step(text, {.request = request});
        const Round round = used.step(text, {.request = request});
        REQUIRE(round.proposed == expected.proposed);
        REQUIRE(std::ranges::equal(round.tokens, expected.tokens));
        REQUIRE(round.counts() == expected.counts());
    }
}

TEST_CASE("a shared length adapts from step to step, by what its owner records", "[sampler]") {
    Listed length{{3, 1}};
    Sampler sampler(ContextModel(vocab, 1), ContextModel(vocab, 2), {.lookahead = 4}, TokenVerification{},
                    std::ref(length));
    const Round first = sampler.step(std::vector<Token>{1});
    CHECK(first.proposed == 3);
    length.record(first.counts());
    CHECK(sampler.step(std::vector<Token>{1}).proposed == 1);
}

TEST_CASE("rounds whose length adapts share no noise", "[sampler]") {
    const ContextModel draft(3, 1), target(3, 2);
    GoodputLength length(.2, [](Index n) { return 1 + .1 * static_cast<double>(n - 1); });
    Sampler sampler(ChainDrafter(draft, ConfidenceStop(.3)), target, {.lookahead = 3, .seed = 2024},
                    BlockVerification{}, std::ref(length));
    TextDistribution observed;
    constexpr int samples = 20000;
    for (int request = 0; request < samples; ++request)
        ++observed[sampler.generate(std::vector<Token>{},
                                    {.max_new_tokens = 4, .request = static_cast<std::uint64_t>(request)})];
    // Given what the length has learnt, every text has the target's distribution: so the texts are independent. 81
    // texts, 27 of a beginning: no cell is rare. A false alarm in 1e9: the statistic's mean is 80, its deviation 12.6.
    double statistic = 0;
    for (const auto& [text, probability] : joint_distribution(target, 4)) {
        const double expected = probability * samples;
        statistic += (observed[text] - expected) * (observed[text] - expected) / expected;
    }
    CHECK(observed.size() <= 81);
    CHECK(statistic < 80 + 8 * 12.65);
}

static_assert(DraftStop<ConfidenceStop> && DraftStop<EntropyStop>);

TEST_CASE("a stop before a row draws nothing from it", "[sampler]") {
    const ContextModel model(vocab, 1);
    for (const double least : {.2, .3, .4, .6, 1.1}) {
        DraftTree<ChainDrafter<ContextModel>::Distribution> whole;
        DraftTree<ChainDrafter<ContextModel, Careful>::Distribution> stopped;
        const RoundRng rng(1, 0, 2);
        const std::vector<Token> prefix{3, 1};
        whole.open(8, {}, vocab);
        stopped.open(8, {}, vocab);
        ChainDrafter all(model);
        ChainDrafter some(model, Careful{.least_before = least});
        all.propose(prefix, rng, whole);
        some.propose(prefix, rng, stopped);
        std::vector<Token> text = prefix;
        Index expected = 0;
        while (expected < 8 && model(text).maxCoeff() >= least) text.push_back(whole.token(expected++));
        INFO("least " << least);
        REQUIRE(stopped.size() == expected);
        for (Index i = 0; i < expected; ++i) CHECK(stopped.token(i) == whole.token(i));
    }
}

TEST_CASE("a stop after a token keeps it", "[sampler]") {
    const ContextModel model(vocab, 1);
    const RoundRng rng(1, 0, 2);
    const std::vector<Token> prefix{3, 1};
    int shorter = 0;
    for (const double least : {.05, .2, .3, .5, 1.1}) {
        DraftTree<ChainDrafter<ContextModel>::Distribution> whole;
        DraftTree<ChainDrafter<ContextModel, Careful>::Distribution> stopped;
        whole.open(8, {}, vocab);
        stopped.open(8, {}, vocab);
        ChainDrafter all(model);
        ChainDrafter some(model, Careful{.least_after = least});
        all.propose(prefix, rng, whole);
        some.propose(prefix, rng, stopped);
        Index expected = 0;
        for (bool go_on = true; go_on && expected < 8; ++expected)
            go_on = whole.distributions()[static_cast<std::size_t>(expected)].weight(whole.token(expected)) >= least;
        INFO("least " << least);
        REQUIRE(stopped.size() == expected);
        CHECK(stopped.size() >= 1);
        shorter += stopped.size() < 8;
    }
    CHECK(shorter >= 2);
}

TEST_CASE("drafts that stop are exact", "[sampler]") {
    for (const double least : {.3, .4, .6})
        for (const Index lookahead : {1, 2, 3}) {
            const ContextModel draft(3, 1), target(3, 2);
            const ChainDrafter before(draft, Careful{.least_before = least});
            const ChainDrafter after(draft, Careful{.least_after = least});
            CHECK(distance_from_target(TokenVerification{}, before, target, lookahead) < 1e-12);
            CHECK(distance_from_target(TokenVerification{}, after, target, lookahead) < 1e-12);
            CHECK(distance_from_target(BlockVerification{}, before, target, lookahead) < 1e-12);
            CHECK(distance_from_target(BlockVerification{}, after, target, lookahead) < 1e-12);
        }
}
