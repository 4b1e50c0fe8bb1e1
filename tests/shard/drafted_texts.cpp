// Texts of Sampler whose models' rows no rank holds whole, with other drafts than a chain: trees, lookup, shaped
// models.
#include "shard/ranks.hpp"
#include "shard/toy.hpp"
#include "support/any_children.hpp"
#include "support/catch.hpp"

#include <specsample/shard.hpp>
#include <specsample/shaping.hpp>
#include <specsample/specsample.hpp>

using namespace specsample;
using namespace ranks;

TEST_CASE("a text drafted by trees does not depend on the number of ranks") {
    const Index vocab = 1100;
    const double temperature = GENERATE(1., 0.);
    const any::Kind kind =
        GENERATE(any::Kind::independent, any::Kind::without_replacement, any::Kind::top, any::Kind::greedy);
    CAPTURE(temperature, static_cast<int>(kind));
    const Toy<float> draft{vocab, 1, temperature}, target{vocab, 2, temperature};
    const auto tree = [kind](auto model) {
        return TreeDrafter(std::move(model), std::vector<Index>{3, 2}, any::Children{kind});
    };
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
    compare_shaped(SamplingParams{.temperature = .3, .top_p = .9}, 900);
    compare_shaped(SamplingParams{.temperature = .4, .top_p = .99, .min_p = .01}, 900);
    compare_shaped(filters::TopP(.4), 900);
    compare_shaped(SamplingParams{.temperature = .3, .top_p = .9, .repetition_penalty = 1.2}, 1800);
    compare_shaped(Pipeline{filters::MinP(.1), filters::Temperature(.5)}, 1800);
    // What needs the whole row gets it.
    compare_shaped(SamplingParams{.temperature = .9, .top_p = .9}, 4500);
    compare_shaped(SamplingParams{.temperature = .3, .typical_p = .9, .repetition_penalty = 1.2}, 4500);
}
