// Distributions of drafted tokens: views of the rows they were drawn from, or a point mass.
#include <specsample/tree/distribution.hpp>

#include <array>
#include <vector>

#include <specsample/rows/sparse.hpp>
#include <specsample/tree/links.hpp>

#include "support/catch.hpp"

using namespace specsample;

TEST_CASE("a sampled distribution views its row and copies nothing", "[tree]") {
    const std::vector<float> row{.25f, .75f};
    const Sampled distribution(row);
    CHECK(distribution.row().data() == row.data());
    CHECK(distribution.row().size() == 2);
    const Sampled copy = distribution;
    CHECK(copy.row().data() == row.data());
}

TEST_CASE("a sampled distribution's mass is the row's very entry, as a double", "[tree]") {
    const std::vector<float> row{.1f, .9f};
    const std::vector<Eigen::half> half{Eigen::half(.1f), Eigen::half(.9f)};
    CHECK(Sampled(row).weight(0) == static_cast<double>(.1f));
    CHECK(Sampled(row).weight(1) == static_cast<double>(.9f));
    CHECK(Sampled(half).weight(0) == static_cast<double>(Eigen::half(.1f)));
}

TEST_CASE("a sampled distribution is deduced from every kind of row", "[tree]") {
    Eigen::MatrixXf matrix(2, 3);
    matrix << 1, 2, 3, 4, 5, 6;
    const std::vector<double> vector{1, 2};
    const std::array<float, 2> array{3, 4};
    const Eigen::Map<const Eigen::VectorXd> map(vector.data(), 2);
    const Eigen::ArrayXf eigen_array = Eigen::ArrayXf::Constant(2, 7);
    CHECK(Sampled(vector).weight(1) == 2);
    CHECK(Sampled(array).weight(1) == 4);
    CHECK(Sampled(map).weight(1) == 2);
    CHECK(Sampled(std::span(vector)).row().data() == vector.data());
    CHECK(Sampled(map).row().data() == vector.data());
    CHECK(Sampled(eigen_array).row().data() == eigen_array.data());
    CHECK(Sampled(matrix.row(1)).weight(1) == 5);
    CHECK(Sampled(matrix.row(1)).row().data() == matrix.data() + 1);
    CHECK(Sampled(matrix.row(1)).row().innerStride() == 2);
    CHECK(Sampled{vector}.weight(0) == 1);
}

TEST_CASE("rows in one kind of memory have one distribution, so that distributions fit into one array", "[tree]") {
    const std::vector<float> vector{.5f, .5f};
    const Eigen::VectorXf eigen = Eigen::Vector2f(.25f, .75f);
    const std::array distributions{Sampled(vector), Sampled(eigen)};
    CHECK(distributions[1].weight(1) == .75);
}

TEST_CASE("ids that could not be drawn have no weight, and the rest is what the others sum to", "[tree]") {
    const std::vector<double> row{.5, .3, .2};
    const std::vector<Token> ids{0, 2};
    const Sampled distribution(row, ids);
    CHECK(distribution.weight(0) == 0);
    CHECK(distribution.weight(1) == .3);
    CHECK(distribution.weight(2) == 0);
    CHECK(distribution.rest() == Approx(.3).epsilon(1e-15));
    CHECK(Sampled(row, std::span(ids).first(0)).rest() == 1);
}

TEST_CASE("a rest that the drafter gives is used as given", "[tree]") {
    const std::vector<double> row{.5, .3, .2};
    const std::vector<Token> ids{0};
    CHECK(Sampled(row, ids, .4).rest() == .4);
    CHECK(Sampled(row, ids, 0.).rest() == 0);
    CHECK(Sampled(row, ids, 1e-300).rest() == 1e-300);
}

TEST_CASE("a rest that is no sum of probabilities is refused", "[tree]") {
    const std::vector<double> row{.5, .3, .2};
    const std::vector<Token> ids{0};
    CHECK_THROWS_WITH(Sampled(row, ids, -.1),
                      "specsample::Sampled: rest is -0.1, but must be a finite number of at least 0");
    for (const double bad : {-1e-300, double{INFINITY}, double{NAN}})
        CHECK_THROWS_AS(Sampled(row, ids, bad), std::invalid_argument);
}

TEST_CASE("a mixed distribution equals the one that it holds", "[tree]") {
    const std::vector<double> row{.5, .3, .2};
    const std::vector<Token> ids{0};
    using View = detail::row_view_t<std::vector<double>>;
    const Mixed<View> drawn = Sampled(row, ids, .5), point = PointMass{};
    CHECK_FALSE(drawn.is_point());
    CHECK(drawn.weight(1) == .3);
    CHECK(drawn.rest() == .5);
    CHECK(drawn.row().data() == row.data());
    CHECK(drawn.without().data() == ids.data());
    CHECK(point.is_point());
    CHECK(point.weight(1) == 1);
    CHECK(point.rest() == 1);
}

TEST_CASE("a point mass has all its mass on the drafted token", "[tree]") {
    for (const Index token : {0, 5, 128255}) CHECK(PointMass{}.weight(token) == 1);
}

TEST_CASE("a chain is the tree with one child per node", "[tree]") {
    detail::Links chain;
    chain.become_chain(3);
    CHECK(chain.size() == 3);
    for (Index node = root_node; node < 3; ++node) {
        CHECK(chain.first_child(node) == (node < 2 ? node + 1 : no_node));
        CHECK(chain.next_sibling(node) == no_node);
    }
    for (Index node = 0; node < 3; ++node) CHECK(chain.parent(node) == node - 1);
    chain.become_chain(0);
    CHECK(chain.first_child(root_node) == no_node);
}

TEST_CASE("the rest of a sparse row without some ids is summed over what it holds") {
    const std::vector<int> ids{1, 4, 5};
    const std::vector<float> probs{.5f, .25f, .25f};
    const Sparse row(ids, probs, 1000);
    const std::vector<Token> without{4}, nothing_it_holds{0, 3, 999};
    CHECK(Sampled(row, without).rest() == .75);
    CHECK(Sampled(row, nothing_it_holds).rest() == 1);
}

// Types that are draft distributions, and types that are not.
using View = detail::Column<float>;
static_assert(DraftDistribution<Sampled<View>> && detail::RowDistribution<Sampled<View>>);
static_assert(DraftDistribution<Sampled<detail::StridedColumn<Eigen::half>>> &&
              DraftDistribution<Sampled<detail::Column<double>>>);
static_assert(DraftDistribution<PointMass> && !detail::RowDistribution<PointMass>);
static_assert(detail::RowDistribution<Mixed<View>> && DraftDistribution<SharedNoise> &&
              !detail::RatioDistribution<SharedNoise>);
static_assert(!DraftDistribution<View> && !DraftDistribution<std::vector<float>> &&
              !DraftDistribution<Eigen::VectorXf> && !DraftDistribution<double> && !DraftDistribution<Token>);

// A row is not a draft distribution: the caller must say how the token was drawn.
static_assert(!std::is_convertible_v<std::vector<float>, Sampled<View>>);
static_assert(std::is_constructible_v<Sampled<View>, const std::vector<float>&>);
static_assert(!std::is_constructible_v<Sampled<View>, const std::vector<double>&>);
