// A block of candidates as rows, and drafts of it.
#include <specsample/drafters/lattice.hpp>

#include <cmath>
#include <functional>
#include <stdexcept>
#include <vector>

#include <specsample/drafters/beam.hpp>
#include <specsample/drafters/tree.hpp>
#include <specsample/specsample.hpp>
#include <specsample/testing.hpp>

#include "support/catch.hpp"

using namespace specsample;

namespace {

constexpr Index vocab = 10;

/// Two positions of three candidates, out of order.
const std::vector<Token> ids{7, 2, 5, 1, 9, 4};
const std::vector<float> logits{3, 1, 2, 0, 1, 5};

/// Counts its calls, and what it is told to forget.
struct Pass {
    int* calls;
    Index* kept = nullptr;

    lattice::Block<float> operator()(std::span<const Token>) const {
        ++*calls;
        return {.ids = ids, .logits = logits, .width = 3};
    }
    void rollback(Index length) const {
        if (kept != nullptr) *kept = length;
    }
};

/// A token after its neighbour is likely.
struct Neighbours {
    std::vector<Token>* previous;

    void operator()(Index, Token before, std::span<const Token> candidates, std::span<float> numbers) const {
        previous->push_back(before);
        for (std::size_t i = 0; i < candidates.size(); ++i)
            if (candidates[i] == before + 2) numbers[i] += 10;
    }
};

std::vector<double> probs_of(const auto& row) {
    std::vector<double> probs;
    const auto view = detail::as_row(row);
    for (Index id = 0; id < view.size(); ++id) probs.push_back(static_cast<double>(view.coeff(id)));
    return probs;
}

double share(double z, std::vector<double> all) {
    double sum = 0;
    for (const double x : all) sum += std::exp(x);
    return std::exp(z) / sum;
}

}  // namespace

TEST_CASE("the row after a path holds the candidates of its position, and their scores after its last token") {
    int calls = 0;
    std::vector<Token> previous;
    lattice::Model model(Pass{&calls}, vocab, .5, Neighbours{&previous});
    const std::vector<Token> text{8, 6};
    model.begin(text);
    const auto first = probs_of(model(text));
    CHECK(first[7] == Approx(share(6, {6, 2, 4})).epsilon(1e-6));
    CHECK(first[2] == Approx(share(2, {6, 2, 4})).epsilon(1e-6));
    CHECK(first[5] == Approx(share(4, {6, 2, 4})).epsilon(1e-6));
    CHECK(first[1] == 0);
    const auto second = probs_of(model(std::vector<Token>{8, 6, 2}));  // 4 is favoured
    CHECK(second[4] == Approx(share(30, {30, 0, 2})).epsilon(1e-6));
    CHECK(probs_of(model(std::vector<Token>{8, 6, 7}))[9] == Approx(share(22, {22, 0, 10})).epsilon(1e-6));
    CHECK(previous == std::vector<Token>{6, 2, 7});
    CHECK(calls == 1);
    CHECK(model(std::vector<Token>{8, 6, 7, 9}).held().size() == 0);  // after the last position
    CHECK(model(std::vector<Token>{8}).held().size() == 0);           // before the first
    model.begin({});
    static_cast<void>(model({}));
    CHECK(previous.back() == -1);
}

TEST_CASE("drafters draw a path, grow trees, and find the likeliest path, from one block per round") {
    int calls = 0;
    Index kept = -1;
    std::vector<Token> previous;
    const lattice::Model model(Pass{&calls, &kept}, vocab, 1, Neighbours{&previous});
    DraftTree<Mixed<detail::row_view_t<decltype(lattice::Model(model)({}))>>> tree;
    const std::vector<Token> text{1, 6};
    const auto draft = [&](auto drafter) {
        tree.open(5, {}, vocab);
        drafter.propose(text, RoundRng(1, 0, 0), tree);
        drafter.rollback(1);
        return std::vector<Token>(tree.tokens().begin(), tree.tokens().end());
    };
    const auto path = draft(lattice::Drafter(model, [](auto rows) { return ChainDrafter(rows); }));
    CHECK(path.size() == 2);
    CHECK(calls == 1);
    CHECK(kept == 1);
    CHECK(draft(lattice::Drafter(model, [](auto rows) { return BeamDrafter(rows, 2); })).size() == 4);
    const auto likeliest =
        draft(lattice::Drafter(model, [](auto rows) { return DynamicTreeDrafter(rows, {.width = 3, .nodes = 3}); }));
    CHECK(likeliest == std::vector<Token>{7, 5, 9});  // 7 with .67, then 7 9 with nearly as much, then 5
    CHECK(draft(lattice::Drafter(model, [](auto rows) { return TreeDrafter(rows, {3, 1}); })).size() == 6);
    CHECK(calls == 4);
    tree.open(0, {}, vocab);
    lattice::Drafter(model, [](auto rows) { return ChainDrafter(rows); }).propose(text, RoundRng(1, 0, 0), tree);
    CHECK(calls == 4);  // nothing is drafted
}

TEST_CASE("a sampler drafts from blocks, and rolls back what they are made from") {
    int calls = 0;
    Index kept = -1;
    const testing::ContextModel target(vocab, 3);
    Sampler sampler(
        lattice::Drafter(lattice::Model(Pass{&calls, &kept}, vocab), [](auto rows) { return ChainDrafter(rows); }),
        target, {.lookahead = 4, .seed = 5});
    const Generation made = sampler.generate({1, 2}, {.max_new_tokens = 50});
    CHECK(made.tokens.size() == 50);
    CHECK(made.tally.proposed >= made.tally.rounds);
    CHECK(calls <= made.tally.rounds);
    CHECK(kept >= 0);
}

TEST_CASE("a block whose sizes do not agree is refused, and an id twice at a position is a fault") {
    const auto refuses = [](const lattice::Block<float>& block, const std::string& text) {
        lattice::Model model([&](std::span<const Token>) { return block; }, vocab);
        CHECK_THROWS_WITH(model.begin({}), Catch::Matchers::Contains(text));
    };
    refuses({.ids = ids, .logits = logits, .width = 0}, "lattice::Model: block.width is 0, but must be at least 1");
    refuses({.ids = ids, .logits = logits, .width = 4}, "the number of logits is 6, but must be that of ids");
    refuses({.ids = ids, .logits = std::span(logits).first(3), .width = 3}, "the number of logits is 3, but must be");
    CHECK_THROWS_WITH(lattice::Model([](std::span<const Token>) { return lattice::Block<float>{}; }, 0),
                      Catch::Matchers::Contains("vocab is 0, but must be at least 1"));
    CHECK_THROWS_WITH(lattice::Model([](std::span<const Token>) { return lattice::Block<float>{}; }, 3, -1),
                      Catch::Matchers::Contains("temperature is -1"));

    const std::vector<Token> twice{4, 4};
    const std::vector<float> same{0, 0};
    const auto block = [&](std::span<const Token>) { return lattice::Block<float>{twice, same, 2}; };
    Sampler sampler(lattice::Drafter(lattice::Model(block, vocab), [](auto rows) { return ChainDrafter(rows); }),
                    testing::ContextModel(vocab, 3), {.lookahead = 1, .seed = 5});
    CHECK_THROWS_WITH(sampler.generate({1}, {.max_new_tokens = 5}), Catch::Matchers::Contains("draft row 0"));
}
