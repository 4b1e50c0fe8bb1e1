// Rows of every kind, and every mix of them, give the distribution of the probabilities that they encode.
#include <specsample/theory.hpp>
#include <specsample/verify.hpp>

#include "exactness/cases.hpp"
#include "exactness/kinds.hpp"
#include "support/catch.hpp"

using namespace cases;
using namespace specsample::walks;
using namespace specsample::theory;
using namespace specsample::children;

namespace {

/// Call f(name, draft, target) for every pair of base models.
template <class Draft, class Target, class F>
void for_base_pairs(F&& f) {
    for (const Index vocab : {1, 3, 4}) {
        const ContextModel smooth(vocab, 31), other(vocab, 32), zeros(vocab, 33, RowKind::with_zeros),
            other_zeros(vocab, 34, RowKind::with_zeros), peaked(vocab, 35, RowKind::peaked),
            masses(vocab, 36, RowKind::point_masses);
        f(Draft{smooth}, Target{other}, other);
        f(Draft{smooth}, Target{smooth}, smooth);
        f(Draft{zeros}, Target{other_zeros}, other_zeros);
        f(Draft{peaked}, Target{zeros}, zeros);
        f(Draft{zeros}, Target{peaked}, peaked);
        f(Draft{masses}, Target{smooth}, smooth);
        f(Draft{smooth}, Target{masses}, masses);
    }
}

template <class Draft, class Target, class Rule>
double distance(const Rule& rule, Index lookahead) {
    double largest = 0;
    for_base_pairs<Draft, Target>([&](auto draft, auto target, const ContextModel& meant) {
        largest = std::max(largest, total_variation(exact_distribution(rule, draft, target, lookahead),
                                                    joint_distribution(meant, lookahead + 1)));
    });
    return largest;
}

template <class Draft>
void check_mixes() {
    const TokenVerification rule;
    for (const Index lookahead : {0, 2}) {
        CAPTURE(lookahead);
        CHECK(distance<Draft, AsDense>(rule, lookahead) < 1e-12);
        CHECK(distance<Draft, AsLogits>(rule, lookahead) < 1e-12);
        CHECK(distance<Draft, AsStridedLogits>(rule, lookahead) < 1e-12);
        CHECK(distance<Draft, AsSparse>(rule, lookahead) < 1e-12);
        CHECK(distance<Draft, AsCandidates>(rule, lookahead) < 1e-12);
    }
}

/// A rule on rows of one kind, and on a dense draft with a sparse target and the other way round.
template <class Rule>
void check_rule(const Rule& rule) {
    CHECK(distance<AsLogits, AsLogits>(rule, 2) < 1e-12);
    CHECK(distance<AsSparse, AsSparse>(rule, 2) < 1e-12);
    CHECK(distance<AsDense, AsCandidates>(rule, 2) < 1e-12);
    CHECK(distance<AsCandidates, AsLogits>(rule, 2) < 1e-12);
}

}  // namespace

TEST_CASE("token verification of a dense draft and targets of every kind") { check_mixes<AsDense>(); }
TEST_CASE("token verification of a draft from logits and targets of every kind") { check_mixes<AsLogits>(); }
TEST_CASE("token verification of a draft from strided logits in one buffer and targets of every kind") {
    check_mixes<AsStridedLogits>();
}
TEST_CASE("token verification of a sparse draft and targets of every kind") { check_mixes<AsSparse>(); }
TEST_CASE("token verification of a draft of candidates in one buffer and targets of every kind") {
    check_mixes<AsCandidates>();
}

TEST_CASE("block verification of rows of every kind") { check_rule(BlockVerification{}); }
TEST_CASE("sample match of rows of every kind") { check_rule(SampleMatch{}); }
TEST_CASE("Gumbel match of rows of every kind") { check_rule(GumbelMatch{}); }
TEST_CASE("K-SEQ of rows of every kind") { check_rule(KSeq{}); }

TEST_CASE("trees of rows of every kind") {
    const auto distance_of = [](auto draft, auto target, const ContextModel& meant, auto rule, auto children) {
        return total_variation(exact_distribution(rule, TreeDrafter(draft, {2, 1}, children), target, 2),
                               joint_distribution(meant, 3));
    };
    for_base_pairs<AsLogits, AsCandidates>([&](auto draft, auto target, const ContextModel& meant) {
        CHECK(distance_of(draft, target, meant, RecursiveRejection{}, WithoutReplacement{}) < 1e-12);
        CHECK(distance_of(draft, target, meant, TraversalVerification{}, GreedyChildren{}) < 1e-12);
    });
    for_base_pairs<AsCandidates, AsLogits>([&](auto draft, auto target, const ContextModel& meant) {
        CHECK(distance_of(draft, target, meant, RecursiveRejection{}, GreedyChildren{}) < 1e-12);
        CHECK(distance_of(draft, target, meant, TraversalVerification{}, WithoutReplacement{}) < 1e-12);
    });
    for_base_pairs<AsSparse, AsSparse>([&](auto draft, auto target, const ContextModel& meant) {
        CHECK(distance_of(draft, target, meant, SpecInfer{}, Independent{}) < 1e-12);
    });
}
