// Drawing children: the distribution of every kind, its random draws, and the draft distribution of each child.
#include <specsample/drafters/children.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include <specsample/testing.hpp>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::children;
using namespace specsample::kernels;
using namespace specsample::testing;

namespace {

using Ids = std::vector<Token>;
using Vector = std::vector<double>;

/// A child, and its probability under its distribution.
struct Child {
    Token token;
    bool is_point;
    Ids without;
    double chance;  ///< Q(token)
    double rest;
};

void note(std::vector<Child>& children, Index token, const PointMass&) {
    children.push_back({static_cast<Token>(token), true, {}, 1, 1});
}
template <class View>
void note(std::vector<Child>& children, Index token, const Sampled<View>& distribution) {
    children.push_back({static_cast<Token>(token),
                        false,
                        {distribution.without().begin(), distribution.without().end()},
                        distribution.weight(token) / distribution.rest(),
                        distribution.rest()});
}

/// Draw children with an RNG.
template <class Kind, class R, class Source>
std::vector<Child> drawn_from(const Kind& kind, const R& row, std::size_t count, const Source& rng) {
    std::vector<Child> children;
    Ids ids(count, -7);
    kind(
        row, std::span(ids), [&](std::size_t i) { return rng.at(Purpose::draft, static_cast<Index>(i)); },
        [&](auto token, const auto& distribution) { note(children, static_cast<Index>(token), distribution); });
    return children;
}
template <class Kind, class Source>
std::vector<Child> drawn(const Kind& kind, const Vector& row, std::size_t count, const Source& rng) {
    return drawn_from(kind, row, count, rng);
}

/// The exact distribution of the children's tokens in their order. The draft distributions are checked against it:
/// along each path the product of the children's probabilities must be the probability of the path.
template <class Kind>
TextDistribution distribution_of(const Kind& kind, const Vector& row, std::size_t count) {
    TextDistribution distribution;
    Enumerator().run([&](Enumerator& paths) {
        const auto children = drawn(kind, row, count, EnumeratedRng(paths));
        Ids tokens;
        double told = 1;
        for (const Child& child : children) {
            tokens.push_back(child.token);
            told *= child.chance;
            REQUIRE(child.chance > 0);
            REQUIRE(std::ranges::find(child.without, child.token) == child.without.end());
            if (child.is_point) continue;
            double rest = 0;
            for (std::size_t i = 0; i < row.size(); ++i)
                if (std::ranges::find(child.without, static_cast<Token>(i)) == child.without.end()) rest += row[i];
            REQUIRE(child.rest == Approx(child.without.empty() ? 1 : rest).epsilon(1e-14));
        }
        REQUIRE(told == Approx(paths.probability()).epsilon(1e-13));
        distribution[tokens] += paths.probability();
    });
    return distribution;
}

/// P(tokens) when each is drawn from the rest of the row after those before it.
double without_replacement(const Vector& row, const Ids& tokens) {
    double probability = 1, left = 0;
    for (const double x : row) left += x;
    for (const Token token : tokens) {
        const double x = row[static_cast<std::size_t>(token)];
        probability *= x / left;
        left -= x;
    }
    return probability;
}

const std::vector<Vector> rows{{.5, .3, .2}, {.1, .2, .3, .4}, {.25, .25, .25, .25}, {1}, {0, 1, 0}, {.6, 0, .4, 0}};

std::size_t support(const Vector& row) {
    return static_cast<std::size_t>(std::ranges::count_if(row, [](double x) { return x > 0; }));
}

}  // namespace

TEST_CASE("independent children each have the row's distribution, and may repeat", "[draft]") {
    for (const Vector& row : rows)
        for (std::size_t count = 0; count <= 3; ++count) {
            const TextDistribution distribution = distribution_of(Independent{}, row, count);
            double texts = 1;
            for (std::size_t i = 0; i < count; ++i) texts *= static_cast<double>(support(row));
            CHECK(static_cast<double>(distribution.size()) == texts);
            for (const auto& [tokens, probability] : distribution) {
                REQUIRE(tokens.size() == count);
                double expected = 1;
                for (const Token token : tokens) expected *= row[static_cast<std::size_t>(token)];
                CHECK(probability == Approx(expected).epsilon(1e-13));
            }
        }
}

TEST_CASE("children without replacement come in the order of such a draw, and end with the row", "[draft]") {
    for (const Vector& row : rows)
        for (std::size_t count = 0; count <= 5; ++count) {
            const TextDistribution distribution = distribution_of(WithoutReplacement{}, row, count);
            double total = 0;
            for (const auto& [tokens, probability] : distribution) {
                REQUIRE(tokens.size() == std::min(count, support(row)));
                CHECK(probability == Approx(without_replacement(row, tokens)).epsilon(1e-13));
                total += probability;
            }
            CHECK(total == Approx(1).epsilon(1e-13));
        }
}

