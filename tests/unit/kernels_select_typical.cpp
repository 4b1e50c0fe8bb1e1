// The most typical part of a distribution, as positions.
#include <specsample/kernels/select_typical.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::kernels;
using Ids = std::vector<Token>;

namespace {

template <class Value>
Ids typical(const std::vector<Value>& probs, double fraction) {
    static TypicalScratch<Value> scratch;  // with whatever the last row has left
    Ids kept{7, 7, 7};
    select_typical(std::span(probs), fraction, kept, scratch);
    return kept;
}

/// By a sort of the row.
template <class Value>
Ids sorted_typical(const std::vector<Value>& probs, double fraction) {
    const auto surprise = [&](Token id) { return -std::log(static_cast<double>(probs[static_cast<std::size_t>(id)])); };
    Ids ids(probs.size());
    std::iota(ids.begin(), ids.end(), Token{0});
    std::erase_if(ids, [&](Token id) { return probs[static_cast<std::size_t>(id)] == 0; });
    double entropy = 0;
    for (const Token id : ids) entropy += static_cast<double>(probs[static_cast<std::size_t>(id)]) * surprise(id);
    std::ranges::stable_sort(ids, {}, [&](Token id) { return std::abs(surprise(id) - entropy); });
    std::size_t count = 0;
    for (double mass = 0; count < ids.size() && (mass < fraction || fraction >= 1);)
        mass += static_cast<double>(probs[static_cast<std::size_t>(ids[count++])]);
    ids.resize(count);
    std::ranges::sort(ids);
    return ids;
}

}  // namespace

TEST_CASE("the most typical token is not the most probable one", "[kernels]") {
    // H = 1.386 nats; surprises .693 (distance .693), 2.079 (.693)
    const std::vector<double> probs{.5, .125, .125, .125, .125};
    CHECK(typical(probs, 1.) == Ids{0, 1, 2, 3, 4});
    // H = 1.28 nats; distances .36, .08 and 1.02
    CHECK(typical(std::vector<double>{.4, .3, .2, .1}, .2) == Ids{1});
    CHECK(typical(std::vector<double>{.4, .3, .2, .1}, .3) == Ids{1});
    CHECK(typical(std::vector<double>{.4, .3, .2, .1}, .31) == Ids{1, 2});
    CHECK(typical(std::vector<double>{.4, .3, .2, .1}, .51) == Ids{0, 1, 2});
}

TEST_CASE("equally typical tokens are kept from the front", "[kernels]") {
    CHECK(typical(std::vector<float>(4, .25f), .5) == Ids{0, 1});
    CHECK(typical(std::vector<float>(4, .25f), .51) == Ids{0, 1, 2});
    CHECK(typical(std::vector<float>{0, .5f, 0, .5f}, .5) == Ids{1});
    CHECK(typical(std::vector<float>{0, 1, 0}, .9) == Ids{1});
    CHECK(typical(std::vector<float>{}, .9).empty());
    CHECK(typical(std::vector<float>{0, 0}, .9).empty());
}

TEMPLATE_TEST_CASE("the typical part is that of a sort", "[kernels]", float, double) {
    std::mt19937_64 random(9);
    for (int round = 0; round < 400; ++round) {
        std::vector<TestType> probs(1 + random() % (round % 40 ? 3000 : 40000));
        const auto levels = random() % 2 ? 1 + random() % 10 : 1 + random() % 1'000'000;
        for (TestType& p : probs)
            p = static_cast<TestType>(std::exp(static_cast<double>(random() % levels) * 1e-5) - 1);
        probs[0] = 1;
        const double total = std::accumulate(probs.begin(), probs.end(), 0.);
        for (TestType& p : probs) p = static_cast<TestType>(static_cast<double>(p) / total);
        const double fraction = static_cast<double>(1 + random() % 1000) / 1000;
        REQUIRE(typical(probs, fraction) == sorted_typical(probs, fraction));
    }
}

TEMPLATE_TEST_CASE("a sample that misleads only costs time", "[kernels]", float, double) {
    std::mt19937_64 random(11);
    const auto check = [&](std::size_t size, bool are_sampled, double share) {
        const std::size_t stride = detail::mass_stride(size);
        std::vector<double> weights(size);
        for (double& w : weights) w = std::exp(-static_cast<double>(random() % 1000) * .008);
        double heavy = 0, light = 0;
        const auto is_heavy = [&](std::size_t i) { return (i % stride == 0) == are_sampled; };
        for (std::size_t i = 0; i < size; ++i) (is_heavy(i) ? heavy : light) += weights[i];
        std::vector<TestType> probs;
        for (std::size_t i = 0; i < size; ++i)
            probs.push_back(static_cast<TestType>(weights[i] * (is_heavy(i) ? share / heavy : (1 - share) / light)));
        for (const double fraction : {.001, .1, .5, .9, .999})
            REQUIRE(typical(probs, fraction) == sorted_typical(probs, fraction));
    };
    for (const bool are_sampled : {false, true})
        for (const double share : {.01, .5, .9, .99})
            for (const std::size_t size : {9000u, 70000u}) check(size, are_sampled, share);
}

TEST_CASE("probabilities that are no numbers give positions inside the row", "[kernels]") {
    std::mt19937_64 random(10);
    const float bad[] = {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), -1.f};
    for (int round = 0; round < 200; ++round) {
        std::vector<float> probs(1 + random() % 3000);
        for (float& p : probs) p = random() % 10 ? static_cast<float>(random() % 100) * 1e-4f : bad[random() % 3];
        const Ids kept = typical(probs, .9);
        CHECK(std::set(kept.begin(), kept.end()).size() == kept.size());
        for (const Token id : kept) REQUIRE((id >= 0 && id < static_cast<Token>(probs.size())));
    }
}
