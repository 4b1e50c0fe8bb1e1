// What is around a round in C: shaped rows, rows that are made when they are needed, scores, lookup, batches. All of it
// is that of C++.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <specsample/c.h>
#include <specsample/drafters/suffix_lookup.hpp>
#include <specsample/shaping.hpp>
#include <specsample/values.hpp>

#include "support/catch.hpp"

using namespace specsample;

static_assert(sizeof(specsample_token_score) == 48 && sizeof(specsample_draft_score) == 40);
static_assert(sizeof(specsample_scored_id) == 16 && sizeof(specsample_token_lists) == 24);
static_assert(sizeof(specsample_params) == 336);

long allocations_so_far();  // interface.cpp counts them: one file of a program may

namespace {

struct Space {
    specsample_workspace* get = specsample_workspace_create(8, 0);
    Space() = default;
    ~Space() { specsample_workspace_destroy(get); }
    Space(const Space&) = delete;
    Space& operator=(const Space&) = delete;
    std::string message() const { return specsample_message(get); }
};

struct ParamsInC {
    specsample_shaper* get;
    ParamsInC(const Space& space, const specsample_params& params) : get(specsample_shaper_create(space.get, &params)) {
        CAPTURE(space.message());
        REQUIRE(get != nullptr);
    }
    ~ParamsInC() { specsample_shaper_destroy(get); }
    ParamsInC(const ParamsInC&) = delete;
    ParamsInC& operator=(const ParamsInC&) = delete;
    std::string message() const { return specsample_shaper_message(get); }
};

specsample_params parameters() {
    specsample_params params{};
    specsample_params_init(&params);
    return params;
}

template <class T>
std::vector<T> random_numbers(std::uint64_t seed, Index vocab) {
    std::vector<T> numbers;
    for (Index id = 0; id < vocab; ++id)
        numbers.push_back(static_cast<T>(8 * Rng({.seed = seed}).uniform(static_cast<std::uint32_t>(id)) - 4));
    return numbers;
}

specsample_row logits_row(const std::vector<float>& logits) {
    specsample_row row = SPECSAMPLE_INIT(specsample_row);
    row.numbers = logits.data(), row.count = std::ssize(logits);
    row.kind = SPECSAMPLE_LOGITS, row.temperature = 1;
    return row;
}

/// Shape one row in both languages, and compare every number.
void compare_shaped(const ParamsInC& shaper, const SamplingParams& params, std::span<const Token> text, Index vocab,
                    std::uint64_t seed) {
    const auto logits = random_numbers<float>(seed, vocab);
    const specsample_row row = logits_row(logits);
    specsample_row shaped = SPECSAMPLE_INIT(specsample_row);
    const int code = specsample_shape(shaper.get, 3, &row, text.data(), std::ssize(text), &shaped);
    CAPTURE(shaper.message());
    REQUIRE(code == SPECSAMPLE_OK);
    filters::ShapedMemory<Row> memory;
    const Row expected = shape(Row::logits(logits), params, text, memory);
    const detail::RowParts& parts = detail::parts_of(expected);
    REQUIRE(shaped.count == parts.numbers.size());
    CHECK(shaped.kind == SPECSAMPLE_LOGITS);
    CHECK(shaped.temperature == parts.temperature);
    CHECK((shaped.id_type == SPECSAMPLE_EVERY_ID) == (parts.ids.size() < 0));
    CHECK(shaped.refused == 0);
    const auto size = static_cast<std::size_t>(shaped.count);
    CHECK(std::ranges::equal(std::span(static_cast<const float*>(shaped.numbers), size),
                             std::span(static_cast<const float*>(parts.numbers.data()), size)));
    if (parts.ids.size() >= 0) {
        CHECK(shaped.vocab == vocab);
        CHECK(std::ranges::equal(std::span(static_cast<const Token*>(shaped.ids), size),
                                 std::span(static_cast<const Token*>(parts.ids.data()), size)));
    }
}

/// A chain of two tokens, drafted by argmax, and its call.
struct Chain {
    std::vector<std::vector<float>> logits;
    std::vector<specsample_row> rows;
    std::vector<Row> values;
    std::vector<std::int32_t> tokens{1, 2};
    specsample_call call = SPECSAMPLE_INIT(specsample_call);
    specsample_round round = SPECSAMPLE_INIT(specsample_round);

