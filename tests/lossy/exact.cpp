// Every lossy rule, enumerated through Sampler: it has the distribution that it documents, and reports its distance
// from the target.
#include <functional>
#include <utility>

#include "exactness/cases.hpp"
#include "support/catch.hpp"

#include <specsample/lossy.hpp>
#include <specsample/theory.hpp>

using namespace cases;
using namespace specsample::theory;
using namespace specsample::lossy;

namespace {

using Probs = Eigen::VectorXd;
using Distribution = std::function<Eigen::ArrayXd(const Probs& q, const Probs& p)>;

template <class Rule>
Distribution distribution_of(const Rule& rule) {
    return [rule](const Probs& q, const Probs& p) { return output_distribution(rule, q, p); };
}

/// The distribution of the first token and the probability that it is the drafted one, by enumeration.
template <class Rule>
std::pair<Eigen::ArrayXd, double> first_token(const Rule& rule, const FixedModel& draft, const FixedModel& target) {
    Eigen::ArrayXd distribution = Eigen::ArrayXd::Zero(target.row.size());
    double accepted = 0;
    for_rounds(rule, draft, target, 1, [&](const Round& round, Enumerator& paths) {
        distribution[round.tokens[0]] += paths.probability();
        if (round.accepted == 1) accepted += paths.probability();
    });
    return {distribution, accepted};
}

/// All that is measured of a rule, so that a test is compiled once for all rules.
struct Measured {
    Distribution distribution;
    std::function<double(const Probs& q, const Probs& p)> accepted, variation;
    std::function<std::pair<Eigen::ArrayXd, double>(const FixedModel& draft, const FixedModel& target)> first;
    std::function<double(const FixedModel& draft, const FixedModel& target)> distance;  ///< of two drafted tokens

    template <LossyRule Rule>
    Measured(const Rule& rule)
        : distribution(distribution_of(rule)),
          accepted([rule](const Probs& q, const Probs& p) { return acceptance(rule, q, p); }),
          variation([rule](const Probs& q, const Probs& p) { return total_variation_from_target(rule, q, p); }),
          first([rule](const FixedModel& draft, const FixedModel& target) { return first_token(rule, draft, target); }),
          distance([rule](const FixedModel& draft, const FixedModel& target) {
              return distance_from_target(rule, draft, target, 2);
          }) {
        static_assert(!Rule::lossless);
    }
};

/// A rule of a user's own, as lossy/judged.hpp has it.
struct Confident {
    static constexpr bool lossless = false;
    static constexpr auto recovery = Recovery::target;
    double least = .5;

    void check() const {}
    walks::Ratio chance(DraftedToken& x) const { return decide(x.p() >= least); }
    template <class T>
    Outcome operator()(const T& round) const {
        return lossy::judge(round, *this);
    }
};

/// Call f(name, rule) for rules of every kind, with options that have an effect.
void for_rules(const std::function<void(const std::string& name, const Measured& rule)>& f) {
    f("lenience", Lenience{.l = .5});
    f("lenience, scaled residual", Lenience{.l = .7, .residual = LenientResidual::scaled});
    f("uniform bound below 1", UniformBound{.b = .6});
    f("uniform bound above 1", UniformBound{.b = 1.5});
    f("ratio threshold", RatioThreshold{.t = .8});
    f("ratio threshold above 1", RatioThreshold{.t = 1.5});
    f("cactus", Cactus{.delta = .05});
    f("typical", TypicalAcceptance{.epsilon = .3, .delta = .6});
    f("big little", BigLittle{.fallback = .4, .rollback = 1});
    f("relaxed", RelaxedTopN{.n = 2, .delta = .2});
    f("membership", TopKMembership{.k = 2});
    f("greedy lenience", GreedyLenience{.l = .5});
    f("runner-up", RunnerUp{.margin = .6});
    f("classified", Classified([](DraftedToken& x) { return x.token() != 1 && x.rank() < 3; }));
    f("tree thresholds", TreeThresholds{.single = .7, .accumulated = .8});
    f("a rule of one's own", Confident{.least = .3});
    f("path heuristic", PathHeuristic{.threshold = .3});
    f("path heuristic, sampled", PathHeuristic{.threshold = .3, .paths = Paths::sampled});
    f("mentored", Transformed(Mentored{.05}));
    f("mentored, total variation", Transformed(Mentored{.2, TotalVariation{}}, BlockVerification{}));
    f("chow", Transformed(Chow{.4}));
    f("token v1", Transformed(TokenV1{.1}));
    f("token v3", Transformed(TokenV3{.3}, BlockVerification{}));
    f("fuzzy", Transformed(Fuzzy{.1}));
}

/// Call f(name, target, draft) for rows of 2 to 4 tokens, zeros among them.
void for_rows(
    const std::function<void(const std::string& name, const FixedModel& target, const FixedModel& draft)>& f) {
    f("EX3", ex3_target, ex3_draft);
    f("p = q", ex3_target, ex3_target);
    f("disjoint", FixedModel{row({.5, .5, 0, 0})}, FixedModel{row({0, 0, .25, .75})});
    f("certain", FixedModel{row({0, 1, 0})}, ex3_draft);
    for (Index vocab = 2; vocab <= 4; ++vocab)
        for (std::uint64_t seed = 0; seed < 6; ++seed) {
            const RowKind kind = seed % 2 == 0 ? RowKind::with_zeros : RowKind::smooth;
            f("V = " + std::to_string(vocab) + ", seed " + std::to_string(seed),
              FixedModel{ContextModel(vocab, seed, kind)({})},
              FixedModel{ContextModel(vocab, seed + 100, RowKind::with_zeros)({})});
        }
}

}  // namespace

