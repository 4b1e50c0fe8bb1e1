// The C interface gives the tokens of C++, and a sentence for every mistake.
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include <specsample/c.h>
#include <specsample/core/eigen.hpp>
#include <specsample/values.hpp>

#include "sampler/allocations.hpp"
#include "support/catch.hpp"

using namespace specsample;

/// For requests.cpp.
long allocations_so_far() { return allocations; }

// What another language assumes.
static_assert(sizeof(specsample_row) == 80 && sizeof(specsample_origin) == 320 && sizeof(specsample_rng) == 24);
static_assert(sizeof(specsample_call) == 136 && sizeof(specsample_round) == 80);
static_assert(std::is_standard_layout_v<specsample_call> && std::is_standard_layout_v<specsample_round>);

namespace {

/// A workspace that is destroyed at the end of a test.
struct Space {
    specsample_workspace* get;
    explicit Space(std::int64_t nodes = 8, std::int64_t tree_vocab = 0)
        : get(specsample_workspace_create(nodes, tree_vocab)) {
        REQUIRE(get != nullptr);
    }
    ~Space() { specsample_workspace_destroy(get); }
    Space(const Space&) = delete;
    Space& operator=(const Space&) = delete;
    std::string message() const { return specsample_message(get); }
};

/// The numbers of a row, of a type that a test names, and the row for both languages.
struct AnyRow {
    std::vector<float> floats;
    std::vector<double> doubles;
    std::vector<std::uint16_t> bits;
    std::vector<std::int32_t> ids;
    specsample_row row = SPECSAMPLE_INIT(specsample_row);
    std::optional<Row> value;

