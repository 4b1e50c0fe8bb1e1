// TokenMask: a masked token has no probability, and is never emitted.
#include <specsample/shaping/mask.hpp>

#include <array>

#include <specsample/sampler.hpp>
#include <specsample/shaping/from_logits.hpp>
#include <specsample/shaping/pipeline.hpp>
#include <specsample/shaping/shaped.hpp>
#include <specsample/shaping/token_mask.hpp>
#include <specsample/shaping/truncation.hpp>

#include "support/catch.hpp"
#include "unit/shaping_rows.hpp"

using namespace shaping_rows;
using namespace specsample::kernels;
using namespace specsample::filters;

namespace {

using Words = std::vector<std::uint32_t>;

/// A mask that allows some ids of a vocabulary.
Words allowing(const std::vector<Index>& ids, Index vocab) {
    Words words(static_cast<std::size_t>((vocab + 31) / 32));
    for (const Index id : ids) words[static_cast<std::size_t>(id / 32)] |= std::uint32_t{1} << (id % 32);
    return words;
}

/// Ids, each with the probability `share`; the first one if there are none.
std::vector<Index> some(Index vocab, double share, std::uint64_t seed) {
    std::vector<Index> ids;
    for (Index i = 0; i < vocab; ++i)
        if (Rng({.seed = seed}).uniform(static_cast<std::uint32_t>(i)) < share) ids.push_back(i);
    if (ids.empty()) ids.push_back(0);
    return ids;
}

}  // namespace

TEST_CASE("a mask keeps exactly the allowed ids, of dense and of sparse rows", "[shaping]") {
    for (const Index vocab : {1, 5, 31, 32, 33, 64, 1000})
        for (const double share : {.01, .1, .5, .9, 1.})
            for (std::uint64_t seed = 0; seed < 5; ++seed) {
                const auto ids = some(vocab, share, seed);
                const TokenMask mask(allowing(ids, vocab));
                const auto logits = random_logits(vocab, seed);
                INFO("vocab " << vocab << ", share " << share << ", seed " << seed);
                const auto expected = only(softmax_of(logits), ids);
                REQUIRE(distance(through(mask, Logits(logits)), expected) < 1e-15);
                REQUIRE(distance(through(mask, softmax_of(logits)), expected) < 1e-14);
                const auto sparse = through(Pipeline{TopK{vocab / 2 + 1}, mask}, Logits(logits));
                for (const Index id : possible(sparse)) REQUIRE(expected[id] > 0);
            }
}

TEST_CASE("words are signed or not, in any container, or come from a callable of the context", "[shaping]") {
    const auto logits = random_logits(40, 1);
    const auto expected = only(softmax_of(logits), {1, 31, 33});
    const Words words = allowing({1, 31, 33}, 40);
    const std::array<std::int32_t, 2> as_signed{static_cast<std::int32_t>(words[0]),
                                                static_cast<std::int32_t>(words[1])};
    CHECK(distance(through(TokenMask(words), Logits(logits)), expected) < 1e-15);
    CHECK(distance(through(TokenMask(as_signed), Logits(logits)), expected) < 1e-15);
    CHECK(distance(through(TokenMask(std::span<const std::uint32_t>(words)), Logits(logits)), expected) < 1e-15);
    const auto by_context = [&](std::span<const Token> context) {
        return context.empty() ? std::span<const std::uint32_t>() : std::span<const std::uint32_t>(words);
    };
    CHECK(distance(through(TokenMask(by_context), Logits(logits), {7}), expected) < 1e-15);
    CHECK(possible(through(TokenMask(by_context), softmax_of(logits), {})).empty());
    CHECK(distance(through(TokenMask([&](std::span<const Token>) { return words; }), Logits(logits)), expected) <
          1e-15);
}

TEST_CASE("ids beyond a mask that is too short are forbidden, bits beyond the vocabulary mean nothing", "[shaping]") {
    const auto logits = random_logits(40, 1);
    CHECK(possible(through(TokenMask(Words{0xffffffff}), Logits(logits))).back() == 31);
    CHECK(possible(through(TokenMask(Words{0, 0xffffffff, 0xffffffff}), Logits(logits))) ==
          std::vector<Index>{32, 33, 34, 35, 36, 37, 38, 39});
    // As many bits as the vocabulary has ids, or fewer than are worth a dense row, and some of them beyond it.
    CHECK(possible(through(TokenMask(Words{0xff, 0xffffffff}), Logits(logits))).size() == 16);
    CHECK(possible(through(TokenMask(Words{2, 0x300}), Logits(logits))) == std::vector<Index>{1});
}

