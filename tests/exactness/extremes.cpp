// Rows as low temperatures make them: every lossless rule and drafter, on entries from 1e-300 to 1, with the underflows
// of the real rows, and rests of every size, given or not.
#include <specsample/lossy.hpp>
#include <specsample/verify.hpp>

#include "exactness/trees.hpp"
#include "support/catch.hpp"

using namespace cases;
using namespace specsample::children;
using namespace specsample::lossy;

namespace {

/// A number below `count` that depends on the context and on a lane.
std::size_t pick(std::uint64_t seed, std::span<const Token> prefix, Index lane, std::size_t count) {
    std::uint64_t context = seed;
    for (const Token token : prefix) context = Rng({.seed = context, .position = token + 1}).bits();
    return static_cast<std::size_t>(Rng({.seed = context}).uniform(static_cast<std::uint32_t>(lane)) *
                                    static_cast<double>(count));
}

/// Logits at a temperature.
template <class Scalar>
struct Cold {
    using Column = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;

    Index vocab;
    std::uint64_t seed;
    double temperature;

    auto operator()(std::span<const Token> prefix) const {
        // At temperature .1, the float weight is 0 of 8.8, and subnormal of 8.6.
        static const std::vector<double> logits{0,  0,  -.02, -.1,   -.7,  -1.5, -1.8,
                                                -4, -8, -8.6, -8.75, -8.8, -20,  -70.9};
        Column row(vocab);
        for (Index i = 0; i < vocab; ++i)
            row[i] = static_cast<Scalar>(3 + logits[pick(seed, prefix, i, logits.size())]);
        return Logits(std::move(row), temperature);
    }
};

/// The probabilities of another model, in float: those below 1e-45 are 0.
struct InFloat {
    ContextModel model;
    Eigen::VectorXf operator()(std::span<const Token> prefix) const { return model(prefix).cast<float>(); }
};

/// The largest distance of several, and their number.
struct Worst {
    double distance = 0;
    long cases = 0;

    void add(double found, double bound) {
        CHECK(found < bound);
        distance = std::max(distance, found);
        ++cases;
    }
    ~Worst() { WARN("largest total variation " << distance << " over " << cases << " cases"); }
};

/// Every lossless rule for trees on every kind of children.
template <class Draft, class Target>
void check_trees(const Draft& draft, const Target& target, double bound, Worst& worst) {
    for (const Branching& branching : {Branching{2}, {3}, {2, 1}})
        for_children([&](const std::string& kind, const auto& children) {
            INFO(to_string(branching) << " " << kind);
            const TreeDrafter tree(draft, branching, children);
            const Index depth = std::ssize(branching);
            worst.add(distance_from_target(RecursiveRejection{}, tree, target, depth), bound);
            worst.add(distance_from_target(TraversalVerification{}, tree, target, depth), bound);
            worst.add(distance_from_target(SampleMatch{}, tree, target, depth), bound);
            if (kind == "independent") worst.add(distance_from_target(KSeq{}, tree, target, depth), bound);
        });
}

/// And those for chains.
template <class Draft, class Target>
void check_models(const Draft& draft, const Target& target, double bound, Worst& worst) {
    check_trees(draft, target, bound, worst);
    for (Index lookahead = 1; lookahead <= 2; ++lookahead) {
        worst.add(distance_from_target(TokenVerification{}, draft, target, lookahead), bound);
        worst.add(distance_from_target(BlockVerification{}, draft, target, lookahead), bound);
        worst.add(distance_from_target(GumbelMatch{}, draft, target, lookahead), bound);
        worst.add(distance_from_target(Cactus{}, draft, target, lookahead), bound);
    }
}

}  // namespace

