// Substituted targets: the joint distribution of a round is that of a target whose rows are pi, on chains and trees.
#include <functional>

#include "exactness/cases.hpp"
#include "support/any_children.hpp"
#include "support/catch.hpp"

#include <specsample/lossy.hpp>
#include <specsample/theory.hpp>

using namespace cases;
using namespace specsample::theory;
using namespace specsample::lossy;
using namespace specsample::kernels;
using namespace specsample::children;

namespace {

/// The documented distribution of a transformed round: pi where something was drafted, p after that.
struct Substituted {
    std::function<Eigen::ArrayXd(const Eigen::VectorXd& q, const Eigen::VectorXd& p)> pi;
    ContextModel draft, target;
    Index lookahead;
    bool named = false;  ///< the first child is the draft's likeliest, a point mass

    Eigen::VectorXd operator()(std::span<const Token> prefix) const {
        const Eigen::VectorXd p = target(prefix);
        if (static_cast<Index>(prefix.size()) >= lookahead) return p;
        Eigen::VectorXd q = draft(prefix);
        if (named) q = one_hot<double>(q.size(), argmax(q));
        return pi(q, p).matrix();
    }
};

template <class Transform>
auto pi_of(const Transform& transform) {
    return [transform](const Eigen::VectorXd& q, const Eigen::VectorXd& p) {
        return output_distribution(Transformed(transform), q, p);
    };
}

/// The distance of a round on these drafts, completed by the documented distribution, from that distribution.
template <class Rule, class Drafts>
double distance(const Rule& rule, const Drafts& drafts, const Substituted& documented) {
    TextDistribution distribution;
    for_rounds(rule, drafts, documented.target, documented.lookahead, [&](const Round& round, Enumerator& paths) {
        std::vector<Token> text(round.tokens.begin(), round.tokens.end());
        complete(paths, documented, static_cast<std::size_t>(documented.lookahead) + 1, text);
        distribution[text] += paths.probability();
    });
    return total_variation(distribution, joint_distribution(documented, documented.lookahead + 1));
}

template <class F>
void for_transforms(F&& f) {
    f(Mentored{.05});
    f(Mentored{.2, TotalVariation{}});
    f(Chow{.5});
    f(Opt{.5});
    f(TokenV1{.2});
    f(TokenV2{.2});
    f(TokenV3{.4});
    f(Fuzzy{.15});
}

void for_models(const std::function<void(const ContextModel& draft, const ContextModel& target)>& f) {
    for (Index vocab = 2; vocab <= 4; ++vocab) {
        f(ContextModel(vocab, 1), ContextModel(vocab, 2));
        f(ContextModel(vocab, 3, RowKind::with_zeros), ContextModel(vocab, 4, RowKind::with_zeros));
        f(ContextModel(vocab, 5, RowKind::peaked), ContextModel(vocab, 6));
    }
}

/// A transform that counts the rows it has made.
struct Counting {
    long* made;

    void check() const {}
    template <class Q, class P>
    auto operator()(const Q& q, const P& p) const {
        ++*made;
        return .5 * p.template cast<double>() + .5 * q.template cast<double>();
    }
};

}  // namespace

TEST_CASE("a chain follows the substituted target's joint distribution under both walks") {
    for_transforms([](const auto& transform) {
        for_models([&](const ContextModel& draft, const ContextModel& target) {
            for (Index lookahead = 0; lookahead <= 3; ++lookahead) {
                if (draft({}).size() == 4 && lookahead == 3) continue;  // slow, and nothing new
                const Substituted documented{pi_of(transform), draft, target, lookahead};
                CHECK(distance(Transformed(transform), draft, documented) < 1e-12);
                CHECK(distance(Transformed(transform, BlockVerification{}), draft, documented) < 1e-12);
            }
        });
    });
}

