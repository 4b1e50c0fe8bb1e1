// What a pipeline leaves of a row of slices is what it leaves of the whole row, to the bit: processors and filters of
// every kind, in any order, with settings at their ends.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "shard/ranks.hpp"
#include "support/catch.hpp"

#include <specsample/shaping.hpp>
#include <specsample/shard.hpp>
#include <specsample/specsample.hpp>

using namespace specsample;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Random choices that are the same everywhere.
struct Chance {
    std::mt19937 source;
    bool is_heated = false;  ///< a temperature was chosen: a second one is refused, so there are few

    Index below(Index n) { return static_cast<Index>(source() % static_cast<std::uint32_t>(n)); }
    bool one_in(Index n) { return below(n) == 0; }
    double uniform() { return static_cast<double>(source()) * 0x1p-32; }
    template <class T>
    T of(const std::vector<T>& all) {
        return all[static_cast<std::size_t>(below(std::ssize(all)))];
    }
    double temperature(const std::vector<double>& all) {
        const double chosen = is_heated && !one_in(8) ? 1 : of(all);
        is_heated = is_heated || chosen != 1;
        return chosen;
    }
};

/// Allows the ids of a residue class, which every token moves on.
struct Residues {
    Index modulus, state = 0;

    void mask(filters::Candidates<float>& row) { keep(row); }
    void mask(filters::Candidates<double>& row) { keep(row); }
    bool accept(Token) { return ++state, true; }
    void rollback(Index n) { state -= n; }

  private:
    template <class Value>
    void keep(filters::Candidates<Value>& row) const {
        filters::keep_where(row, [&](Token id) { return id % modulus == state % modulus; });
    }
};

/// A pipeline whose stages are chosen when the test runs.
struct Stages {
    using Stage = std::variant<filters::TopK, filters::TopP, filters::MinP, filters::TypicalP, filters::Temperature,
                               filters::RepetitionPenalty, filters::FrequencyPenalty, filters::PresencePenalty,
                               filters::LogitBias, filters::TokenMask<std::vector<std::uint32_t>>, Grammar<Residues>,
                               SamplingParams>;
    std::vector<Stage> all;

    template <class F>
    void for_each_stage(const F& f) const {
        for (const Stage& stage : all) std::visit([&](const auto& one) { detail::for_each_stage(one, f); }, stage);
    }
    template <class Value>
    void operator()(filters::Candidates<Value>& row, std::span<const Token> context) const {
        for_each_stage([&](const auto& stage) { stage(row, context); });
    }
};

std::vector<filters::Bias> random_biases(Chance& chance, Index vocab, std::span<const Token> likely) {
    std::vector<filters::Bias> biases;
    for (Index count = chance.below(5); count >= 0; --count) {
        const Token id = chance.one_in(2) ? likely[static_cast<std::size_t>(chance.below(std::ssize(likely)))]
                                          : static_cast<Token>(chance.below(vocab + 2));
        biases.emplace_back(id, chance.of<double>({-infinity, -infinity, -100, -.5, 0, 3, 1e30}));
    }
    return biases;
}

Index random_k(Chance& chance, Index vocab) {
    return chance.of<Index>({0, 1, 2, 3, 7, 40, vocab - 1, vocab, vocab + 1});
}

