// Rows of logits and sparse rows of many positions in one call, and below trees: the text of their probabilities.
#include <specsample/specsample.hpp>
#include <specsample/verify.hpp>

#include "sampler/row_kinds.hpp"
#include "support/any_children.hpp"
#include "support/catch.hpp"

using namespace row_kinds;
using namespace specsample::children;

namespace {

any::Kind kind_of(WithoutReplacement) { return any::Kind::without_replacement; }
any::Kind kind_of(Independent) { return any::Kind::independent; }
any::Kind kind_of(TopChildren) { return any::Kind::top; }
any::Kind kind_of(GreedyChildren) { return any::Kind::greedy; }

template <class Rule>
void check_trees(any::Kind kind, const Rule& rule) {
    const auto tree = [kind](auto model) { return TreeDrafter(any_model(model), {2, 2, 1}, any::Children{kind}); };
    const auto expected = text_of(tree(draft), target, rule);
    check(text_of(tree(LogitsByValue{draft}), any_model(LogitsByValue{target}), rule), expected);
    check(text_of(tree(LogitsOfOneBuffer{draft}), PaddedRows{}, rule), expected);
    check(text_of(tree(StableLogits{draft}), owned_rows, rule), expected);
    check(text_of(tree(SparseByValue{draft}), list<LogitsByValue>, rule), expected);
    check(text_of(tree(CandidateModel<true>{draft}), any_model(CandidateModel<false>{target}), rule), expected);
}

}  // namespace

TEMPLATE_TEST_CASE("many rows may be logits or sparse rows, under any rule", "", TokenVerification, BlockVerification,
                   GumbelMatch) {
    const TestType rule;
    const auto expected = text_of(draft, target, rule);
    check(text_of(any_model(LogitsByValue{draft}), owned_rows, rule), expected);
    check(text_of(any_model(CandidateModel<true>{draft}), PaddedRows{}, rule), expected);
    check(text_of(draft, list<LogitsByValue>, rule), expected);
    check(text_of(any_model(SparseByValue{draft}), list<SparseByValue>, rule), expected);
}

TEMPLATE_TEST_CASE("trees of any children are drawn from logits and sparse rows", "", WithoutReplacement, Independent,
                   TopChildren, GreedyChildren) {
    constexpr bool independent = std::same_as<TestType, Independent>;
    check_trees(kind_of(TestType{}), TokenVerification{});
    check_trees(kind_of(TestType{}), SampleMatch{});
    check_trees(kind_of(TestType{}), GumbelMatch{});
    if (!independent) check_trees(kind_of(TestType{}), BlockVerification{});
    if (independent) check_trees(kind_of(TestType{}), KSeq{});
}

TEST_CASE("an id that is masked or absent is never written") {
    const ContextModel smooth(vocab, 53);
    const auto masked = [&](Prefix prefix) {
        Eigen::VectorXd row = logits(smooth(prefix));
        numbers::write(row[static_cast<Index>(prefix.size() % vocab)], numbers::Special::minus_infinity);
        return Logits(std::move(row), temperature);
    };
    for (const auto& text : {text_of(smooth, any_model(masked)),
                             text_of(any_model(SparseByValue{draft}), any_model(masked), BlockVerification{}),
                             text_of(smooth, any_model(masked), GumbelMatch{}),
                             text_of(TreeDrafter(any_model(smooth), {3, 2}), any_model(masked))})
        for (std::size_t i = 0; i < text.size(); ++i) CHECK(text[i] != static_cast<Token>((i + 1) % vocab));
}