TEST_CASE("a mask that allows everything leaves the model's own memory", "[shaping]") {
    const auto logits = random_logits<float>(40, 1);
    filters::ShapedMemory<float> memory;
    const TokenMask mask(Words{0xffffffff, 0xff});
    CHECK(shape(Logits(logits), mask, {}, memory).held().numbers().data() == logits.data());
}

TEST_CASE("a row without any kept id has the fault of a fully masked row", "[shaping]") {
    const auto logits = random_logits(40, 1);
    const TokenMask nothing(Words{});
    filters::ShapedMemory<double> memory;
    const auto cause = [&](const auto& row) {
        return inspect(shape(row, nothing, {}, memory), Side::target, 0)->cause;
    };
    CHECK(cause(Logits(logits)) == Cause::all_masked);
    CHECK(cause(softmax_of(logits)) == Cause::all_masked);
    // Some ids are allowed, but have no probability.
    Array<double> row = Array<double>::Zero(40);
    row[39] = 1;
    const TokenMask most(Words{0xffffffff});
    CHECK(inspect(shape(row, most, {}, memory), Side::target, 0)->cause == Cause::all_masked);
    const Array<double> ln = row.log();
    CHECK(inspect(shape(Logits(ln), most, {}, memory), Side::target, 0)->cause == Cause::all_masked);
}

TEST_CASE("an all-masked position is a fault that keeps what was written before", "[shaping]") {
    const auto model = [](std::span<const Token>) { return std::vector<float>{1, 2, 3}; };
    const auto mask = TokenMask([](std::span<const Token> context) { return Words{context.size() < 4 ? 7u : 0u}; });
    const auto target = shaped(from_logits(model), mask);
    try {
        (void)Sampler(from_logits(model), target, {.lookahead = 2}).generate({1}, {.max_new_tokens = 10});
        FAIL("no fault");
    } catch (const Fault& fault) {
        CHECK(fault.fault.cause == Cause::all_masked);
        CHECK(fault.fault.side == Side::target);
        CHECK(fault.emitted.size() <= 3);
    }
}

TEST_CASE("a masked id is never emitted, whatever is drafted", "[shaping]") {
    constexpr Index vocab = 70;
    // Another mask after every context.
    const auto allowed_after = [](std::span<const Token> context) {
        const auto last = context.empty() ? 0 : context.back();
        return some(vocab, .2, 1000 + static_cast<std::uint64_t>(last) + 100 * (context.size() % 3));
    };
    const TokenMask mask([&](std::span<const Token> context) { return allowing(allowed_after(context), vocab); });
    const auto logits_after = [](std::uint64_t seed) {
        return [seed](std::span<const Token> prefix) {
            return Array<float>(random_logits<float>(vocab, seed + static_cast<std::uint64_t>(prefix.back())));
        };
    };
    const auto probs_after = [&](std::span<const Token> prefix) {
        return Array<double>(softmax_of(logits_after(1)(prefix)));
    };
    const auto check = [&](auto draft, auto target) {
        for (std::uint64_t seed = 0; seed < 5; ++seed) {
            std::vector<Token> text{3};
            (void)Sampler(draft, target, {.lookahead = 4, .seed = seed}).extend(text, {.max_new_tokens = 200});
            for (std::size_t i = 1; i < text.size(); ++i) {
                const auto words = allowing(allowed_after(std::span(text).first(i)), vocab);
                const auto id = static_cast<std::size_t>(text[i]);
                REQUIRE((words[id / 32] >> (id % 32) & 1) == 1);
            }
        }
    };
    check(from_logits(logits_after(2)), shaped(from_logits(logits_after(1)), mask));
    check(shaped(from_logits(logits_after(2)), mask), shaped(from_logits(logits_after(1)), mask));
    check(from_logits(logits_after(2)), shaped(probs_after, mask));
    check(shaped(from_logits(logits_after(2)), TopK{5}), shaped(from_logits(logits_after(1)), Pipeline{mask, TopK{9}}));
}