    AnyRow(Index vocab, std::uint64_t seed, int kind, int scalar, bool is_sparse) {
        const Rng random({.seed = seed});
        double sum = 0;
        for (Index id = 0; id < vocab; ++id) {
            if (is_sparse && id > 0 && random.uniform(static_cast<std::uint32_t>(2 * id + 1)) < .4) continue;
            ids.push_back(static_cast<std::int32_t>(id));
            doubles.push_back(4 * random.uniform(static_cast<std::uint32_t>(2 * id)));
            sum += std::exp(doubles.back());
        }
        if (kind == SPECSAMPLE_PROBS)
            for (double& x : doubles) x = std::exp(x) / sum;
        floats.assign(doubles.begin(), doubles.end());
        for (const float x : floats)
            bits.push_back(scalar == SPECSAMPLE_F16 ? Eigen::numext::bit_cast<std::uint16_t>(Eigen::half(x))
                                                    : Eigen::numext::bit_cast<std::uint16_t>(Eigen::bfloat16(x)));
        const std::array<const void*, 4> data{floats.data(), doubles.data(), bits.data(), bits.data()};
        const double temperature = std::array{0., .7, 1.}[seed % 3], log_sum = std::log(sum);
        row.numbers = data[static_cast<std::size_t>(scalar)];
        row.count = std::ssize(doubles);
        row.scalar = scalar;
        row.kind = kind;
        row.temperature = kind == SPECSAMPLE_NORMALISED_LOGITS ? 1 : temperature;
        row.log_sum_exp = log_sum;
        constexpr std::array scalars{Row::Scalar::f32, Row::Scalar::f64, Row::Scalar::f16, Row::Scalar::bf16};
        const detail::NumbersView numbers(row.numbers, scalars[static_cast<std::size_t>(scalar)], row.count);
        value = kind == SPECSAMPLE_PROBS    ? Row::probs(numbers)
                : kind == SPECSAMPLE_LOGITS ? Row::logits(numbers, temperature)
                                            : Row::logits(numbers, 1, log_sum);
        if (!is_sparse) return;
        row.ids = ids.data();
        row.id_type = SPECSAMPLE_I32;
        row.vocab = vocab;
        value = Row::sparse(ids, *value, vocab);
    }
    AnyRow(const AnyRow&) = delete;
};

/// Draw and judge a draft in C and in C++.
template <class Rule>
void compare(int number, const Rule& rule, std::uint64_t seed, const Space& space, Workspace& workspace) {
    const Index vocab = std::array{1, 7, 700}[seed % 3], count = static_cast<Index>(seed % 5);
    const bool is_tree = seed % 2 == 0;
    const auto choice = [&](std::uint64_t salt, int end) {
        return static_cast<int>((seed * 31 + salt * 17) % 101) % end;
    };
    const int q_scalar = choice(1, 4), p_scalar = choice(2, 4);
    std::vector<std::unique_ptr<AnyRow>> q, p;
    for (Index i = 0; i <= count; ++i) {
        const auto salt = static_cast<std::uint64_t>(i);
        q.push_back(std::make_unique<AnyRow>(vocab, 2 * seed + 100 * salt, choice(3, 3), q_scalar, choice(4, 3) == 0));
        p.push_back(
            std::make_unique<AnyRow>(vocab, 2 * seed + 100 * salt + 1, choice(5, 3), p_scalar, choice(6, 3) == 0));
    }
    const specsample_rng random{seed, 3, 11};
    const RoundRng rng(seed, 3, 11);
    std::vector<std::int32_t> tokens;
    std::vector<specsample_origin> origins(static_cast<std::size_t>(count));
    std::vector<Origin> values;
    std::vector<std::int64_t> parents;
    std::vector<Index> parents_of_values;
    std::vector<specsample_row> rows;
    std::vector<Row> row_values;
    for (Index i = 0; i < count; ++i) {
        const auto node = static_cast<std::size_t>(i);
        const auto drafted = draft_token(rule, rng, i, *q[node]->value);
        std::int32_t token = -2;
        REQUIRE(specsample_draft(space.get, number, &random, i, &q[node]->row, &token, &origins[node]) ==
                SPECSAMPLE_OK);
        REQUIRE(token == drafted.token);
        tokens.push_back(token);
        values.push_back(drafted.origin);
        if (i % 3 == 1) specsample_origin_named(&origins[node]), values[node] = Origin::named();
        parents.push_back(is_tree && i > 0 ? (i - 1) / 2 : i - 1);
        parents_of_values.push_back(parents.back());
    }
    for (const auto& row : p) rows.push_back(row->row), row_values.push_back(*row->value);

    specsample_call call = SPECSAMPLE_INIT(specsample_call);
    call.rule = number;
    call.check = seed % 4 == 0 ? SPECSAMPLE_CHECK_EVERY_ROW : SPECSAMPLE_CHECK_READ;
    call.rng = random;
    call.tokens = tokens.data(), call.count = count;
    call.parents = is_tree ? parents.data() : nullptr;
    call.origins = seed % 7 == 0 ? nullptr : origins.data();
    call.rows = rows.data(), call.row_count = count + 1;
    call.max_tokens = seed % 6 == 0 ? 2 : 0;
    const std::vector<Token> stops{0};
    if (seed % 5 == 0) call.stop_tokens = stops.data(), call.stop_count = 1;

    RoundLimits limits{.check = seed % 4 == 0 ? Check::every_row : Check::entries_read};
    if (call.max_tokens > 0) limits.max_tokens = 2;
    if (call.stop_count > 0) limits.stop_tokens = stops;
    const detail::Origins given = call.origins == nullptr ? detail::Origins(PointMass{}) : detail::Origins(values);
    const Round expected = verify(Tree{tokens, parents_of_values}, given, row_values, rule, rng, limits, workspace);
    specsample_round round = SPECSAMPLE_INIT(specsample_round);
    const int code = specsample_verify(space.get, &call, &round);
    CAPTURE(seed, number, space.message(), message(expected));
    REQUIRE(code == (expected ? SPECSAMPLE_OK : SPECSAMPLE_FAULT));
    if (!expected) {
        CHECK(space.message() == message(expected));
        return;
    }
    CHECK(std::ranges::equal(std::span(round.tokens, static_cast<std::size_t>(round.token_count)), expected.tokens));
    CHECK(std::ranges::equal(std::span(round.path, static_cast<std::size_t>(round.accepted)), expected.path));
    CHECK((round.accepted == expected.accepted && round.evaluated == expected.evaluated &&
           round.proposed == expected.proposed && round.keep_target == expected.keep_target(11) &&
           round.keep_draft == expected.keep_draft(11) && round.last == static_cast<int>(expected.last) &&
           round.end == static_cast<int>(expected.end)));
}

/// One token after a prefix, from .25 and .75.
struct Small {
    std::vector<float> numbers{.25f, .75f};
    std::vector<std::int32_t> ids{0, 1}, tokens{1};
    specsample_rng rng{1, 2, 3};
    specsample_row row = SPECSAMPLE_INIT(specsample_row);
    specsample_call call = SPECSAMPLE_INIT(specsample_call);
    specsample_round round = SPECSAMPLE_INIT(specsample_round);
    specsample_origin origin{};

    Small() {
        row.numbers = numbers.data(), row.count = 2;
        call.rng = rng;
        call.rows = &row, call.row_count = 1;
    }
};

}  // namespace