SamplingParams random_params(Chance& chance, Index vocab, std::span<const Token> likely) {
    SamplingParams params{.temperature = chance.temperature({0, 1e-3, .5, 1}), .top_k = random_k(chance, vocab)};
    if (params.top_k < 0) params.top_k = 0;
    if (chance.one_in(2)) params.top_p = chance.of<double>({1e-9, .5, .95, 1});
    if (chance.one_in(3)) params.min_p = chance.of<double>({1e-300, .05, 1});
    if (chance.one_in(4)) params.typical_p = chance.of<double>({.2, .95});
    if (chance.one_in(3)) params.repetition_penalty = chance.of<double>({.5, 1.3});
    if (chance.one_in(3)) params.frequency_penalty = chance.of<double>({-1, .4});
    if (chance.one_in(3)) params.presence_penalty = chance.of<double>({-1, .4});
    if (chance.one_in(4)) params.top_n_sigma = chance.of<double>({.5, 2});
    if (chance.one_in(4)) params.epsilon_cutoff = chance.of<double>({1e-3, .1});
    if (chance.one_in(4)) params.eta_cutoff = chance.of<double>({1e-3, .1});
    if (chance.one_in(4)) params.xtc = {.probability = .5, .threshold = .01, .seed = 1};
    if (chance.one_in(4)) params.dry = {.multiplier = .8, .allowed_length = 1};
    if (chance.one_in(4)) params.no_repeat_ngram_size = 1 + chance.below(3);
    if (chance.one_in(4)) params.bad_words = {{{likely[0]}, {static_cast<Token>(vocab)}}};
    if (chance.one_in(4)) params.min_tokens = 3, params.stop_token_ids = {likely[1], -1};
    if (chance.one_in(8)) params.thinking = {.start = {likely[0]}, .end = {likely[1]}, .budget = 1};
    if (chance.one_in(8) && params.temperature == 1 && !chance.is_heated)
        params.dynatemp_range = .5, chance.is_heated = true;
    if (chance.one_in(2)) params.logit_bias = random_biases(chance, vocab, likely);
    return params;
}

Stages random_stages(std::uint64_t seed, bool is_heated, Index vocab, std::span<const Token> likely) {
    Chance chance{std::mt19937(static_cast<unsigned>(seed)), is_heated};
    Stages made;
    for (Index count = chance.below(4); count >= 0; --count) {
        switch (chance.below(14)) {
            case 0:
            case 1:
                made.all.emplace_back(filters::TopK(std::max<Index>(random_k(chance, vocab), 0)));
                break;
            case 2:
                made.all.emplace_back(filters::TopP(chance.of<double>({1e-9, .3, .9, 1 - 1e-9, 1})));
                break;
            case 3:
                made.all.emplace_back(filters::MinP(chance.of<double>({0, 1e-300, .01, .3, 1})));
                break;
            case 4:
                made.all.emplace_back(filters::TypicalP(chance.of<double>({.1, .9, 1})));
                break;
            case 5:
                made.all.emplace_back(filters::Temperature(chance.temperature({0, 1e-3, .5, 1, 3})));
                break;
            case 6:
                made.all.emplace_back(filters::RepetitionPenalty(chance.of<double>({.5, 1, 1.3})));
                break;
            case 7:
                made.all.emplace_back(filters::FrequencyPenalty(chance.of<double>({-1, .2})));
                break;
            case 8:
                made.all.emplace_back(filters::PresencePenalty(chance.of<double>({-1, .2})));
                break;
            case 9:
            case 10:
                made.all.emplace_back(filters::LogitBias(random_biases(chance, vocab, likely)));
                break;
            case 11: {
                std::vector<std::uint32_t> words(static_cast<std::size_t>((vocab + 31) / 32));
                const auto density = chance.below(4);
                for (std::uint32_t& word : words)
                    word = density == 0 ? 0 : density == 1 ? ~0u : density == 2 ? 1u << chance.below(32) : ~1u;
                made.all.emplace_back(filters::TokenMask(words));
                break;
            }
            case 12:
                made.all.emplace_back(Grammar<Residues>(Residues{1 + chance.below(5)}));
                break;
            default:
                made.all.emplace_back(random_params(chance, vocab, likely));
        }
    }
    return made;
}

