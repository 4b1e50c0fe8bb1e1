// draw_index: the inverse CDF, against a linear scan in double, the entries that can be drawn, and rows without any.
#include <specsample/kernels/draw.hpp>

#include <cmath>
#include <limits>
#include <vector>

#include <specsample/kernels/logit_weights.hpp>
#include <specsample/kernels/residual.hpp>
#include <specsample/random/rng.hpp>
#include <specsample/rows/logits.hpp>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::kernels;

namespace {

constexpr double last_draw = 1 - 0x1p-53;

template <class W>
Index pick(const W& weights, double u) {
    return draw_index(weights, [u] { return u; }).index;
}

/// The definition: the first entry at which the running sum passes u times the sum of all.
template <class W>
Index linear(const W& weights, double u) {
    long double total = 0, sum = 0;
    for (Index i = 0; i < weights.size(); ++i) total += static_cast<long double>(weights[i]);
    for (Index i = 0; i < weights.size(); ++i) {
        sum += static_cast<long double>(weights[i]);
        if (static_cast<long double>(u) * total < sum) return i;
    }
    return -1;
}

/// Integers 0..7, zero in four of ten: every sum is exact in float, so that a draw has one right answer, also on the
/// boundary between two entries.
template <class Scalar>
std::vector<Scalar> integers(Index size, std::uint64_t seed) {
    std::vector<Scalar> row(static_cast<std::size_t>(size));
    for (std::size_t i = 0; i < row.size(); ++i) {
        const auto bits = Rng({.seed = seed}).bits(static_cast<std::uint32_t>(i));
        row[i] = static_cast<Scalar>(bits % 10 < 4 ? 0.f : static_cast<float>(bits >> 61));
    }
    return row;
}

/// A random number for every boundary of a small row, or a grid of them for a large one; each also one bit lower and
/// higher.
template <class W, class F>
void for_rngs(const W& weights, F&& f) {
    f(0.);
    f(last_draw);
    const int steps = weights.size() <= 2000 ? 1024 : 64;
    for (int i = 1; i < steps; ++i) {
        const double u = i / static_cast<double>(steps);
        f(u);
        f(std::nextafter(u, 0.));
        f(std::nextafter(u, 1.));
    }
}

/// Row i + 1 of the running sums of weights, in double.
template <class W>
std::vector<double> boundaries(const W& weights) {
    std::vector<double> sums{0};
    long double sum = 0;
    for (Index i = 0; i < weights.size(); ++i)
        sums.push_back(static_cast<double>(sum += static_cast<long double>(weights[i])));
    for (double& s : sums) s /= static_cast<double>(sum);
    return sums;
}

/// Total variation between the draw's distribution and exact running sums, from the entries of every `step`-th block of
/// 512: the random number at which the draw moves past each entry is found by bisection.
template <class W>
double distribution_error(const W& weights, Index step) {
    const std::vector<double> exact = boundaries(weights);
    const BlockSums sums(weights);
    const auto boundary = [&](Index i) {  // the least u that draws an entry after i, to 1e-13
        double low = std::max(0., exact[static_cast<std::size_t>(i) + 1] - 1e-6);
        double high = std::min(1., exact[static_cast<std::size_t>(i) + 1] + 1e-6);
        if (low > 0) REQUIRE(sums.pick(low) <= i);
        if (high < 1) REQUIRE(sums.pick(high) > i);
        while (high - low > 1e-13) {
            const double middle = (low + high) / 2;
            (sums.pick(middle) > i ? high : low) = middle;
        }
        return low;
    };
    double error = 0;
    for (Index first = 0; first < weights.size(); first += 512 * step) {
        double before = first == 0 ? 0 : boundary(first - 1);
        for (Index i = first; i < first + 512; ++i) {
            const double after = boundary(i);
            const auto at = static_cast<std::size_t>(i);
            error += std::abs((after - before) - (exact[at + 1] - exact[at]));
            before = after;
        }
    }
    return error / 2 * static_cast<double>(step);
}

/// Weights whose block sums are not the sums of their entries: the effect of rounding, enlarged.
struct Lying {
    std::vector<double> entries;
    double claimed_per_entry;

    Index size() const { return static_cast<Index>(entries.size()); }
    double operator[](Index i) const { return entries[static_cast<std::size_t>(i)]; }
    double sum(Index, Index count) const { return claimed_per_entry * static_cast<double>(count); }
};

}  // namespace

