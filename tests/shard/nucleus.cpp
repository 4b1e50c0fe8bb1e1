// The nucleus of a row that no rank holds whole: that of the whole row, by candidates where they are few.
#include <cmath>
#include <limits>
#include <vector>

#include "shard/ranks.hpp"
#include "support/catch.hpp"

#include <specsample/shard.hpp>
#include <specsample/shaping.hpp>
#include <specsample/specsample.hpp>

using namespace specsample;

namespace {

/// What shaping leaves of a row: ids and numbers, one after the other.
struct Left {
    std::vector<double> all;
    bool operator==(const Left&) const = default;
};

/// The text before, whose tokens are penalised: some of every block, the first and the last of the vocabulary.
std::vector<Token> context_of(Index vocab) {
    std::vector<Token> context{0, static_cast<Token>(vocab - 1), 0};
    for (Index id = 1; id < vocab; id += 97) context.push_back(static_cast<Token>(id));
    return context;
}

template <class R, class P>
Left shaped_row(R&& row, const P& params) {
    filters::ShapedMemory<detail::ShapedValue<std::remove_cvref_t<R>>> memory;
    const auto shaped = shape(row, params, context_of(detail::row_size(row)), memory);
    Left left;
    for (Index place = 0; place < shaped.ids().size(shaped.size()); ++place) {
        left.all.push_back(static_cast<double>(shaped.ids().id(place)));
        left.all.push_back(static_cast<double>(shaped.held().numbers()[place]));
    }
    return left;
}

/// A shaper of one's own: adds to the logit of the sixth of a context, and says so.
struct Sixth {
    template <class Value>
    void operator()(filters::Candidates<Value>& row, std::span<const Token> context) const {
        if (context.size() < 6) return;
        if (const Index place = row.place_of(context[5]); place >= 0)
            row.change_logits()[static_cast<std::size_t>(place)] += Value{4};
    }
    void foresee(filters::Outlook& outlook, std::span<const Token> context) const {
        if (context.size() >= 6) outlook.change(context[5]);
    }
};

/// One that does not say so.
struct SilentSixth {
    template <class Value>
    void operator()(filters::Candidates<Value>& row, std::span<const Token> context) const {
        Sixth()(row, context);
    }
};

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
/// @param own   the temperature that the row brings along
template <class Scalar, class P>
double compare(Index vocab, int kind, const P& params, double own = 1) {
    const auto row = row_of<Scalar>(vocab, kind, 3);
    const Left expected = shaped_row(Logits(row, own), params);
    const SamplingParams before{.min_p = .5, .logit_bias = {{static_cast<Token>(kernels::argmax(row)), -1.}}};
    double most = 0;
    for (const ranks::Split& split : ranks::splits(vocab)) {
        CAPTURE(vocab, kind, split.borders);
        for (const auto& [left, sent] : ranks::on_ranks(split.ranks(), [&](Index rank, shard::Ranks& ranks) {
                 const auto slice = split.slice(row, rank);
                 // A row before it, whose largest logit changes: what is kept of that must not matter.
                 shaped_row(shard::Sharded(Logits(slice), split.first(rank), vocab, ranks), before);
                 const Index sent = ranks.traffic().sent;
                 const Left here =
                     shaped_row(shard::Sharded(Logits(slice, own), split.first(rank), vocab, ranks), params);
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

TEMPLATE_TEST_CASE("so it is where the pipeline changes logits before", "", float, double, Eigen::half) {
    using namespace filters;
    for (const Index vocab : {2, 70, 1300})
        for (const int kind : {0, 1, 2, 3}) {
            const auto best = static_cast<Token>(kernels::argmax(row_of<TestType>(vocab, kind, 3)));
            for (const double by : {-3., vocab == 70 ? 5. : -std::numeric_limits<double>::infinity()}) {
                CAPTURE(by);
                const std::vector<Bias> bias{
                    {best, by}, {static_cast<Token>(vocab / 2), 2.5}, {best, .25}, {static_cast<Token>(vocab + 5), 9}};
                for (const double p : {.5, .95}) {
                    CAPTURE(p);
                    compare<TestType>(vocab, kind,
                                      SamplingParams{.temperature = .5,
                                                     .top_p = p,
                                                     .repetition_penalty = 1.3,
                                                     .frequency_penalty = .2,
                                                     .presence_penalty = -.3,
                                                     .logit_bias = bias});
                }
                compare<TestType>(vocab, kind, Pipeline{LogitBias(bias), TopP(.8), Temperature(.5)});
                compare<TestType>(vocab, kind, Pipeline{Temperature(.5), PresencePenalty(1), TopP(.9), MinP(.1)});
                compare<TestType>(vocab, kind, Pipeline{Temperature(.7), RepetitionPenalty(1.4), MinP(.1)});
                compare<TestType>(vocab, kind, Pipeline{Sixth(), TopP(.9)});
                compare<TestType>(vocab, kind, Pipeline{RepetitionPenalty(1.4), Temperature(0), TopP(.9)});
                compare<TestType>(vocab, kind, Pipeline{Pipeline{LogitBias(bias), TopK(20)}, TopP(.9), MinP(.05)});
            }
        }
}

TEMPLATE_TEST_CASE("so it is where the row brings a temperature along, 0 among them", "", float, double) {
    using namespace filters;
    for (const Index vocab : {2, 70, 1300})
        for (const int kind : {0, 1, 2, 3})
            for (const double own : {0., 1e-3, .5, 2.}) {
                CAPTURE(own);
                const auto best = static_cast<Token>(kernels::argmax(row_of<TestType>(vocab, kind, 3)));
                const std::vector<Bias> bias{{best, -3.}, {static_cast<Token>(vocab / 2), .25}};
                const std::vector<std::uint32_t> words(static_cast<std::size_t>(vocab + 31) / 32, ~(1u << best % 32));
                compare<TestType>(vocab, kind, SamplingParams{}, own);
                compare<TestType>(vocab, kind, LogitBias(bias), own);
                compare<TestType>(vocab, kind, SamplingParams{.top_p = .8, .presence_penalty = .7, .logit_bias = bias},
                                  own);
                compare<TestType>(vocab, kind, SamplingParams{.top_k = 5, .min_p = .1, .repetition_penalty = 1.3}, own);
                compare<TestType>(vocab, kind, SamplingParams{.top_p = .9, .mask = words}, own);
                compare<TestType>(vocab, kind, Pipeline{TopK(9), LogitBias(bias)}, own);
                compare<TestType>(vocab, kind, Pipeline{TopP(.9), LogitBias(bias)}, own);
            }
}

TEST_CASE("ranks send the candidates of a nucleus, not their slices") {
    CHECK(compare<float>(60000, 0, SamplingParams{.temperature = .5, .top_p = .9}) < .1);
    CHECK(compare<float>(60000, 0, SamplingParams{.temperature = .5, .top_p = .9, .repetition_penalty = 1.1}) < .1);
    CHECK(compare<float>(60000, 0,
                         Pipeline{filters::TopK(40), filters::TypicalP(1), filters::TopP(.95), filters::MinP(.05),
                                  filters::Temperature(.8)}) < .1);
    CHECK(compare<float>(60000, 0, Pipeline{Sixth(), filters::TopK(40)}) < .1);
    CHECK(compare<float>(60000, 0, Pipeline{SilentSixth(), filters::TopK(40)}) > .5);
    CHECK(compare<float>(60000, 3, SamplingParams{.top_p = .9}) > .5);      // it is most of the row
    CHECK(compare<float>(60000, 0, SamplingParams{.typical_p = .9}) > .5);  // needs the entropy of the row
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