/// Numbers of many shapes, as logits or probabilities.
template <class Scalar>
Eigen::Array<Scalar, Eigen::Dynamic, 1> random_row(Chance& chance, Index vocab, bool are_logits) {
    const Index ties = chance.of<Index>({0, 0, 1, 4}), masked = chance.of<Index>({0, 0, 2, 9, 9});
    const double spread = chance.of<double>({0, 1, 6, 40});
    Eigen::ArrayXd row(vocab);
    for (Index id = 0; id < vocab; ++id) {
        double z = spread * (chance.uniform() - .5);
        if (ties > 0) z = std::floor(z * static_cast<double>(ties)) / static_cast<double>(ties);
        if (masked > 0 && chance.below(10) < masked) z = -infinity;
        row[id] = z;
    }
    if (are_logits && chance.one_in(20)) row = -infinity;
    if (are_logits && chance.one_in(20)) row[chance.below(vocab)] = chance.of<double>({infinity, std::nan("")});
    if (!are_logits) {
        if (!(row.maxCoeff() > -infinity)) row[chance.below(vocab)] = 0;
        row = (row - row.maxCoeff()).exp();
        row /= row.sum();
    }
    return row.template cast<float>().template cast<Scalar>();
}

/// What is left: each id and number to the bit, and the tokens that are drawn from them; or why the pipeline is
/// refused.
template <class R>
std::string left_of(const R& row, const Stages& pipeline, std::span<const Token> context) try {
    filters::ShapedMemory<detail::ShapedValue<R>> memory;
    memory.begin_text(std::ssize(context) / 2);
    const auto shaped = shape(row, pipeline, context, memory);
    std::string all = shaped.ids().holds_every_id() ? "dense" : "sparse";
    for (Index place = 0; place < shaped.ids().size(shaped.size()); ++place) {
        const auto number = static_cast<double>(detail::numbers_of(shaped.held())[place]);
        all +=
            " " + std::to_string(shaped.ids().id(place)) + ":" + std::to_string(std::bit_cast<std::uint64_t>(number));
    }
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
        const std::vector rows{shaped};
        Workspace workspace;
        const auto token_of = [&](const auto& rule) {
            const Round round =
                verify(std::vector<Token>(), PointMass{}, rows, rule, RoundRng(seed, 0, 0), {}, workspace);
            return " " + (round.fault ? message(*round.fault) : std::to_string(round.tokens[0]));
        };
        all += token_of(TokenVerification()) + token_of(GumbelMatch());
    }
    return all;
} catch (const std::invalid_argument& refused) {
    return refused.what();
}

/// @returns   whether the pipeline was not refused
template <class Scalar, bool are_logits>
bool compare(std::uint64_t seed) {
    Chance chance{std::mt19937(static_cast<unsigned>(seed))};
    const Index vocab = chance.of<Index>({1, 2, 3, 5, 40, 70, 513, 1100});
    const auto row = random_row<Scalar>(chance, vocab, are_logits);
    const double temperature = chance.temperature({0, 1e-3, .7, 1, 1, 1});
    std::vector<Token> likely(5);  // of which a context or a bias has some
    likely.resize(static_cast<std::size_t>(kernels::top_ids(row.template cast<double>().exp().eval(), likely)));
    likely.push_back(0);
    std::vector<Token> context;
    for (Index count = chance.below(12); count > 0; --count)
        context.push_back(chance.one_in(2) ? chance.of(likely) : static_cast<Token>(chance.below(vocab)));
    const auto form = [&](const auto& numbers) {
        if constexpr (are_logits) {
            return Logits(numbers, temperature);
        } else {
            return numbers;
        }
    };
    ranks::Split split = ranks::equal(vocab, 1 + chance.below(4));
    for (std::size_t rank = 1; rank < split.borders.size() - 1; ++rank)
        if (chance.one_in(2)) split.borders[rank] = chance.below(vocab + 1);
    std::sort(split.borders.begin(), split.borders.end());

    const Eigen::Map<const Eigen::Array<Scalar, Eigen::Dynamic, 1>> numbers(row.data(), vocab);
    const auto stages = [&] { return random_stages(seed, are_logits && temperature != 1, vocab, likely); };
    const std::string expected = left_of(form(numbers), stages(), context);
    for (const std::string& left : ranks::on_ranks(split.ranks(), [&](Index rank, shard::Ranks& ranks) {
             const shard::Sharded mine(form(split.slice(row, rank)), split.first(rank), vocab, ranks);
             return left_of(mine, stages(), context);
         })) {
        CAPTURE(seed, are_logits, vocab, split.borders, temperature);
        CHECK(left == expected);
    }
    return !expected.starts_with("specsample");
}

}  // namespace