TEMPLATE_TEST_CASE("a draw is the linear inverse CDF, on boundaries too", "[kernels]", float, double, Eigen::half) {
    for (const Index size : {1, 2, 31, 32, 33, 63, 64, 65, 511, 512, 513, 1023, 1024, 1025, 5000}) {
        auto row = integers<TestType>(size, 1);
        row[row.size() / 2] = static_cast<TestType>(4.f);
        const auto view = detail::as_row(row);
        const RowWeights weights(view);
        INFO("size " << size);
        for_rngs(weights, [&](double u) {
            const Index expected = linear(weights, u);
            if (pick(weights, u) != expected) {
                INFO("u " << u);
                CHECK(pick(weights, u) == expected);
            }
        });
        CHECK(draw_index(weights, [] { return .5; }).sum == weights.sum(0, size));
    }
}

TEMPLATE_TEST_CASE("a draw is the linear inverse CDF where a block is longer than 512", "[kernels]", float, double) {
    for (const Index size : {128256, 262144, 262145, 300001, 1100000}) {
        const auto row = integers<TestType>(size, 2);
        const auto view = detail::as_row(row);
        const RowWeights weights(view);
        INFO("size " << size);
        for (const double u : {0., .125, .4999, .5, .875, last_draw}) CHECK(pick(weights, u) == linear(weights, u));
    }
}

TEMPLATE_TEST_CASE("a draw from a residual is the linear inverse CDF of max(0, p - q)", "[kernels]", float, double,
                   Eigen::half) {
    for (const Index size : {2, 33, 65, 513, 1025}) {
        auto p = integers<TestType>(size, 3), q = integers<TestType>(size, 4);
        p.back() = static_cast<TestType>(9.f);
        const auto p_view = detail::as_row(p), q_view = detail::as_row(q);
        const ResidualWeights weights(p_view, q_view);
        INFO("size " << size);
        for_rngs(weights, [&](double u) { REQUIRE(pick(weights, u) == linear(weights, u)); });
    }
}

TEMPLATE_TEST_CASE("a draw without an id is the linear inverse CDF of the rest", "[kernels]", float, double,
                   Eigen::half) {
    for (const Index size : {2, 33, 65, 513, 1025})
        for (const Index id : {Index{0}, size / 2, size - 1}) {
            const std::vector<TestType> row(static_cast<std::size_t>(size), static_cast<TestType>(2.f));
            const auto view = detail::as_row(row);
            const std::array<Token, 1> ids{static_cast<Token>(id)};
            const WithoutWeights weights(view, ids);
            INFO("size " << size << " without " << id);
            for_rngs(weights, [&](double u) { REQUIRE(pick(weights, u) == linear(weights, u)); });
        }
}

TEST_CASE("a draw from strided or misaligned memory is the draw from a contiguous row", "[kernels]") {
    const auto row = integers<float>(1537, 5);
    Eigen::MatrixXf matrix = Eigen::MatrixXf::Constant(3, 1536, 5);
    for (Index i = 0; i < 1536; ++i) matrix(2, i) = row[static_cast<std::size_t>(i) + 1];
    const Eigen::Map<const Eigen::ArrayXf> odd(row.data() + 1, 1536);
    const auto strided = detail::as_row(matrix.row(2));
    const auto expression = detail::as_row(matrix.row(2) * 2.f);
    const RowWeights contiguous_weights(odd);
    const RowWeights strided_weights(strided);
    const RowWeights expression_weights(expression);
    for_rngs(contiguous_weights, [&](double u) {
        REQUIRE(pick(strided_weights, u) == pick(contiguous_weights, u));
        REQUIRE(pick(expression_weights, u) == pick(contiguous_weights, u));
    });
}

TEMPLATE_TEST_CASE("real weights are drawn within rounding of the linear inverse CDF", "[kernels]", float, double,
                   Eigen::half) {
    // The distribution is stated to 1e-6, so the random number at which an entry begins is off by less.
    for (const Index size : {2, 33, 513, 5000, 128256}) {
        std::vector<TestType> row(static_cast<std::size_t>(size));
        for (std::size_t i = 0; i < row.size(); ++i)
            row[i] = static_cast<TestType>(
                static_cast<float>(std::pow(Rng({.seed = 6}).uniform(static_cast<std::uint32_t>(i)), 4)));
        const auto view = detail::as_row(row);
        const RowWeights weights(view);
        const auto sums = boundaries(weights);
        INFO("size " << size);
        for_rngs(weights, [&](double u) {
            const Index i = pick(weights, u);
            REQUIRE(sums[static_cast<std::size_t>(i)] <= u + 1e-6);
            REQUIRE(sums[static_cast<std::size_t>(i) + 1] >= u - 1e-6);
        });
    }
}

