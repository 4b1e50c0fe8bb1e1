// Laws of drafted tokens: views of the rows they were drawn from, or a point mass.
#include <specsample/proposal/law.hpp>

#include <array>
#include <vector>

#include <specsample/proposal/chain.hpp>

#include "support/catch.hpp"

using namespace specsample;

TEST_CASE("a sampled law views its row and copies nothing", "[proposal]") {
    const std::vector<float> row{.25f, .75f};
    const Sampled law(row);
    CHECK(law.row().data() == row.data());
    CHECK(law.row().size() == 2);
    const Sampled copy = law;
    CHECK(copy.row().data() == row.data());
}

TEST_CASE("a sampled law's mass is the row's very entry, as a double", "[proposal]") {
    const std::vector<float> row{.1f, .9f};
    const std::vector<Eigen::half> half{Eigen::half(.1f), Eigen::half(.9f)};
    CHECK(Sampled(row).mass(0) == static_cast<double>(.1f));
    CHECK(Sampled(row).mass(1) == static_cast<double>(.9f));
    CHECK(Sampled(half).mass(0) == static_cast<double>(Eigen::half(.1f)));
}

TEST_CASE("a sampled law is deduced from every kind of row", "[proposal]") {
    Eigen::MatrixXf matrix(2, 3);
    matrix << 1, 2, 3, 4, 5, 6;
    const std::vector<double> vector{1, 2};
    const std::array<float, 2> array{3, 4};
    const Eigen::Map<const Eigen::VectorXd> map(vector.data(), 2);
    const Eigen::ArrayXf eigen_array = Eigen::ArrayXf::Constant(2, 7);
    CHECK(Sampled(vector).mass(1) == 2);
    CHECK(Sampled(array).mass(1) == 4);
    CHECK(Sampled(map).mass(1) == 2);
    CHECK(Sampled(std::span(vector)).row().data() == vector.data());
    CHECK(Sampled(map).row().data() == vector.data());
    CHECK(Sampled(eigen_array).row().data() == eigen_array.data());
    CHECK(Sampled(matrix.row(1)).mass(1) == 5);
    CHECK(Sampled(matrix.row(1)).row().data() == matrix.data() + 1);
    CHECK(Sampled(matrix.row(1)).row().innerStride() == 2);
    CHECK(Sampled{vector}.mass(0) == 1);
}

TEST_CASE("rows in one kind of memory have one law, so that laws fit into one array", "[proposal]") {
    const std::vector<float> vector{.5f, .5f};
    const Eigen::VectorXf eigen = Eigen::Vector2f(.25f, .75f);
    const std::array laws{Sampled(vector), Sampled(eigen)};
    CHECK(laws[1].mass(1) == .75);
}

TEST_CASE("the residual of a sampled law is max(0, p - q), whatever the token", "[proposal]") {
    const std::vector<double> p{.5, .3, .2}, q{.2, .3, .5};
    const auto target = as_row(p);
    for (const Index token : {0, 2}) {
        const auto residual = Sampled(q).residual(target, token);
        CHECK(residual[0] == .5 - .2);
        CHECK(residual[1] == 0);
        CHECK(residual[2] == 0);
        CHECK(residual.sum(0, 3) == Approx(.3).epsilon(1e-15));
    }
}

TEST_CASE("a residual outlives the law that gave it", "[proposal]") {
    const std::vector<double> p{.5, .3, .2}, q{.2, .3, .5};
    const auto residual = [&] { return Sampled(q).residual(as_row(p), 2); }();
    CHECK(residual[0] == .5 - .2);
}

TEST_CASE("a point mass gives all to the token itself", "[proposal]") {
    for (const Index token : {0, 5, 128255}) CHECK(PointMass{}.mass(token) == 1);
}

TEST_CASE("the residual of a point mass is the target without the token", "[proposal]") {
    const std::vector<double> p{.5, .3, .2};
    const auto residual = PointMass{}.residual(as_row(p), 1);
    CHECK(residual[0] == .5);
    CHECK(residual[1] == 0);
    CHECK(residual[2] == .2);
    CHECK(residual.sum(0, 3) == Approx(.7).epsilon(1e-15));
}

TEST_CASE("a chain is the tree whose subtrees all end where it ends", "[proposal]") {
    for (Index node = 0; node < 3; ++node) CHECK(Chain{3}.subtree_end(node) == 3);
}

// Laws and what is none.
using View = detail::Column<float>;
static_assert(Law<Sampled<View>> && RowLaw<Sampled<View>>);
static_assert(Law<Sampled<detail::StridedColumn<Eigen::half>>> && Law<Sampled<detail::Column<double>>>);
static_assert(Law<PointMass> && !RowLaw<PointMass>);
static_assert(!Law<View> && !Law<std::vector<float>> && !Law<Eigen::VectorXf> && !Law<double> && !Law<Token>);

// A row is not a law: it must be said how the token was drawn.
static_assert(!std::is_convertible_v<std::vector<float>, Sampled<View>>);
static_assert(std::is_constructible_v<Sampled<View>, const std::vector<float>&>);
static_assert(!std::is_constructible_v<Sampled<View>, const std::vector<double>&>);
