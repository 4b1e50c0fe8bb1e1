// A cached model that is both draft and target, or used twice within a draft: refused by name, wherever it is held.
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include <specsample/beam.hpp>
#include <specsample/drafters.hpp>
#include <specsample/sampler/staged.hpp>
#include <specsample/shaping.hpp>
#include <specsample/specsample.hpp>
#include <specsample/vocabularies.hpp>

#include "support/catch.hpp"

using namespace specsample;

namespace {

/// A model that computes a position once and is told to roll back.
struct Cached {
    Index computed = 0;

    std::vector<float> operator()(std::span<const Token> prefix) {
        computed = std::ssize(prefix);
        return {.5f, .25f, .25f};
    }
    void rollback(Index length) { computed = length; }
};

/// A model that remembers nothing.
struct Plain {
    std::vector<float> operator()(std::span<const Token>) const { return {.5f, .25f, .25f}; }
};

const char* const refusal =
    ": a model with rollback is given twice by std::ref, so that two parts would share its cache, but must be given "
    "once: a cache follows one text; give each part a model of its own, or one without rollback that compares each "
    "prefix with its cache";

template <class Draft, class Target>
void check_refused(Draft draft, Target target) {
    CHECK_THROWS_WITH(Sampler(std::move(draft), std::move(target), {.lookahead = 3}),
                      std::string("specsample::Sampler") + refusal);
}

}  // namespace

TEST_CASE("one cached object as draft and target is refused, through adaptors and drafters") {
    Cached model;
    const auto shared = std::ref(model);
    const SamplingParams params{.temperature = .8};
    const std::vector<Token> ids{0, 1, 2};
    const vocabularies::IdMap same(ids, 3);
    check_refused(shared, shared);
    check_refused(shaped(shared, params), shared);
    check_refused(shared, shaped(shared, params));
    check_refused(from_logits(shared), from_logits(shared));
    check_refused(shaped(from_logits(shared), params), shared);
    check_refused(vocabularies::mapped(shared, same), shared);
    check_refused(vocabularies::mapped(shared, same, [](std::span<const Token> prefix) { return prefix; }), shared);
    check_refused(ChainDrafter(shared), shared);
    check_refused(TreeDrafter(shared, {2, 2}), shared);
    check_refused(BeamDrafter(shared, 2), shared);
    check_refused(DynamicTreeDrafter(shared, {.width = 2}), shared);
    check_refused(United(LookupDrafter(), shared), shared);
    check_refused(FirstOf(LookupDrafter(), ChainDrafter(shaped(shared, params))), shared);
    check_refused(StagedDrafter(shared, Plain{}, 2), shared);
    check_refused(StagedDrafter(Plain{}, shared, 2), shared);
    const auto heads = [](std::span<const Token>) { return std::vector(2, std::vector<float>{.5f, .25f, .25f}); };
    check_refused(heads::HybridDrafter(shared, heads, {1, 1}), shared);
    ChainDrafter drafter(shared);
    check_refused(std::ref(drafter), shared);
    CHECK_THROWS_WITH(beam::BeamSearch(shared, shared), std::string("specsample::BeamSearch") + refusal);
    CHECK_THROWS_WITH(beam::BeamSearch(from_logits(shared), shaped(shared, params)),
                      std::string("specsample::BeamSearch") + refusal);
}

TEST_CASE("a cached object that a draft uses twice is refused") {
    Cached model;
    const auto shared = std::ref(model);
    check_refused(StagedDrafter(shared, shared, 2), Plain{});
    check_refused(United(shared, TreeDrafter(shared, {2, 2})), Plain{});
    SuffixLookupDrafter lookup;
    check_refused(United(std::ref(lookup), std::ref(lookup)), Plain{});
}

TEST_CASE("models that are two, or remember nothing, may be held in any way") {
    Cached draft, target;
    Plain plain;
    CHECK_NOTHROW(Sampler(std::ref(draft), std::ref(target)));
    CHECK_NOTHROW(Sampler(std::ref(draft), target));
    CHECK_NOTHROW(Sampler(draft, draft));  // copies
    CHECK_NOTHROW(Sampler(std::ref(plain), std::ref(plain)));
    CHECK_NOTHROW(Sampler(shaped(std::ref(plain), SamplingParams{.temperature = .5}), std::ref(plain)));
    CHECK_NOTHROW(Sampler(StagedDrafter(Plain{}, std::ref(draft), 2), std::ref(target)));
    CHECK_NOTHROW(beam::BeamSearch(std::ref(draft), std::ref(target)));
    CHECK_NOTHROW(beam::BeamSearch(std::ref(plain), std::ref(plain)));
}
