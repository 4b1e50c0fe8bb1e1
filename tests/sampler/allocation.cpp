// A warm sampler allocates nothing, and neither does verify.
#include <array>
#include <functional>

#include <specsample/drafters.hpp>
#include <specsample/lossy.hpp>
#include <specsample/sampler/staged.hpp>
#include <specsample/sampler_values.hpp>
#include <specsample/shaping.hpp>
#include <specsample/specsample.hpp>
#include <specsample/tree.hpp>
#include <specsample/verify.hpp>
#include <specsample/verify/batch.hpp>
#include <specsample/vocabularies.hpp>

#include "sampler/allocations.hpp"
#include "support/any_children.hpp"
#include "support/catch.hpp"
#include "support/rules.hpp"

using namespace specsample;
using namespace specsample::heads;
using namespace specsample::lossy;
using namespace specsample::vocabularies;

namespace {

constexpr Index vocab = 1000;

/// Rows of a fixed table, by the last token: as a Map of a batch, as a Map, and as a span.
struct Table {
    RowMajorMatrix<float> rows{16, vocab};
    RowMajorMatrix<float> batch{9, vocab};

    explicit Table(float slope) {
        for (Index i = 0; i < rows.rows(); ++i)
            for (Index j = 0; j < vocab; ++j) rows(i, j) = 1 + slope * static_cast<float>((i * 31 + j * 7) % 13);
        for (Index i = 0; i < rows.rows(); ++i) rows.row(i) /= rows.row(i).sum();
    }

    Index state(std::span<const Token> prefix) const { return prefix.empty() ? 0 : prefix.back() % rows.rows(); }
};

struct AsSpan : Table {
    using Table::Table;
    std::span<const float> operator()(std::span<const Token> prefix) const {
        return {rows.row(state(prefix)).data(), static_cast<std::size_t>(vocab)};
    }
};
struct AsMap : Table {
    using Table::Table;
    Eigen::Map<const Eigen::VectorXf> operator()(std::span<const Token> prefix) const {
        return {rows.row(state(prefix)).data(), vocab};
    }
};
struct AsStableMap : AsMap {
    using AsMap::AsMap;
    static constexpr bool stable_rows = true;
};
struct AsBatch : Table {
    using Table::Table;
    Eigen::Map<const RowMajorMatrix<float>> operator()(std::span<const Token> prefix, Index n) {
        for (Index i = 0; i < n; ++i)
            batch.row(i) = rows.row(state(prefix.first(prefix.size() - static_cast<std::size_t>(n - 1 - i))));
        return {batch.data(), n, vocab};
    }
};
/// All rows of a tree in one pass, and those of a chain: one type, so that rules are compiled once.
struct AsTrees : AsBatch {
    using AsBatch::AsBatch;
    using AsBatch::operator();
    Eigen::Map<const RowMajorMatrix<float>> operator()(std::span<const Token> prefix, const Tree<Token, Index>& tree) {
        Index node = 0;
        batch.row(node++) = rows.row(state(prefix));
        for (const Token token : tree.tokens) batch.row(node++) = rows.row(token % rows.rows());
        return {batch.data(), node, vocab};
    }
};
/// The same rows as values.
struct AsRow : Table {
    using Table::Table;
    Row operator()(std::span<const Token> prefix) const { return Row::probs({rows.row(state(prefix)).data(), vocab}); }
};
struct AsRows : AsBatch {
    using AsBatch::AsBatch;
    Rows operator()(std::span<const Token> prefix, Index n) {
        AsBatch::operator()(prefix, n);
        return Rows(Row::probs({batch.data(), vocab}), n);
    }
};
struct Cached : AsBatch {
    using AsBatch::AsBatch;
    void rollback(Index) {}
};
struct Greedy {
    std::int64_t operator()(std::span<const Token> prefix) const { return prefix.empty() ? 0 : prefix.back(); }
};

// Hides a value from the compiler.
std::vector<float> sink;
Eigen::VectorXf eigen_sink;

/// Allocations of `action`, after it has been done once.
template <class Action>
long when_warm(const Action& action) {
    action();
    const long before = allocations;
    action();
    return allocations - before;
}

// Rules, rows and distributions are types, and a sampler of each is compiled once: drafters that share a
// type of distribution are one type, and samplers are called through functions.

using OnToken = std::function<void(Token)>;
using Extend = std::function<void(std::vector<Token>& text, const Limits& limits, const OnToken& on_token)>;

/// Allocations of a text like one written before, after its first rounds.
long when_warm_by(const Extend& extend) {
    const Limits limits{.max_new_tokens = 500, .stop_tokens = {}};
    std::vector<Token> text;
    text.reserve(1000);
    extend(text, limits, [](Token) {});
    text.clear();
    long before = 0;
    extend(text, limits, [&](Token) {
        if (text.size() == 10) before = allocations;
    });
    return allocations - before;
}

/// The same for a sampler.
template <class Draft, class Target, class Rule = TokenVerification>
long allocations_of(Draft draft, Target target, const Rule& rule = {}) {
    Sampler sampler(std::ref(draft), std::ref(target), {.lookahead = 4, .seed = 1}, rule);
    return when_warm_by(
        [&](auto& text, const auto& limits, const auto& on_token) { (void)sampler.extend(text, limits, on_token); });
}

/// The same for a drafter, over a target that scores n positions in one pass.
template <class Drafter>
long allocations_of_drafter(Drafter drafter) {
    return allocations_of(choosing::AnyDrafter<typename Drafter::Distribution>(std::move(drafter)), AsBatch(.3f));
}

/// Allocations after the first round of a sampler's first text.
template <class Draft, class Target>
long allocations_after_first_round(Draft draft, Target target, Index lookahead) {
    Sampler sampler(std::ref(draft), std::ref(target), {.lookahead = lookahead, .seed = 1});
    std::vector<Token> text;
    text.reserve(1000);
    long before = 0;
    const OnToken on_token = [&](Token) {
        if (sampler.tally().rounds == 0) before = allocations;  // until the first round is counted
    };
    (void)sampler.extend(text, {.max_new_tokens = 500}, on_token);
    return allocations - before;
}

}  // namespace

