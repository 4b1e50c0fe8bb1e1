// Rows of every kind, and shaped rows.
#include <numbers>

#include <specsample/theory.hpp>

#include "exactness/kinds.hpp"
#include "mutants/proof/proof.hpp"
#include "support/tree_target.hpp"

using namespace proof;
using namespace specsample::theory;
using namespace specsample::filters;
using namespace specsample::children;

namespace {

TEST_CASE("mutants: rows of other kinds than dense probabilities", "[rows]") {
    const ContextModel draft(4, 18, RowKind::with_zeros), target(4, 19, RowKind::with_zeros), smooth(4, 20);
    const auto holds_by = [](const auto& rule, auto drafts, auto targets, const ContextModel& meant) {
        return total_variation(exact_distribution(rule, drafts, targets, 2), joint_distribution(meant, 3)) < 1e-12;
    };
    const auto holds = [&](auto... given) { return holds_by(TokenVerification{}, given...); };
    must_hold("logits before a sparse target",
              [&] { return holds(AsStridedLogits{smooth}, AsSparse{target}, target); });
    must_hold("a sparse draft before logits", [&] { return holds(AsSparse{draft}, AsLogits{smooth}, smooth); });
    must_hold("logits in one buffer before such logits",
              [&] { return holds(AsStridedLogits{draft}, AsStridedLogits{smooth}, smooth); });
    must_hold("such logits under a rule that reads a row again",
              [&] { return holds_by(BlockVerification{}, draft, AsStridedLogits{smooth}, smooth); });
    must_hold("sparse rows", [&] { return holds(AsSparse{draft}, AsSparse{target}, target); });
}

/// A model under a frequency penalty of ln 2 and top-p .8, from their definitions.
struct ByDefinition {
    ContextModel model;

    Eigen::VectorXd operator()(std::span<const Token> prefix) const {
        Eigen::VectorXd row = model(prefix);
        for (const Token token : prefix) row[token] /= 2;
        row /= row.sum();
        std::vector<Token> ids{0, 1, 2, 3};
        std::ranges::stable_sort(ids, [&](Token a, Token b) { return row[a] > row[b]; });
        double before = 0;
        for (const Token id : ids) {
            const double mass = row[id];
            if (before >= .8) row[id] = 0;
            before += mass;
        }
        return row / row.sum();
    }
};

TEST_CASE("mutants: every position is shaped with its own context", "[rows]") {
    const ContextModel draft(4, 21), target(4, 22);
    const Pipeline pipeline{FrequencyPenalty{std::numbers::ln2}, TopP{.8}};
    const TextDistribution distribution = joint_distribution(ByDefinition{target}, 3);
    must_hold("shaped rows, many at once", [&] {
        return total_variation(exact_distribution(TokenVerification{}, draft, shaped(target, pipeline), 2),
                               distribution) < 1e-12;
    });
    must_hold("shaped rows, a tree at once", [&] {
        RowAndTreeTarget on_trees(target);
        const auto judge = shaped(std::ref(on_trees), pipeline);
        return total_variation(
                   exact_distribution(TokenVerification{}, TreeDrafter(draft, {2, 1}, Independent{}), judge, 2),
                   distribution) < 1e-12;
    });
    must_hold("shaped rows of logits, one by one", [&] {
        const auto logits = [](const ContextModel& model) {
            return [=](std::span<const Token> prefix) { return Logits(logits_of_row(model(prefix), 1)); };
        };
        return total_variation(exact_distribution(TokenVerification{}, shaped(logits(draft), pipeline),
                                                  shaped(logits(target), pipeline), 2),
                               distribution) < 1e-12;
    });
}

}  // namespace
