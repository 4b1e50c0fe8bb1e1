// The scripted RNG and the counting RNG.
#include <specsample/testing/scripted.hpp>

#include <vector>

#include <specsample/random/rng.hpp>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::kernels;
using namespace specsample::testing;

TEST_CASE("a scripted RNG gives the numbers of its script", "[testing]") {
    const ScriptedRng rng = ScriptedRng().set(Purpose::accept, 0, .25).set(Purpose::accept, 1, .75);
    CHECK(rng.at(Purpose::accept, 0).uniform() == .25);
    CHECK(rng.at(Purpose::accept, 1).uniform() == .75);
    CHECK(accept(rng.at(Purpose::accept, 0), .5, 1));
    CHECK_FALSE(accept(rng.at(Purpose::accept, 1), .5, 1));
}

TEST_CASE("a number of the script can be rewritten", "[testing]") {
    CHECK(ScriptedRng().set(Purpose::last, 0, .1).set(Purpose::last, 0, .2).at(Purpose::last, 0).uniform() == .2);
}

TEST_CASE("a number that the script does not have is an error that names its address", "[testing]") {
    const ScriptedRng rng = ScriptedRng().set(Purpose::accept, 0, .25);
    CHECK_THROWS_AS(rng.at(Purpose::accept, 1), std::out_of_range);
    CHECK_THROWS_WITH(rng.at(Purpose::accept, 1), "no random draw of purpose 2 at node 1 in the script");
    CHECK_THROWS_WITH(rng.at(Purpose::last, 0), "no random draw of purpose 3 at node 0 in the script");
}

TEST_CASE("the counting RNG counts the numbers that are used, by purpose", "[testing]") {
    const CountingRng rng(RoundRng(1, 2, 3));
    const std::vector<double> row{.5, .5}, zeros{0, 0};
    const auto view = detail::as_row(row), zero_view = detail::as_row(zeros);
    accept(rng.at(Purpose::accept, 0), .5, 1);
    accept(rng.at(Purpose::accept, 1), .5, 1);
    draw(rng.at(Purpose::last, 0), RowWeights(view));
    draw(rng.at(Purpose::draft, 0), RowWeights(zero_view));  // addressed, but not used
    CHECK(rng.count(Purpose::accept) == 2);
    CHECK(rng.count(Purpose::last) == 1);
    CHECK(rng.count(Purpose::draft) == 0);
    CHECK(rng.count(Purpose::race) == 0);
}

TEST_CASE("the counting RNG gives the numbers of the RNG that it counts", "[testing]") {
    const RoundRng plain(1, 2, 3);
    const CountingRng rng(plain);
    CHECK(rng.at(Purpose::accept, 4).uniform() == plain.at(Purpose::accept, 4).uniform());
}
