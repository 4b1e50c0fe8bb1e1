// The row that a token was drawn from lives until the round ends: views are copied, unless the model promises
// that they stay valid.
#include <array>

#include <specsample/specsample.hpp>
#include <specsample/testing.hpp>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::testing;

namespace {

using View = Eigen::Map<const Eigen::VectorXd>;

const ContextModel draft(6, 91), target(6, 92);

template <class Draft, class Target, class Rule = TokenVerification>
std::vector<Token> text_of(Draft drafter, Target scorer, const Rule& rule = {}) {
    return Sampler(drafter, scorer, {.lookahead = 4, .seed = 2}, rule).generate({1}, {.max_new_tokens = 80});
}

/// One buffer for all rows, as engines have it.
struct OneBuffer {
    ContextModel model;
    Eigen::VectorXd buffer = {};

    View operator()(std::span<const Token> prefix) {
        const Eigen::VectorXd row = model(prefix);
        buffer = row;  // a copy: to move it here would bring new memory
        return View(buffer.data(), buffer.size());
    }
};

/// The same, as a reference.
struct ByReference {
    ContextModel model;
    Eigen::VectorXd buffer = {};

    const Eigen::VectorXd& operator()(std::span<const Token> prefix) {
        const Eigen::VectorXd row = model(prefix);
        return buffer = row;
    }
};

/// The same, with a false promise that rows stay valid.
struct FalsePromise : OneBuffer {
    static constexpr bool stable_rows = true;
};

/// A true promise: one buffer per position.
struct KeptPromise {
    static constexpr bool stable_rows = true;
    ContextModel model;
    std::vector<Eigen::VectorXd> buffers = std::vector<Eigen::VectorXd>(100);

    View operator()(std::span<const Token> prefix) {
        Eigen::VectorXd& buffer = buffers[prefix.size()];
        buffer = model(prefix);
        return View(buffer.data(), buffer.size());
    }
};

/// An explicit denial of the promise.
struct NoPromise : OneBuffer {
    static constexpr bool stable_rows = false;
};

/// Keeps its row in place as promised, but lets others write into it.
struct Honest {
    static constexpr bool stable_rows = true;
    std::array<double, 2> row{1, 0};

    std::span<const double> operator()(std::span<const Token>) const { return row; }
};

}  // namespace

TEST_CASE("a drafter that reuses one buffer writes the text of one that returns values") {
    CHECK(text_of(OneBuffer{draft}, target) == text_of(draft, target));
    CHECK(text_of(ByReference{draft}, target) == text_of(draft, target));
    CHECK(text_of(NoPromise{{draft}}, target) == text_of(draft, target));
}

TEST_CASE("a target that scores one position may reuse one buffer") {
    CHECK(text_of(draft, OneBuffer{target}) == text_of(draft, target));
    CHECK(text_of(draft, ByReference{target}) == text_of(draft, target));
}

TEMPLATE_TEST_CASE("a buffer that the next call writes serves a rule that reads each row once, and any other", "",
                   TokenVerification, BlockVerification, GreedyMatch, SampleMatch, GumbelMatch) {
    const TestType rule;
    CHECK(text_of(OneBuffer{draft}, OneBuffer{target}, rule) == text_of(draft, target, rule));
    CHECK(text_of(ByReference{draft}, ByReference{target}, rule) == text_of(draft, target, rule));
    const auto tree_text = [&](auto drafter, auto scorer) {
        return text_of(TreeDrafter(drafter, {2, 2, 1}, children::Independent{}), scorer, rule);
    };
    CHECK(tree_text(OneBuffer{draft}, OneBuffer{target}) == tree_text(draft, target));
}

TEST_CASE("scores read rows again, whatever the rule") {
    const auto scores_of = [](auto scorer) {
        std::vector<double> scores;
        (void)Sampler(draft, scorer, {.lookahead = 4, .seed = 2})
            .generate({1}, {.max_new_tokens = 80}, [&](const TokenScore& score) { scores.push_back(score.log_prob); });
        return scores;
    };
    CHECK(scores_of(OneBuffer{target}) == scores_of(target));
}

TEST_CASE("rows promised to be stable are not copied") {
    CHECK(text_of(KeptPromise{draft}, target) == text_of(draft, target));
    CHECK_THROWS_AS(text_of(FalsePromise{{draft}}, target), Fault);  // of rows that have changed
}

TEST_CASE("a promise counts through std::ref") {
    FalsePromise drafter{{draft}};
    CHECK_THROWS_AS(text_of(std::ref(drafter), target), Fault);
}

TEST_CASE("a copied row is judged as it was drawn, whatever the model writes into its buffer later") {
    OneBuffer drafter{draft};
    const auto scorer = [&](std::span<const Token> prefix, Index n) {
        drafter.buffer.setZero();
        return target(prefix, n);
    };
    CHECK(text_of(std::ref(drafter), scorer) == text_of(draft, target));
}

TEST_CASE("a row promised to be stable is read where it lies when it is judged") {
    // Drafted from {1, 0}; by the time it is judged the buffer says {0, 1}, which is a fault. A copy would not know.
    Honest drafter;
    const auto scorer = [&](std::span<const Token>, Index n) {
        drafter.row = {0, 1};
        return std::vector(static_cast<std::size_t>(n), std::vector{0.5, 0.5});
    };
    Sampler sampler(std::ref(drafter), scorer, {.lookahead = 1});
    CHECK_THROWS_WITH(sampler.step(std::vector<Token>{1}),
                      ContainsSubstring("draft row 0 has entry 0 at token 0, which was drawn when the entry was 1"));
}
