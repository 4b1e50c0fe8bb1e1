// shape of rows that are values: the numbers, and the faults, of the same rows as types.
#include <specsample/shaping/shape_value.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <specsample/rows/memory.hpp>
#include <specsample/shaping/pipeline.hpp>
#include <specsample/values.hpp>
#include <specsample/verify.hpp>

#include "support/catch.hpp"
#include "unit/shaping_rows.hpp"

using namespace shaping_rows;
using namespace specsample::filters;
using Catch::Matchers::Contains;

namespace {

/// All numbers of a row, as probabilities; -9 for a NaN, which equals nothing.
template <class View>
std::vector<double> numbers_of_row(const View& view) {
    std::vector<double> numbers;
    for (Index i = 0; i < view.size(); ++i) {
        const auto number = static_cast<double>(view[i]);
        numbers.push_back(std::isnan(number) ? -9 : number);
    }
    return numbers;
}

/// Shape a row as a type and as a value; twice each, for a shaped row is shaped, too.
template <class R, class P>
void check_alike(const R& type, const Row& value, const P& pipeline, std::span<const Token> context) {
    using Value = detail::ShapedValue<R>;
    ShapedMemory<Value> memory, again;
    ShapedMemory<Row> value_memory, value_again;
    for (const Index prompt : {0, 3}) {
        memory.begin_text(prompt);
        value_memory.begin_text(prompt);
        const auto shaped = shape(type, pipeline, context, memory);
        const Row shaped_value = shape(value, pipeline, context, value_memory);
        REQUIRE(shaped_value.size() == shaped.size());
        CHECK(shaped_value.are_logits() == shaped.has_logits());
        const detail::RowView<Value> view(shaped_value);
        CHECK(view.is_refused() == shaped.is_refused());
        CHECK(view.ids().size(-1) == shaped.ids().size(-1));
        CHECK(numbers_of_row(view.probs()) == numbers_of_row(shaped.probs()));

        const TopK few{3};
        const auto twice = shape(shaped, few, context, again);
        const Row value_twice = shape(shaped_value, few, context, value_again);
        CHECK(numbers_of_row(detail::RowView<Value>(value_twice).probs()) == numbers_of_row(twice.probs()));
    }
}

template <class T>
void check_scalar(std::uint64_t seed, const auto& pipeline) {
    const std::vector<Token> context{1, 2, 3, 2, 5, 7, 7, 90};
    const Index vocab = 4 * 200;
    const auto drawn = random_logits<double>(200, static_cast<unsigned>(seed));
    const Array<double> probs = softmax_of(drawn);
    std::vector<T> logits, weights;
    std::vector<std::int64_t> ids;
    for (Index i = 0; i < 200; ++i) {
        logits.push_back(static_cast<T>(drawn[i]));
        weights.push_back(static_cast<T>(probs[i]));
        ids.push_back(4 * i + 1);
    }
    check_alike(Logits(logits), Row::logits(logits), pipeline, context);
    check_alike(Sparse(ids, Logits(logits), vocab), Row::sparse(ids, Row::logits(logits), vocab), pipeline, context);
    check_alike(weights, Row::probs(weights), pipeline, context);
    check_alike(Sparse(ids, weights, vocab), Row::sparse(ids, Row::probs(weights), vocab), pipeline, context);
    logits[7] = std::numeric_limits<T>::quiet_NaN();
    weights[9] = static_cast<T>(-1);
    check_alike(Logits(logits), Row::logits(logits), pipeline, context);
    check_alike(weights, Row::probs(weights), pipeline, context);
    check_alike(Sparse(ids, weights, vocab), Row::sparse(ids, Row::probs(weights), vocab), pipeline, context);
}

/// Parameters that change numbers, drop ids, or leave one.
std::vector<SamplingParams> parameters() {
    static const std::vector<std::uint32_t> some(25, 0x49249249), none(25, 0);  // bits of allowed ids
    return {
        {},
        {.temperature = .7},
        {.temperature = 0},
        {.temperature = .8, .top_k = 40, .top_p = .9, .min_p = .02, .repetition_penalty = 1.3},
        {.typical_p = .6, .frequency_penalty = .5, .presence_penalty = .2},
        {.top_n_sigma = 1, .logit_bias = {{5, 3.}, {9, -std::numeric_limits<double>::infinity()}}},
        {.eta_cutoff = .01, .bad_words = {.token_ids = {{90, 1}, {2}}}},
        {.mask = some},
        {.mask = none},
    };
}

}  // namespace

