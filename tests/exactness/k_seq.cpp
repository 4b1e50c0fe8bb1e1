// K-SEQ: its constants, its exact distribution on trees of independent children, and the drafts that it refuses.
#include <specsample/theory.hpp>
#include <specsample/verify.hpp>

#include "exactness/trees.hpp"
#include "support/catch.hpp"

using namespace cases;
using namespace specsample::theory;
using namespace specsample::children;

namespace {

constexpr KSeq rule;

detail::KSeqConstants constants(const FixedModel& draft, const FixedModel& target, Index count) {
    return detail::solve_k_seq(detail::as_row(draft.row), 1, detail::as_row(target.row), 1, count);
}

double acceptance_of(const FixedModel& draft, const FixedModel& target, Index count) {
    return exact_tokens(rule, TreeDrafter(draft, {count}, Independent{}), target, 1) - 1;
}

const FixedModel steep_target{row({.75, .25})}, steep_draft{row({.25, .75})};

}  // namespace

TEST_CASE("the lowered threshold and the acceptance of K-SEQ are the published ones") {
    CHECK(constants(ex3_draft, ex3_target, 2).rho == Approx(1.456776).epsilon(1e-6));
    CHECK(constants(ex3_draft, ex3_target, 3).rho == Approx(1.792593).epsilon(1e-6));
    CHECK(constants(steep_draft, steep_target, 2).rho == Approx(1.593070).epsilon(1e-6));
    CHECK(acceptance_of(ex3_draft, ex3_target, 2) == Approx(.791355).epsilon(1e-6));
    CHECK(acceptance_of(ex3_draft, ex3_target, 3) == Approx(.858519).epsilon(1e-6));
}

TEST_CASE("the threshold leaves no negative residual, and is not lowered without need") {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        const FixedModel target{ContextModel(4, 2 * seed, RowKind::with_zeros)({})},
            draft{ContextModel(4, 2 * seed + 1)({})};
        for (Index count = 1; count <= 4; ++count) {
            const auto [rho, factor] = constants(draft, target, count);
            CHECK(rho >= 1);
            CHECK(rho <= static_cast<double>(count));
            const Eigen::ArrayXd taken = draft.row.array().min(target.row.array() / rho) * factor;
            CHECK((target.row.array() - taken).minCoeff() >= -1e-15);
            CHECK(acceptance_of(draft, target, count) >= acceptance(draft.row, target.row) - 1e-12);
        }
    }
    CHECK(constants(ex3_target, ex3_target, 3).rho == Approx(1).epsilon(1e-7));
    CHECK(constants({row({0, 1})}, {row({1, 0})}, 2).factor == 0);
}

TEST_CASE("K-SEQ is never behind SpecInfer, and not above the transport bound") {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        const FixedModel target{ContextModel(4, 3 * seed)({})}, draft{ContextModel(4, 3 * seed + 1)({})};
        for (Index count = 2; count <= 3; ++count) {
            const double accepted = acceptance_of(draft, target, count);
            const double other = exact_tokens(SpecInfer{}, TreeDrafter(draft, {count}, Independent{}), target, 1) - 1;
            CHECK(accepted >= other - 1e-9);
            CHECK(accepted <= transport_bound(draft.row, target.row, count) + 1e-9);
        }
    }
}

TEST_CASE("a round of K-SEQ, completed by the target, has the target's joint distribution") {
    double worst = 0;
    long seen = 0;
    for (Index vocab = 1; vocab <= 3; ++vocab)
        for (const Pair& pair : pairs(vocab))
            for (const Branching& branching :
                 {Branching{1}, {1, 1, 1}, {2}, {3}, {2, 1}, {1, 2}, {2, 2}, {3, 1}, {2, 1, 1}}) {
                INFO(pair.name << " on " << to_string(branching) << ", V = " << vocab);
                const double distance =
                    see(rule, TreeDrafter(pair.draft, branching, Independent{}), pair.target, std::ssize(branching))
                        .distance;
                CHECK(distance < 1e-12);
                worst = std::max(worst, distance);
                ++seen;
            }
    WARN("largest total variation " << worst << " over " << seen << " cases");
}

TEST_CASE("with one child per node K-SEQ makes the decisions of token verification, from the same random numbers") {
    const ContextModel draft(4, 1), target(4, 2);
    const auto text = [&](const auto& judge) {
        return Sampler(draft, target, {.lookahead = 3, .seed = 3}, judge).generate({0}, {.max_new_tokens = 100}).tokens;
    };
    CHECK(text(rule) == text(TokenVerification{}));
}

// Fixed seeds, four statistics of false-alarm probability 1e-9 each.
TEST_CASE("many rounds of K-SEQ have the target's joint distribution") {
    const Remembered draft = ContextModel(3, 31), target = ContextModel(3, 32);
    for (const Branching& branching : {Branching{2}, {3}, {2, 2}, {2, 1, 1}}) {
        INFO(to_string(branching));
        CHECK(rounds(rule, TreeDrafter(draft, branching, Independent{}), target, std::ssize(branching), 4, 20000)
                  .holds());
    }
}

TEST_CASE("children that are not independent draws of one row are refused") {
    const auto step = [](const auto& children) {
        Sampler sampler(TreeDrafter(ex3_draft, {2}, children), ex3_target, {.lookahead = 1}, rule);
        (void)sampler.step(std::vector<Token>{});
    };
    const std::string must = " is of another kind or row, but must be Sampled{row}, the same row as its siblings";
    CHECK_THROWS_WITH(step(WithoutReplacement{}), "specsample::KSeq: the distribution of node 1" + must);
    CHECK_THROWS_WITH(step(TopChildren{}), "specsample::KSeq: the distribution of node 0" + must);
    CHECK_THROWS_WITH(step(GreedyChildren{}), "specsample::KSeq: the distribution of node 0" + must);
    const Eigen::VectorXd q = row({.2, .3, .5}), other = q;
    Workspace workspace;
    const std::vector<Token> tokens{2, 2};
    const std::vector<int> parents{-1, -1};
    CHECK_THROWS_WITH(verify(Tree{tokens, parents}, std::array{Sampled(q), Sampled(other)}, std::array{q, q, q}, rule,
                             RoundRng(1, 0, 0), {}, workspace),
                      "specsample::KSeq: the distribution of node 1" + must);
}

TEST_CASE("the threshold of K-SEQ takes seven passes on average", "[exactness]") {
    constexpr Index vocab = 600;
    Index reads = 0, runs = 0, most = 0, all = 0;
    for (std::uint64_t seed = 0; seed < 50; ++seed)
        for (const Index count : {2, 3, 8}) {
            const Rng random({.seed = seed});
            Eigen::ArrayXd p(vocab), q(vocab);
            for (Index id = 0; id < vocab; ++id) {
                const auto lane = static_cast<std::uint32_t>(2 * id);
                p[id] = std::exp(9 * random.uniform(lane));
                q[id] = p[id] * std::exp(static_cast<double>(seed % 5) * random.uniform(lane + 1));
            }
            p /= p.sum(), q /= q.sum();
            const auto counted = Eigen::ArrayXd::NullaryExpr(vocab, [&](Index id) { return ++reads, p[id]; });
            reads = 0;
            static_cast<void>(detail::solve_k_seq(q, 1, counted, 1, count));
            most = std::max(most, reads / vocab), all += reads / vocab, ++runs;
        }
    CHECK(all <= 7 * runs);
    CHECK(all >= 2 * runs);
    CHECK(most <= 16);
}
