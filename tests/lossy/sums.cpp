// Rows of 16 bits, which sum to 1 within a percent: lossy rules judge them divided by their sums, as the lossless do.
#include "exactness/cases.hpp"
#include "support/catch.hpp"

#include <specsample/lossy.hpp>

using namespace cases;
using namespace specsample::lossy;
using namespace specsample::children;

namespace {

/// A model whose rows of halves sum to about `sum`.
struct RoughModel {
    ContextModel model;
    double sum;

    std::vector<Eigen::half> operator()(std::span<const Token> prefix) const {
        std::vector<Eigen::half> row;
        for (const double p : model(prefix)) row.push_back(Eigen::half(static_cast<float>(sum * p)));
        return row;
    }
};

const RoughModel draft{ContextModel(3, 81), 1.006}, target{ContextModel(3, 82), .994};

}  // namespace

TEST_CASE("lossy rules at their lossless settings keep the distribution of rows that do not sum to 1") {
    CHECK(distance_from_target(Lenience{.l = 1}, draft, target, 2) < 1e-12);
    CHECK(distance_from_target(UniformBound{.b = 1}, draft, target, 2) < 1e-12);
    CHECK(distance_from_target(Cactus{}, draft, target, 2) < 1e-12);
    CHECK(distance_from_target(TreeThresholds{}, TreeDrafter(draft, {2, 1}, TopChildren{}), target, 2) < 1e-12);
    CHECK(distance_from_target(Transformed(Fuzzy(0.)), draft, target, 2) < 1e-12);
    CHECK(distance_from_target(Transformed(Mentored(0.)), draft, target, 2) < 1e-12);
}

TEST_CASE("a transform is given rows that sum to 1, and the text follows what it makes of them") {
    constexpr double all = std::numeric_limits<double>::infinity();
    // One token, of pi(q, p).
    const auto whole = [](const RoughModel& model) {
        const auto row = model({});
        const Eigen::ArrayXd p = detail::as_row(row).cast<double>();
        return Eigen::ArrayXd(p / p.sum());
    };
    const Eigen::ArrayXd q = whole(draft), p = whole(target);
    const auto check = [&](const auto& rule) {
        const Eigen::ArrayXd expected = output_distribution(rule, q, p);
        const auto found = round_distribution(rule, draft, target, 1, {}, {.max_new_tokens = 1});
        for (Token id = 0; id < 3; ++id) CHECK(std::abs(found.at({id}) - expected[id]) < 1e-12);
    };
    check(Transformed(Fuzzy(all)));
    check(Transformed(TokenV1{.1}));
    check(Transformed(TokenV3{.5}));
    check(Transformed(Mentored(.01)));
    check(Cactus{.1});
}

TEST_CASE("rows that do not sum to 1 are no fault of a transform, in either check") {
    for (const Check check : {Check::entries_read, Check::every_row}) {
        const std::vector<Eigen::half> q = draft({}), p = target({});
        const std::array rows{p, p};
        const Transformed rule(Fuzzy(0.));
        Workspace workspace;
        for (std::uint64_t seed = 0; seed < 100; ++seed) {
            const RoundRng rng(seed, 0, 0);
            const auto [token, distribution] = draft_token(rule, rng, 0, q);
            const Round round =
                verify(std::array{token}, std::array{distribution}, rows, rule, rng, {.check = check}, workspace);
            CHECK(message(round) == "");
        }
    }
}
