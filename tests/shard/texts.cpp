// Texts of Sampler whose models' rows no rank holds whole are the texts of the whole models.
#include <random>
#include <vector>

#include "shard/ranks.hpp"
#include "support/catch.hpp"

#include <specsample/shard.hpp>
#include <specsample/specsample.hpp>

using namespace specsample;

namespace {

/// A model whose logits are a function of the last two tokens, of which a rank computes a slice.
template <class Scalar>
struct Toy {
    Index vocab;
    unsigned seed;
    double temperature = 1;

    /// The logits of the ids [first, first + count).
    std::vector<Scalar> logits(std::span<const Token> prefix, Index first, Index count) const {
        std::vector<Scalar> row(static_cast<std::size_t>(count));
        const auto last = static_cast<unsigned>(prefix.back()),
                   before = static_cast<unsigned>(prefix[prefix.size() - 2]);
        for (Index i = 0; i < count; ++i) {
            const Rng random(
                {.seed = last, .request = before, .position = first + i, .purpose = Purpose::draft, .node = 0});
            const double shared = -2 * std::log(random.open_uniform()), own = random.open_uniform(seed);
            row[static_cast<std::size_t>(i)] = static_cast<Scalar>(static_cast<float>(shared + own));
        }
        return row;
    }
};

template <class Scalar>
auto whole(const Toy<Scalar>& model) {
    return [model](std::span<const Token> prefix) {
        return Logits(model.logits(prefix, 0, model.vocab), model.temperature);
    };
}
template <class Scalar>
auto whole_rows(const Toy<Scalar>& model) {
    return [model](std::span<const Token> prefix, Index n) {
        std::vector<Logits<std::vector<Scalar>>> rows;
        for (std::size_t i = prefix.size() - static_cast<std::size_t>(n); i < prefix.size(); ++i)
            rows.emplace_back(model.logits(prefix.first(i + 1), 0, model.vocab), model.temperature);
        return rows;
    };
}

template <class Scalar>
auto sliced(const Toy<Scalar>& model, const ranks::Split& split, Index rank, shard::Ranks& ranks) {
    return [=, &ranks](std::span<const Token> prefix) {
        return shard::Sharded(Logits(model.logits(prefix, split.first(rank), split.count(rank)), model.temperature),
                              split.first(rank), model.vocab, ranks);
    };
}
template <class Scalar>
auto sliced_rows(const Toy<Scalar>& model, const ranks::Split& split, Index rank, shard::Ranks& ranks) {
    return [=, &ranks](std::span<const Token> prefix, Index n) {
        std::vector<shard::Sharded<Logits<std::vector<Scalar>>>> rows;
        for (std::size_t i = prefix.size() - static_cast<std::size_t>(n); i < prefix.size(); ++i)
            rows.emplace_back(
                Logits(model.logits(prefix.first(i + 1), split.first(rank), split.count(rank)), model.temperature),
                split.first(rank), model.vocab, ranks);
        return rows;
    };
}

struct Text {
    std::vector<Token> tokens;
    Index rounds = 0;
    bool operator==(const Text&) const = default;
};

template <class Draft, class Target, class Rule>
Text text_of(Draft draft, Target target, const Rule& rule) {
    Sampler sampler(draft, target, {.lookahead = 3, .seed = 9}, rule);
    const auto made = sampler.generate({1, 2}, {.max_new_tokens = 24, .stop_tokens = {0}});
    return {made.tokens, made.tally.rounds};
}

template <class Scalar, class Rule>
void compare(Index vocab, double temperature, const Rule& rule = {}) {
    const Toy<Scalar> draft{vocab, 1, temperature}, target{vocab, 2, temperature};
    const Text expected = text_of(whole(draft), whole_rows(target), rule);
    REQUIRE(expected.tokens.size() > 10);
    for (const auto& split : {ranks::equal(vocab, 2), ranks::equal(vocab, 3), ranks::equal(vocab, 7)}) {
        CAPTURE(vocab, temperature, split.borders);
        for (const Text& text : ranks::on_ranks(split.ranks(), [&](Index rank, shard::Ranks& ranks) {
                 return text_of(sliced(draft, split, rank, ranks), sliced_rows(target, split, rank, ranks), rule);
             }))
            CHECK(text == expected);
        INFO("whole drafts");
        for (const Text& text : ranks::on_ranks(split.ranks(), [&](Index rank, shard::Ranks& ranks) {
                 return text_of(whole(draft), sliced_rows(target, split, rank, ranks), rule);
             }))
            CHECK(text == expected);
        INFO("one row at a time");
        for (const Text& text : ranks::on_ranks(split.ranks(), [&](Index rank, shard::Ranks& ranks) {
                 return text_of(whole(draft), sliced(target, split, rank, ranks), rule);
             }))
            CHECK(text == expected);
    }
}

}  // namespace

