// TypicalP against its definition.
#include <specsample/shaping/truncation.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <specsample/shaping/pipeline.hpp>
#include <specsample/shaping/temperature.hpp>

#include "support/catch.hpp"
#include "unit/shaping_rows.hpp"

using namespace shaping_rows;
using namespace specsample::kernels;
using namespace specsample::filters;

namespace {

/// Sort by the distance of the surprise from the entropy; keep until the sum reaches p.
Array<double> reference(const Array<double>& probs, double typical_p) {
    std::vector<Index> ids = possible(probs);
    double entropy = 0, sum = 0;
    for (const Index id : ids) entropy -= probs[id] * std::log(probs[id]);
    const auto distance_of = [&](Index id) { return std::abs(-std::log(probs[id]) - entropy); };
    std::stable_sort(ids.begin(), ids.end(), [&](Index a, Index b) { return distance_of(a) < distance_of(b); });
    std::size_t count = 0;
    while (count < ids.size() && sum < typical_p) sum += probs[ids[count++]];
    ids.resize(count);
    return only(probs, ids);
}

}  // namespace

TEST_CASE("the most typical tokens are those of a full sort", "[shaping]") {
    for (const Index size : {1, 2, 10, 33, 1000})
        for (std::uint64_t seed = 0; seed < 10; ++seed)
            for (const double p : {.01, .2, .5, .9, .95}) {
                const auto logits = random_logits(size, seed);
                INFO("size " << size << ", seed " << seed << ", p " << p);
                REQUIRE(distance(through(TypicalP{p}, softmax_of(logits)), reference(softmax_of(logits), p)) < 1e-12);
                REQUIRE(distance(through(Pipeline{Temperature{.7}, TypicalP{p}}, Logits(logits)),
                                 reference(softmax_of(logits, .7), p)) < 1e-12);
            }
}

TEST_CASE("the most probable token need not be typical", "[shaping]") {
    // The entropy is 1.93: .15 is closer to it than .4 is.
    const Array<double> probs = (Array<double>(6) << .4, .15, .15, .1, .1, .1).finished();
    CHECK(possible(through(TypicalP{.2}, probs)) == std::vector<Index>{1, 2});
}

TEST_CASE("logits that lie far from 0, and impossible ones, have the same typical tokens", "[shaping]") {
    for (const Index size : {10, 1000, 6000})
        for (const double p : {.2, .9}) {
            Array<double> logits = random_logits(size, 3);
            for (Index i = 0; i < size; i += 3) logits[i] = -std::numeric_limits<double>::infinity();
            const Array<double> expected = reference(softmax_of(logits, .7), p);
            const Array<double> moved = logits + 500;
            INFO("size " << size << ", p " << p);
            CHECK(distance(through(Pipeline{Temperature{.7}, TypicalP{p}}, Logits(moved)), expected) < 1e-11);
            CHECK(distance(through(TypicalP{p}, softmax_of(logits, .7)), expected) < 1e-11);
        }
}

TEST_CASE("the entropy is that of the row after earlier filters", "[shaping]") {
    const auto logits = random_logits(200, 4);
    std::vector<Index> ids = sorted(logits);
    ids.resize(20);
    CHECK(distance(through(Pipeline{TopK{20}, TypicalP{.5}}, Logits(logits)),
                   reference(only(softmax_of(logits), ids), .5)) < 1e-12);
}

TEST_CASE("a typical_p of 1 keeps everything, and looks at nothing", "[shaping]") {
    const auto logits = random_logits<float>(30, 1);
    filters::ShapedMemory<float> memory;
    CHECK(shape(Logits(logits), TypicalP{1}, {}, memory).held().numbers().data() == logits.data());
}

TEST_CASE("a typical_p that is not above 0 and at most 1 cannot be built", "[shaping]") {
    CHECK_THROWS_WITH(TypicalP(0), "specsample::TypicalP: typical_p is 0, but must be in (0, 1]");
    CHECK_THROWS_WITH(TypicalP(2), "specsample::TypicalP: typical_p is 2, but must be in (0, 1]");
}