TEST_CASE("a tree follows the substituted target's joint distribution under both walks") {
    const auto check = [](const auto& transform, any::Kind kind, bool named, const ContextModel& draft,
                          const ContextModel& target) {
        const Substituted documented{pi_of(transform), draft, target, 2, named};
        const TreeDrafter drafts(draft, {2, 1}, any::Children{kind});
        CHECK(distance(Transformed(transform), drafts, documented) < 1e-12);
        CHECK(distance(Transformed(transform, TraversalVerification{}), drafts, documented) < 1e-12);
    };
    for_models([&](const ContextModel& draft, const ContextModel& target) {
        if (draft({}).size() > 3) return;
        check(Mentored{.05}, any::Kind::without_replacement, false, draft, target);
        check(Mentored{.05}, any::Kind::independent, false, draft, target);
        check(TokenV1{.2}, any::Kind::without_replacement, false, draft, target);
        check(Fuzzy{.15}, any::Kind::independent, false, draft, target);
        check(TokenV2{.2}, any::Kind::greedy, false, draft, target);
        check(Mentored{.3, TotalVariation{}}, any::Kind::top, true, draft, target);
    });
}

TEST_CASE("stop tokens and budgets do not change the substituted distribution") {
    const ContextModel draft(3, 21), target(3, 22);
    const Substituted documented{pi_of(Mentored{.1}), draft, target, 3};
    for (const Limits& limits : {Limits{.stop_tokens = {1}}, Limits{.max_new_tokens = 2}}) {
        TextDistribution distribution;
        for_rounds(
            Transformed(Mentored{.1}, BlockVerification{}), draft, target, 3,
            [&](const Round& round, Enumerator& paths) {
                std::vector<Token> text(round.tokens.begin(), round.tokens.end());
                complete(paths, documented, 4, text);
                distribution[text] += paths.probability();
            },
            {}, limits);
        CHECK(total_variation(distribution, joint_distribution(documented, 4)) < 1e-12);
    }
}

TEST_CASE("a row is made once in a round, in the workspace, and only if a walk asks for it") {
    long made = 0;
    const Transformed block(Counting{&made}, BlockVerification{});
    const std::vector<Token> tokens{2, 2, 2};
    const std::vector<Sampled<detail::row_view_t<Eigen::VectorXd>>> distributions(3, Sampled(ex3_draft.row));
    const std::vector<Eigen::VectorXd> rows(4, ex3_target.row);
    Workspace workspace;
    auto rng = ScriptedRng().set(Purpose::last, 0, .5);
    for (Index node = 0; node < 3; ++node) rng.set(Purpose::accept, node, .999);
    const Round round = verify(tokens, distributions, rows, block, rng, {}, workspace);
    CHECK(round.accepted == 0);  // the bottom-up walk came back to every node
    CHECK(made == 3);            // the fourth row is p
    const std::vector<double>& kept = detail::memory_of(workspace).rows;
    CHECK(kept.size() == 4 * 3);
    CHECK((Eigen::Map<const Eigen::VectorXd>(kept.data(), 3) - row({.35, .3, .35})).cwiseAbs().maxCoeff() < 1e-15);

    // The next round makes them again, in the same memory.
    const double* memory = kept.data();
    (void)verify(tokens, distributions, rows, block, rng, {}, workspace);
    CHECK(made == 6);
    CHECK(kept.data() == memory);
    made = 0;
    const Round first = verify(tokens, distributions, rows, Transformed(Counting{&made}), rng, {}, workspace);
    CHECK(first.accepted == 0);
    CHECK(made == 1);
}

TEST_CASE("rows of any scalar and stride are transformed in double") {
    const Eigen::VectorXf p = ex3_target.row.cast<float>(), q = ex3_draft.row.cast<float>();
    RowMajorMatrix<float> wide(3, 2);
    wide.col(0) = q;
    const auto strided = wide.col(0);
    const Transformed rule(Mentored{.05});
    const Eigen::ArrayXd expected = output_distribution(rule, ex3_draft.row, ex3_target.row);
    CHECK((output_distribution(rule, strided, p) - expected).abs().maxCoeff() < 1e-6);
    CHECK((output_distribution(rule, q.cast<Eigen::bfloat16>().eval(), p.cast<Eigen::half>().eval()) - expected)
              .abs()
              .maxCoeff() < .02);
    Eigen::ArrayXd distribution = Eigen::ArrayXd::Zero(3);
    Workspace workspace;
    for (Token token = 0; token < 3; ++token)
        Enumerator().run([&](Enumerator& paths) {
            const Round round = verify(std::array{token}, std::array{Sampled(strided)}, std::array{p, p}, rule,
                                       EnumeratedRng(paths), {}, workspace);
            distribution[round.tokens[0]] += static_cast<double>(strided[token]) * paths.probability();
        });
    CHECK((distribution - expected).abs().maxCoeff() < 1e-6);
}
