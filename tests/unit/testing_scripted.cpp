// Scripted coins and counting coins.
#include <specsample/testing/scripted.hpp>

#include <vector>

#include <specsample/random/coins.hpp>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::testing;

TEST_CASE("a scripted coin says what was written", "[testing]") {
    const ScriptedCoins coins = ScriptedCoins().set(Purpose::accept, 0, .25).set(Purpose::accept, 1, .75);
    CHECK(coins.at(Purpose::accept, 0).uniform() == .25);
    CHECK(coins.at(Purpose::accept, 1).uniform() == .75);
    CHECK(accept(coins.at(Purpose::accept, 0), .5, 1));
    CHECK_FALSE(accept(coins.at(Purpose::accept, 1), .5, 1));
}

TEST_CASE("a scripted coin can be rewritten", "[testing]") {
    CHECK(ScriptedCoins().set(Purpose::last, 0, .1).set(Purpose::last, 0, .2).at(Purpose::last, 0).uniform() == .2);
}

TEST_CASE("a coin that the script does not have is an error that names it", "[testing]") {
    const ScriptedCoins coins = ScriptedCoins().set(Purpose::accept, 0, .25);
    CHECK_THROWS_AS(coins.at(Purpose::accept, 1), std::out_of_range);
    CHECK_THROWS_WITH(coins.at(Purpose::accept, 1), "no coin of purpose 2 at node 1 in the script");
    CHECK_THROWS_WITH(coins.at(Purpose::last, 0), "no coin of purpose 3 at node 0 in the script");
}

TEST_CASE("counting coins count the coins that are tossed, by purpose", "[testing]") {
    const CountingCoins coins(Coins(1, 2, 3));
    const std::vector<double> row{.5, .5}, zeros{0, 0};
    const auto view = as_row(row), zero_view = as_row(zeros);
    accept(coins.at(Purpose::accept, 0), .5, 1);
    accept(coins.at(Purpose::accept, 1), .5, 1);
    draw(coins.at(Purpose::last, 0), RowWeights(view));
    draw(coins.at(Purpose::draft, 0), RowWeights(zero_view));  // named, but not tossed
    CHECK(coins.count(Purpose::accept) == 2);
    CHECK(coins.count(Purpose::last) == 1);
    CHECK(coins.count(Purpose::draft) == 0);
    CHECK(coins.count(Purpose::race) == 0);
}

TEST_CASE("counting coins are the coins they count", "[testing]") {
    const Coins plain(1, 2, 3);
    const CountingCoins coins(plain);
    CHECK(coins.at(Purpose::accept, 4).uniform() == plain.at(Purpose::accept, 4).uniform());
}
