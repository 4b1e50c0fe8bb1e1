// The nucleus of a row that no rank holds whole: that of the whole row, by candidates where they are few.
#include <cmath>
#include <limits>
#include <vector>

#include "shard/ranks.hpp"
#include "support/catch.hpp"

#include <specsample/shard.hpp>
#include <specsample/specsample.hpp>

using namespace specsample;

namespace {

/// What shaping leaves of a row: ids and numbers, one after the other.
struct Left {
    std::vector<double> all;
    bool operator==(const Left&) const = default;
};

template <class R, class P>
Left shaped_row(R&& row, const P& params) {
    filters::ShapedMemory<detail::ShapedValue<std::remove_cvref_t<R>>> memory;
    const auto shaped = shape(row, params, {}, memory);
    Left left;
    for (Index place = 0; place < shaped.ids().size(shaped.size()); ++place) {
        left.all.push_back(static_cast<double>(shaped.ids().id(place)));
        left.all.push_back(static_cast<double>(shaped.held().numbers()[place]));
    }
    return left;
}

/// Logits of several shapes: noisy Zipf, normal, few values with many ties, all equal.
template <class Scalar>
Eigen::Array<Scalar, Eigen::Dynamic, 1> row_of(Index vocab, int kind, std::uint64_t seed) {
    const Rng rng({.seed = seed});
    Eigen::Array<Scalar, Eigen::Dynamic, 1> row(vocab);
    for (Index id = 0; id < vocab; ++id) {
        const double u = rng.open_uniform(static_cast<std::uint32_t>(id));
        const double z = kind == 0 ? -2 * std::log(u) : kind == 1 ? 4 * u : kind == 2 ? std::floor(9 * u) : 1.5;
        row[id] = static_cast<Scalar>(static_cast<float>(z));
    }
    return row;
}

/// The largest share of a row's bytes that a rank sent for one shaped row.
template <class Scalar, class P>
double compare(Index vocab, int kind, const P& params) {
    const auto row = row_of<Scalar>(vocab, kind, 3);
    const Left expected = shaped_row(Logits(row), params);
    const SamplingParams before{.min_p = .5, .logit_bias = {{static_cast<Token>(kernels::argmax(row)), -1.}}};
    double most = 0;
    for (const ranks::Split& split : ranks::splits(vocab)) {
        CAPTURE(vocab, kind, split.borders);
        for (const auto& [left, sent] : ranks::on_ranks(split.ranks(), [&](Index rank, shard::Ranks& ranks) {
                 const auto slice = split.slice(row, rank);
                 // A row before it, whose largest logit changes: what is kept of that must not matter.
                 shaped_row(shard::Sharded(Logits(slice), split.first(rank), vocab, ranks), before);
                 const Index sent = ranks.traffic().sent;
                 const Left here = shaped_row(shard::Sharded(Logits(slice), split.first(rank), vocab, ranks), params);
                 return std::pair(here, ranks.traffic().sent - sent);
             })) {
            CHECK(left == expected);
            if (split.ranks() == 2) most = std::max(most, double(sent) / double(vocab) / sizeof(Scalar));
        }
    }
    return most;
}

}  // namespace

TEMPLATE_TEST_CASE("the nucleus of slices is that of the whole row, to the bit", "", float, double, Eigen::half) {
    for (const Index vocab : {2, 70, 1300, 3000})
        for (const int kind : {0, 1, 2, 3})
            for (const double p : {.05, .5, .9, .99, 1 - 1e-7}) {
                CAPTURE(p);
                compare<TestType>(vocab, kind, SamplingParams{.temperature = .5, .top_p = p});
                compare<TestType>(vocab, kind, filters::TopP(p));
            }
    compare<TestType>(3000, 0, SamplingParams{.temperature = .7, .top_p = .9, .min_p = .05});
}

TEST_CASE("ranks send the candidates of a nucleus, not their slices") {
    CHECK(compare<float>(60000, 0, SamplingParams{.temperature = .5, .top_p = .9}) < .1);
    CHECK(compare<float>(60000, 3, SamplingParams{.top_p = .9}) > .5);  // it is most of the row
}

TEST_CASE("a bad number in a slice is a fault of the row under top-p, too") {
    Eigen::ArrayXf row = row_of<float>(1300, 0, 5);
    row[1000] = std::numeric_limits<float>::quiet_NaN();
    for (const bool refused : ranks::on_ranks(3, [&](Index rank, shard::Ranks& ranks) {
             const ranks::Split split = ranks::equal(1300, 3);
             filters::ShapedMemory<float> memory;
             const shard::Sharded mine(Logits(split.slice(row, rank)), split.first(rank), 1300, ranks);
             const auto shaped = shape(mine, SamplingParams{.temperature = .5, .top_p = .9}, {}, memory);
             const std::vector<Token> token{7};
             std::vector rows{shaped, shaped};
             Workspace workspace;
             const RoundRng rng(1, 0, 0);
             return verify(token, PointMass{}, rows, TokenVerification(), rng, {.check = Check::every_row}, workspace)
                 .fault.has_value();
         }))
        CHECK(refused);
}
