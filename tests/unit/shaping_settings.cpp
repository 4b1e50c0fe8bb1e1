// Finite settings never make a row bad: what its scalar cannot hold is cut to what it can.
#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include <specsample/kernels/inspect.hpp>
#include <specsample/random/draw.hpp>
#include <specsample/shaping.hpp>

#include "support/catch.hpp"
#include "unit/shaping_rows.hpp"

using namespace shaping_rows;
using namespace specsample::filters;

namespace {

const std::vector<Token> context{0, 1, 2, 0};

/// A row of probabilities, and one of logits of which one is masked.
template <class Scalar>
std::vector<Scalar> probs_of(Index vocab) {
    return std::vector<Scalar>(static_cast<std::size_t>(vocab), Scalar(1) / Scalar(vocab));
}
template <class Scalar>
std::vector<Scalar> logits_of_size(Index vocab) {
    std::vector<Scalar> row;
    for (Index id = 0; id < vocab; ++id) row.push_back(Scalar(3 - double(id % 7)));
    if (vocab > 3) row[2] = -std::numeric_limits<Scalar>::infinity();
    return row;
}

/// Whether what is left of a row is a distribution that can be drawn from.
template <class R, class P>
std::string trouble(const R& row, const P& pipeline) {
    filters::ShapedMemory<detail::ShapedValue<R>> memory;
    const auto left = shape(row, pipeline, context, memory);
    if (const auto fault = kernels::inspect(left, Side::target, 0)) return message(*fault);
    const auto probs = probs_by_id(left);
    if (!(std::abs(probs.sum() - 1) < 1e-5)) return "its sum";
    const RoundRng rng(1, 2, 3);
    const Index drawn = draw(rng.at(Purpose::last, 0), left).index, raced = race(rng.at(Purpose::race, 0), left);
    if (drawn < 0 || probs[drawn] == 0) return "a draw";
    if (raced < 0) return "a race";
    return "";
}

template <class P>
void check(const P& pipeline) {
    for (const Index vocab : {1, 2, 5, 600}) {
        CAPTURE(vocab);
        for (const double own : {0., .5, 1., 1e-300, 1e300}) {
            CAPTURE(own);
            CHECK(trouble(Logits(logits_of_size<float>(vocab), own), pipeline) == "");
            CHECK(trouble(Logits(logits_of_size<double>(vocab), own), pipeline) == "");
        }
        CHECK(trouble(probs_of<float>(vocab), pipeline) == "");
        CHECK(trouble(probs_of<double>(vocab), pipeline) == "");
    }
}

constexpr double sizes[] = {1e300, 1.7e308, 1e39, 1e38, 1e-300, 5e-324, -1e39, -1e300, -1.7e308};

}  // namespace

TEST_CASE("a bias or a penalty that a row's scalar cannot hold leaves a row that can be drawn from", "[shaping]") {
    for (const double size : sizes) {
        CAPTURE(size);
        check(LogitBias{{{0, size}}});
        check(LogitBias{{{0, size}, {1, size}, {0, size}}});
        check(PresencePenalty{size});
        check(FrequencyPenalty{size});
        if (size > 0) check(RepetitionPenalty{size});
    }
}

TEST_CASE("a bias that is too large for a row still decides, and one that is too low bans nobody", "[shaping]") {
    const std::vector<float> row{3, 2, 1, 0};
    CHECK(through(LogitBias{{{3, 1e300}}}, Logits(row))[3] == 1);
    CHECK(through(LogitBias{{{3, 1e300}}}, std::vector<float>{.7f, .1f, .1f, .1f})[3] == 1);
    CHECK(through(LogitBias{{{0, -1e300}}}, Logits(row))[0] == 0);
    CHECK(through(LogitBias{{{0, -1e300}}}, Logits(std::vector<float>{3}))[0] == 1);
    CHECK(through(LogitBias{{{0, -infinity}}}, Logits(std::vector<float>{3, -1}))[1] == 1);
    const float lowest = std::numeric_limits<float>::lowest();  // as engines mask
    filters::ShapedMemory<float> memory;
    const auto masked = shape(Logits(std::vector<float>{1, lowest}), PresencePenalty{1}, context, memory);
    CHECK(masked.held().numbers()[1] == lowest);
}

TEST_CASE("a temperature or a filter at the end of its range leaves a row that can be drawn from", "[shaping]") {
    const auto check_plain = [](const auto& pipeline) {
        for (const Index vocab : {1, 2, 5, 600}) {
            CAPTURE(vocab);
            CHECK(trouble(Logits(logits_of_size<float>(vocab)), pipeline) == "");
            CHECK(trouble(Logits(logits_of_size<double>(vocab)), pipeline) == "");
            CHECK(trouble(probs_of<float>(vocab), pipeline) == "");
            CHECK(trouble(probs_of<double>(vocab), pipeline) == "");
        }
    };
    for (const double temperature : {5e-324, 1e-300, 1e-45, 1e-38, 1e-8, 1e8, 1e39, 1e300}) {
        CAPTURE(temperature);
        const Temperature heat(temperature);
        check_plain(Pipeline{heat, TopK{2}});
        check_plain(Pipeline{heat, TopP{.9}, MinP{.1}});
        check_plain(Pipeline{heat, TypicalP{.9}, LogitBias{{{0, 1e10}, {1, -1e10}}}});
    }
    for (const double part : {5e-324, 1e-300, 1e-45, 1e-20, 1 - 1e-16}) {
        CAPTURE(part);
        check(TopP{part});
        check(MinP{part});
        check(TypicalP{part});
    }
}

