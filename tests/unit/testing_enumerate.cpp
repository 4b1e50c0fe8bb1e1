// The enumerating RNG: every path once, with its exact probability; a random number used twice is reported.
#include <specsample/testing/enumerate.hpp>

#include <map>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::kernels;
using namespace specsample::testing;

namespace {

const std::vector<double> row{.5, .3, .2};

}  // namespace

TEST_CASE("every path of a program is taken once, and their probabilities sum to 1", "[testing]") {
    std::map<std::pair<std::size_t, std::size_t>, double> seen;
    double sum = 0;
    const long paths = Enumerator().run([&](Enumerator& enumerator) {
        const std::size_t a = enumerator.choose({.5, .3, .2});
        const std::size_t b = enumerator.choose({.1, .9});
        CHECK(seen.emplace(std::pair(a, b), enumerator.probability()).second);
        sum += enumerator.probability();
    });
    CHECK(paths == 6);
    CHECK(sum == Approx(1).epsilon(1e-15));
    CHECK(seen[{2, 1}] == Approx(.18).epsilon(1e-15));
}

TEST_CASE("paths are taken depth first", "[testing]") {
    std::vector<std::size_t> order;
    Enumerator().run([&](Enumerator& enumerator) {
        const std::size_t a = enumerator.choose({.5, .5});
        order.push_back(10 * a + enumerator.choose({.5, .5}));
    });
    CHECK(order == std::vector<std::size_t>{0, 1, 10, 11});
}

TEST_CASE("a program may decide more on one path than on another", "[testing]") {
    double sum = 0;
    const long paths = Enumerator().run([&](Enumerator& enumerator) {
        for (int i = 0; i < 3; ++i)
            if (enumerator.choose({.25, .75}) == 0) break;  // stops at the first 0
        sum += enumerator.probability();
    });
    CHECK(paths == 4);
    CHECK(sum == 1);
}

TEST_CASE("a branch of probability 0 is never taken", "[testing]") {
    std::vector<std::size_t> taken;
    Enumerator().run([&](Enumerator& enumerator) { taken.push_back(enumerator.choose({0, .5, 0, .5, 0})); });
    CHECK(taken == std::vector<std::size_t>{1, 3});
}

TEST_CASE("a program without decisions has one path of probability 1", "[testing]") {
    double probability = 0;
    CHECK(Enumerator().run([&](Enumerator& enumerator) { probability = enumerator.probability(); }) == 1);
    CHECK(probability == 1);
}

TEST_CASE("an enumerator can be run again", "[testing]") {
    Enumerator enumerator;
    const auto program = [](Enumerator& paths) { paths.choose({.5, .5}); };
    CHECK(enumerator.run(program) == 2);
    CHECK(enumerator.run(program) == 2);
}

TEST_CASE("an accept branches with probability min(1, s/q)", "[testing]") {
    const auto accepted = [](double s, double q) {
        double probability = 0;
        Enumerator().run([&](Enumerator& paths) {
            const EnumeratedRng rng(paths);
            if (accept(rng.at(Purpose::accept, 0), s, q)) probability += paths.probability();
        });
        return probability;
    };
    CHECK(accepted(.2, .5) == .4);
    CHECK(accepted(.5, .5) == 1);
    CHECK(accepted(.7, .5) == 1);
    CHECK(accepted(0, .5) == 0);
}

TEST_CASE("a draw branches with the probabilities of the weights", "[testing]") {
    std::map<Index, double> distribution;
    const auto view = detail::as_row(row);
    const std::array<Token, 1> ids{1};
    const WithoutWeights weights(view, ids);
    Enumerator().run([&](Enumerator& paths) {
        const Drawn drawn = draw(EnumeratedRng(paths).at(Purpose::last, 0), weights);
        CHECK(drawn.sum == Approx(.7));
        distribution[drawn.index] += paths.probability();
    });
    CHECK(distribution.size() == 2);
    CHECK(distribution[0] == Approx(5. / 7).epsilon(1e-15));
    CHECK(distribution[2] == Approx(2. / 7).epsilon(1e-15));
}

TEST_CASE("nothing is drawn from zero weights, and no random number is used for it", "[testing]") {
    const std::vector<double> zeros{0, 0};
    const auto zero_view = detail::as_row(zeros), view = detail::as_row(row);
    const long paths = Enumerator().run([&](Enumerator& enumerator) {
        const EnumeratedRng rng(enumerator);
        CHECK(draw(rng.at(Purpose::last, 0), RowWeights(zero_view)).index == -1);
        CHECK(draw(rng.at(Purpose::last, 0), RowWeights(view)).index >= 0);
    });
    CHECK(paths == 3);
}

TEST_CASE("a random number used twice in a round is reported by its address", "[testing]") {
    Enumerator paths;
    const auto twice = [](Enumerator& enumerator) {
        const EnumeratedRng rng(enumerator);
        accept(rng.at(Purpose::accept, 3), .5, 1);
        accept(rng.at(Purpose::accept, 3), .5, 1);
    };
    CHECK_THROWS_AS(paths.run(twice), std::logic_error);
    CHECK_THROWS_WITH(paths.run(twice), "the random draw of purpose 2 at node 3 was used twice in a round");
}

TEST_CASE("a random number of an acceptance that is used for a draw is reported", "[testing]") {
    const auto view = detail::as_row(row);
    CHECK_THROWS_AS(Enumerator().run([&](Enumerator& enumerator) {
        const EnumeratedRng rng(enumerator);
        const auto random = rng.at(Purpose::accept, 0);
        if (!accept(random, .5, 1)) draw(random, RowWeights(view));
    }),
                    std::logic_error);
}

TEST_CASE("random numbers of other purposes, nodes and rounds are other decisions", "[testing]") {
    CHECK_NOTHROW(Enumerator().run([](Enumerator& enumerator) {
        for (int round = 0; round < 2; ++round) {
            const EnumeratedRng rng(enumerator);
            for (const Index node : {0, 1})
                for (const Purpose purpose : {Purpose::accept, Purpose::draft}) accept(rng.at(purpose, node), 1, 1);
        }
    }));
}
