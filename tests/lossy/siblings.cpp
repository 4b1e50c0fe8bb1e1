// Thresholds where a node has several children.
#include "exactness/cases.hpp"
#include "support/catch.hpp"

#include <specsample/lossy.hpp>

using namespace cases;
using namespace specsample::lossy;
using namespace specsample::children;

TEST_CASE("tree thresholds of 1 are lossless on any tree") {
    for (Index vocab = 2; vocab <= 3; ++vocab) {
        const ContextModel draft(vocab, 71), target(vocab, 72, RowKind::with_zeros);
        CHECK(distance_from_target(TreeThresholds{}, TreeDrafter(draft, {2, 1}, TopChildren{}), target, 2) < 1e-12);
        CHECK(distance_from_target(TreeThresholds{}, TreeDrafter(draft, {2, 2}, Independent{}), target, 2) < 1e-12);
        CHECK(distance_from_target(Lenience{.l = 1}, TreeDrafter(draft, {2, 1}), target, 2) < 1e-12);
        CHECK(distance_from_target(Cactus{}, draft, target, 3) < 1e-12);
    }
}

TEST_CASE("on a tree the siblings of a rejected child are judged as leniently") {
    // Children 2 and then 1, drawn from q and from q without 2: accept .4 l' with l' = 1 / l, then what the residual
    // (all on token 0) gives.
    const Eigen::VectorXd p = ex3_target.row, q = ex3_draft.row;
    const std::vector<Token> without{2};
    Eigen::ArrayXd distribution = Eigen::ArrayXd::Zero(3);
    Workspace workspace;
    Enumerator().run([&](Enumerator& paths) {
        const std::vector<Token> tokens{2, 0};
        const std::vector<Index> parents{-1, -1};
        const std::array distributions{Sampled(q), Sampled(q, without)};
        const Round round = verify(Tree(tokens, parents), distributions, std::array{p, p, p}, Lenience{.l = .8},
                                   EnumeratedRng(paths), {}, workspace);
        distribution[round.tokens[0]] += paths.probability();
    });
    CHECK((distribution - row({.5, 0, .5}).array()).abs().maxCoeff() < 1e-14);
}

TEST_CASE("cactus judges a token by its rest, and one from a tiny rest as a point mass") {
    const Eigen::VectorXd p = ex3_target.row;
    const std::vector<Token> without{0};
    for (const double rest : {.5, 0x1p-24, std::nextafter(0x1p-24, 0.), 1e-9, 1e-35, 1e-300, 1e-310}) {
        INFO("rest " << rest);
        const Eigen::VectorXd q = row({1 - rest, .75 * rest, .25 * rest});
        Eigen::ArrayXd distribution = Eigen::ArrayXd::Zero(3);
        Workspace workspace;
        Enumerator().run([&](Enumerator& paths) {
            const EnumeratedRng rng(paths);
            const Drawn drawn = draw(rng.at(Purpose::draft, 0), WithoutWeights(detail::as_row(q), without));
            const std::vector<Token> tokens{static_cast<Token>(drawn.index)};
            const std::array distributions{Sampled(q, without, drawn.sum)};
            const Round round = verify(tokens, distributions, std::array{p, p}, Cactus{}, rng, {}, workspace);
            distribution[round.tokens[0]] += paths.probability();
        });
        CHECK((distribution - p.array()).abs().maxCoeff() < 1e-12);
    }
}