TEST_CASE("the counter sees an allocation") {
    CHECK(when_warm([] { std::vector<float>(100).swap(sink); }) == 1);
#if defined(SPECSAMPLE_COUNTS_MALLOC)
    CHECK(when_warm([] { eigen_sink = Eigen::VectorXf::Zero(eigen_sink.size() + 100); }) > 0);
#endif
}

TEST_CASE("a warm sampler over views allocates nothing") {
    CHECK(allocations_of(AsMap(.5f), AsBatch(.3f)) == 0);
    CHECK(allocations_of(AsSpan(.5f), AsBatch(.3f)) == 0);
    CHECK(allocations_of(AsStableMap(.5f), AsBatch(.3f)) == 0);
    CHECK(allocations_of(AsSpan(.5f), AsSpan(.3f)) == 0);
    CHECK(allocations_of(Greedy{}, AsMap(.3f)) == 0);
}

TEST_CASE("after its first round a sampler with one target pass a round allocates nothing, at any lookahead") {
    for (Index lookahead = 0; lookahead <= 8; ++lookahead) {
        INFO("lookahead " << lookahead);
        CHECK(allocations_after_first_round(AsMap(.5f), AsBatch(.3f), lookahead) == 0);
        CHECK(allocations_after_first_round(Greedy{}, AsBatch(.3f), lookahead) == 0);
    }
}

TEMPLATE_TEST_CASE("a warm sampler allocates nothing under any rule, on chains and trees", "", TokenVerification,
                   BlockVerification, GreedyMatch, SampleMatch, GumbelMatch, KSeq) {
    const TestType rule;
    CHECK(allocations_of(AsMap(.5f), AsTrees(.3f), rule) == 0);
    CHECK(allocations_of(AsMap(.5f), AsMap(.3f), rule) == 0);
    const auto tree = [](const std::vector<Index>& shape, any::Kind children) {
        return TreeDrafter(AsMap(.5f), shape, any::Children{children});
    };
    for (const auto& shape : {std::vector<Index>{3}, {2, 2}, {2, 1, 1}, {1, 1, 1, 1}}) {
        INFO("a tree of depth " << shape.size());
        CHECK(allocations_of(tree(shape, any::Kind::independent), AsBatch(.3f), rule) == 0);
        CHECK(allocations_of(tree(shape, any::Kind::independent), AsMap(.3f), rule) == 0);
        if constexpr (!std::same_as<TestType, KSeq>)
            for (const any::Kind kind : {any::Kind::without_replacement, any::Kind::top, any::Kind::greedy})
                CHECK(allocations_of(tree(shape, kind), AsBatch(.3f), rule) == 0);
    }
}