    explicit Chain(std::uint64_t seed, Index vocab = 40) {
        for (std::uint64_t i = 0; i < 3; ++i) logits.push_back(random_numbers<float>(10 * seed + i, vocab));
        for (const auto& numbers : logits) rows.push_back(logits_row(numbers)), values.push_back(Row::logits(numbers));
        for (std::size_t i = 0; i < 2; ++i)
            tokens[i] = static_cast<std::int32_t>(std::ranges::max_element(logits[i]) - logits[i].begin());
        call.tokens = tokens.data(), call.count = 2;
        call.rows = rows.data(), call.row_count = 3;
        call.rng = {seed, 0, 0};
    }
    Chain(const Chain&) = delete;
};

}  // namespace

TEST_CASE("rows are shaped in C as in C++, by every parameter") {
    const Space space;
    const std::vector<Token> text{1, 2, 3, 7, 7, 2, 3, 9, 2, 3};
    std::vector<specsample_params> given(8, parameters());
    std::vector<SamplingParams> same(8);
    given[0].temperature = same[0].temperature = .7;
    given[0].top_k = same[0].top_k = 20;
    given[0].top_p = same[0].top_p = .9;
    given[0].min_p = same[0].min_p = .01;
    given[0].repetition_penalty = same[0].repetition_penalty = 1.3;
    given[1].frequency_penalty = same[1].frequency_penalty = .4;
    given[1].presence_penalty = same[1].presence_penalty = .2;
    given[1].penalty_last_n = same[1].penalty_last_n = 6;
    given[1].prompt_size = same[1].prompt_size = 5;
    given[1].typical_p = same[1].typical_p = .7;
    given[2].top_n_sigma = same[2].top_n_sigma = 1;
    given[2].xtc_probability = same[2].xtc.probability = 1;
    given[2].xtc_threshold = same[2].xtc.threshold = .02;
    given[2].xtc_seed = same[2].xtc.seed = 9;
    given[3].dynatemp_range = same[3].dynatemp_range = .5;
    given[3].dynatemp_exponent = same[3].dynatemp_exponent = 2;
    given[3].epsilon_cutoff = same[3].epsilon_cutoff = .01;
    given[3].eta_cutoff = same[3].eta_cutoff = .02;
    const std::vector<std::int32_t> flat{9, 2, 5, 6};
    const std::vector<std::int64_t> sizes{2, 1, 1};
    given[4].dry_multiplier = same[4].dry.multiplier = 2;
    given[4].dry_base = same[4].dry.base = 1.5;
    given[4].dry_allowed_length = same[4].dry.allowed_length = 1;
    given[4].dry_last_n = same[4].dry.last_n = 9;
    given[4].dry_breakers = {flat.data(), sizes.data(), 3};
    same[4].dry.sequence_breakers = {{9, 2}, {5}, {6}};
    given[5].bad_words = {flat.data(), sizes.data(), 3};
    same[5].bad_words.token_ids = {{9, 2}, {5}, {6}};
    given[5].no_repeat_ngram_size = same[5].no_repeat_ngram_size = 3;
    given[5].min_tokens = same[5].min_tokens = 30;
    given[5].stop_tokens = flat.data(), given[5].stop_count = 2;
    same[5].stop_token_ids = {9, 2};
    const std::vector<double> biases{3, -std::numeric_limits<double>::infinity()};
    given[6].bias_tokens = flat.data(), given[6].biases = biases.data(), given[6].bias_count = 2;
    same[6].logit_bias = {{9, biases[0]}, {2, biases[1]}};
    const std::vector<std::int64_t> markers{1, 2};
    given[6].thinking = {flat.data(), markers.data(), 2};
    given[6].thinking_budget = 1;
    same[6].thinking = {{9}, {2, 5}, 1};
    static const std::vector<std::uint32_t> words(20, 0x0f0f0f0f);
    given[7].mask_of = [](void* context, const std::int32_t*, std::int64_t count, std::int64_t* size) {
        *static_cast<std::int64_t*>(context) = count;
        *size = std::ssize(words);
        return words.data();
    };
    std::int64_t seen = -1;
    given[7].mask_context = &seen;
    same[7].mask = words;
    for (std::size_t i = 0; i < given.size(); ++i) {
        if (i < 7) same[i].prompt_size = given[i].prompt_size;
        const ParamsInC shaper(space, given[i]);
        CAPTURE(i);
        for (std::uint64_t seed = 0; seed < 6; ++seed) {
            const auto length = static_cast<std::size_t>(seed == 5 ? 0 : 10 - seed);
            compare_shaped(shaper, same[i], std::span(text).first(length), seed % 2 == 0 ? 640 : 30, seed);
        }
    }
    CHECK(seen == 0);
}