TEST_CASE("rounding moves the distribution of a flat row of 262144 floats by less than 1e-6", "[kernels]") {
    std::vector<float> row(262144);
    for (std::size_t i = 0; i < row.size(); ++i)
        row[i] = static_cast<float>((.5 + Rng({.seed = 7}).uniform(static_cast<std::uint32_t>(i))) / 262144);
    const auto view = detail::as_row(row);
    CHECK(distribution_error(RowWeights(view), 16) < 1e-6);
}

TEST_CASE("rounding moves the distribution of a peaked row of 262144 floats by less than 1e-6", "[kernels]") {
    std::vector<float> row(262144);
    for (std::size_t i = 0; i < row.size(); ++i)
        row[i] =
            static_cast<float>(-.1 * std::log(Rng({.seed = 8}).open_uniform(static_cast<std::uint32_t>(i))) / 262144);
    row[5] = .5f;
    row[512 * 32 + 77] = .3f;
    row[200000] = .1f;
    const auto view = detail::as_row(row);
    CHECK(distribution_error(RowWeights(view), 1) < 1e-6);  // every block: its three heavy ones stand for themselves
}

TEMPLATE_TEST_CASE("an entry of weight zero is never drawn, wherever the zeros are", "[kernels]", float, double,
                   Eigen::half) {
    for (const Index size : {3, 64, 65, 512, 513, 1100, 3000}) {
        const auto zero_where = [&](const char* name, auto is_zero) {
            std::vector<TestType> row(static_cast<std::size_t>(size), static_cast<TestType>(.3f));
            for (Index i = 0; i < size; ++i)
                if (is_zero(i)) row[static_cast<std::size_t>(i)] = TestType(0);
            const auto view = detail::as_row(row);
            const RowWeights weights(view);
            INFO(name << ", size " << size);
            for_rngs(weights, [&](double u) {
                const Index i = pick(weights, u);
                REQUIRE(i >= 0);
                REQUIRE(weights[i] > 0);
            });
        };
        zero_where("the first", [](Index i) { return i == 0; });
        zero_where("the last", [&](Index i) { return i == size - 1; });
        zero_where("the first half", [&](Index i) { return i < size / 2; });
        zero_where("the last half", [&](Index i) { return i > size / 2; });
        zero_where("every second", [](Index i) { return i % 2 == 0; });
        zero_where("the inner ones", [&](Index i) { return i > 0 && i < size - 1; });
    }
}

TEMPLATE_TEST_CASE("all mass on one id draws that id, whatever the random number", "[kernels]", float, double,
                   Eigen::half) {
    for (const Index size : {1, 2, 64, 65, 513, 3000, 300001})
        for (const Index id : {Index{0}, size / 2, size - 1}) {
            std::vector<TestType> row(static_cast<std::size_t>(size), TestType(0));
            row[static_cast<std::size_t>(id)] = static_cast<TestType>(.1f);
            const auto view = detail::as_row(row);
            const RowWeights weights(view);
            INFO("id " << id << " of " << size);
            for (const double u : {0., .3, .5, .9999999, last_draw}) CHECK(pick(weights, u) == id);
        }
}

TEST_CASE("a residual never gives a token that the draft covers", "[kernels]") {
    std::vector<float> p(2000), q(2000);
    for (std::size_t i = 0; i < p.size(); ++i) {
        p[i] = static_cast<float>(Rng({.seed = 9}).uniform(static_cast<std::uint32_t>(i)) / 1000);
        q[i] = static_cast<float>(Rng({.seed = 10}).uniform(static_cast<std::uint32_t>(i)) / 1000);
    }
    q[0] = p[0];
    q[1999] = p[1999];
    const auto p_view = detail::as_row(p), q_view = detail::as_row(q);
    const ResidualWeights weights(p_view, q_view);
    for_rngs(weights, [&](double u) {
        const auto i = static_cast<std::size_t>(pick(weights, u));
        REQUIRE(p[i] > q[i]);
    });
}

TEST_CASE("nothing is drawn where all weights are zero, and no random number is used", "[kernels]") {
    for (const Index size : {0, 1, 513}) {
        const std::vector<float> row(static_cast<std::size_t>(size), 0.f);
        const auto view = detail::as_row(row);
        bool tossed = false;
        const Drawn drawn = draw_index(RowWeights(view), [&] {
            tossed = true;
            return .5;
        });
        CHECK(drawn.index == -1);
        CHECK(drawn.sum == 0);
        CHECK_FALSE(tossed);
    }
}