TEST_CASE("a warm sampler allocates nothing under lossy rules") {
    const auto check = [](const auto& rule) {
        CHECK(allocations_of(AsMap(.5f), AsTrees(.3f), rule) == 0);
        CHECK(allocations_of(TreeDrafter(AsMap(.5f), {2, 1}), AsBatch(.3f), rule) == 0);
    };
    check(Lenience{.5});
    check(RatioThreshold{.5});
    check(Cactus{.1});
    check(TypicalAcceptance{});
    check(RelaxedTopN{2, .1});
    check(BigLittle{});
    check(Transformed(Mentored<>{.01}, BlockVerification{}));
    check(Transformed(Fuzzy{.1}));
    check(Transformed(TokenV3{.1}));
}

TEST_CASE("rows that are read before the model's next call are not copied") {
    const auto rows_copied = [](auto drafter, const auto& rule) {
        Sampler sampler(drafter, AsSpan(.3f), {.lookahead = 4}, rule);
        std::vector<Token> text;
        watched_size = vocab * sizeof(float);
        const long before = watched;
        (void)sampler.extend(text, {.max_new_tokens = 40, .stop_tokens = {}});
        return watched - before;
    };
    const auto tree = [] { return TreeDrafter(AsSpan(.5f), {3, 2, 1}); };
    CHECK(rows_copied(AsSpan(.5f), TokenVerification{}) == 4);  // the draft's
    CHECK(rows_copied(AsSpan(.5f), GumbelMatch{}) == 0);
    CHECK(rows_copied(Greedy{}, SampleMatch{}) == 0);
    CHECK(rows_copied(Greedy{}, BlockVerification{}) == 5);  // the bottom-up walk reads them again
    CHECK(rows_copied(tree(), GumbelMatch{}) == 0);
    CHECK(rows_copied(tree(), TokenVerification{}) == 10);
}

TEST_CASE("a warm sampler of rows that are values allocates nothing, and copies no more rows") {
    std::vector<int> reversed(vocab);
    for (int i = 0; i < vocab; ++i) reversed[static_cast<std::size_t>(i)] = static_cast<int>(vocab) - 1 - i;
    const IdMap map(reversed, vocab);
    const SamplingParams params{.temperature = .8, .top_k = 20};
    CHECK(allocations_of(AsRow(.5f), AsRows(.3f)) == 0);
    CHECK(allocations_of(AsRow(.5f), AsRow(.3f)) == 0);
    CHECK(allocations_of(TreeDrafter(AsRow(.5f), {2, 2}), AsRows(.3f)) == 0);
    CHECK(allocations_of(shaped(AsRow(.5f), params), shaped(AsRows(.3f), params)) == 0);
    CHECK(allocations_of(mapped(AsRow(.5f), map), AsRows(.3f)) == 0);

    Sampler sampler(AsRow(.5f), AsRow(.3f), {.lookahead = 4});
    watched_size = vocab * sizeof(float);
    const long before = watched;
    std::vector<Token> text;
    (void)sampler.extend(text, {.max_new_tokens = 40, .stop_tokens = {}});
    CHECK(watched - before == 4);  // the draft's
}

TEST_CASE("models with caches allocate nothing") { CHECK(allocations_of(AsMap(.5f), Cached(.3f)) == 0); }

TEST_CASE("targets that take trees allocate nothing") {
    CHECK(allocations_of(TreeDrafter(AsMap(.5f), {2, 2}), AsTrees(.3f)) == 0);
}

