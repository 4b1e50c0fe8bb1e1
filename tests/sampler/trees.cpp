// Trees through the sampler: the passes for their rows, and caches, stops, lengths and bad data.
#include <stdexcept>

#include <specsample/specsample.hpp>
#include <specsample/testing.hpp>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::testing;

namespace {

constexpr Index vocab = 5;

/// A model that counts its calls, keeps the last prefix, and can be given a cache that refuses prefixes that do not
/// extend it.
struct Recorder {
    ContextModel model;
    std::vector<std::vector<Token>> prefixes = {};
    std::vector<Index> counts = {};

    Eigen::VectorXd one(std::span<const Token> prefix) {
        prefixes.emplace_back(prefix.begin(), prefix.end());
        counts.push_back(1);
        return model(prefix);
    }
    RowMajorMatrix<double> many(std::span<const Token> prefix, Index n) {
        prefixes.emplace_back(prefix.begin(), prefix.end());
        counts.push_back(n);
        return model(prefix, n);
    }
};

struct One : Recorder {
    Eigen::VectorXd operator()(std::span<const Token> prefix) { return one(prefix); }
};
struct Many : Recorder {
    RowMajorMatrix<double> operator()(std::span<const Token> prefix, Index n) { return many(prefix, n); }
};

/// Refuses a prefix that does not extend what it holds, and positions that it holds already.
template <class Model>
struct Cached : Model {
    std::vector<Token> held = {};
    long rollbacks = 0;

    template <class... Count>
    auto operator()(std::span<const Token> prefix, Count... count) -> decltype(Model::operator()(prefix, count...)) {
        const Index before = std::ssize(prefix) - (Index{1} * ... * count);
        if (!std::equal(held.begin(), held.end(), prefix.begin(),
                        prefix.begin() + std::min(std::ssize(held), std::ssize(prefix))))
            throw std::logic_error("the prefix does not extend the cache");
        if (std::ssize(held) > std::max<Index>(before, 0)) throw std::logic_error("a position is in the cache already");
        held.assign(prefix.begin(), prefix.end());
        return Model::operator()(prefix, count...);
    }
    void rollback(Index length) {
        held.resize(static_cast<std::size_t>(std::min(length, std::ssize(held))));
        ++rollbacks;
    }
};

/// Drafts an id that no target of these tests has.
struct Outside {
    using Distribution = PointMass;
    void propose(std::span<const Token>, const auto&, auto& draft_tree) {
        draft_tree.add(root_node, 1, PointMass{});
        draft_tree.add(root_node, 99, PointMass{});
    }
};

const ContextModel draft_model(vocab, 1), target_model(vocab, 2);

template <class Draft, class Target, class Rule>
std::vector<Token> text_of(Draft draft, Target target, const Rule& rule,
                           const Limits& limits = {.max_new_tokens = 60}) {
    Sampler sampler(std::move(draft), std::move(target), {.lookahead = 8, .seed = 5}, rule);
    return sampler.generate({1, 2}, limits);
}

}  // namespace

TEMPLATE_TEST_CASE("caches change no text of a tree, whichever way the target scores", "", TokenVerification,
                   BlockVerification, SampleMatch, GumbelMatch) {
    const TestType rule;
    for (const auto& shape : {std::vector<Index>{2}, {2, 2}, {3, 1}, {2, 1, 1}, {1, 1, 2}}) {
        INFO("a tree of depth " << shape.size());
        const auto plain = text_of(TreeDrafter(draft_model, shape), target_model, rule);
        CHECK(plain.size() == 60);
        Cached<One> draft{{{draft_model}}}, one{{{target_model}}};
        Cached<Many> many{{{target_model}}};
        CHECK(text_of(TreeDrafter(std::ref(draft), shape), std::ref(one), rule) == plain);
        CHECK(text_of(TreeDrafter(std::ref(draft), shape), std::ref(many), rule) == plain);
        CHECK(draft.rollbacks > 0);
        CHECK(many.rollbacks > 0);
    }
}

TEST_CASE("a tree is scored in one pass per leaf, for the positions that no leaf before had") {
    Many target{{target_model}};
    Sampler sampler(TreeDrafter(draft_model, {2, 2}), std::ref(target), {.lookahead = 2});
    (void)sampler.step(std::vector<Token>{1, 2});
    CHECK(target.counts == std::vector<Index>{3, 1, 2, 1});
    for (const auto& prefix : target.prefixes) CHECK(prefix.size() == 4);
}

TEST_CASE("a tree that is a chain is scored in one pass") {
    Many target{{target_model}};
    Sampler sampler(TreeDrafter(draft_model, {1, 1, 1}), std::ref(target), {.lookahead = 3});
    (void)sampler.step(std::vector<Token>{1, 2});
    CHECK(target.counts == std::vector<Index>{4});
}

TEST_CASE("a target that scores one position at a time is asked for the rows of the walk only") {
    One target{{target_model}};
    Sampler sampler(TreeDrafter(draft_model, {2, 2, 2}), std::ref(target), {.lookahead = 3}, SampleMatch{});
    for (std::uint64_t request = 0; request < 50; ++request) {
        target.prefixes.clear();
        const Round round = sampler.step(std::vector<Token>{1, 2}, {.request = request});
        CHECK(std::ssize(target.prefixes) == round.accepted + 1);
    }
}

