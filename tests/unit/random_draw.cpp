// accept and draw by a random number, or by a source's own members where it has them.
#include <specsample/random/draw.hpp>

#include <limits>
#include <vector>

#include <specsample/random/rng.hpp>
#include <specsample/rows/sparse.hpp>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::kernels;

namespace {

constexpr double last_draw = 1 - 0x1p-53;

/// A source of one fixed number.
struct Says {
    double value;
    double uniform() const { return value; }
};

/// A source with its own accept and draw.
struct Decides {
    bool accept(double s, double q) const { return s == 1 && q == 2; }
    template <Weights W>
    Drawn draw(const W& weights) const {
        return {weights.size() - 1, 77};
    }
};

/// A source with members of those names and other signatures.
struct Misnamed : Says {
    int accept(double, double) const { return 1; }
    int draw(int) const { return 1; }
};

const std::vector<double> row{.5, 0, .25, .25};

}  // namespace

TEST_CASE("a token of weight 0 is not accepted, not even by the random number 0", "[random]") {
    CHECK_FALSE(accept(Says{0}, 0, .5));
    CHECK_FALSE(accept(Says{0}, 0, 1));
    CHECK(accept(Says{0}, std::numeric_limits<double>::denorm_min(), 1));
}

TEST_CASE("a token with at least the draft's weight is always accepted", "[random]") {
    for (const double q : {1e-300, 1e-38, .1, 1. / 3, .7, 1.}) {
        INFO(q);
        CHECK(accept(Says{last_draw}, q, q));
        CHECK(accept(Says{last_draw}, q * (1 + 1e-15), q));
        CHECK(accept(Says{last_draw}, 1, q));
    }
}

TEST_CASE("a certain token that was drafted with a larger weight is accepted in proportion", "[random]") {
    CHECK(accept(Says{.49}, 1, 2));
    CHECK_FALSE(accept(Says{.5}, 1, 2));
}

TEST_CASE("the test is strict: a random number equal to the ratio rejects, the one below accepts", "[random]") {
    CHECK_FALSE(accept(Says{.5}, .25, .5));
    CHECK(accept(Says{.5 - 0x1p-53}, .25, .5));
    CHECK_FALSE(accept(Says{.5 + 0x1p-53}, .25, .5));
}

TEST_CASE("a NaN is not accepted", "[random]") {
    CHECK_FALSE(accept(Says{.5}, std::numeric_limits<double>::quiet_NaN(), .5));
    CHECK_FALSE(accept(Says{.5}, .5, std::numeric_limits<double>::quiet_NaN()));
}

TEST_CASE("a draw takes the entry at its random number, and returns the sum", "[random]") {
    const auto view = detail::as_row(row);
    const RowWeights weights(view);
    CHECK(draw(Says{0}, weights).index == 0);
    CHECK(draw(Says{.5}, weights).index == 2);
    CHECK(draw(Says{last_draw}, weights).index == 3);
    CHECK(draw(Says{.5}, weights).sum == 1);
}

TEST_CASE("a source's own accept and draw are used where it has them", "[random]") {
    const auto view = detail::as_row(row);
    CHECK(accept(Decides{}, 1, 2));
    CHECK_FALSE(accept(Decides{}, 2, 1));
    CHECK(draw(Decides{}, RowWeights(view)).index == 3);
    CHECK(draw(Decides{}, RowWeights(view)).sum == 77);
}

TEST_CASE("members of those names with other types are not used", "[random]") {
    const auto view = detail::as_row(row);
    CHECK_FALSE(accept(Misnamed{{.9}}, .1, 1));
    CHECK(draw(Misnamed{{.6}}, RowWeights(view)).index == 2);
}

TEST_CASE("a keyed RNG draws the entry at its uniform", "[random]") {
    const auto view = detail::as_row(row);
    const RowWeights weights(view);
    for (Index round = 0; round < 200; ++round) {
        const Rng random = RoundRng(1, 2, round).at(Purpose::draft, 0);
        REQUIRE(draw(random, weights).index == (random.uniform() < .5 ? 0 : random.uniform() < .75 ? 2 : 3));
        REQUIRE(accept(random, .3, .6) == (random.uniform() < .5));
    }
}

TEST_CASE("draws and races of a plain row of any kind are those of its weights", "[random]") {
    const Eigen::VectorXf vector{{.5f, 0, .25f, .25f}};
    const Logits logits(Eigen::ArrayXf(vector.array().log() + 3), .7);
    const std::vector<Token> ids{0, 2, 3};
    const std::vector<float> probs{.5f, .25f, .25f};
    const Sparse sparse(ids, probs, 4);
    std::vector<Token> winners(2), expected(2);
    const auto same = [&](const auto& from, const auto& weights) {
        for (Index round = 0; round < 50; ++round) {
            const Rng random = RoundRng(1, 2, round).at(Purpose::draft, 0);
            REQUIRE(draw(random, from).index == draw(random, weights).index);
            REQUIRE(draw(random, from).sum == draw(random, weights).sum);
            REQUIRE(race(random, from) == race(random, weights));
            REQUIRE(race(random, from, winners) == race(random, weights, expected));
            REQUIRE(winners == expected);
        }
    };
    same(row, RowWeights(detail::as_row(row)));
    same(std::span(row), RowWeights(detail::as_row(row)));
    same(vector, RowWeights(detail::as_row(vector)));
    same(vector.transpose(), RowWeights(detail::as_row(vector)));
    same(vector.cast<double>(), RowWeights(detail::as_row(vector)));
    same(logits, logits.weights());
    same(sparse, RowWeights(detail::as_row(sparse)));
    same(Sparse(ids, Logits(probs), 4), Sparse(ids, Logits(probs), 4).weights());
    CHECK(draw(Decides{}, row).sum == 77);
    CHECK(draw(Says{.5}, std::vector<float>{}).index == -1);
    CHECK(race(Rng({.seed = 1}), std::vector<float>(3)) == -1);
}

static_assert(RandomSource<RoundRng> && !RandomSource<Rng>);