TEST_CASE("drafts and rounds of C are those of C++, for every rule and kind of row") {
    REQUIRE(specsample_c_version() == SPECSAMPLE_C_VERSION);
    const std::string set = specsample_simd();
    CHECK((set == "base" || set == "v3" || set == "v4"));
    const Space space;
    Workspace workspace;
    for (std::uint64_t seed = 0; seed < 210; ++seed) {
        compare(SPECSAMPLE_TOKEN_VERIFICATION, TokenVerification{}, seed, space, workspace);
        compare(SPECSAMPLE_BLOCK_VERIFICATION, BlockVerification{}, seed, space, workspace);
        compare(SPECSAMPLE_GREEDY_MATCH, GreedyMatch{}, seed, space, workspace);
        compare(SPECSAMPLE_SAMPLE_MATCH, SampleMatch{}, seed, space, workspace);
        compare(SPECSAMPLE_GUMBEL_MATCH, GumbelMatch{}, seed, space, workspace);
    }
}

TEST_CASE("siblings of C are drawn without their elders, and ids of every type are read") {
    const Space space;
    Small of;
    std::int32_t token = -2;
    const std::int32_t removed = 1;
    CHECK(specsample_draft_node(space.get, 0, &of.rng, 1, &of.row, 0, &removed, 1, &token, &of.origin) ==
          SPECSAMPLE_OK);
    CHECK(token == 0);
    CHECK(specsample_origin_sampled(space.get, &of.row, &removed, 1, &of.origin) == SPECSAMPLE_OK);

    const std::vector<std::uint16_t> u16{3, 60000};
    const std::vector<std::uint32_t> u32{3, 60000};
    const std::vector<std::int64_t> i64{3, 60000};
    const std::vector<std::uint64_t> u64{3, 60000};
    const std::vector<float> sure{0, 1};
    of.row.numbers = sure.data();
    of.row.vocab = 70000;
    const std::array<std::pair<int, const void*>, 4> lists{{{SPECSAMPLE_U16, u16.data()},
                                                            {SPECSAMPLE_U32, u32.data()},
                                                            {SPECSAMPLE_I64, i64.data()},
                                                            {SPECSAMPLE_U64, u64.data()}}};
    for (const auto& [type, ids] : lists) {
        of.row.id_type = type, of.row.ids = ids;
        CHECK(specsample_draft(space.get, 0, &of.rng, 0, &of.row, &token, &of.origin) == SPECSAMPLE_OK);
        CHECK(token == 60000);
    }
}

TEST_CASE("rows of C lie a stride apart, and numbers a step apart") {
    const Space space;
    Small of;
    const std::vector<float> padded{1, 0, 9, 0, 1, 9};
    of.row.numbers = padded.data();
    of.call.tokens = of.tokens.data(), of.call.count = 1;
    of.call.row_count = 2, of.call.row_stride = 3;
    of.tokens[0] = 0;
    REQUIRE(specsample_verify(space.get, &of.call, &of.round) == SPECSAMPLE_OK);
    CHECK(of.round.accepted == 1);
    CHECK(of.round.tokens[1] == 1);
    CHECK(of.round.last == SPECSAMPLE_BONUS);

    const std::vector<float> apart{0, 9, 9, 1};
    of.row.numbers = apart.data(), of.row.step = 3;
    std::int32_t token = -2;
    CHECK(specsample_draft(space.get, 0, &of.rng, 0, &of.row, &token, &of.origin) == SPECSAMPLE_OK);
    CHECK(token == 1);
}

