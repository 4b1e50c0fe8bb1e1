// Rows of 16-bit numbers give what rows of the same numbers as floats give, to the bit: however a kernel converts them,
// in its own loop or in a buffer.
#include <cstdint>
#include <vector>

#include <specsample/kernels.hpp>
#include <specsample/rows/logits.hpp>
#include <specsample/rows/sparse.hpp>

#include "support/catch.hpp"
#include "support/uniforms.hpp"

using namespace specsample;
using namespace specsample::kernels;

namespace {

constexpr Index sizes[] = {1, 2, 15, 16, 17, 63, 64, 65, 127, 511, 512, 513, 1000, 5000};

/// A row of 16-bit numbers, and the same as floats.
template <class Half>
struct Both {
    std::vector<Half> halves;
    std::vector<float> floats;

    void add(float x) {
        halves.push_back(static_cast<Half>(x));
        floats.push_back(static_cast<float>(halves.back()));
    }
};

template <class Half>
Both<Half> probs(Index size, std::uint64_t seed) {
    Uniforms uniform{seed};
    Both<Half> row;
    for (Index i = 0; i < size; ++i) row.add(static_cast<float>(2 * uniform() / static_cast<double>(size)));
    return row;
}

template <class Half>
Both<Half> logits(Index size, std::uint64_t seed) {
    Uniforms uniform{seed};
    Both<Half> row;
    for (Index i = 0; i < size; ++i) row.add(static_cast<float>(20 * uniform() - 10));
    return row;
}

/// The sums of weights over all places and over ranges that begin and end anywhere.
template <class W>
std::vector<double> sums(const W& weights) {
    const Index size = weights.size();
    std::vector<double> all{weights.sum(0, size)};
    for (const Index first : {size / 7, size / 3}) all.push_back(weights.sum(first, size - first - size / 5));
    return all;
}

template <class R>
auto view(const R& row) {
    return detail::as_row(row);
}

template <class R>
std::vector<Index> draws(const R& row) {
    std::vector<Index> all;
    for (const double u : {0., .1, .5, .9, .999}) all.push_back(draw_index(row_weights(row), [u] { return u; }).index);
    return all;
}

}  // namespace

TEMPLATE_TEST_CASE("16-bit probabilities sum as floats do", "[kernels]", Eigen::half, Eigen::bfloat16) {
    for (const Index size : sizes) {
        const auto p = probs<TestType>(size, 1), q = probs<TestType>(size, 2);
        INFO("size " << size);
        CHECK(sums(RowWeights(view(p.halves))) == sums(RowWeights(view(p.floats))));
        const auto expected = sums(ResidualWeights(view(p.floats), view(q.floats), .75));
        CHECK(sums(ResidualWeights(view(p.halves), view(q.halves), .75)) == expected);
        CHECK(sums(ResidualWeights(view(p.floats), view(q.halves), .75)) == expected);
        CHECK(sums(ResidualWeights(view(p.halves), view(q.floats), .75)) == expected);
        CHECK(overlap(q.halves, p.halves) == overlap(q.floats, p.floats));
        CHECK(draws(p.halves) == draws(p.floats));
        CHECK(argmax(p.halves) == argmax(p.floats));
        CHECK(entropy(p.halves) == entropy(p.floats));
    }
}

TEMPLATE_TEST_CASE("16-bit logits sum as floats do", "[kernels]", Eigen::half, Eigen::bfloat16) {
    for (const Index size : sizes) {
        const auto p = logits<TestType>(size, 3), q = logits<TestType>(size, 4);
        const Logits halves(p.halves, .8), other_halves(q.halves);
        const Logits floats(p.floats, .8), other_floats(q.floats);
        INFO("size " << size);
        CHECK(halves.weights().total() == floats.weights().total());
        CHECK(sums(RowWeights(view(halves))) == sums(RowWeights(view(floats))));
        const auto expected = sums(ResidualWeights(view(floats), view(other_floats)));
        CHECK(sums(ResidualWeights(view(halves), view(other_halves))) == expected);
        CHECK(sums(ResidualWeights(view(halves), view(other_floats))) == expected);
        CHECK(overlap(other_halves, halves) == overlap(other_floats, floats));
        CHECK(softmax(p.halves, .8) == softmax(p.floats, .8));
        CHECK(draws(halves) == draws(floats));
        CHECK(argmax(p.halves) == argmax(p.floats));
    }
}

TEMPLATE_TEST_CASE("16-bit rows beside rows of doubles sum as floats do", "[kernels]", Eigen::half, Eigen::bfloat16) {
    for (const Index size : sizes) {
        const auto p = probs<TestType>(size, 5);
        const std::vector<double> q(static_cast<std::size_t>(size), 1. / static_cast<double>(size));
        INFO("size " << size);
        CHECK(sums(ResidualWeights(view(p.halves), view(q))) == sums(ResidualWeights(view(p.floats), view(q))));
        CHECK(sums(ResidualWeights(view(q), view(p.halves))) == sums(ResidualWeights(view(q), view(p.floats))));
    }
}

TEMPLATE_TEST_CASE("sparse 16-bit rows sum as floats do", "[kernels]", Eigen::half, Eigen::bfloat16) {
    for (const Index size : sizes) {
        const auto p = probs<TestType>(size, 6), q = probs<TestType>(3 * size, 7);
        std::vector<Token> ids;
        for (Index i = 0; i < size; ++i) ids.push_back(static_cast<Token>(3 * i + i % 2));
        const Sparse halves(ids, p.halves, 3 * size);
        const Sparse floats(ids, p.floats, 3 * size);
        INFO("size " << size);
        CHECK(sums(RowWeights(view(halves))) == sums(RowWeights(view(floats))));
        CHECK(sums(ResidualWeights(view(halves), view(q.halves))) ==
              sums(ResidualWeights(view(floats), view(q.floats))));
        CHECK(sums(ResidualWeights(view(q.halves), view(halves))) ==
              sums(ResidualWeights(view(q.floats), view(floats))));
    }
}