TEST_CASE("rows with entries from 1e-300 to 1 are judged exactly by every rule, whatever was drawn from them") {
    Worst worst;
    for (std::uint64_t seed = 0; seed < 12; ++seed)
        for (Index vocab = 2; vocab <= 3; ++vocab) {
            INFO("seed " << seed << ", V = " << vocab);
            const ContextModel draft(vocab, 2 * seed, RowKind::spanning),
                target(vocab, 2 * seed + 1, RowKind::spanning);
            check_models(Remembered(draft), Remembered(target), 1e-12, worst);
            check_models(Remembered(draft), Remembered(ContextModel(vocab, seed)), 1e-12, worst);
        }
}

TEST_CASE("rows of float with entries that float can hold are judged exactly by every rule") {
    Worst worst;
    for (std::uint64_t seed = 0; seed < 6; ++seed)
        for (Index vocab = 2; vocab <= 3; ++vocab) {
            INFO("seed " << seed << ", V = " << vocab);
            // As exact as sums of floats.
            check_models(InFloat{{vocab, 2 * seed, RowKind::spanning}},
                         InFloat{{vocab, 2 * seed + 1, RowKind::spanning}}, 1e-6, worst);
        }
}

TEMPLATE_TEST_CASE("logits at any temperature are judged exactly by every rule", "", double, float) {
    // What is said of a token drawn from a rest of 2^-24 is off by 4e-6 at most where logits are floats: least_rest.
    constexpr double bound = std::is_same_v<TestType, float> ? 4e-6 : 1e-12;
    Worst worst;
    for (const double temperature : {1., .1, .05, .01, 1e-3, 0.})
        for (std::uint64_t seed = 0; seed < 4; ++seed)
            for (Index vocab = 2; vocab <= 3; ++vocab) {
                INFO("T = " << temperature << ", seed " << seed << ", V = " << vocab);
                check_models(Cold<TestType>{vocab, 2 * seed, temperature},
                             Cold<TestType>{vocab, 2 * seed + 1, temperature}, bound, worst);
                check_models(Cold<TestType>{vocab, 2 * seed, temperature}, Cold<TestType>{vocab, 2 * seed + 1, 1.},
                             bound, worst);
            }
}

TEST_CASE("a child that was drawn from a rest of any size is judged exactly") {
    Worst worst;
    const FixedModel target{row({.2, .3, .5})};
    const auto as_float = [](const FixedModel& model) {
        return [held = Eigen::VectorXf(model.row.cast<float>())](std::span<const Token>) { return held; };
    };
    const double half = detail::least_rest / 2;
    for (const double t : {.1, 1e-3, 1e-7, std::nextafter(half, 1.), half, std::nextafter(half, 0.), 1e-9, 1e-17, 5e-31,
                           1e-31, 1e-35, 1e-37, 1e-100, 1e-300, 1e-310, 5e-324})
        // Two that are as likely, one far less likely than the other, and one alone.
        for (const auto& [a, b] : {std::pair{t, t}, {t, t * 1e-5}, {t, 0.}}) {
            INFO("t = " << t << ", " << b);
            const FixedModel draft{row({1 - a - b, a, b})};
            check_trees(Remembered(draft), Remembered(target), 1e-12, worst);
            if (t > 1e-40) check_trees(as_float(draft), as_float(target), 1e-6, worst);
        }
}

// Fixed seeds; a false alarm in 1e9 for each of the 28 statistics.
TEST_CASE("trees of logits at low temperatures have the target's distribution in real rounds") {
    const Eigen::VectorXd p = row({.2, .3, .5});
    const std::vector<std::vector<float>> leads{{0, -8.8f, -8.8f},  {0, -8.6f, -8.75f}, {0, -8, -8.01f},
                                                {0, -1.6f, -1.62f}, {0, -.5f, -20},     {3e5f, 0, 0},
                                                {0, -2, -INFINITY}};
    for (const std::vector<float>& logits : leads) {
        INFO(logits[0] << ", " << logits[1] << ", " << logits[2]);
        const auto draft = [&](std::span<const Token>) { return Logits(std::vector<float>(logits), .1); };
        const auto check = [&](const auto& rule, const auto& children) {
            CHECK(rounds(rule, TreeDrafter(draft, {3}, children), FixedModel{p}, 1, 1, 4000).holds());
        };
        check(RecursiveRejection{}, WithoutReplacement{});
        check(TraversalVerification{}, WithoutReplacement{});
        check(RecursiveRejection{}, GreedyChildren{});
        check(TraversalVerification{}, GreedyChildren{});
    }
}