TEST_CASE("rows that are values are shaped as types are, of every scalar, dense and sparse", "[shaping][values]") {
    std::uint64_t seed = 0;
    for (const SamplingParams& params : parameters()) {
        ++seed;
        check_scalar<float>(seed, params);
        check_scalar<double>(seed, params);
        check_scalar<Eigen::half>(seed, params);
        check_scalar<Eigen::bfloat16>(seed, params);
    }
    check_scalar<float>(99, Pipeline{TopK{20}, Temperature{.8}});
}

TEST_CASE("a row with a temperature of its own keeps it, and refuses a second one", "[shaping][values]") {
    const auto logits = random_logits<float>(100, 3);
    ShapedMemory<Row> memory;
    check_alike(Logits(logits, .6), Row::logits(logits, .6), TopP{.9}, {});
    check_alike(Logits(logits, 0), Row::logits(logits, 0), TopP{.9}, {});
    CHECK_THROWS_WITH(shape(Row::logits(logits, .6), Temperature{.8}, {}, memory),
                      Contains("temperature is given twice, 0.6 by the row"));
}

TEST_CASE("a shaped row that is refused is a fault of the round, with the text of types", "[shaping][values]") {
    // A round reads the entry of the drafted token alone, which is good.
    std::vector<float> good(300, .1f / 299);
    good[4] = .9f;
    std::vector<float> bad = good;
    bad[200] = std::numeric_limits<float>::quiet_NaN();
    const TopK few{2};
    ShapedMemory<Row> draft, first, second;
    ShapedMemory<float> type_first, type_second;
    const RoundRng rng(1, 0, 0);
    Workspace workspace, type_workspace;
    const auto drawn = draft_token(TokenVerification{}, rng, 0, shape(Row::probs(good), few, {}, draft));
    const std::vector<Token> tokens{drawn.token}, context{drawn.token};
    const std::vector<Origin> origins{drawn.origin};
    for (const bool in_first : {true, false}) {
        const std::vector<float>&a = in_first ? bad : good, &b = in_first ? good : bad;
        const std::vector<Row> rows{shape(Row::probs(a), few, {}, first), shape(Row::probs(b), few, context, second)};
        const Round round = verify(tokens, origins, rows, TokenVerification{}, rng, {}, workspace);
        const std::vector<filters::ShapedRow<const std::vector<float>&>> types{shape(a, few, {}, type_first),
                                                                               shape(b, few, context, type_second)};
        const Round of_types = verify(tokens, PointMass{}, types, TokenVerification{}, rng, {}, type_workspace);
        CAPTURE(in_first, drawn.token);
        REQUIRE(round.fault);
        REQUIRE(of_types.fault);
        CHECK(message(round) == message(of_types));
    }
}

TEST_CASE("a reader and strided numbers are shaped in memory of their own", "[shaping][values]") {
    struct Half final : RowReader {
        Index size() const override { return 50; }
        void read(Index first, std::span<float> out) const override {
            for (float& number : out) number = static_cast<float>(first++ % 7) / 2;
        }
    };
    const Half reader;
    std::vector<float> numbers(50), spread(150, 9.f);
    reader.read(0, numbers);
    for (std::size_t i = 0; i < 50; ++i) spread[3 * i] = numbers[i];
    const TopP nucleus{.8};
    check_alike(Logits(numbers), Row::logits(reader), nucleus, {});
    check_alike(Logits(numbers), Row::logits({spread.data(), 50, 3}), nucleus, {});
}
