// FixedLength and HeuristicLength.
#include <specsample/length/length.hpp>
#include <specsample/theory.hpp>

#include <stdexcept>
#include <vector>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::theory;

namespace {

static_assert(Length<FixedLength> && Length<HeuristicLength>);

struct Deaf {
    Index next(Index) const { return 0; }
};
struct Forgetful {
    Index next(Index) { return 0; }  // may change what it says
    void record(const RoundCounts&) {}
};
static_assert(!Length<Deaf> && !Length<Forgetful>);

RoundCounts accepted_of(Index accepted, Index proposed) {
    const bool all = accepted == proposed;
    return {.proposed = proposed,
            .evaluated = all ? proposed : accepted + 1,
            .accepted = accepted,
            .tokens = accepted + 1,
            .last = all ? LastToken::bonus : LastToken::recovered};
}

}  // namespace

TEST_CASE("a fixed length is as many as there may be, whatever happened", "[length]") {
    FixedLength length;
    CHECK(length.next(0) == 0);
    CHECK(length.next(7) == 7);
    length.record(accepted_of(0, 7));
    CHECK(length.next(7) == 7);
    CHECK_THROWS_WITH(length.next(-1), "specsample::FixedLength::next: most is -1, but must be 0 or more");
}

TEST_CASE("the heuristic adds two after a full acceptance and takes one off after a rejection", "[length]") {
    HeuristicLength length;
    const struct {
        Index accepted, next;
    } steps[] = {{5, 7}, {7, 9}, {8, 8}, {0, 7}, {6, 6}, {6, 8}, {1, 7}};
    CHECK(length.next(100) == 5);
    for (const auto& [accepted, next] : steps) {
        length.record(accepted_of(accepted, length.next(100)));
        CHECK(length.next(100) == next);
        CHECK(length.next(100) == next);
    }
    for (int i = 0; i < 20; ++i) length.record(accepted_of(0, length.next(100)));
    CHECK(length.next(100) == 1);  // and no lower
    length.record(accepted_of(1, 1));
    CHECK(length.next(100) == 3);
    CHECK(length.next(2) == 2);
    CHECK(length.next(0) == 0);
    CHECK(HeuristicLength(2).next(100) == 2);
}

TEST_CASE("the heuristic learns nothing from rounds that say nothing", "[length]") {
    HeuristicLength length(4);
    const std::vector<RoundCounts> silent{
        {.tokens = 1, .last = LastToken::bonus},                                                // drafted nothing
        {.proposed = 4, .evaluated = 2, .accepted = 2, .tokens = 2},                            // cut by a stop
        {.proposed = 4, .evaluated = 4, .accepted = 4, .tokens = 4},                            // the same
        {.proposed = 3, .evaluated = 3, .accepted = 3, .tokens = 4, .last = LastToken::bonus},  // fewer than it may
        {.proposed = 4, .fault = Cause::not_finite},                                            // bad data
    };
    for (const RoundCounts& round : silent) {
        length.record(round);
        CHECK(length.next(100) == 4);
    }
    // a tree of six nodes, four deep: a path to a leaf is a full acceptance
    length.record({.proposed = 6, .evaluated = 4, .accepted = 4, .tokens = 5, .last = LastToken::bonus, .depth = 4});
    CHECK(length.next(100) == 6);
}

TEST_CASE("where rounds draft less than the heuristic would, it does not run away", "[length]") {
    HeuristicLength length(3);
    for (int i = 0; i < 100; ++i) length.record(accepted_of(length.next(4), length.next(4)));
    CHECK(length.next(100) == 5);
    length.record(accepted_of(0, 4));
    length.record(accepted_of(0, 4));
    CHECK(length.next(4) == 3);
}

TEST_CASE("the heuristic refuses impossible lengths, by name", "[length]") {
    CHECK_THROWS_WITH(HeuristicLength(0), "specsample::HeuristicLength: first is 0, but must be 1 or more");
    CHECK_THROWS_WITH(HeuristicLength().next(-2),
                      "specsample::HeuristicLength::next: most is -2, but must be 0 or more");
}
