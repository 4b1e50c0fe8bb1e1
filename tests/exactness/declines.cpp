// A drafter may decline wherever its model has nothing to offer: every drafter stays exact in both directions of a
// walk.
#include "exactness/all_drafters.hpp"
#include "support/catch.hpp"

using namespace cases;

namespace {

/// A model that has nothing to offer after some texts: a row of zeros, or one without entries.
struct Declines {
    ContextModel model;
    std::uint64_t which;

    Eigen::VectorXd operator()(std::span<const Token> text) const {
        std::uint64_t sum = which;
        for (const Token token : text) sum = 3 * sum + static_cast<std::uint64_t>(token) + 1;
        const Eigen::VectorXd row = model(text);
        return sum % 5 == 0   ? Eigen::VectorXd()
               : sum % 5 == 1 ? Eigen::VectorXd(Eigen::VectorXd::Zero(row.size()))
                              : row;
    }
};

}  // namespace

TEST_CASE("every drafter is exact where a model has nothing to offer", "[distribution]") {
    for (const auto& [vocab, depth] : {std::pair<Index, Index>{2, 3}, {3, 2}})
        for (const std::uint64_t which : {0u, 1u, 2u, 3u, 4u}) {
            const Remembered a(Declines{ContextModel(vocab, 1), which}), b(Declines{ContextModel(vocab, 2), which + 2});
            const Remembered target(ContextModel(vocab, 3, which % 2 == 0 ? RowKind::smooth : RowKind::with_zeros));
            for (const Named& named : drafters(a, b)) {
                INFO(named.name << ", V = " << vocab << ", " << which);
                CHECK(see(RecursiveRejection{}, named.drafter, target, depth).distance < 1e-12);
                CHECK(see(TraversalVerification{}, named.drafter, target, depth).distance < 1e-12);
            }
            for_children([&](const std::string& name, const any::Children& children) {
                INFO(name << ", V = " << vocab << ", " << which);
                const TreeDrafter tree(a, {2, 2}, children);
                CHECK(see(RecursiveRejection{}, tree, target, 2).distance < 1e-12);
                CHECK(see(TraversalVerification{}, tree, target, 2).distance < 1e-12);
            });
        }
}
