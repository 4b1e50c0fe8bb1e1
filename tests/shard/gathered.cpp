// Rows of ranks as values: the texts of the whole models, with the numbers of every slice on every rank.
#include <deque>
#include <memory>
#include <tuple>

#include "shard/ranks.hpp"
#include "shard/toy.hpp"
#include "support/catch.hpp"

#include <specsample/sampler_values.hpp>
#include <specsample/shard.hpp>
#include <specsample/specsample.hpp>

using namespace specsample;
using namespace ranks;

namespace {

/// A rank of a toy: its rows view numbers that are gathered, and kept until the text ends.
template <class Scalar>
struct Gathered {
    static constexpr bool stable_rows = true;
    using Numbers = shard::GatheredNumbers<std::vector<Scalar>>;

    Toy<Scalar> model;
    Index first, count;
    shard::Ranks* ranks;
    std::shared_ptr<std::deque<Numbers>> rows = std::make_shared<std::deque<Numbers>>();

    Row operator()(std::span<const Token> prefix) const {
        const Numbers& row = rows->emplace_back(model.logits(prefix, first, count), first, model.vocab, *ranks);
        return Row::logits({row, row.scalar()}, model.temperature);
    }
};

template <class Scalar, class Rule>
void compare(Index vocab, double temperature, const Rule& rule = {}) {
    const Toy<Scalar> draft{vocab, 1, temperature}, target{vocab, 2, temperature};
    const Text expected = text_of(whole(draft), whole_rows(target), rule);
    REQUIRE(expected.tokens.size() > 10);
    for (const auto& split : {ranks::equal(vocab, 2), ranks::equal(vocab, 3), Split{{0, 0, vocab}}}) {
        CAPTURE(vocab, temperature, split.borders);
        for (const Text& text : ranks::on_ranks(split.ranks(), [&](Index rank, shard::Ranks& ranks) {
                 const auto gathered = [&](const Toy<Scalar>& model) {
                     return Gathered<Scalar>{model, split.first(rank), split.count(rank), &ranks};
                 };
                 return text_of(gathered(draft), gathered(target), rule);
             }))
            CHECK(text == expected);
    }
}

}  // namespace

TEMPLATE_TEST_CASE("gathered rows write the text of whole ones", "", TokenVerification, BlockVerification, GreedyMatch,
                   SampleMatch, GumbelMatch) {
    compare<float, TestType>(1100, 1);
    compare<float, TestType>(600, 0);
}

TEST_CASE("gathered rows write the text of whole ones, with halves and doubles") {
    compare<Eigen::half, TokenVerification>(1100, .8);
    compare<double, TokenVerification>(700, 1);
}

TEST_CASE("gathered probabilities are a row by themselves") {
    const std::vector<double> probs{.1, .2, .3, .4};
    const auto found = ranks::on_ranks(2, [&](Index rank, shard::Ranks& ranks) {
        const std::span<const double> slice(probs.data() + 2 * rank, 2);
        const shard::GatheredNumbers numbers(slice, 2 * rank, 4, ranks);
        const Row row = Row::probs({numbers, numbers.scalar()});
        const Index token = draw(Rng({.seed = 4}), row).index;
        const bool is_bad = kernels::inspect(row, Side::target, 0).has_value();
        return std::tuple(token, is_bad, ranks.traffic().exchanges - 1);  // the first tells the slices
    });
    for (const auto& [token, is_bad, exchanges] : found) {
        CHECK(exchanges == 1);  // however often it is read
        CHECK(token == draw(Rng({.seed = 4}), probs).index);
        CHECK_FALSE(is_bad);
    }
}

TEST_CASE("slices that do not fit together are not a number, and the numbers say why") {
    const auto causes = ranks::on_ranks(2, [&](Index rank, shard::Ranks& ranks) {
        const std::vector<float> slice{.5f, .5f};
        const shard::GatheredNumbers numbers(slice, 3 * rank, 4, ranks);
        const auto bad = kernels::inspect(Row::probs(numbers), Side::target, 0);
        return std::pair(bad->cause, numbers.fault()->cause);
    });
    for (const auto& [found, why] : causes) {
        CHECK(found == Cause::not_finite);
        CHECK(why == Cause::slice_begin);
    }
}
