// Finite settings never make a row bad: what its scalar cannot hold is cut to what it can.
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