TEST_CASE("a row that a shaper of C refuses is a fault of every round") {
    const Space space;
    specsample_params params = parameters();
    params.top_k = 2;
    const ParamsInC shaper(space, params);
    auto logits = random_numbers<float>(1, 300);
    logits[200] = std::numeric_limits<float>::quiet_NaN();
    const specsample_row row = logits_row(logits);
    specsample_row shaped = SPECSAMPLE_INIT(specsample_row);
    REQUIRE(specsample_shape(shaper.get, 0, &row, nullptr, 0, &shaped) == SPECSAMPLE_OK);
    CHECK(shaped.refused != 0);
    Chain of(1);
    of.call.count = 0, of.call.rows = &shaped, of.call.row_count = 1;
    CHECK(specsample_verify(space.get, &of.call, &of.round) == SPECSAMPLE_FAULT);
    CHECK(space.message() == "target row 0 is nan at id 200, but must be finite");
}

TEST_CASE("a round of C asks for the rows that it needs, and its rows may be shaped there") {
    const Space space;
    specsample_params params = parameters();
    params.temperature = .8, params.top_k = 12;
    const ParamsInC shaper(space, params);
    const SamplingParams same{.temperature = .8, .top_k = 12};
    struct Request {
        const Chain& chain;
        const ParamsInC& shaper;
        std::vector<std::int64_t> asked{};
        std::int64_t broken = -1;
    };
    const specsample_row_of row_of = [](void* context, std::int64_t i, specsample_row* row) {
        auto& request = *static_cast<Request*>(context);
        request.asked.push_back(i);
        if (i == request.broken) return 7;
        const auto& raw = request.chain.rows[static_cast<std::size_t>(i)];
        return specsample_shape(request.shaper.get, i, &raw, request.chain.tokens.data(), i, row);
    };
    std::size_t asked = 0, rejected = 0;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        Chain of(seed);
        Request request{of, shaper};
        of.call.rows = nullptr, of.call.row_count = 0;
        of.call.row_of = row_of, of.call.row_context = &request;
        const int code = specsample_verify(space.get, &of.call, &of.round);
        CAPTURE(space.message());
        REQUIRE(code == SPECSAMPLE_OK);
        std::array<filters::ShapedMemory<Row>, 3> memory;
        const auto shaped = [&](Index i) {
            const auto place = static_cast<std::size_t>(i);
            return shape(of.values[place], same, std::span(of.tokens).first(place), memory[place]);
        };
        Workspace workspace;
        const Round expected =
            verify(of.tokens, PointMass{}, Rows(shaped), TokenVerification{}, RoundRng(seed, 0, 0), {}, workspace);
        CHECK(std::ranges::equal(std::span(of.round.tokens, static_cast<std::size_t>(of.round.token_count)),
                                 expected.tokens));
        asked += request.asked.size();
        rejected += of.round.accepted < 2 ? 1 : 0;

        request.broken = 0;
        CHECK(specsample_verify(space.get, &of.call, &of.round) == SPECSAMPLE_INVALID);
        CHECK(space.message() == "specsample_verify: what call.row_of returned for row 0 is 7, but must be 0");
    }
    CHECK(rejected > 5);
    CHECK(asked < 120);
}