TEST_CASE("a warm step allocates nothing, the first one of a text included") {
    Sampler sampler(AsMap(.5f), AsBatch(.3f), {.lookahead = 4});
    const std::vector<Token> text(100, 1);
    const Limits limits{.stop_tokens = {3, 4}};
    CHECK(when_warm([&] { (void)sampler.step(text, limits); }) == 0);
}

TEST_CASE("verify on an engine's memory allocates nothing") {
    const Table draft(.5f), target(.3f);
    const std::array<std::int64_t, 4> tokens{1, 2, 3, 4};
    const std::array distributions{Sampled(draft.rows.row(0)), Sampled(draft.rows.row(1)), Sampled(draft.rows.row(2)),
                                   Sampled(draft.rows.row(3))};
    const Eigen::Map<const RowMajorMatrix<float>> rows(target.rows.data(), 5, vocab);
    Workspace workspace;
    const std::array<std::int32_t, 4> parents{-1, -1, 0, 1};
    const auto warm = [&](const auto& rule) {
        for (const Check check : {Check::entries_read, Check::every_row})
            CHECK(when_warm([&] {
                      for (std::uint64_t request = 0; request < 50; ++request) {
                          const RoundRng rng(1, request, 0);
                          (void)verify(tokens, rules::drafted_for(rule, distributions), rows, rule, rng,
                                       {.check = check}, workspace);
                          (void)verify(Tree{tokens, parents}, rules::drafted_for(rule, distributions), rows, rule, rng,
                                       {.check = check}, workspace);
                      }
                  }) == 0);
    };
    warm(TokenVerification{});
    warm(BlockVerification{});
    warm(SampleMatch{});
    warm(GumbelMatch{});
}

TEST_CASE("a warm sampler of mapped drafts allocates nothing") {
    std::vector<int> reversed(vocab), merging(vocab);
    for (int i = 0; i < vocab; ++i) {
        reversed[static_cast<std::size_t>(i)] = i % 3 == 0 ? -1 : static_cast<int>(vocab) - 1 - i;
        merging[static_cast<std::size_t>(i)] = i % 3 == 0 ? -1 : i / 2;
    }
    for (const auto& list : {reversed, merging}) {
        const IdMap map(list, vocab);
        CHECK(allocations_of(mapped(AsMap(.5f), map), AsBatch(.3f)) == 0);
        CHECK(allocations_of(mapped(from_logits(AsMap(.5f)), map), AsBatch(.3f)) == 0);
    }
}

TEST_CASE("a reserved workspace allocates nothing in its first round, and an empty one does") {
    const Table draft(.5f), target(.3f);
    const std::array<Token, 4> tokens{1, 2, 3, 4};
    const std::array<std::int32_t, 4> parents{-1, -1, 0, 1};
    const std::array distributions{Sampled(draft.rows.row(0)), Sampled(draft.rows.row(1)), Sampled(draft.rows.row(2)),
                                   Sampled(draft.rows.row(3))};
    const std::function<StopDecision(std::span<const Token>)> go_on = [](auto) { return StopDecision::go_on; };
    const auto first_round = [&](const auto& drafted, const auto& rule, Index nodes, Index ids = 0) {
        Workspace workspace;
        workspace.reserve(nodes, ids);
        const long before = allocations;
        const Round round = verify(drafted, distributions, target.rows.topRows(5), rule, RoundRng(1, 2, 3),
                                   {.until = go_on}, workspace);
        const long made = allocations - before;
        CHECK(round);
        return made;
    };
    const auto never = [&](const auto& drafted, const auto& rule, Index ids = 0) {
        CHECK(first_round(drafted, rule, 4, ids) == 0);
        CHECK(first_round(drafted, rule, 0) > 0);
    };
    const Tree tree{std::span(tokens), std::span(parents)};
    never(tokens, TokenVerification{});
    never(tokens, BlockVerification{});
    never(tree, TokenVerification{});
    never(tree, BlockVerification{});
    never(tree, SampleMatch{});
    never(tokens, Transformed(Diff{.2}), vocab);
    CHECK(first_round(tokens, Transformed(Diff{.2}), 4) > 0);  // the rows that replace the target's

    Workspace workspace;
    const std::size_t before = allocated_bytes;
    workspace.reserve(1000);
    const std::size_t bytes = allocated_bytes - before;
    CHECK(bytes > 150 * 1000);
    CHECK(bytes < 170 * 1000);  // about 160 per node, as the documentation says
    CHECK_THROWS_WITH(workspace.reserve(-1), "specsample::Workspace::reserve: nodes is -1, but must be at least 0");
    CHECK_THROWS_WITH(workspace.reserve(1, -2), "specsample::Workspace::reserve: vocab is -2, but must be at least 0");
    CHECK_THROWS_WITH(workspace.reserve(1, 0, -3),
                      "specsample::Workspace::reserve: tree_vocab is -3, but must be at least 0");
}