TEST_CASE("each child without replacement has its elder siblings in its distribution", "[draft]") {
    Enumerator().run([&](Enumerator& paths) {
        const auto children = drawn(WithoutReplacement{}, rows[1], 4, EnumeratedRng(paths));
        REQUIRE(children.size() == 4);
        Ids before;
        for (const Child& child : children) {
            CHECK_FALSE(child.is_point);
            CHECK(child.without == before);
            before.push_back(child.token);
        }
    });
}

TEST_CASE("top children are point masses in the order of the row, without a random draw", "[draft]") {
    const ScriptedRng none;  // throws when asked
    for (std::size_t count = 0; count <= 6; ++count) {
        const auto children = drawn(TopChildren{}, {.1, .3, 0, .3, .2, .1}, count, none);
        Ids tokens;
        for (const Child& child : children) {
            CHECK(child.is_point);
            tokens.push_back(child.token);
        }
        const Ids order{1, 3, 4, 0, 5};  // token 2 has no probability
        CHECK(tokens == Ids(order.begin(), order.begin() + static_cast<Index>(std::min(count, order.size()))));
    }
}

TEST_CASE("greedy children are one draw from the rest, then the likeliest", "[draft]") {
    for (const Vector& row : rows)
        for (std::size_t count = 1; count <= 5; ++count) {
            Ids named(std::min(count - 1, row.size()));
            named.resize(static_cast<std::size_t>(top_ids(row, std::span(named))));
            double left = 0;
            const auto is_named = [&](std::size_t i) {
                return std::ranges::find(named, static_cast<Token>(i)) != named.end();
            };
            for (std::size_t i = 0; i < row.size(); ++i) left += is_named(i) ? 0 : row[i];
            const TextDistribution distribution = distribution_of(GreedyChildren{}, row, count);
            if (left == 0) {
                CHECK(distribution == TextDistribution{{named, 1.}});  // nothing to draw: the named ones only
                continue;
            }
            CHECK(distribution.size() == support(row) - named.size());
            for (const auto& [tokens, probability] : distribution) {
                REQUIRE(tokens.size() == named.size() + 1);
                CHECK(Ids(tokens.begin() + 1, tokens.end()) == named);
                const auto first = static_cast<std::size_t>(tokens.front());
                CHECK_FALSE(is_named(first));
                CHECK(probability == Approx(row[first] / left).epsilon(1e-13));
            }
        }
}

TEST_CASE("the drawn greedy child has the likeliest ones in its distribution, which are point masses", "[draft]") {
    ScriptedRng rng;
    rng.set(Purpose::draft, 0, .99);
    const auto children = drawn(GreedyChildren{}, {.1, .2, .3, .4}, 3, rng);
    REQUIRE(children.size() == 3);
    CHECK(children[0].token == 1);
    CHECK_FALSE(children[0].is_point);
    CHECK(children[0].without == Ids{3, 2});
    CHECK(children[0].chance == Approx(2. / 3).epsilon(1e-14));
    CHECK(children[1].token == 3);
    CHECK(children[2].token == 2);
    CHECK(children[1].is_point);
    CHECK(children[2].is_point);
}

TEST_CASE("children without replacement are the first of one race and know what was left", "[draft]") {
    for (Index round = 0; round < 200; ++round) {
        const RoundRng rng(4, 5, round);
        Vector row(1500);
        for (std::size_t i = 0; i < row.size(); ++i) {
            const double u = Rng({.seed = 6, .position = round}).uniform(static_cast<std::uint32_t>(i));
            row[i] = u < .5 ? 0 : std::pow(u, 40) / 10;
        }
        Ids winners(5);
        REQUIRE(race(rng.at(Purpose::draft, 0), row, winners) == 5);
        const std::vector<Child> children = drawn(WithoutReplacement{}, row, 5, rng);
        REQUIRE(children.size() == 5);
        for (std::size_t i = 0; i < 5; ++i) {
            REQUIRE(children[i].token == winners[i]);
            REQUIRE(children[i].without == Ids(winners.begin(), winners.begin() + static_cast<std::ptrdiff_t>(i)));
            double left = 0;
            for (std::size_t id = 0; id < row.size(); ++id)
                if (std::ranges::find(children[i].without, static_cast<Token>(id)) == children[i].without.end())
                    left += row[id];
            if (i > 0) REQUIRE(std::abs(children[i].rest / left - 1) < 1e-12);
        }
    }
}