TEST_CASE("scores of C are those of C++, of the round's rows and of others") {
    const Space space;
    std::size_t scored = 0;
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
        Chain of(seed);
        const bool is_tree = seed % 2 == 0;
        const std::vector<std::int64_t> parents{-1, -1};
        const std::vector<Index> same_parents{-1, -1};
        std::vector<specsample_origin> origins(2);
        std::vector<Origin> values;
        for (std::size_t i = 0; i < 2; ++i) {
            const auto node = static_cast<Index>(i);
            REQUIRE(specsample_draft(space.get, 0, &of.call.rng, node, &of.rows[2], &of.tokens[i], &origins[i]) ==
                    SPECSAMPLE_OK);
            values.push_back(draft_token(TokenVerification{}, RoundRng(seed, 0, 0), node, of.values[2]).origin);
        }
        of.call.origins = origins.data();
        of.call.parents = is_tree ? parents.data() : nullptr;
        of.call.rule = is_tree ? SPECSAMPLE_TOKEN_VERIFICATION : SPECSAMPLE_BLOCK_VERIFICATION;
        REQUIRE(specsample_verify(space.get, &of.call, &of.round) == SPECSAMPLE_OK);

        Workspace workspace;
        Scores memory;
        const RoundRng rng(seed, 0, 0);
        const Round round =
            is_tree ? verify(Tree{of.tokens, same_parents}, values, of.values, TokenVerification{}, rng, {}, workspace)
                    : verify(of.tokens, values, of.values, BlockVerification{}, rng, {}, workspace);
        const auto compare = [&](const specsample_call& call, std::span<const Row> rows, Index top) {
            const specsample_token_score* scores = nullptr;
            std::int64_t count = -1;
            REQUIRE(specsample_token_scores(space.get, &call, top, &scores, &count) == SPECSAMPLE_OK);
            const auto expected = token_scores(round, rows, memory, top);
            REQUIRE(count == std::ssize(expected));
            for (std::size_t i = 0; i < expected.size(); ++i) {
                CHECK((scores[i].token == expected[i].token && scores[i].row == expected[i].row &&
                       scores[i].log_prob == expected[i].log_prob && scores[i].margin == expected[i].margin));
                REQUIRE(scores[i].top_count == std::ssize(expected[i].top));
                for (std::size_t j = 0; j < expected[i].top.size(); ++j)
                    CHECK((scores[i].top[j].id == expected[i].top[j].id &&
                           scores[i].top[j].log_prob == expected[i].top[j].log_prob));
            }
        };
        compare(of.call, of.values, 0);
        compare(of.call, of.values, 5);
        specsample_call other = of.call;
        const std::vector<specsample_row> others{of.rows[1], of.rows[2], of.rows[0]};
        const std::vector<Row> other_values{of.values[1], of.values[2], of.values[0]};
        other.rows = others.data();
        compare(other, other_values, 2);

        const specsample_draft_score* drafts = nullptr;
        std::int64_t count = -1;
        REQUIRE(specsample_draft_scores(space.get, &of.call, &drafts, &count) == SPECSAMPLE_OK);
        const auto expected = is_tree
                                  ? draft_scores(round, Tree{of.tokens, same_parents}, values, of.values, rng, memory)
                                  : draft_scores(round, of.tokens, values, of.values, rng, memory);
        REQUIRE(count == std::ssize(expected));
        for (std::size_t i = 0; i < expected.size(); ++i, ++scored)
            CHECK((drafts[i].node == expected[i].node && drafts[i].token == expected[i].token &&
                   drafts[i].log_draft == expected[i].log_draft && drafts[i].ratio == expected[i].ratio &&
                   drafts[i].slack == expected[i].slack && (drafts[i].accepted != 0) == expected[i].accepted));
    }
    CHECK(scored > 40);
}

