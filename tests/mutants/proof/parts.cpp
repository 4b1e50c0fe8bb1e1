// Drafters inside drafters: every part has an RNG of its own.
#include <specsample/drafters/united.hpp>
#include <specsample/sampler/staged.hpp>

#include "mutants/proof/proof.hpp"

using namespace proof;
using namespace specsample::walks;

namespace {

const Remembered s = FixedModel{row({.4, .35, .25})}, m = FixedModel{row({.6, .25, .15})},
                 m2 = FixedModel{row({.3, .3, .4})}, t = FixedModel{row({.2, .3, .5})};

TEST_CASE("mutants: two verifications in a union", "[parts]") {
    must_hold("a union", [] {
        return rounds(SpecInfer{}, United(StagedDrafter(s, m, 1), StagedDrafter(s, m, 1)), t, 1, 3, 40000).holds();
    });
}

TEST_CASE("mutants: two models in a union", "[parts]") {
    must_hold("a union", [] { return rounds(SpecInfer{}, United(s, s), t, 1, 3, 40000).holds(); });
}

TEST_CASE("mutants: a verification inside another", "[parts]") {
    must_hold("stages", [] {
        return rounds(BlockVerification{}, StagedDrafter(FirstOf(StagedDrafter(s, m2, 1)), m, 2), t, 4, 3, 60000)
            .holds();
    });
}

TEST_CASE("mutants: a match rule inside a drafter", "[parts]") {
    must_hold("a match rule", [] {
        return rounds(BlockVerification{},
                      StagedDrafter(Remembered(FixedModel{row({.5, .5})}), Remembered(toy_draft), 4, SampleMatch{}),
                      Remembered(toy_target), 4, 4, 40000)
            .holds();
    });
}

}  // namespace
