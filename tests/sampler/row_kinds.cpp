// Rows of logits and sparse rows, one position at a time: the text of their probabilities, under every rule.
#include <specsample/specsample.hpp>

#include "sampler/row_kinds.hpp"
#include "support/catch.hpp"

using namespace row_kinds;

namespace {

template <class Model, class Rule>
void check_model(const Rule& rule) {
    const auto drafter = any_model(Model{draft}), scorer = any_model(Model{target});
    const auto expected = text_of(draft, target, rule);
    check(text_of(drafter, target, rule), expected);
    check(text_of(drafter, scorer, rule), expected);
}

}  // namespace

TEMPLATE_TEST_CASE("logits and sparse rows write the text of their probabilities, under any rule", "",
                   TokenVerification, BlockVerification, SampleMatch, GumbelMatch, GreedyMatch) {
    const TestType rule;
    check_model<LogitsByValue>(rule);
    check_model<LogitsOfOneBuffer>(rule);
    check_model<KnownLogits>(rule);
    check_model<StableLogits>(rule);
    check_model<SparseByValue>(rule);
    check_model<CandidateModel<true>>(rule);
    check_model<CandidateModel<false>>(rule);
}

TEST_CASE("a promise that rows of logits are stable is believed") {
    const ContextModel smooth(vocab, 53);
    CHECK(text_of(StableLogits{smooth}, target) == text_of(smooth, target));
    FalsePromise drafter{{smooth}};
    CHECK_THROWS_AS(text_of(drafter, target), Fault);  // of rows that have changed
    CHECK_THROWS_AS(text_of(std::ref(drafter), target), Fault);
}

TEMPLATE_TEST_CASE("a row that is copied is judged as it was drawn", "", LogitsOfOneBuffer, CandidateModel<true>,
                   CandidateModel<false>) {
    TestType drafter{draft};
    const auto scorer = [&](Prefix prefix, Index n) {
        drafter(Prefix()), drafter(prefix.first(1));  // the buffer says something else by now
        return target(prefix, n);
    };
    CHECK(text_of(std::ref(drafter), scorer) == text_of(draft, target));
}