TEST_CASE("lookup of C drafts what the drafter of C++ drafts") {
    const Space space;
    specsample_lookup* lookup = specsample_lookup_create(space.get, 6, 2, 1);
    REQUIRE(lookup != nullptr);
    SuffixLookupDrafter drafter({.nodes = 6, .width = 2, .min_match = 1});
    DraftTree<PointMass> tree;
    const std::vector<Token> learned{5, 6, 7, 8, 5, 6, 9};
    REQUIRE(specsample_lookup_learn(space.get, lookup, learned.data(), std::ssize(learned)) == SPECSAMPLE_OK);
    drafter.learn(learned);
    std::vector<Token> text{1, 5, 6};
    std::int64_t drafted_in_all = 0;
    for (int i = 0; i < 12; ++i) {
        if (i == 8) {
            text.resize(4);
        }
        std::array<std::int32_t, 6> tokens{};
        std::array<std::int64_t, 6> parents{};
        std::int64_t drafted = -1;
        REQUIRE(specsample_lookup_draft(space.get, lookup, text.data(), std::ssize(text), 3, 20, tokens.data(),
                                        parents.data(), &drafted) == SPECSAMPLE_OK);
        tree.open(3, {}, 20);
        drafter.propose(text, RoundRng(0, 0, 0), tree);
        REQUIRE(drafted == tree.size());
        for (Index node = 0; node < drafted; ++node) {
            CHECK(tokens[static_cast<std::size_t>(node)] == tree.token(node));
            CHECK(parents[static_cast<std::size_t>(node)] == tree.parent(node));
        }
        drafted_in_all += drafted;
        text.push_back(drafted > 0 ? tokens[0] : static_cast<Token>(i % 4 + 4));
    }
    CHECK(drafted_in_all > 20);
    specsample_lookup_destroy(lookup);
    specsample_lookup_destroy(nullptr);
}

TEST_CASE("a batch of C judges each request as alone, by any loop, and one that fails leaves the others") {
    constexpr std::size_t count = 5;
    std::vector<Space> spaces(count);
    std::vector<specsample_workspace*> workspaces;
    for (const Space& space : spaces) workspaces.push_back(space.get);
    std::vector<std::unique_ptr<Chain>> chains;
    for (std::uint64_t i = 0; i < count; ++i) chains.push_back(std::make_unique<Chain>(i));
    chains[2]->logits[0][3] = std::numeric_limits<float>::quiet_NaN();
    chains[4]->call.rule = 99;
    std::vector<specsample_call> calls;
    for (const auto& chain : chains) calls.push_back(chain->call);

    const specsample_parallel_for on_threads = [](void* context, std::int64_t n, specsample_body body, void* state) {
        ++*static_cast<int*>(context);
        std::vector<std::thread> threads;
        for (std::int64_t i = n - 1; i >= 0; --i) threads.emplace_back(body, state, i);
        for (std::thread& thread : threads) thread.join();
        body(state, n), body(state, -1);  // requests that there are not
    };
    int loops = 0;
    for (const specsample_parallel_for loop : {specsample_parallel_for{}, on_threads}) {
        std::vector<specsample_round> rounds(count, SPECSAMPLE_INIT(specsample_round));
        std::vector<int> codes(count, 77);
        CHECK(specsample_verify_batch(workspaces.data(), calls.data(), count, rounds.data(), codes.data(), loop,
                                      &loops) == SPECSAMPLE_FAULT);
        CHECK(codes ==
              std::vector<int>{SPECSAMPLE_OK, SPECSAMPLE_OK, SPECSAMPLE_FAULT, SPECSAMPLE_OK, SPECSAMPLE_INVALID});
        CHECK(spaces[2].message() == "target row 0 is nan at id 3, but must be finite");
        for (const std::size_t i : {0u, 1u, 3u}) {
            const Space alone;
            specsample_round expected = SPECSAMPLE_INIT(specsample_round);
            REQUIRE(specsample_verify(alone.get, &calls[i], &expected) == SPECSAMPLE_OK);
            CHECK(std::ranges::equal(std::span(rounds[i].tokens, static_cast<std::size_t>(rounds[i].token_count)),
                                     std::span(expected.tokens, static_cast<std::size_t>(expected.token_count))));
        }
    }
    CHECK(loops == 1);
    const specsample_parallel_for none = [](void*, std::int64_t, specsample_body, void*) {};
    std::vector<specsample_round> rounds(count, SPECSAMPLE_INIT(specsample_round));
    std::vector<int> codes(count);
    CHECK(specsample_verify_batch(workspaces.data(), calls.data(), 2, rounds.data(), codes.data(), none, nullptr) ==
          SPECSAMPLE_INVALID);
    CHECK(specsample_verify_batch(nullptr, nullptr, 0, nullptr, nullptr, nullptr, nullptr) == SPECSAMPLE_OK);
    CHECK(specsample_verify_batch(workspaces.data(), calls.data(), 1, rounds.data(), nullptr, nullptr, nullptr) ==
          SPECSAMPLE_INVALID);
    CHECK(specsample_verify_batch(workspaces.data(), calls.data(), -1, rounds.data(), codes.data(), nullptr, nullptr) ==
          SPECSAMPLE_INVALID);
}