TEST_CASE("nothing is drawn from weights with a NaN or an infinity, and the sum says so", "[kernels]") {
    for (const float bad : {std::nanf(""), std::numeric_limits<float>::infinity()})
        for (const std::size_t at : {0u, 40u, 599u}) {
            std::vector<float> row(600, .01f);
            row[at] = bad;
            const auto view = detail::as_row(row);
            const Drawn drawn = draw_index(RowWeights(view), [] { return .5; });
            INFO(bad << " at " << at);
            CHECK(drawn.index == -1);
            CHECK_FALSE(std::isfinite(drawn.sum));
        }
}

TEST_CASE("nothing is drawn where the sum is negative", "[kernels]") {
    const std::vector<double> row{.5, -1};
    const auto view = detail::as_row(row);
    const Drawn drawn = draw_index(RowWeights(view), [] { return .5; });
    CHECK(drawn.index == -1);
    CHECK(drawn.sum == -.5);
}

TEST_CASE("one draw uses one random number", "[kernels]") {
    const std::vector<double> row{.5, .5};
    const auto view = detail::as_row(row);
    int tossed = 0;
    draw_index(RowWeights(view), [&] {
        ++tossed;
        return .5;
    });
    CHECK(tossed == 1);
}

TEST_CASE("a draw that rounding puts past the end takes the last entry with weight", "[kernels]") {
    CHECK(pick(Lying{{1, 0, 0}, 1}, .9) == 0);
    CHECK(pick(Lying{{0, 1, 1, 0, 0}, 1}, last_draw) == 2);
    std::vector<double> entries(700, 0.);
    entries[600] = 1;  // in the last block, with zeros after it
    CHECK(pick(Lying{entries, 1}, last_draw) == 600);
}

TEST_CASE("a draw that rounding puts among zeros takes the entry with weight before them, else the one after",
          "[kernels]") {
    std::vector<double> entries(200, 0.);
    entries[150] = 1;
    CHECK(pick(Lying{entries, 1}, 0.) == 150);
    entries[3] = 1;
    CHECK(pick(Lying{entries, 1}, .4) == 3);
    CHECK(pick(Lying{std::vector<double>(200, 0.), 1}, .5) == -1);
}

TEST_CASE("very small and very large weights are drawn as well as others", "[kernels]") {
    for (const float scale : {1e-38f, 1e-30f, 1.f, 1e30f}) {
        const std::vector<float> row{1 * scale, 0, 2 * scale, 1 * scale};
        const auto view = detail::as_row(row);
        const RowWeights weights(view);
        INFO(scale);
        CHECK(pick(weights, 0.) == 0);
        CHECK(pick(weights, .24) == 0);
        CHECK(pick(weights, .26) == 2);
        CHECK(pick(weights, .74) == 2);
        CHECK(pick(weights, .76) == 3);
        CHECK(pick(weights, last_draw) == 3);
    }
}

namespace {

/// Weights that note the order in which their blocks are summed.
struct NotedWeights {
    std::vector<Index>* order;

    Index size() const { return 5 * detail::block_size + 7; }
    double operator[](Index) const { return 1; }
    double sum(Index first, Index count) const {
        order->push_back(first / detail::block_size);
        return static_cast<double>(count);
    }
};
template <class W>
concept SaysWhether = requires(const W& weights) { weights.are_in_halves(); };
struct InHalves : NotedWeights {
    bool are_prefetched = true;
    bool are_in_halves() const { return are_prefetched; }
};

}  // namespace

TEST_CASE("a pass sums blocks in their order, but a block of each half in turn of weights that say so") {
    std::vector<Index> order;
    RunningSums sums;
    sums.sum(NotedWeights{&order});
    CHECK(order == std::vector<Index>{0, 1, 2, 3, 4, 5});
    CHECK(sums.total == 5 * detail::block_size + 7);
    order.clear();
    sums.sum(InHalves{{&order}});
    CHECK(order == std::vector<Index>{0, 3, 1, 4, 2, 5});
    CHECK(sums.up_to[1] == 2 * detail::block_size);
    CHECK(sums.total == 5 * detail::block_size + 7);
    order.clear();
    sums.sum(InHalves{{&order}, false});
    CHECK(order == std::vector<Index>{0, 1, 2, 3, 4, 5});

    // Logits are read in halves; blocks that are made for the pass are not.
    const Eigen::ArrayXf numbers = Eigen::ArrayXf::Zero(8);
    const Logits logits(numbers);
    CHECK(RowWeights(detail::as_row(logits.probs())).are_in_halves());
    static_assert(!SaysWhether<detail::MadeWeights<RowWeights<Eigen::ArrayXf>, int>>);
}
