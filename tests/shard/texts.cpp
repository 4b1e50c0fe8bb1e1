// Texts of Sampler whose models' rows no rank holds whole are the texts of the whole models.
#include "shard/ranks.hpp"
#include "shard/toy.hpp"
#include "support/catch.hpp"

#include <specsample/shard.hpp>
#include <specsample/specsample.hpp>

using namespace specsample;
using namespace ranks;

namespace {

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