TEST_CASE("the first token follows the documented distribution, and is the drafted one as often as documented") {
    for_rules([](const std::string& name, const Measured& rule) {
        for_rows([&](const std::string& rows, const FixedModel& target, const FixedModel& draft) {
            INFO(name << ", " << rows);
            const auto [distribution, accepted] = rule.first(draft, target);
            const Eigen::ArrayXd documented = rule.distribution(draft.row, target.row);
            CHECK((distribution - documented).abs().maxCoeff() < 1e-12);
            CHECK(documented.sum() == Approx(1).epsilon(1e-13));
            CHECK(std::abs(rule.accepted(draft.row, target.row) - accepted) < 1e-12);
        });
    });
}

TEST_CASE("chances are the formulas of the table") {
    using Row = Eigen::VectorXd;
    using Formula = std::function<double(const Row& q, const Row& p, Index x)>;
    const auto check = [](const std::string& name, const auto& rule, const Formula& formula) {
        for_rows([&](const std::string& rows, const FixedModel& target, const FixedModel& draft) {
            INFO(name << ", " << rows);
            const Row& q = draft.row;
            const Row& p = target.row;
            const Eigen::ArrayXd found = chances(rule, q, p);
            for (Index x = 0; x < p.size(); ++x)
                if (q[x] > 0) CHECK(std::abs(found[x] - formula(q, p, x)) < 1e-14);
        });
    };
    const auto rank = [](const Row& p, Index x) {
        Index before = 0;
        for (Index y = 0; y < p.size(); ++y) before += p[y] > p[x] || (p[y] == p[x] && y < x);
        return before;
    };
    check("lenience", Lenience{.l = .5}, [](auto& q, auto& p, Index x) { return std::min(1., p[x] / (.5 * q[x])); });
    for (const double b : {.6, 1.5})
        check("uniform bound", UniformBound{.b = b},
              [b](auto& q, auto& p, Index x) { return std::min(1., std::min(1., p[x] / q[x]) / b); });
    for (const double t : {.8, 1.5})
        check("ratio threshold", RatioThreshold{.t = t},
              [t](auto& q, auto& p, Index x) { return p[x] > 0 && p[x] / q[x] >= t; });
    check("classified", Classified([](DraftedToken& x) { return x.token() == 1; }),
          [](auto& q, auto& p, Index x) { return x == 1 && p[x] > 0 ? 1 : std::min(1., p[x] / q[x]); });
    check("big little", BigLittle{.fallback = .4, .rollback = 1},
          [](auto& q, auto& p, Index x) { return q.maxCoeff() >= .4 && p[x] >= std::exp(-1); });
    check("typical", TypicalAcceptance{.epsilon = .3, .delta = .6}, [](auto&, auto& p, Index x) {
        double entropy = 0;
        for (const double mass : p) entropy -= mass > 0 ? mass * std::log(mass) : 0;
        return p[x] > std::min(.3, .6 * std::exp(-entropy));
    });
    check("relaxed", RelaxedTopN{.n = 2, .delta = .2},
          [&](auto&, auto& p, Index x) { return p[x] > 0 && rank(p, x) < 2 && p[x] >= p.maxCoeff() - .2; });
    check("membership", TopKMembership{.k = 2}, [&](auto&, auto& p, Index x) { return p[x] > 0 && rank(p, x) < 2; });
    check("greedy lenience", GreedyLenience{.l = .5},
          [](auto&, auto& p, Index x) { return p[x] > 0 && p[x] >= .5 * p.maxCoeff(); });
    check("runner-up", RunnerUp{.margin = .6},
          [&](auto&, auto& p, Index x) { return p[x] > 0 && rank(p, x) < 2 && p[x] >= std::exp(-.6) * p.maxCoeff(); });
    check("tree thresholds", TreeThresholds{.single = .7, .accumulated = .8},
          [](auto&, auto& p, Index x) { return p[x] >= .7 ? 1 : std::min(1., p[x] / .8); });
}