TEMPLATE_TEST_CASE("a workspace reserved for trees of a vocabulary allocates nothing where siblings are rejected", "",
                   float, double) {
    const auto ids = static_cast<Index>(GENERATE(8, 512, 513));
    std::vector<TestType> target, draft;
    for (Index id = 0; id < ids; ++id) {
        target.push_back(static_cast<TestType>(id % 8));
        draft.push_back(static_cast<TestType>(7 - id % 8));
    }
    const std::vector rows(4, Logits(target));
    const Logits q(draft);
    const std::array<Token, 3> tokens{0, 1, 2};
    const std::array<std::int32_t, 3> parents{-1, -1, -1};
    const std::vector<Token> one{0}, two{0, 1};
    const std::array distributions{Sampled(q, {}), Sampled(q, one), Sampled(q, two)};
    const auto first_round = [&](std::uint64_t seed, Index tree_vocab) {
        Workspace workspace;
        workspace.reserve(3, 0, tree_vocab);
        const long before = allocations;
        const Round round = verify(Tree{std::span(tokens), std::span(parents)}, distributions, rows,
                                   BlockVerification{}, RoundRng(seed, 2, 3), {}, workspace);
        const long made = allocations - before;
        CHECK(round);
        return made;
    };
    long unreserved = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        CHECK(first_round(seed, ids) == 0);
        unreserved += first_round(seed, 0);
    }
    CHECK(unreserved > 0);
}

TEST_CASE("a warm batch allocates nothing, whichever request a slot is given") {
    const Table draft(.5f), target(.3f);
    const std::array<Token, 4> tokens{1, 2, 3, 4};
    const std::array<std::int32_t, 4> parents{-1, -1, 0, 1};
    const std::array distributions{Sampled(draft.rows.row(0)), Sampled(draft.rows.row(1)), Sampled(draft.rows.row(2)),
                                   Sampled(draft.rows.row(3))};
    BatchWorkspace memory;
    std::array<std::int64_t, 8 * 5> ids{};
    CHECK(when_warm([&] {
              for (Index shift = 0; shift < 10; ++shift) {
                  const auto judge = [&](Index slot, Workspace& workspace) {
                      const Index count = (slot + shift) % 5;
                      const auto part = std::span(tokens).first(static_cast<std::size_t>(count));
                      const auto some = slice(distributions, 0, count);
                      const auto rows = slice(target.rows, shift, shift + count + 1);
                      const RoundRng rng(1, static_cast<std::uint64_t>(slot), shift);
                      if ((slot + shift) % 2 == 0)
                          return Request{part, some, rows, BlockVerification{}, rng}(workspace);
                      const Tree tree{part, std::span(parents).first(part.size())};
                      return Request{tree, some, rows, TokenVerification{}, rng}(workspace);
                  };
                  write_padded(verify_batch(8, judge, memory), ids);
              }
          }) == 0);
}

TEST_CASE("an index of n-grams that is written and undone uses its memory again") {
    detail::NgramIndex index(1, 3);
    Token next = 0;
    CHECK(when_warm([&] {
              for (int i = 0; i < 100; ++i) {
                  for (int j = 0; j < 50; ++j) index.push_back(next++);
                  index.truncate(0);
              }
          }) == 0);
}