TEST_CASE("mistakes around a round of C get a sentence") {
    const Space space;
    const auto refused = [&](const std::string& text, auto&& change) {
        specsample_params params = parameters();
        change(params);
        CAPTURE(text);
        CHECK(specsample_shaper_create(space.get, &params) == nullptr);
        CHECK(space.message() == text);
    };
    refused(
        "specsample_shaper_create: the size of a struct is 0, but must be that of specsample_params, 336: "
        "SPECSAMPLE_INIT sets it",
        [](specsample_params& params) { params.size = 0; });
    refused("specsample::Temperature: temperature is -1, but must be a finite number >= 0",
            [](specsample_params& params) { params.temperature = -1; });
    refused("specsample_shaper_create: params.thinking.count is 1, but must be 0 or 2", [](specsample_params& params) {
        static const std::int64_t one = 0;
        params.thinking = {nullptr, &one, 1};
    });
    refused("specsample_shaper_create: params.biases is null, but must be the address of a list",
            [](specsample_params& params) {
                static const std::int32_t token = 1;
                params.bias_tokens = &token, params.bias_count = 1;
            });
    refused("specsample::specsample_shaper_create: params.prompt_size is -1, but must be at least 0",
            [](specsample_params& params) { params.prompt_size = -1; });
    CHECK(specsample_shaper_create(space.get, nullptr) == nullptr);
    CHECK(space.message() == "specsample_shaper_create: specsample_params is null, but must be the address of one");
    CHECK(specsample_shaper_create(nullptr, nullptr) == nullptr);
    specsample_shaper_destroy(nullptr);
    specsample_params_init(nullptr);
    CHECK(std::string(specsample_shaper_message(nullptr)) ==
          "the shaper is null, but must be one of specsample_shaper_create");

    specsample_params params = parameters();
    params.mask_of = [](void*, const std::int32_t*, std::int64_t, std::int64_t*) -> const std::uint32_t* {
        return nullptr;
    };
    const ParamsInC shaper(space, params);
    const auto logits = random_numbers<float>(1, 9);
    const specsample_row row = logits_row(logits);
    specsample_row shaped = SPECSAMPLE_INIT(specsample_row);
    CHECK(specsample_shape(shaper.get, 0, &row, nullptr, 0, &shaped) == SPECSAMPLE_INVALID);
    CHECK(shaper.message() ==
          "specsample_shape: what params.mask_of returned is null, but must be the words of a mask");
    CHECK(specsample_shape(shaper.get, -1, &row, nullptr, 0, &shaped) == SPECSAMPLE_INVALID);
    CHECK(shaper.message() == "specsample_shape: slot is -1, but must be in 0 .. 2^20 - 1");
    CHECK(specsample_shape(shaper.get, 0, &row, nullptr, 2, &shaped) == SPECSAMPLE_INVALID);
    CHECK(shaper.message() == "specsample_shape: text is null, but must be the address of a list");
    CHECK(specsample_shape(shaper.get, 0, &row, nullptr, 0, nullptr) == SPECSAMPLE_INVALID);
    CHECK(specsample_shape(nullptr, 0, &row, nullptr, 0, &shaped) == SPECSAMPLE_INVALID);

    Chain of(1);
    const specsample_token_score* scores = nullptr;
    const specsample_draft_score* drafts = nullptr;
    std::int64_t count = 0;
    CHECK(specsample_token_scores(space.get, &of.call, 0, &scores, &count) == SPECSAMPLE_INVALID);
    CHECK(space.message() ==
          "specsample_token_scores: the last round of the workspace is not there, but must be one that was judged");
    REQUIRE(specsample_verify(space.get, &of.call, &of.round) == SPECSAMPLE_OK);
    CHECK(specsample_token_scores(space.get, &of.call, 65, &scores, &count) == SPECSAMPLE_INVALID);
    CHECK(space.message() == "specsample::token_scores: top is 65, but must be 0 to 64");
    CHECK(specsample_token_scores(space.get, &of.call, 0, nullptr, &count) == SPECSAMPLE_INVALID);
    specsample_call fewer = of.call;
    fewer.row_count = 1;
    CHECK(specsample_token_scores(space.get, &fewer, 0, &scores, &count) == SPECSAMPLE_INVALID);
    CHECK(space.message() == "specsample_token_scores: call.row_count is 1, but must be that of the round, 3");
    CHECK(specsample_draft_scores(space.get, &fewer, &drafts, &count) == SPECSAMPLE_INVALID);
    std::vector<specsample_row> short_rows = of.rows;
    short_rows[1].count = 2;
    specsample_call shorter = of.call;
    shorter.rows = short_rows.data();
    CHECK(specsample_draft_scores(space.get, &shorter, &drafts, &count) == SPECSAMPLE_INVALID);
    CHECK(space.message() ==
          "specsample_draft_scores: the vocabulary of row 1 is 2, but must be that of the round, 40");
    shorter.rows = nullptr, shorter.row_context = &short_rows;
    shorter.row_of = [](void* context, std::int64_t i, specsample_row* made) {
        *made = (*static_cast<std::vector<specsample_row>*>(context))[static_cast<std::size_t>(i) + 1];
        return 0;
    };
    CHECK(specsample_token_scores(space.get, &shorter, 0, &scores, &count) == SPECSAMPLE_INVALID);
    CHECK(space.message() ==
          "specsample_token_scores: the vocabulary of row 0 is 2, but must be that of the round, 40");
    of.call.rule = SPECSAMPLE_GUMBEL_MATCH;
    REQUIRE(specsample_verify(space.get, &of.call, &of.round) == SPECSAMPLE_OK);
    CHECK(specsample_draft_scores(space.get, &of.call, &drafts, &count) == SPECSAMPLE_INVALID);
    CHECK(space.message() == "specsample_draft_scores: the rule of the round is 4, but must be a rule of ratios");
    of.call.rule = 99;  // after a call that was refused there is no round
    CHECK(specsample_verify(space.get, &of.call, &of.round) == SPECSAMPLE_INVALID);
    CHECK(specsample_token_scores(space.get, &of.call, 0, &scores, &count) == SPECSAMPLE_INVALID);

    CHECK(specsample_lookup_create(space.get, 0, 1, 1) == nullptr);
    CHECK(space.message() == "specsample::SuffixLookupDrafter: nodes is 0, but must be at least 1");
    CHECK(specsample_lookup_learn(space.get, nullptr, nullptr, 0) == SPECSAMPLE_INVALID);
    CHECK(space.message() == "specsample_lookup_learn: lookup is null, but must be the address of one");
}

TEST_CASE("shaping and scores of C allocate nothing once they are warm") {
    const Space space;
    specsample_params params = parameters();
    params.temperature = .8, params.top_k = 20, params.repetition_penalty = 1.2;
    const ParamsInC shaper(space, params);
    Chain of(3, 500);
    specsample_row shaped = SPECSAMPLE_INIT(specsample_row);
    const specsample_token_score* scores = nullptr;
    std::int64_t count = 0;
    const std::vector<std::int32_t> text{1, 2, 3, 4, 1, 2};
    long before = 0;
    for (int i = 0; i < 3; ++i) {
        if (i == 2) before = allocations_so_far();
        REQUIRE(specsample_shape(shaper.get, 0, &of.rows[0], text.data(), std::ssize(text), &shaped) == SPECSAMPLE_OK);
        REQUIRE(specsample_verify(space.get, &of.call, &of.round) == SPECSAMPLE_OK);
        REQUIRE(specsample_token_scores(space.get, &of.call, 4, &scores, &count) == SPECSAMPLE_OK);
    }
    const long after = allocations_so_far();
    CHECK(after == before);
}
