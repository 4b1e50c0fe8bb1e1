// The models that distributions are enumerated on.
#include <specsample/testing/models.hpp>

#include <set>

#include <specsample/concepts.hpp>
#include <specsample/kernels/inspect.hpp>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::kernels;
using namespace specsample::testing;

namespace {

constexpr RowKind every_kind[] = {RowKind::smooth, RowKind::with_zeros, RowKind::peaked, RowKind::point_masses,
                                  RowKind::spanning};

/// Every prefix of up to `length` tokens out of `vocab`.
template <class F>
void for_prefixes(Index vocab, std::size_t length, F&& f) {
    std::vector<std::vector<Token>> level{{}};
    for (std::size_t n = 0; n <= length; ++n) {
        std::vector<std::vector<Token>> next;
        for (const auto& prefix : level) {
            f(prefix);
            for (Token token = 0; token < vocab; ++token) {
                next.push_back(prefix);
                next.back().push_back(token);
            }
        }
        level = std::move(next);
    }
}

}  // namespace

TEST_CASE("every row of a context model is a distribution", "[testing]") {
    for (const RowKind kind : every_kind)
        for (Index vocab = 1; vocab <= 4; ++vocab) {
            const ContextModel model(vocab, 9, kind);
            for_prefixes(vocab, 3, [&](const std::vector<Token>& prefix) {
                const Eigen::VectorXd row = model(prefix);
                REQUIRE(row.size() == vocab);
                REQUIRE_FALSE(inspect(row, Side::target, 0));
                REQUIRE(std::abs(row.sum() - 1) < 1e-15);
            });
        }
}

TEST_CASE("the rows of a context model differ from context to context", "[testing]") {
    std::set<double> firsts;
    std::size_t contexts = 0;
    for_prefixes(3, 4, [&](const std::vector<Token>& prefix) {
        firsts.insert(ContextModel(3, 9)(prefix)[0]);
        ++contexts;
    });
    CHECK(contexts == 121);
    CHECK(firsts.size() == contexts);
}

TEST_CASE("a context model is a function of its seed and its prefix", "[testing]") {
    const std::vector<Token> prefix{0, 2};
    CHECK(ContextModel(3, 1)(prefix) == ContextModel(3, 1)(prefix));
    CHECK(ContextModel(3, 1)(prefix) != ContextModel(3, 2)(prefix));
}

TEST_CASE("rows with zeros have zeros, peaked rows a peak, point masses one entry", "[testing]") {
    int zeros = 0, positive = 0, peaks = 0, rows = 0;
    std::set<Index> certain;
    for_prefixes(3, 3, [&](const std::vector<Token>& prefix) {
        ++rows;
        const Eigen::VectorXd sparse = ContextModel(3, 1, RowKind::with_zeros)(prefix);
        zeros += static_cast<int>((sparse.array() == 0).count());
        positive += static_cast<int>((sparse.array() > 0).count());
        peaks += ContextModel(3, 1, RowKind::peaked)(prefix).maxCoeff() > .9;
        const Eigen::VectorXd mass = ContextModel(3, 1, RowKind::point_masses)(prefix);
        REQUIRE(mass.maxCoeff() == 1);
        certain.insert(argmax(mass));
        REQUIRE((ContextModel(3, 1)(prefix).array() > 0).all());
    });
    CHECK(zeros > rows / 2);
    CHECK(positive > rows);
    CHECK(peaks > rows / 4);
    CHECK(certain == std::set<Index>{0, 1, 2});
}

TEST_CASE("a context model's batch is its rows, the last one that of the whole prefix", "[testing]") {
    const ContextModel model(3, 9);
    const std::vector<Token> prefix{2, 0, 1, 1};
    const RowMajorMatrix<double> rows = model(prefix, 3);
    REQUIRE(rows.rows() == 3);
    for (Index i = 0; i < 3; ++i)
        CHECK(rows.row(i).transpose() == model(std::span(prefix).first(static_cast<std::size_t>(2 + i))));
}

TEST_CASE("a nudged model is moved by at most epsilon", "[testing]") {
    const FixedModel model{Eigen::Vector3d(1, 0, 0)};
    const Eigen::VectorXd row = Nudged<FixedModel>{model, .03}({});
    CHECK(row[0] == Approx(.98).epsilon(1e-15));
    CHECK(row[1] == Approx(.01).epsilon(1e-15));
    CHECK(row.sum() == Approx(1).epsilon(1e-15));
}

static_assert(RowModel<FixedModel> && !BatchModel<FixedModel>);
static_assert(RowModel<ContextModel> && BatchModel<ContextModel>);
static_assert(RowModel<Nudged<ContextModel>> && !BatchModel<Nudged<ContextModel>>);