TEST_CASE("a drafter's model is asked once per node that has children") {
    One draft{{draft_model}};
    Sampler sampler(TreeDrafter(std::ref(draft), {2, 2, 1}), target_model, {.lookahead = 3});
    (void)sampler.step(std::vector<Token>{1});
    CHECK(draft.prefixes.size() == 1 + 2 + 4);
}

TEST_CASE("the row after a drafted stop token is not asked for, nor is anything drafted after one") {
    for (std::uint64_t request = 0; request < 50; ++request) {
        One draft{{draft_model}};
        Many target{{target_model}};
        Sampler sampler(TreeDrafter(std::ref(draft), {3, 2}), std::ref(target), {.lookahead = 2}, BlockVerification{});
        const Round round = sampler.step(std::vector<Token>{1}, {.stop_tokens = {0, 3}, .request = request});
        for (const auto* prefixes : {&draft.prefixes, &target.prefixes})
            for (const auto& prefix : *prefixes)
                CHECK(std::none_of(prefix.begin() + 1, prefix.end(), [](Token t) { return t == 0 || t == 3; }));
        CHECK(round.tokens.size() >= 1);
    }
}

TEST_CASE("the depth of a tree ends with the lookahead, and with the length of the text") {
    const auto proposed = [](Index lookahead, Index max_length) {
        Sampler sampler(TreeDrafter(draft_model, {2, 2, 2}), target_model, {.lookahead = lookahead});
        return sampler.step(std::vector<Token>{1, 2}, {.max_length = max_length}).proposed;
    };
    CHECK(proposed(3, 100) == 14);
    CHECK(proposed(3, 5) == 6);
    CHECK_THROWS_AS(proposed(2, 100), std::invalid_argument);  // it would be cut for good
    CHECK(proposed(0, 100) == 0);
    CHECK(proposed(3, 4) == 2);
    CHECK(proposed(3, 3) == 0);
}

TEST_CASE("a shorter text is the beginning of the longer one, trees as well") {
    const auto write = [](const auto& rule, Index count) {
        return text_of(TreeDrafter(draft_model, {2, 2}), target_model, rule, {.max_new_tokens = count});
    };
    const auto check = [&](const auto& rule) {
        const auto longest = write(rule, 40);
        for (Index count = 0; count < 40; ++count)
            CHECK(write(rule, count) == std::vector<Token>(longest.begin(), longest.begin() + count));
    };
    check(TokenVerification{});
    check(BlockVerification{});
    check(SampleMatch{});
}

TEST_CASE("the tally of trees counts positions as accepted or left") {
    Sampler sampler(TreeDrafter(draft_model, {2, 2}), target_model, {.lookahead = 2}, BlockVerification{});
    const Tally tally = sampler.generate({1}, {.max_new_tokens = 200}).tally;
    CHECK(tally.proposed == 6 * tally.rounds);
    CHECK(tally.tokens == 200);
    CHECK(tally.accepted + tally.rounds - tally.stopped == tally.tokens);
    CHECK(tally.evaluated == tally.accepted + tally.recovered);
}

TEST_CASE("bad rows of a tree's drafter are a fault that names them") {
    const auto bad = [](std::span<const Token> prefix) -> Eigen::VectorXd {
        if (prefix.size() == 1) return draft_model(prefix);
        return Eigen::VectorXd::Constant(vocab, std::nan(""));
    };
    Sampler sampler(TreeDrafter(bad, {2, 2}), target_model, {.lookahead = 2});
    CHECK_THROWS_WITH(sampler.step(std::vector<Token>{1}),
                      "specsample::Sampler: draft row 2 is nan at id 0, but must be finite");
}

TEST_CASE("a branching below 1 is refused") {
    CHECK_THROWS_WITH(TreeDrafter(draft_model, {2, 0}),
                      "specsample::TreeDrafter: a branching is 0, but must be at least 1");
}

TEST_CASE("a tree ends before an id that the target does not have") {
    Sampler sampler(Outside{}, target_model, {.lookahead = 1});
    CHECK(sampler.step(std::vector<Token>{1}).proposed == 1);
    CHECK(sampler.generate({1}, {.max_new_tokens = 20}).tokens.size() == 20);
}

namespace {

/// Declares that it never branches, and does.
struct Liar {
    using Distribution = PointMass;
    static constexpr bool branches = false;

    template <class Source, class L>
    void propose(std::span<const Token>, const Source&, DraftTree<L>& draft_tree) {
        for (const Token token : {0, 1})
            if (draft_tree.grows(root_node)) draft_tree.add(root_node, token, PointMass{});
    }
};

}  // namespace

TEST_CASE("a tree of a drafter that only proposes chains, as its type says, is refused") {
    const ContextModel target(vocab, 2);
    const auto many = [&](std::span<const Token> prefix, Index n) { return target(prefix, n); };
    Sampler sampler(Liar{}, many, {.lookahead = 3});
    CHECK_THROWS_WITH(sampler.generate({1}, {.max_new_tokens = 5}), ContainsSubstring("branches = false"));
}