TEMPLATE_TEST_CASE("a text does not depend on the number of ranks", "", TokenVerification, BlockVerification,
                   GreedyMatch, SampleMatch, GumbelMatch) {
    compare<float, TestType>(1100, 1);
    compare<float, TestType>(600, 0);
}

TEST_CASE("a text does not depend on the number of ranks, with halves and doubles") {
    compare<Eigen::half, TokenVerification>(1100, .8);
    compare<Eigen::bfloat16, BlockVerification>(1100, .8);
    compare<double, TokenVerification>(700, 1);
    compare<Eigen::half, GumbelMatch>(1100, .8);
}

TEMPLATE_TEST_CASE("a text drafted by trees does not depend on the number of ranks", "", children::Independent,
                   children::WithoutReplacement, children::TopChildren, children::GreedyChildren) {
    const Index vocab = 1100;
    const double temperature = GENERATE(1., 0.);
    const Toy<float> draft{vocab, 1, temperature}, target{vocab, 2, temperature};
    const auto tree = [](auto model) { return TreeDrafter(std::move(model), std::vector<Index>{3, 2}, TestType()); };
    const auto compare_tree = [&](const auto& rule) {
        const Text expected = text_of(tree(whole(draft)), whole_rows(target), rule);
        REQUIRE(expected.tokens.size() > 10);
        for (const auto& split : {ranks::equal(vocab, 3), ranks::Split{{0, 0, 512, 700, vocab}}})
            for (const Text& text : ranks::on_ranks(split.ranks(), [&](Index rank, shard::Ranks& ranks) {
                     return text_of(tree(sliced(draft, split, rank, ranks)), sliced_rows(target, split, rank, ranks),
                                    rule);
                 }))
                CHECK(text == expected);
        const ranks::Split split = ranks::equal(vocab, 4);
        for (const Text& text : ranks::on_ranks(4, [&](Index rank, shard::Ranks& ranks) {
                 return text_of(tree(sliced(draft, split, rank, ranks)), sliced(target, split, rank, ranks), rule);
             }))
            CHECK(text == expected);
    };
    compare_tree(RecursiveRejection());
    compare_tree(TraversalVerification());
    compare_tree(GumbelMatch());
}

TEST_CASE("a text drafted by lookup does not depend on the number of ranks") {
    const Index vocab = 40;
    const Toy<float> target{vocab, 2, .3};
    const Text expected = text_of(LookupDrafter(), whole_rows(target), TokenVerification());
    for (const auto& split : {ranks::equal(vocab, 2), ranks::equal(vocab, 7)})
        for (const Text& text : ranks::on_ranks(split.ranks(), [&](Index rank, shard::Ranks& ranks) {
                 return text_of(LookupDrafter(), sliced_rows(target, split, rank, ranks), TokenVerification());
             }))
            CHECK(text == expected);
}

TEST_CASE("a shaped text does not depend on the number of ranks") {
    const Index vocab = 1100;
    const Toy<float> draft{vocab, 1}, target{vocab, 2};
    const auto compare_shaped = [&](const auto& params, Index most_bytes_per_row) {
        const auto expected =
            text_of(shaped(whole(draft), params), shaped(whole_rows(target), params), TokenVerification());
        REQUIRE(expected.tokens.size() > 10);
        for (const auto& split : {ranks::equal(vocab, 3), ranks::Split{{0, 0, 512, 700, vocab}}})
            for (const auto& [text, sent] : ranks::on_ranks(split.ranks(), [&](Index rank, shard::Ranks& ranks) {
                     const Text made =
                         text_of(shaped(sliced(draft, split, rank, ranks), params),
                                 shaped(sliced_rows(target, split, rank, ranks), params), TokenVerification());
                     return std::pair(made, ranks.traffic().sent / ranks.traffic().exchanges);
                 })) {
                CHECK(text == expected);
                CHECK(sent <= most_bytes_per_row);
            }
    };
    compare_shaped(SamplingParams{.temperature = .8, .top_k = 40}, 2500);
    compare_shaped(SamplingParams{.temperature = .7,
                                  .top_k = 20,
                                  .top_p = .9,
                                  .min_p = .02,
                                  .repetition_penalty = 1.3,
                                  .frequency_penalty = .5,
                                  .presence_penalty = .2,
                                  .logit_bias = {{7, 2.5}, {1099, -3}, {500, 9}}},
                   2500);
    compare_shaped(SamplingParams{.temperature = 0, .repetition_penalty = 1.2}, 1600);
    compare_shaped(filters::TopK(30), 2500);
    compare_shaped(SamplingParams{.top_k = 1000, .typical_p = .9}, 40000);
    compare_shaped(SamplingParams{.temperature = .6, .min_p = .05, .repetition_penalty = 1.4, .logit_bias = {{3, 4.}}},
                   2500);
    // What needs the whole row gets it.
    compare_shaped(SamplingParams{.temperature = .9, .top_p = .9}, 4500);
    compare_shaped(Pipeline{filters::MinP(.1), filters::Temperature(.5)}, 4500);
}