TEST_CASE("a caller's mistakes in C get a code and a sentence, and decide nothing") {
    const Space space;
    const auto refused = [&](const std::string& text, auto&& change, int code = SPECSAMPLE_INVALID) {
        Small of;
        change(of);
        CAPTURE(text);
        CHECK(specsample_verify(space.get, &of.call, &of.round) == code);
        CHECK(space.message() == text);
        CHECK(of.round.tokens == nullptr);
    };
    refused(
        "specsample_verify: the size of a struct is 7, but must be that of specsample_call, 136: SPECSAMPLE_INIT sets "
        "it",
        [](Small& of) { of.call.size = 7; });
    refused(
        "specsample_verify: the size of a struct is 0, but must be that of specsample_row, 80: SPECSAMPLE_INIT sets it",
        [](Small& of) { of.row.size = 0; });
    refused(
        "specsample_verify: the size of a struct is 1, but must be that of specsample_round, 80: SPECSAMPLE_INIT sets "
        "it",
        [](Small& of) { of.round.size = 1; });
    refused("specsample_verify: rule is 5, but must be SPECSAMPLE_TOKEN_VERIFICATION, ..",
            [](Small& of) { of.call.rule = 5; });
    refused("specsample_verify: call.check is 2, but must be SPECSAMPLE_CHECK_READ, ..",
            [](Small& of) { of.call.check = 2; });
    refused("specsample_verify: row.scalar is -1, but must be SPECSAMPLE_F32, ..",
            [](Small& of) { of.row.scalar = -1; });
    refused("specsample_verify: row.kind is 3, but must be SPECSAMPLE_PROBS, ..", [](Small& of) { of.row.kind = 3; });
    refused("specsample_verify: row.step is -1, but must be at least 0", [](Small& of) { of.row.step = -1; });
    refused("specsample_verify: row.id_type is 6, but must be SPECSAMPLE_EVERY_ID, SPECSAMPLE_I32, ..",
            [](Small& of) { of.row.id_type = 6; });
    refused("specsample_verify: call.tokens is null, but must be the address of a list",
            [](Small& of) { of.call.count = 1; });
    refused("specsample_verify: call.rows is null, but must be the address of a list",
            [](Small& of) { of.call.rows = nullptr; });
    refused("specsample_verify: a number of elements is -1, but must be at least 0",
            [](Small& of) { of.call.count = -1; });
    refused("specsample_verify: call.row_count is 0, but must be at least 1",
            [](Small& of) { of.call.row_count = 0, of.call.row_stride = 2; });
    refused(
        "specsample_verify: call.origins is memory that was not written, but must be what specsample_draft or "
        "specsample_origin_sampled wrote, or zeros",
        [](Small& of) {
            of.call.tokens = of.tokens.data(), of.call.count = 1;
            of.origin.mark = 99, of.call.origins = &of.origin;
        });
    refused("specsample::Row: data is null, but must be the address of 2 of its type",
            [](Small& of) { of.row.numbers = nullptr; });
    refused("specsample::Row: size is -1, but must be at least 0", [](Small& of) { of.row.count = -1; });
    refused("specsample::Row::logits: temperature is -1, but must be a finite number >= 0",
            [](Small& of) { of.row.kind = SPECSAMPLE_LOGITS, of.row.temperature = -1; });
    refused("specsample::Row: data is null, but must be the address of 2 of its type",
            [](Small& of) { of.row.id_type = SPECSAMPLE_I32, of.row.vocab = 9; });
    refused("specsample::verify: limits.max_tokens is -1, but must be at least 1",
            [](Small& of) { of.call.max_tokens = -1; });
    refused(
        "target row 0 sums to 0.5, but must sum to 1 within 0.001",
        [](Small& of) {
            of.numbers = {.25f, .25f}, of.row.numbers = of.numbers.data();
        },
        SPECSAMPLE_FAULT);

    Small of;
    CHECK(specsample_verify(space.get, nullptr, &of.round) == SPECSAMPLE_INVALID);
    CHECK(space.message() == "specsample_verify: specsample_call is null, but must be the address of one");
    CHECK(specsample_verify(space.get, &of.call, nullptr) == SPECSAMPLE_INVALID);
    CHECK(specsample_verify(nullptr, &of.call, &of.round) == SPECSAMPLE_INVALID);
    CHECK(std::string(specsample_message(nullptr)) ==
          "the workspace is null, but must be one of specsample_workspace_create");
    CHECK(specsample_workspace_create(-1, 0) == nullptr);
    CHECK(specsample_workspace_create(0, -1) == nullptr);
    specsample_workspace_destroy(nullptr);
    specsample_origin_named(nullptr);

    std::int32_t token = -2;
    CHECK(specsample_draft(space.get, 0, nullptr, 0, &of.row, &token, &of.origin) == SPECSAMPLE_INVALID);
    CHECK(space.message() == "specsample_draft: rng is null, but must be the address of one");
    CHECK(specsample_draft(space.get, 0, &of.rng, 0, &of.row, nullptr, &of.origin) == SPECSAMPLE_INVALID);
    CHECK(space.message() == "specsample_draft: token is null, but must be the address of one");
    CHECK(specsample_draft(space.get, 0, &of.rng, 0, &of.row, &token, nullptr) == SPECSAMPLE_INVALID);
    CHECK(token == -2);
    CHECK(specsample_draft(space.get, 9, &of.rng, 0, &of.row, &token, &of.origin) == SPECSAMPLE_INVALID);
    of.rng.request = std::uint64_t{1} << 32;
    CHECK(specsample_draft(space.get, 0, &of.rng, 0, &of.row, &token, &of.origin) == SPECSAMPLE_INVALID);
}

