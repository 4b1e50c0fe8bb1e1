// Three models in a row: the target judges the middle model's tokens by the middle model's distribution.
#include <specsample/sampler/staged.hpp>

#include <map>
#include <vector>

#include <specsample/specsample.hpp>
#include <specsample/testing.hpp>
#include <specsample/theory.hpp>

#include "support/catch.hpp"
#include "support/numbers.hpp"

using namespace specsample;
using namespace specsample::theory;
using namespace specsample::testing;

namespace {

constexpr Index vocab = 4;
const ContextModel small(vocab, 1), middle(vocab, 2), target(vocab, 3);

/// Counts its passes.
struct Counted {
    ContextModel model;
    int* passes;

    Eigen::VectorXd operator()(std::span<const Token> prefix) const {
        ++*passes;
        return model(prefix);
    }
};

template <class Draft>
auto propose(Draft& draft, const std::vector<Token>& prefix, Index depth, std::span<const Token> stops = {},
             std::uint64_t seed = 1) {
    DraftTree<typename Draft::Distribution> draft_tree;
    draft_tree.open(depth, stops, vocab);
    draft.propose(prefix, RoundRng(seed, 0, std::ssize(prefix)), draft_tree);
    return draft_tree;
}

}  // namespace

TEST_CASE("a staged draft is a chain with the middle model's rows", "[sampler]") {
    StagedDrafter draft(small, middle, 3);
    const std::vector<Token> prefix{2, 0};
    for (const Index depth : {1, 2, 5, 9}) {
        const auto draft_tree = propose(draft, prefix, depth);
        REQUIRE(draft_tree.size() == depth);
        std::vector<Token> text = prefix;
        for (Index i = 0; i < depth; ++i) {
            CHECK(draft_tree.parent(i) == i - 1);
            const Eigen::VectorXd row = middle(text);
            for (Index id = 0; id < vocab; ++id)
                CHECK(draft_tree.distributions()[static_cast<std::size_t>(i)].weight(id) == row[id]);
            text.push_back(draft_tree.token(i));
        }
    }
}

TEST_CASE("a staged draft is what the two models write", "[sampler]") {
    TextDistribution distribution;
    Enumerator().run([&](Enumerator& paths) {
        StagedDrafter draft(small, middle, 2, BlockVerification{});
        DraftTree<decltype(draft)::Distribution> draft_tree;
        draft_tree.open(3, {}, vocab);
        draft.propose(std::vector<Token>{}, EnumeratedRng(paths), draft_tree);
        distribution[{draft_tree.tokens().begin(), draft_tree.tokens().end()}] += paths.probability();
    });
    CHECK(total_variation(distribution, joint_distribution(middle, 3)) < 1e-12);
}

TEST_CASE("a draft that the middle model agrees with saves its passes", "[sampler]") {
    int passes = 0;
    const auto many = [&](std::span<const Token> prefix, Index n) {
        ++passes;
        RowMajorMatrix<double> rows(n, vocab);
        for (Index i = 0; i < n; ++i)
            rows.row(i) = middle(prefix.first(prefix.size() - static_cast<std::size_t>(n - 1 - i))).transpose();
        return rows;
    };
    StagedDrafter draft(middle, many, 3);
    CHECK(propose(draft, {1}, 8).size() == 8);
    CHECK(passes == 2);
    int small_passes = 0;
    StagedDrafter lazy(Counted{small, &small_passes}, middle, 1);
    CHECK(propose(lazy, {1}, 1).size() == 1);
    CHECK(small_passes == 0);  // one token is the middle model's own
}

TEST_CASE("nothing follows a stop token of a staged draft", "[sampler]") {
    const std::vector<Token> stops{0};
    StagedDrafter draft(small, middle, 3);
    int stopped = 0;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        const auto draft_tree = propose(draft, {1}, 6, stops, seed);
        for (Index i = 0; i + 1 < draft_tree.size(); ++i) CHECK(draft_tree.token(i) != 0);
        if (draft_tree.size() == 6) continue;
        CHECK(draft_tree.token(draft_tree.size() - 1) == 0);
        ++stopped;
    }
    CHECK(stopped > 10);
}

TEST_CASE("bad data of the middle model is a fault of the draft", "[sampler]") {
    Index good = 2;
    const auto failing = [&](std::span<const Token> prefix) -> Eigen::VectorXd {
        Eigen::VectorXd row = middle(prefix);
        if (std::ssize(prefix) > good) numbers::write(row[1], numbers::Special::nan);
        return row;
    };
    StagedDrafter draft(small, failing, 1);
    const auto draft_tree = propose(draft, {1}, 6);
    REQUIRE(draft_tree.fault());
    CHECK(draft_tree.fault()->side == Side::draft);
    CHECK(draft_tree.fault()->row == draft_tree.size());
    CHECK(draft_tree.size() <= 2);
    Sampler sampler(std::ref(draft), target, {.lookahead = 4});
    CHECK_THROWS_AS(sampler.generate({1}), Fault);
    good = 100;
    CHECK(sampler.generate({1}, {.max_new_tokens = 20}).tokens.size() == 20);
}

TEST_CASE("stages share no random number with each other or with the target", "[sampler]") {
    // Every number that one round draws, at whatever address.
    struct Noted {
        std::map<std::uint64_t, int>* seen;
        RoundRng rng;
        Noted split(Index part) const { return {seen, rng.split(part)}; }
        Rng at(Purpose purpose, Index node) const {
            const Rng random = rng.at(purpose, node);
            ++(*seen)[random.bits()];
            return random;
        }
    };
    std::map<std::uint64_t, int> seen;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        seen.clear();
        StagedDrafter draft(StagedDrafter(StagedDrafter(small, target, 1), middle, 2), ContextModel(vocab, 7), 3);
        Sampler sampler(std::ref(draft), target, {.lookahead = 9});
        (void)sampler.step(std::vector<Token>{1}, {}, Noted{&seen, RoundRng(seed, 0, 1)});
        CHECK(seen.size() > 20);
        for (const auto& [bits, times] : seen) CHECK(times == 1);
    }
}

TEST_CASE("a staged draft is checked", "[sampler]") {
    CHECK_THROWS_WITH(StagedDrafter(small, middle, 0),
                      ContainsSubstring("StagedDrafter: lookahead is 0, but must be at least 1"));
    Sampler sampler(StagedDrafter(small, middle, 2), target, {.lookahead = 300});
    CHECK(sampler.generate({1}, {.max_new_tokens = 5}).tokens.size() == 5);
}
