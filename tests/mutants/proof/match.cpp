// The rules that match the target's own tokens.
#include "mutants/proof/proof.hpp"

using namespace proof;
using namespace specsample::walks;

namespace {

/// The text of a match rule does not depend on the draft; its noise is shared with a drafter that asks for it.
template <class Rule>
void prove_invariance(const std::string& name, const Rule& rule) {
    static_assert(Rule::drafter_invariant, "what is proved here is what the rule claims");
    const Remembered target = ContextModel(5, 14), other = ContextModel(5, 15);
    const auto text = [&](auto draft, Index lookahead) {
        Sampler sampler(std::ref(draft), std::ref(target), {.lookahead = lookahead, .seed = 6}, rule);
        return sampler.generate({1}, {.max_new_tokens = 60});
    };
    must_hold(name + ": the text depends on the draft", [&] {
        const std::vector<Token> plain = text(Draft(other, {}, {}), 0);
        return text(Draft(other, {1, 1, 1}, {}), 3).tokens == plain &&
               text(Draft(other, {2, 2}, {Kind::greedy}), 2).tokens == plain;
    });
    if constexpr (requires { requires Rule::shares_noise; })
        must_hold(name + ": the drafter does not share the noise", [&] {
            return text(target, 2).tally.accepted == 40 && text(Draft(target, {1, 1}, {}), 2).tally.accepted == 40;
        });
}

TEST_CASE("mutants: sample match", "[match]") { prove("sample match", SampleMatch{}); }
TEST_CASE("mutants: Gumbel match", "[match]") { prove("Gumbel match", GumbelMatch{}); }

TEST_CASE("mutants: texts of match rules do not depend on the draft", "[match]") {
    prove_invariance("sample match", SampleMatch{});
    prove_invariance("Gumbel match", GumbelMatch{});
}

}  // namespace