namespace {

/// One child that a user draws from a row without some ids, and says so in one of the ways there are.
template <class Rule, class DistributionOf>
double distance_of(const Rule& rule, const Eigen::VectorXd& q, const Eigen::VectorXd& p, std::vector<Token> without,
                   const DistributionOf& distribution_of) {
    TextDistribution distribution;
    Workspace workspace;
    Enumerator().run([&](Enumerator& paths) {
        const EnumeratedRng rng(paths);
        const Drawn drawn = draw(rng.at(Purpose::draft, 0), WithoutWeights(detail::as_row(q), without));
        // Where nothing is left, the token may be any.
        const std::vector<Token> tokens{static_cast<Token>(std::max<Index>(drawn.index, 0))};
        const auto sampled = distribution_of(q, without, drawn.sum);
        const Round round = verify(tokens, sampled, std::array{p, p}, rule, rng, {}, workspace);
        REQUIRE(round);
        distribution[{round.tokens.front()}] += paths.probability();
    });
    return total_variation(distribution, joint_distribution(FixedModel{p}, 1));
}

}  // namespace

TEMPLATE_TEST_CASE("a distribution that a user says is exact for a rest of any size", "", TokenVerification,
                   BlockVerification, Cactus) {
    Worst worst;
    const double half = detail::least_rest / 2;
    for (const double t : {.1, 1e-7, std::nextafter(half, 1.), half, std::nextafter(half, 0.), 1e-9, 1e-31, 1e-35,
                           1e-100, 1e-300, 1e-310, 5e-324, 0.})
        for (const Eigen::VectorXd& p : {row({.2, .3, .5}), row({0, 1e-300, 1}), row({1, 1e-300, 0})}) {
            INFO("t = " << t << ", p = " << p.transpose());
            const Eigen::VectorXd q = row({1 - 2 * t, t, t});
            const auto check = [&](const auto& distribution_of) {
                worst.add(distance_of(TestType{}, q, p, {0}, distribution_of), 1e-12);
            };
            check([](const auto& row, const auto& without, double rest) {
                return std::array{Sampled(row, without, rest)};
            });
            check([](const auto& row, const auto& without, double) { return std::array{Sampled(row, without)}; });
            check([](const auto& row, const auto& without, double) {
                return [&](Index) { return Sampled(row, without); };
            });
            check([](const auto& row, const auto& without, double) {
                return std::array{Mixed<RememberedView>(Sampled(row, without))};
            });
        }
}

TEST_CASE("a node of any weight is left with what its children have left, in double and in float") {
    // Block verification enters node 0 with c = p(0) / q(0), and rejects node 1, whose row has an entry of 0.
    for (const double c : {.5, 1e-10, 1e-30, 1e-36, 1e-37, 1e-38, 1e-39, 1e-44, 1e-100, 1e-300, 1e-310, 5e-324}) {
        INFO("c = " << c);
        const auto check = [&]<class Scalar>(Scalar, double bound) {
            const auto model = [](const Eigen::VectorXd& first, const Eigen::VectorXd& next) {
                return [=](std::span<const Token> prefix) -> Eigen::Matrix<Scalar, Eigen::Dynamic, 1> {
                    return (prefix.empty() ? first : next).template cast<Scalar>();
                };
            };
            const auto draft = model(row({1, 0, 0}), row({.5, .5, 0}));
            const auto target = model(row({c, 0, 1 - c}), row({.1, .3, .6}));
            CHECK(distance_from_target(BlockVerification{}, draft, target, 2) < bound);
            CHECK(distance_from_target(TraversalVerification{}, TreeDrafter(draft, {1, 2}), target, 2) < bound);
        };
        check(1., 1e-12);
        if (c > 1e-45) check(1.f, 1e-6);
    }
}
