// Rows that do not sum to 1, within the tolerance of their scalars: the text follows the normalised rows, for every
// rule, lookahead and kind of row.
#include <cmath>
#include <type_traits>

#include "exactness/cases.hpp"
#include "exactness/kinds.hpp"
#include "support/catch.hpp"

using namespace cases;
using namespace specsample::walks;
using namespace specsample::children;

namespace {

/// A model whose rows sum to 1 + deviation or 1 - deviation, by context.
template <class Scalar>
struct Unnormalised {
    ContextModel model;
    double deviation;

    Eigen::Matrix<Scalar, Eigen::Dynamic, 1> operator()(std::span<const Token> prefix) const {
        std::size_t sum = prefix.size();
        for (const Token token : prefix) sum += static_cast<std::size_t>(token);
        const double factor = sum % 2 == 0 ? 1 + deviation : 1 - deviation;
        return (model(prefix) * factor).template cast<Scalar>();
    }
};

/// The same as sparse rows, which hold the ids of positive probability.
template <class Scalar>
struct UnnormalisedSparse {
    Unnormalised<Scalar> rows;

    auto operator()(std::span<const Token> prefix) const {
        const auto row = rows(prefix);
        std::vector<Token> ids;
        std::vector<Scalar> probs;
        for (Index id = 0; id < row.size(); ++id) {
            if (!(static_cast<double>(row[id]) > 0)) continue;
            ids.push_back(static_cast<Token>(id));
            probs.push_back(row[id]);
        }
        return Sparse(std::move(ids), std::move(probs), row.size());
    }
};

/// Logits whose normaliser was stated, and is off by the deviation.
struct MisstatedLogits {
    Unnormalised<double> rows;

    auto operator()(std::span<const Token> prefix) const {
        const Eigen::VectorXd row = rows(prefix);
        return Logits(logits_of_row(row, .7), .7, 3 / .7);
    }
};

/// The model that a model's rows mean: divided by their sums.
template <class Model>
struct Normalised {
    Model model;

    Eigen::VectorXd operator()(std::span<const Token> prefix) const {
        const Eigen::VectorXd row = model(prefix).template cast<double>();
        return row / row.sum();
    }
};

template <class Rule, class Draft, class Target, class Meant>
double distance(const Rule& rule, const Draft& draft, const Target& target, const Meant& meant, Index lookahead) {
    return total_variation(exact_distribution(rule, draft, target, lookahead),
                           joint_distribution(meant, lookahead + 1));
}

template <class Scalar>
Unnormalised<Scalar> draft_rows(double deviation) {
    return {ContextModel(3, 61), deviation};
}
template <class Scalar>
Unnormalised<Scalar> target_rows(double deviation) {
    return {ContextModel(3, 62), deviation};
}

template <class Rule>
void check_chain(const Rule& rule) {
    const auto draft = draft_rows<double>(-9e-4);
    const auto target = target_rows<double>(9e-4);
    const Normalised<Unnormalised<double>> meant{target};
    for (const Index lookahead : {0, 1, 2}) {
        CAPTURE(lookahead);
        CHECK(distance(rule, draft, target, meant, lookahead) < 1e-12);
        CHECK(distance(rule, UnnormalisedSparse<double>{draft}, target, meant, lookahead) < 1e-12);
        CHECK(distance(rule, draft, UnnormalisedSparse<double>{target}, meant, lookahead) < 1e-12);
        CHECK(distance(rule, MisstatedLogits{draft}, MisstatedLogits{target}, meant, lookahead) < 1e-12);
    }
}

template <class Rule, class Children>
double tree_distance(const Rule& rule, const Children& children, double deviation) {
    const auto target = target_rows<double>(deviation);
    const Normalised<Unnormalised<double>> meant{target};
    return distance(rule, TreeDrafter(draft_rows<double>(-deviation), std::vector<Index>{2, 2}, children), target,
                    meant, 2);
}

/// 16-bit rows are what they are in memory: kernels read them as floats.
template <class Scalar>
double half_distance(double deviation) {
    const auto target = target_rows<Scalar>(deviation);
    const Normalised<Unnormalised<Scalar>> meant{target};
    return std::max(distance(TokenVerification{}, draft_rows<Scalar>(-deviation), target, meant, 2),
                    distance(BlockVerification{}, draft_rows<Scalar>(-deviation), target, meant, 2));
}

}  // namespace

TEST_CASE("rows whose sums are off by nearly the tolerance: a chain's text follows the normalised target") {
    check_chain(TokenVerification{});
    check_chain(BlockVerification{});
    check_chain(SampleMatch{});
    check_chain(KSeq{});
}