TEST_CASE("after a prompt no table of a lookup drafter grows for 8192 tokens") {
    std::vector<Token> text;
    for (std::uint32_t i = 0, dice = 1; i < 14000; ++i, dice = dice * 1664525 + 1013904223)
        text.push_back(static_cast<Token>((dice >> 24) % 20));
    const auto bytes_of_reply = [&](auto drafter) {
        DraftTree<PointMass> draft_tree;
        const auto draft = [&](std::size_t size) {
            draft_tree.open(8, {}, 20);
            drafter.propose(std::span(text).first(size), RoundRng(1, 0, 0), draft_tree);
        };
        std::size_t size = 5000;
        for (int i = 0; i < 60; ++i) draft(size += 3);
        const std::size_t before = allocated_bytes;
        for (; size < 5000 + 8192; size += 3) draft(size);
        return allocated_bytes - before;
    };
    CHECK(bytes_of_reply(LookupDrafter({.min_match = 1, .max_match = 8})) == 0);
    CHECK(bytes_of_reply(SuffixLookupDrafter({.nodes = 16})) < 2000);  // the offers of a tree may be more than before
}

TEST_CASE("a warm sampler allocates nothing, whatever drafts") {
    const AsMap draft(.5f), other(.4f);
    const Table rows(.2f);
    const auto heads = [&rows](std::span<const Token>) {
        return Eigen::Map<const RowMajorMatrix<float>>(rows.rows.data(), 3, vocab);
    };
    CHECK(allocations_of_drafter(HeadsDrafter(heads, 3)) == 0);
    CHECK(allocations_of_drafter(HeadsTreeDrafter(heads, expansion_tree({2, 2, 1}))) == 0);
    CHECK(allocations_of_drafter(HybridDrafter(draft, heads, {1, 2, 1})) == 0);
    CHECK(allocations_of_drafter(BeamDrafter(draft, 2)) == 0);
    CHECK(allocations_of_drafter(DynamicTreeDrafter(draft, {.width = 3, .nodes = 8})) == 0);
    CHECK(allocations_of_drafter(United(draft, other, BeamDrafter(draft, 2))) == 0);
    CHECK(allocations_of_drafter(FirstOf(BeamDrafter(draft, 1), other)) == 0);
    choosing::Overlaps overlaps;
    CHECK(allocations_of_drafter(choosing::BestOf(overlaps, draft, other, BeamDrafter(draft, 1))) == 0);
    CHECK(allocations_of_drafter(StagedDrafter(draft, AsBatch(.4f), 2)) == 0);
    CHECK(allocations_of_drafter(StagedDrafter(draft, other, 2)) == 0);
    CHECK(allocations_of_drafter(TreeDrafter(draft, sparse_tree(std::vector<double>{.6, .3}, 6))) == 0);
}

TEST_CASE("all sampling parameters at once allocate nothing once warm") {
    const SamplingParams params{.top_k = 40,
                                .typical_p = .95,
                                .top_n_sigma = 3,
                                .epsilon_cutoff = 1e-5,
                                .eta_cutoff = 1e-4,
                                .xtc = {.probability = 1, .threshold = .01},
                                .dynatemp_range = .5,
                                .repetition_penalty = 1.1,
                                .dry = {.multiplier = .8, .allowed_length = 1, .sequence_breakers = {{7}}},
                                .no_repeat_ngram_size = 3,
                                .bad_words = {{{3}, {1, 2}}},
                                .min_tokens = 500,
                                .stop_token_ids = {4},
                                .thinking = {.start = {9}, .end = {8}, .budget = 1000}};
    Eigen::ArrayXf logits(6000);
    for (Index i = 0; i < logits.size(); ++i) logits[i] = static_cast<float>(i * 7919 % 6000) / 800;
    const Eigen::ArrayXf probs = kernels::softmax(logits);
    std::vector<Token> text(300);
    for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<Token>(i % 11);
    filters::ShapedMemory<float> memory, dense;
    CHECK(when_warm([&] {
              for (std::size_t size = 200; size < 300; ++size) {
                  const auto context = std::span<const Token>(text).first(size);
                  (void)shape(Logits(logits), params, context, memory);
                  (void)shape(probs, params, context, memory);
                  (void)shape(probs, filters::TypicalP{.9}, context, dense);
              }
          }) == 0);
}
