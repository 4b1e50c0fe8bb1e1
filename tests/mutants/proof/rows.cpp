// Rows of every kind, and shaped rows.
#include <numbers>

#include "law/kinds.hpp"
#include "mutants/proof/proof.hpp"
#include "support/tree_target.hpp"

using namespace proof;

namespace {

/// Rows of other kinds than dense probabilities.
void prove_row_kinds() {
    const ContextModel draft(4, 18, Rows::with_zeros), target(4, 19, Rows::with_zeros), smooth(4, 20);
    const auto holds = [](auto drafts, auto targets, const ContextModel& meant) {
        return total_variation(exact_law(TokenVerification{}, drafts, targets, 2), joint_law(meant, 3)) < 1e-12;
    };
    law_of("logits before a sparse target", [&] { return holds(AsStridedLogits{smooth}, AsSparse{target}, target); });
    law_of("a sparse draft before logits", [&] { return holds(AsSparse{draft}, AsLogits{smooth}, smooth); });
    law_of("logits in one buffer before such logits",
           [&] { return holds(AsStridedLogits{draft}, AsStridedLogits{smooth}, smooth); });
    law_of("sparse rows", [&] { return holds(AsSparse{draft}, AsSparse{target}, target); });
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

/// Shaped rows: every position with its own context, whether rows come one by one or many at once.
void prove_shaping() {
    const ContextModel draft(4, 21), target(4, 22);
    const Pipeline pipeline{FrequencyPenalty{std::numbers::ln2}, TopP{.8}};
    const TextLaw law = joint_law(ByDefinition{target}, 3);
    law_of("shaped rows, many at once", [&] {
        return total_variation(exact_law(TokenVerification{}, draft, shaped(target, pipeline), 2), law) < 1e-12;
    });
    law_of("shaped rows, a tree at once", [&] {
        RowAndTreeTarget on_trees(target);
        const auto judge = shaped(std::ref(on_trees), pipeline);
        return total_variation(exact_law(TokenVerification{}, TreeDraft(draft, {2, 1}, Independent{}), judge, 2), law) <
               1e-12;
    });
    law_of("shaped rows of logits, one by one", [&] {
        const auto logits = [](const ContextModel& model) {
            return [=](std::span<const Token> prefix) { return Logits(logits_of_row(model(prefix), 1)); };
        };
        return total_variation(
                   exact_law(TokenVerification{}, shaped(logits(draft), pipeline), shaped(logits(target), pipeline), 2),
                   law) < 1e-12;
    });
}

}  // namespace

int main() {
    return run([] {
        prove_row_kinds();
        prove_shaping();
    });
}