TEMPLATE_TEST_CASE("random pipelines leave of slices what they leave of the whole row", "", float, double,
                   Eigen::half) {
    int good = 0;
    for (std::uint64_t seed = 0; seed < 500; ++seed) {
        good += compare<TestType, true>(seed) ? 1 : 0;
        good += compare<TestType, false>(seed) ? 1 : 0;
    }
    CAPTURE(good);
    CHECK(good > 900);
    CHECK(good < 1000);  // some temperatures are given twice, and refused by all ranks alike
}

TEST_CASE("a token that a bias bans is left out by top-k of slices as by that of the whole row") {
    constexpr Index vocab = 1100;
    for (const Index k : {1, 3, 4, 5, 6, 1099, 1100}) {
        Eigen::ArrayXf row = Eigen::ArrayXf::Constant(vocab, static_cast<float>(-infinity));
        for (const Index id : {3, 400, 700, 1000}) row[id] = static_cast<float>(id) * 1e-3f;
        const Stages pipeline{{filters::LogitBias({{400, -infinity}}), filters::TopK(k)}};
        const std::string expected = left_of(Logits(row), pipeline, {});
        const ranks::Split split = ranks::equal(vocab, 3);
        for (const std::string& left : ranks::on_ranks(3, [&](Index rank, shard::Ranks& ranks) {
                 return left_of(shard::Sharded(Logits(split.slice(row, rank)), split.first(rank), vocab, ranks),
                                pipeline, {});
             })) {
            CAPTURE(k);
            CHECK(left == expected);
        }
    }
}

TEST_CASE("a token that the text bans is left out by top-k of slices as by that of the whole row") {
    constexpr Index vocab = 1100;
    Eigen::ArrayXf row(vocab);
    for (Index id = 0; id < vocab; ++id) row[id] = static_cast<float>(id % 500) * 1e-2f;
    row[400] = 9, row[700] = 8;
    const std::vector<Token> context{1, 400, 2, 3, 1, 400, 2, 3, 1};  // left_of says that four are the prompt
    const std::vector<Stages> pipelines{
        {{SamplingParams{.top_k = 1, .min_tokens = 6, .stop_token_ids = {400}}}},
        {{SamplingParams{.top_k = 1, .no_repeat_ngram_size = 2}}},
        {{SamplingParams{.top_k = 1, .bad_words = {{{3, 1, 400}}}}}},
        {{SamplingParams{.top_k = 1, .dry = {.multiplier = 3}}}},
        {{SamplingParams{.top_k = 1, .frequency_penalty = 2}}},
        {{SamplingParams{.top_k = 1, .thinking = {.start = {2}, .end = {700}, .budget = 1}}}}};
    for (const Stages& pipeline : pipelines) {
        const std::string expected = left_of(Logits(row), pipeline, context);
        CHECK(expected.starts_with("sparse 700:"));
        const ranks::Split split = ranks::equal(vocab, 3);
        for (const std::string& left : ranks::on_ranks(3, [&](Index rank, shard::Ranks& ranks) {
                 return left_of(shard::Sharded(Logits(split.slice(row, rank)), split.first(rank), vocab, ranks),
                                pipeline, context);
             })) {
            CAPTURE(&pipeline - pipelines.data());
            CHECK(left == expected);
        }
    }
}