TEST_CASE("no rule accepts more than alpha plus its distance from the target") {
    for_rules([](const std::string& name, const Measured& rule) {
        for_rows([&](const std::string& rows, const FixedModel& target, const FixedModel& draft) {
            INFO(name << ", " << rows);
            CHECK(rule.accepted(draft.row, target.row) <=
                  acceptance(draft.row, target.row) + rule.variation(draft.row, target.row) + 1e-12);
        });
    });
}

TEST_CASE("lenience with the standard residual attains it") {
    for_rows([](const std::string& rows, const FixedModel& target, const FixedModel& draft) {
        for (const double l : {.2, .5, .8, 1.}) {
            INFO(rows << ", l = " << l);
            const Lenience rule{.l = l};
            CHECK(acceptance(rule, draft.row, target.row) ==
                  Approx(acceptance(draft.row, target.row) + total_variation_from_target(rule, draft.row, target.row))
                      .epsilon(1e-12));
        }
    });
}

TEST_CASE("at its strict limit a rule is lossless") {
    const auto lossless = [](const std::string& name, const Measured& rule) {
        for_rows([&](const std::string& rows, const FixedModel& target, const FixedModel& draft) {
            INFO(name << ", " << rows);
            CHECK(rule.variation(draft.row, target.row) < 1e-12);
            CHECK(rule.distance(draft, target) < 1e-12);
        });
    };
    lossless("lenience", Lenience{.l = 1});
    lossless("lenience, scaled", Lenience{.l = 1, .residual = LenientResidual::scaled});
    lossless("uniform bound", UniformBound{.b = 1});
    lossless("cactus", Cactus{.delta = 0});
    lossless("typical", TypicalAcceptance{.epsilon = 10, .delta = 100});
    lossless("classified", Classified([](DraftedToken&) { return false; }));
    lossless("tree thresholds", TreeThresholds{});
    lossless("path heuristic", PathHeuristic{.threshold = 2});
    lossless("mentored", Transformed(Mentored{0}));
    lossless("mentored, total variation", Transformed(Mentored{0, TotalVariation{}}, BlockVerification{}));
    lossless("fuzzy", Transformed(Fuzzy{0}));
    lossless("chow", Transformed(Chow{-INFINITY}));
    lossless("diff", Transformed(Diff{-INFINITY}));
    lossless("token v1", Transformed(TokenV1{-INFINITY}));
    lossless("token v2", Transformed(TokenV2{-INFINITY}));
    lossless("token v3", Transformed(TokenV3{-INFINITY}));
}

TEST_CASE("at its loose limit a transform is the draft") {
    const auto draft_itself = [](const Distribution& distribution) {
        for_rows([&](const std::string& rows, const FixedModel& target, const FixedModel& draft) {
            INFO(rows);
            CHECK((distribution(draft.row, target.row) - draft.row.array()).abs().maxCoeff() < 1e-15);
        });
    };
    draft_itself(distribution_of(Transformed(Mentored{INFINITY})));
    draft_itself(distribution_of(Transformed(Mentored{1, TotalVariation{}})));
    draft_itself(distribution_of(Transformed(Fuzzy{1})));  // above log 2
    draft_itself(distribution_of(Transformed(Chow{INFINITY})));
    draft_itself(distribution_of(Transformed(Diff{INFINITY})));
    draft_itself(distribution_of(Transformed(TokenV1{INFINITY})));
    draft_itself(distribution_of(Transformed(TokenV2{INFINITY})));
    draft_itself(distribution_of(Transformed(TokenV3{INFINITY})));
}