TEST_CASE("children of logits are those of their probabilities, and know what was left", "[draft]") {
    Vector logits(1500);
    for (std::size_t i = 0; i < logits.size(); ++i)
        logits[i] = 12 * Rng({.seed = 7}).uniform(static_cast<std::uint32_t>(i));
    const double normaliser = log_sum_exp(Logits(logits, .7));
    const auto probs = Logits(logits, .7).probs().eval();
    const auto compare = [&](const auto& kind, const auto& row, const RoundRng& rng) {
        const std::vector<Child> expected = drawn_from(kind, probs, 5, rng), found = drawn_from(kind, row, 5, rng);
        REQUIRE(found.size() == expected.size());
        for (std::size_t i = 0; i < found.size(); ++i) {
            REQUIRE(found[i].token == expected[i].token);
            REQUIRE(found[i].without == expected[i].without);
            REQUIRE(found[i].chance == Approx(expected[i].chance).epsilon(1e-12));
            REQUIRE(found[i].rest == Approx(expected[i].rest).epsilon(1e-12));
        }
    };
    for (Index round = 0; round < 50; ++round) {
        const RoundRng rng(8, 9, round);
        for (const auto& row : {Logits(logits, .7), Logits(logits, .7, normaliser)}) {
            compare(Independent{}, row, rng);
            compare(WithoutReplacement{}, row, rng);
            compare(TopChildren{}, row, rng);
            compare(GreedyChildren{}, row, rng);
        }
    }
}

TEST_CASE("independent children take one pass together", "[draft]") {
    long reads = 0;
    const auto computed = [&](Index) { return ++reads, 1. / 4096; };
    const auto row = Eigen::ArrayXd::NullaryExpr(4096, std::cref(computed));
    CHECK(drawn_from(Independent{}, row, 8, RoundRng(1, 2, 3)).size() == 8);
    CHECK(reads < 2 * 4096);  // the pass, and one or two blocks of 512 per draw
}

TEST_CASE("more children than a row has tokens, and more than a race keeps on the stack", "[draft]") {
    const RoundRng rng(1, 2, 3);
    CHECK(drawn(WithoutReplacement{}, {0, .5, 0, .25}, 4, rng).size() == 2);
    const std::vector<Child> children = drawn(WithoutReplacement{}, Vector(100, .01), 100, rng);
    REQUIRE(children.size() == 100);
    Ids tokens;
    for (const Child& child : children) tokens.push_back(child.token);
    std::ranges::sort(tokens);
    for (Token id = 0; id < 100; ++id) CHECK(tokens[static_cast<std::size_t>(id)] == id);
}

TEST_CASE("a count of 0 gives no children", "[draft]") {
    const Vector row{.5, .5};
    CHECK(drawn(Independent{}, row, 0, ScriptedRng{}).empty());
    CHECK(drawn(WithoutReplacement{}, row, 0, ScriptedRng{}).empty());
    CHECK(drawn(TopChildren{}, row, 0, ScriptedRng{}).empty());
    CHECK(drawn(GreedyChildren{}, row, 0, ScriptedRng{}.set(Purpose::draft, 0, .5)).empty());
}

TEST_CASE("no children from a row that cannot be drawn from", "[draft]") {
    const RoundRng rng(1, 2, 3);
    for (const Vector& row : {Vector{0, 0, 0}, Vector{.5, std::numeric_limits<double>::quiet_NaN(), .5}, Vector{}}) {
        CHECK(drawn(Independent{}, row, 2, rng).empty());
        CHECK(drawn(WithoutReplacement{}, row, 2, rng).empty());
        CHECK(drawn(GreedyChildren{}, row, 1, rng).empty());
    }
    CHECK(drawn(TopChildren{}, {0, 0, 0}, 2, rng).empty());
}

TEST_CASE("each drawn child takes one draft draw at its own node", "[draft]") {
    const auto rng_of = [](const auto& kind, std::size_t count) {
        const CountingRng counting(RoundRng(1, 2, 3));
        drawn(kind, {.4, .3, .2, .1}, count, counting);
        return counting.count(Purpose::draft);
    };
    for (std::size_t count = 1; count <= 4; ++count) {
        CHECK(rng_of(Independent{}, count) == static_cast<long>(count));
        CHECK(rng_of(WithoutReplacement{}, count) == static_cast<long>(count));
        CHECK(rng_of(TopChildren{}, count) == 0);
        CHECK(rng_of(GreedyChildren{}, count) == 1);
    }
    ScriptedRng rng;
    rng.set(Purpose::draft, 0, .95).set(Purpose::draft, 1, .1).set(Purpose::draft, 2, .95);
    const auto tokens = [&](const auto& kind) {
        Ids ids;
        for (const Child& child : drawn(kind, {.4, .3, .2, .1}, 3, rng)) ids.push_back(child.token);
        return ids;
    };
    CHECK(tokens(Independent{}) == Ids{3, 0, 3});
    CHECK(tokens(WithoutReplacement{}) == Ids{3, 0, 2});
}