TEST_CASE("rows whose sums are off by nearly the tolerance: a tree's text follows the normalised target") {
    for (const double deviation : {9e-4, -9e-4}) {
        CAPTURE(deviation);
        CHECK(tree_distance(SpecInfer{}, Independent{}, deviation) < 1e-12);
        CHECK(tree_distance(KSeq{}, Independent{}, deviation) < 1e-12);
        CHECK(tree_distance(RecursiveRejection{}, WithoutReplacement{}, deviation) < 1e-12);
        CHECK(tree_distance(RecursiveRejection{}, TopChildren{}, deviation) < 1e-12);
        CHECK(tree_distance(RecursiveRejection{}, GreedyChildren{}, deviation) < 1e-12);
        CHECK(tree_distance(TraversalVerification{}, Independent{}, deviation) < 1e-12);
        CHECK(tree_distance(TraversalVerification{}, WithoutReplacement{}, deviation) < 1e-12);
        CHECK(tree_distance(TraversalVerification{}, TopChildren{}, deviation) < 1e-12);
        CHECK(tree_distance(TraversalVerification{}, GreedyChildren{}, deviation) < 1e-12);
    }
}

TEST_CASE("rows of 16 and 32 bits: the text follows what is in memory, divided by its sum") {
    CHECK(half_distance<float>(8e-4) < 1e-6);
    CHECK(half_distance<Eigen::half>(5e-3) < 1e-6);
    CHECK(half_distance<Eigen::bfloat16>(5e-3) < 1e-6);
}

namespace {

/// The same random numbers as a RoundRng, but every acceptance is decided by the exact ratio.
struct Eager {
    struct At {
        Rng rng;

        bool accept(double s, double q) const { return rng.uniform() * q < s; }
        template <Weights W>
        Drawn draw(const W& weights) const {
            return specsample::draw(rng, weights);
        }
    };

    RoundRng rng;
    At at(Purpose purpose, Index node) const { return {rng.at(purpose, node)}; }
};

}  // namespace

TEST_CASE("a ratio that is known within a slack decides as the exact one, random number by random number") {
    constexpr Index vocab = 40, lookahead = 3;
    const ContextModel draft_model(vocab, 63), target_model(vocab, 64);
    const Unnormalised<Eigen::half> draft{draft_model, 8e-3}, target{target_model, -8e-3};
    Workspace lazily, eagerly;
    int different = 0, accepted = 0;
    for (int i = 0; i < 20000; ++i) {
        const RoundRng rng(65, static_cast<std::uint64_t>(i), 0);
        std::vector<Token> text;
        std::vector<Eigen::Matrix<Eigen::half, Eigen::Dynamic, 1>> q, p{target(text)};
        for (Index k = 0; k < lookahead; ++k) {
            q.push_back(draft(text));
            text.push_back(static_cast<Token>(draw(rng.at(Purpose::draft, k), q.back()).index));
            p.push_back(target(text));
        }
        std::vector<DraftedFrom<Eigen::Matrix<Eigen::half, Eigen::Dynamic, 1>, TokenVerification>> distributions;
        for (const auto& row : q) distributions.emplace_back(row);
        const Round a = verify(text, distributions, p, TokenVerification{}, rng, {}, lazily);
        const Round b = verify(text, distributions, p, TokenVerification{}, Eager{rng}, {}, eagerly);
        REQUIRE(a);
        different += !std::ranges::equal(a.tokens, b.tokens);
        accepted += static_cast<int>(a.accepted);
    }
    CHECK(different == 0);
    CHECK(accepted > 10000);
}

TEST_CASE("a sum that an acceptance asks for is checked: a row that is not normalised is a fault") {
    const std::vector<double> q{.5, .5};
    std::vector<std::vector<double>> p{{.3, .3}, {.5, .5}};  // sums to .6
    const std::vector<Token> tokens{0};
    Workspace workspace;
    int faults = 0;
    for (int i = 0; i < 200; ++i) {
        const Round round = verify(tokens, std::vector{Sampled(q)}, p, BlockVerification{},
                                   RoundRng(1, static_cast<std::uint64_t>(i), 0), {}, workspace);
        faults += round.fault && round.fault->cause == Cause::not_normalised;
    }
    CHECK(faults == 200);
}

TEMPLATE_TEST_CASE("siblings of 16-bit rows that are judged independently follow the target to the bit of a float", "",
                   Eigen::half, Eigen::bfloat16) {
    for (const double deviation : {0., 5e-3, -5e-3})
        for (const Index count : {2, 3}) {
            CAPTURE(deviation, count);
            const auto target = target_rows<TestType>(deviation);
            const Normalised<Unnormalised<TestType>> meant{target};
            const TreeDrafter drafter(draft_rows<TestType>(-deviation), std::vector<Index>{count}, Independent{});
            CHECK(distance(KSeq{}, drafter, target, meant, 1) < 1e-6);
        }
}