TEST_CASE("a draft row that was overwritten since the draw is a fault in C, too") {
    const Space space;
    Small of;
    std::int32_t token = -2;
    std::vector<float> reused{.25f, .75f};
    specsample_row row = of.row;
    row.numbers = reused.data();
    REQUIRE(specsample_draft(space.get, 0, &of.rng, 0, &row, &token, &of.origin) == SPECSAMPLE_OK);
    reused[static_cast<std::size_t>(token)] = .5f;
    const std::vector<specsample_row> rows{of.row, of.row};
    of.call.tokens = &token, of.call.count = 1, of.call.origins = &of.origin;
    of.call.rows = rows.data(), of.call.row_count = 2;
    CHECK(specsample_verify(space.get, &of.call, &of.round) == SPECSAMPLE_FAULT);
    CHECK(space.message().find("draft row 0") == 0);
}

TEST_CASE("calls of C allocate nothing within what their workspace was made for") {
    const Space space(3, 16);
    Small of;
    const std::vector<specsample_row> rows(4, of.row);
    std::vector<std::int32_t> tokens(3);
    std::vector<specsample_origin> origins(3);
    const std::vector<std::int64_t> parents{-1, -1, 0};
    of.call.tokens = tokens.data(), of.call.count = 3, of.call.origins = origins.data();
    of.call.rows = rows.data(), of.call.row_count = 4;
    for (const int rule : {SPECSAMPLE_TOKEN_VERIFICATION, SPECSAMPLE_BLOCK_VERIFICATION, SPECSAMPLE_GUMBEL_MATCH}) {
        of.call.rule = rule;
        const long before = allocations;
        for (std::int64_t i = 0; i < 3; ++i) {
            const auto node = static_cast<std::size_t>(i);
            if (specsample_draft(space.get, rule, &of.rng, i, &of.row, &tokens[node], &origins[node]) != SPECSAMPLE_OK)
                FAIL(space.message());
        }
        of.call.parents = nullptr;
        const int chain = specsample_verify(space.get, &of.call, &of.round);
        of.call.parents = parents.data();
        const int tree = specsample_verify(space.get, &of.call, &of.round);
        const long after = allocations;
        CHECK(after == before);
        CHECK(chain == SPECSAMPLE_OK);
        CHECK(tree == SPECSAMPLE_OK);
    }
}

TEST_CASE("a round of C over siblings from logits allocates nothing if its workspace was made for such trees") {
    const std::vector<float> p{0, 1, 2, 3, 4, 5, 6, 7}, q{7, 6, 5, 4, 3, 2, 1, 0};
    specsample_row row = SPECSAMPLE_INIT(specsample_row);
    row.kind = SPECSAMPLE_LOGITS, row.count = 8, row.temperature = 1;
    row.numbers = p.data();
    const std::vector<specsample_row> rows(4, row);
    row.numbers = q.data();
    const std::vector<std::int32_t> tokens{0, 1, 2};
    const std::vector<std::int64_t> parents{-1, -1, -1};
    const auto first_round = [&](std::uint64_t seed, std::int64_t tree_vocab) {
        const Space space(3, tree_vocab);
        std::vector<specsample_origin> origins(3);
        for (std::int64_t i = 0; i < 3; ++i)
            REQUIRE(specsample_origin_sampled(space.get, &row, tokens.data(), i,
                                              &origins[static_cast<std::size_t>(i)]) == SPECSAMPLE_OK);
        specsample_call call = SPECSAMPLE_INIT(specsample_call);
        call.rule = SPECSAMPLE_BLOCK_VERIFICATION;
        call.rng = {seed, 2, 3};
        call.tokens = tokens.data(), call.parents = parents.data(), call.origins = origins.data(), call.count = 3;
        call.rows = rows.data(), call.row_count = 4;
        specsample_round round = SPECSAMPLE_INIT(specsample_round);
        const long before = allocations;
        const int code = specsample_verify(space.get, &call, &round);
        const long made = allocations - before;
        CHECK(code == SPECSAMPLE_OK);
        return made;
    };
    long unreserved = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        CHECK(first_round(seed, 8) == 0);
        unreserved += first_round(seed, 0);
    }
    CHECK(unreserved > 0);
}

TEST_CASE("two threads cannot be inside of one workspace") {
    const Space space;
    std::atomic<int> good = 0, odd = 0;
    const auto work = [&] {
        Small of;
        for (int i = 0; i < 2000; ++i) {
            const int code = specsample_verify(space.get, &of.call, &of.round);
            if (code == SPECSAMPLE_OK)
                ++good;
            else if (code != SPECSAMPLE_BUSY)
                ++odd;
        }
    };
    std::thread other(work);
    work();
    other.join();
    CHECK(good > 0);
    CHECK(odd == 0);
}
