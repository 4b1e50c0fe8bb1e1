// TopK against a full sort.
#include <specsample/shaping/truncation.hpp>

#include <specsample/shaping/pipeline.hpp>
#include <specsample/shaping/temperature.hpp>

#include "support/catch.hpp"
#include "unit/shaping_rows.hpp"

using namespace shaping_rows;
using namespace specsample::filters;

TEMPLATE_TEST_CASE("the k most probable are those of a full sort, ties and all", "[shaping]", float, double) {
    for (const Index size : {1, 2, 10, 33, 1000})
        for (std::uint64_t seed = 0; seed < 10; ++seed)
            for (const Index k : {1, 2, 5, 40, 999}) {
                const auto logits = random_logits<TestType>(size, seed, 7);
                std::vector<Index> ids = sorted(logits);
                ids.resize(static_cast<std::size_t>(std::min(k, size)));
                const auto expected = only(softmax_of(logits), ids);
                INFO("size " << size << ", seed " << seed << ", k " << k);
                const auto shaped = through(TopK{k}, Logits(logits));
                REQUIRE(((shaped > 0) == (expected > 0)).all());
                REQUIRE(distance(shaped, expected) < 1e-6);
                const auto probs = row_of<TestType>(size, seed);
                std::vector<Index> likeliest = sorted(probs);
                likeliest.resize(ids.size());
                REQUIRE(distance(through(TopK{k}, probs), only(probs.template cast<double>(), likeliest)) < 1e-6);
            }
}

TEST_CASE("top-k keeps the same tokens at every temperature", "[shaping]") {
    const auto logits = random_logits(100, 1);
    const auto kept = possible(through(TopK{7}, Logits(logits)));
    CHECK(kept.size() == 7);
    for (const double temperature : {.1, .5, 2., 50.}) {
        CHECK(possible(through(Pipeline{Temperature{temperature}, TopK{7}}, Logits(logits))) == kept);
        CHECK(possible(through(Pipeline{TopK{7}, Temperature{temperature}}, Logits(logits))) == kept);
    }
}

TEST_CASE("a k of 0, and one that the vocabulary does not have, keep everything, and look at nothing", "[shaping]") {
    const auto logits = random_logits<float>(30, 1);
    for (const Index k : {0, 30, 31, 1000000}) {
        filters::ShapedMemory<float> memory;
        const auto row = shape(Logits(logits), TopK{k}, {}, memory);
        CHECK(row.ids().holds_every_id());
        CHECK(row.held().numbers().data() == logits.data());
    }
}

TEST_CASE("what was impossible is not among the k", "[shaping]") {
    CHECK(possible(through(TopK{3}, Array<double>(Eigen::Array4d(0, .5, .5, 0)))) == std::vector<Index>{1, 2});
    CHECK(possible(through(TopK{3}, Logits(Array<double>(Eigen::Array4d(-infinity, 1, 0, -infinity))))) ==
          std::vector<Index>{1, 2});
}

TEST_CASE("a row of k tokens holds no more than k", "[shaping]") {
    const auto logits = random_logits<float>(1000, 1);
    filters::ShapedMemory<float> memory;
    const auto row = shape(Logits(logits), TopK{40}, {}, memory);
    CHECK(row.size() == 1000);
    CHECK(row.held().size() == 40);
    CHECK(memory.row.numbers.size() == 40);
}

TEST_CASE("a negative k cannot be built", "[shaping]") {
    CHECK_THROWS_WITH(TopK(-1), "specsample::TopK: top_k is -1, but must be at least 0");
    CHECK_NOTHROW(TopK(0));
}