TEMPLATE_TEST_CASE("what a mask leaves of a row is normalised where its probabilities are subnormal", "[shaping]",
                   float, double) {
    const TestType tiny = std::numeric_limits<TestType>::min() / 256;
    const std::vector<TestType> row{1, tiny, tiny, 0};
    const std::vector<std::uint32_t> words{6};
    for (const double temperature : {1., .5, 2.}) {
        CAPTURE(temperature);
        filters::ShapedMemory<TestType> memory;
        const auto shaped = shape(row, SamplingParams{.temperature = temperature, .mask = words}, {}, memory);
        const auto probs = detail::as_row(shaped);
        CHECK(static_cast<double>(probs.coeff(1)) == Approx(.5).epsilon(1e-4));
        CHECK(static_cast<double>(probs.coeff(2)) == Approx(.5).epsilon(1e-4));
        CHECK(probs.coeff(0) == 0);
    }
}

TEMPLATE_TEST_CASE("the logarithm of a subnormal probability is its own, at any place of a row", "[shaping]", float,
                   double) {
    const TestType tiny = std::numeric_limits<TestType>::denorm_min() * 8;
    const double bias = -std::log(static_cast<double>(tiny));
    for (const std::size_t size : {2u, 3u, 4u, 5u, 16u, 33u, 600u})
        for (const std::size_t at : {std::size_t{1}, size - 1}) {
            CAPTURE(size, at);
            std::vector<TestType> row(size);
            row[0] = 1, row[at] = tiny;
            filters::ShapedMemory<TestType> memory;
            const auto shaped = shape(row, filters::LogitBias({{static_cast<Token>(at), bias}}), {}, memory);
            CHECK(static_cast<double>(detail::as_row(shaped).coeff(static_cast<Index>(at))) ==
                  Approx(.5).epsilon(1e-4));
        }
}

TEMPLATE_TEST_CASE("a logarithm does not depend on where its probability lies", "[shaping]", float, double) {
    std::vector<TestType> row(700), logs(700);
    for (int step = 1; step < 400; ++step) {
        const auto p = static_cast<TestType>(step / 403.);
        std::fill(row.begin(), row.end(), p);
        for (const std::size_t first : {0u, 1u, 3u})
            for (const std::size_t size : {1u, 5u, 16u, 515u}) {
                detail::take_logarithms(row.data() + first, static_cast<Index>(size), logs.data() + first);
                const auto end = logs.begin() + static_cast<std::ptrdiff_t>(first + size);
                REQUIRE(std::count(logs.begin() + static_cast<std::ptrdiff_t>(first), end, logs[first]) ==
                        static_cast<std::ptrdiff_t>(size));
                REQUIRE(logs[first] == logs[first + size / 2]);
                detail::take_logarithms(row.data(), 1, row.data() + 650);
                REQUIRE(logs[first] == row[650]);
                row[650] = p;
            }
    }
}

TEST_CASE("the nucleus of a row that does not sum to 1 is that of the normalised row", "[shaping]") {
    const auto kept = [](const auto& row, double top_p) {
        filters::ShapedMemory<float> memory;
        return shape(row, filters::TopP(top_p), {}, memory).ids().size(3);
    };
    const auto halves = [](std::initializer_list<double> numbers) {
        std::vector<Eigen::half> row;
        for (const double number : numbers) row.push_back(static_cast<Eigen::half>(static_cast<float>(number)));
        return row;
    };
    CHECK(kept(halves({.8955, .0746, .0249}), .897) == 1);  // .9 of .995
    CHECK(kept(std::vector<float>{.89928f, .07494f, .02498f}, .8997) == 1);
    CHECK(kept(std::vector<float>{.90072f, .07506f, .02502f}, .9003) == 2);
    CHECK(kept(std::vector<float>{.9f, .075f, .025f}, .9003) == 2);
}

TEST_CASE("a shaped row stays as it is when its memory is used for a longer one", "[shaping]") {
    filters::ShapedMemory<float> memory;
    const std::vector<float> few{1, 2, 3, 4}, many(5000, 1.f);
    const auto first = shape(Logits(few), filters::TopK(2), {}, memory);
    const auto second = shape(Logits(many), filters::Temperature(.5), {}, memory);
    CHECK(first.ids().size(4) == 2);
    CHECK(first.ids().id(0) == 2);
    CHECK(first.ids().id(1) == 3);
    CHECK(second.size() == 5000);
    CHECK(memory.row.outgrown.size() == 1);
    for (std::size_t size = 5001; size < 5100; ++size) {
        const std::vector<float> longer(size, 1.f);
        CHECK(shape(Logits(longer), filters::Temperature(.5), {}, memory).size() == static_cast<Index>(size));
    }
    CHECK(memory.row.outgrown.size() <= 2);  // the room doubles
}

TEST_CASE("what sampling parameters do not take is refused by the names that a user writes", "[shaping]") {
    const std::vector<float> row{1, 2, 3};
    filters::ShapedMemory<float> memory;
    const auto shape_with = [&](const SamplingParams& params, std::span<const Token> prefix) {
        return shape(Logits(row), params, prefix, memory).size();
    };
    CHECK_THROWS_WITH(shape_with({.penalty_last_n = -5}, {}),
                      ContainsSubstring("SamplingParams: penalty_last_n is -5"));
    CHECK_THROWS_WITH(shape_with({.prompt_size = -2}, {}), ContainsSubstring("SamplingParams: prompt_size is -2"));
    CHECK_THROWS_WITH(shape_with({.repetition_penalty = 1.1}, std::span(static_cast<const Token*>(nullptr), 2)),
                      ContainsSubstring("shape: context is null"));
}
