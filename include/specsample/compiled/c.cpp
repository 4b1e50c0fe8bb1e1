// The definitions of what <specsample/c.h> declares, on rows and origins that are values; a part of compiled.cpp.
#include <specsample/c.h>

#include <atomic>
#include <cstring>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <specsample/values.hpp>

using namespace specsample;

static_assert(std::is_trivially_copyable_v<Origin> && sizeof(Origin) <= sizeof(specsample_origin::opaque));
static_assert(std::is_same_v<Index, std::ptrdiff_t> && sizeof(Index) <= sizeof(std::int64_t));

struct specsample_workspace {
    Workspace memory{};
    std::vector<Row> rows{};
    std::vector<Origin> origins{};
    std::vector<Index> parents{};
    std::vector<std::int64_t> path{};
    std::string message{};
    std::atomic_flag busy{};
};

namespace {

[[noreturn]] void refuse(const char* where, const char* what, const std::string& is, const char* must) {
    throw std::invalid_argument(std::string(where) + ": " + what + " is " + is + ", but must be " + must);
}

/// Return what a pointer points to.
template <class T>
T& at(T* pointer, const char* where, const char* what) {
    if (pointer == nullptr) refuse(where, what, "null", "the address of one");
    return *pointer;
}

template <class Struct>
Struct& checked(Struct* pointer, const char* where, const char* what) {
    if (at(pointer, where, what).size != sizeof(Struct))
        refuse(where, "the size of a struct", std::to_string(pointer->size),
               ("that of " + std::string(what) + ", " + std::to_string(sizeof(Struct)) + ": SPECSAMPLE_INIT sets it")
                   .c_str());
    return *pointer;
}

template <class T>
std::span<const T> list(const T* data, std::int64_t count, const char* where, const char* what) {
    if (count < 0) refuse(where, "a number of elements", std::to_string(count), "at least 0");
    if (count > 0 && data == nullptr) refuse(where, what, "null", "the address of a list");
    return {data, static_cast<std::size_t>(count)};
}

/// Call f, and turn what it throws into a code and a message.
template <class F>
int guarded(specsample_workspace* workspace, const F& f) {
    if (workspace == nullptr) return SPECSAMPLE_INVALID;
    if (workspace->busy.test_and_set(std::memory_order_acquire)) return SPECSAMPLE_BUSY;
    int code = SPECSAMPLE_INVALID;
    try {
        try {
            code = f(*workspace);
        } catch (const std::bad_alloc&) {
            code = SPECSAMPLE_NO_MEMORY;
            workspace->message = "no memory";
        } catch (const std::exception& error) {
            workspace->message = error.what();
        }
    } catch (...) {  // no memory for the message
        code = SPECSAMPLE_NO_MEMORY;
        workspace->message.clear();
    }
    workspace->busy.clear(std::memory_order_release);
    return code;
}

detail::IdsView ids_of(const specsample_row& row, const char* where) {
    const auto view = [&]<class Id>(Id) { return detail::IdsView(static_cast<const Id*>(row.ids), row.count); };
    switch (row.id_type) {
        case SPECSAMPLE_I32:
            return view(std::int32_t{});
        case SPECSAMPLE_U32:
            return view(std::uint32_t{});
        case SPECSAMPLE_I64:
            return view(std::int64_t{});
        case SPECSAMPLE_U64:
            return view(std::uint64_t{});
        case SPECSAMPLE_U16:
            return view(std::uint16_t{});
        default:
            refuse(where, "row.id_type", std::to_string(row.id_type), "SPECSAMPLE_EVERY_ID, SPECSAMPLE_I32, ..");
    }
}

Row row_of(const specsample_row* given, const char* where) {
    const specsample_row& row = checked(given, where, "specsample_row");
    if (row.scalar < SPECSAMPLE_F32 || row.scalar > SPECSAMPLE_BF16)
        refuse(where, "row.scalar", std::to_string(row.scalar), "SPECSAMPLE_F32, ..");
    if (row.step < 0) refuse(where, "row.step", std::to_string(row.step), "at least 0");
    constexpr Row::Scalar scalars[] = {Row::Scalar::f32, Row::Scalar::f64, Row::Scalar::f16, Row::Scalar::bf16};
    const detail::NumbersView numbers(row.numbers, scalars[row.scalar], row.count, row.step == 0 ? 1 : row.step);
    const auto dense = [&] {
        switch (row.kind) {
            case SPECSAMPLE_PROBS:
                return Row::probs(numbers);
            case SPECSAMPLE_LOGITS:
                return Row::logits(numbers, row.temperature);
            case SPECSAMPLE_NORMALISED_LOGITS:
                return Row::logits(numbers, row.temperature, row.log_sum_exp);
            default:
                refuse(where, "row.kind", std::to_string(row.kind), "SPECSAMPLE_PROBS, ..");
        }
    };
    if (row.id_type == SPECSAMPLE_EVERY_ID) return dense();
    return Row::sparse(ids_of(row, where), dense(), row.vocab);
}

RoundRng rng_of(const specsample_rng& rng) { return {rng.seed, rng.request, rng.round_start}; }

/// Call f with the rule of a number.
template <class F>
auto with_rule(int rule, const char* where, const F& f) {
    switch (rule) {
        case SPECSAMPLE_TOKEN_VERIFICATION:
            return f(TokenVerification{});
        case SPECSAMPLE_BLOCK_VERIFICATION:
            return f(BlockVerification{});
        case SPECSAMPLE_GREEDY_MATCH:
            return f(GreedyMatch{});
        case SPECSAMPLE_SAMPLE_MATCH:
            return f(SampleMatch{});
        case SPECSAMPLE_GUMBEL_MATCH:
            return f(GumbelMatch{});
        default:
            refuse(where, "rule", std::to_string(rule), "SPECSAMPLE_TOKEN_VERIFICATION, ..");
    }
}

constexpr std::uint64_t mark = 0x6e69'6769'726f'7373;  // says that the rest is an Origin

void put(const Origin& origin, specsample_origin& given) {
    given.mark = mark;
    std::memcpy(given.opaque, static_cast<const void*>(&origin), sizeof origin);
}

/// Copy the origins of a call to where they are aligned objects; none if the call has no list.
detail::Origins origins_of(specsample_workspace& workspace, const specsample_call& call) {
    if (call.origins == nullptr) return PointMass{};
    workspace.origins.assign(static_cast<std::size_t>(call.count), Origin());
    for (std::size_t i = 0; i < workspace.origins.size(); ++i) {
        const specsample_origin& given = call.origins[i];
        if (given.mark == mark)
            std::memcpy(static_cast<void*>(&workspace.origins[i]), given.opaque, sizeof(Origin));
        else if (given.mark != 0)
            refuse("specsample_verify", "call.origins", "memory that was not written",
                   "what specsample_draft or specsample_origin_sampled wrote, or zeros");
    }
    return workspace.origins;
}

Rows rows_of(specsample_workspace& workspace, const specsample_call& call, const char* where) {
    const auto rows = list(call.rows, call.row_count, where, "call.rows");
    if (call.row_stride != 0) {
        if (rows.empty()) refuse(where, "call.row_count", "0", "at least 1");
        return Rows(row_of(rows.data(), where), call.row_count, call.row_stride);
    }
    workspace.rows.clear();
    for (const specsample_row& row : rows) workspace.rows.push_back(row_of(&row, where));
    return Rows(workspace.rows);
}

void write(const Round& made, const specsample_call& call, specsample_workspace& workspace, specsample_round& round) {
    workspace.path.assign(made.path.begin(), made.path.end());
    const Index start = call.rng.round_start;
    round.tokens = made.tokens.data();
    round.token_count = std::ssize(made.tokens);
    round.path = workspace.path.data();
    round.accepted = made.accepted;
    round.evaluated = made.evaluated;
    round.proposed = made.proposed;
    round.keep_target = made.keep_target(start);
    round.keep_draft = made.keep_draft(start);
    round.last = static_cast<std::int32_t>(made.last);
    round.end = static_cast<std::int32_t>(made.end);
}

static_assert(static_cast<int>(LastToken::recovered) == SPECSAMPLE_RECOVERED &&
              static_cast<int>(LastToken::bonus) == SPECSAMPLE_BONUS &&
              static_cast<int>(LastToken::matched) == SPECSAMPLE_MATCHED &&
              static_cast<int>(LastToken::stopped) == SPECSAMPLE_STOPPED);
static_assert(static_cast<int>(RoundEnd::none) == SPECSAMPLE_GOES_ON &&
              static_cast<int>(RoundEnd::budget) == SPECSAMPLE_AT_BUDGET &&
              static_cast<int>(RoundEnd::stop_token) == SPECSAMPLE_AT_STOP_TOKEN);

int verify_call(specsample_workspace& workspace, const specsample_call* given, specsample_round* result) {
    constexpr auto where = "specsample_verify";
    const specsample_call& call = checked(given, where, "specsample_call");
    specsample_round& round = checked(result, where, "specsample_round");
    const auto tokens = list(call.tokens, call.count, where, "call.tokens");
    const auto stops = list(call.stop_tokens, call.stop_count, where, "call.stop_tokens");
    if (call.check != SPECSAMPLE_CHECK_READ && call.check != SPECSAMPLE_CHECK_EVERY_ROW)
        refuse(where, "call.check", std::to_string(call.check), "SPECSAMPLE_CHECK_READ, ..");
    const detail::Origins origins = origins_of(workspace, call);
    const Rows rows = rows_of(workspace, call, where);
    const RoundLimits limits{.max_tokens = call.max_tokens == 0 ? unlimited : call.max_tokens,
                             .stop_tokens = stops,
                             .check = call.check == SPECSAMPLE_CHECK_READ ? Check::entries_read : Check::every_row};
    const Round made = with_rule(call.rule, where, [&](const auto& rule) {
        if (call.parents == nullptr)
            return verify(tokens, origins, rows, rule, rng_of(call.rng), limits, workspace.memory);
        workspace.parents.assign(call.parents, call.parents + call.count);
        return verify(Tree<Token, Index>{tokens, workspace.parents}, origins, rows, rule, rng_of(call.rng), limits,
                      workspace.memory);
    });
    if (made.fault) {
        workspace.message = message(made);
        return SPECSAMPLE_FAULT;
    }
    write(made, call, workspace, round);
    return SPECSAMPLE_OK;
}

}  // namespace

int specsample_c_version(void) { return SPECSAMPLE_C_VERSION; }

const char* specsample_simd(void) {
    try {
        return detail::loop_set_name();
    } catch (...) {
        return nullptr;
    }
}

specsample_workspace* specsample_workspace_create(int64_t nodes) {
    try {
        auto* workspace = new specsample_workspace;
        try {
            const auto count = static_cast<std::size_t>(nodes);
            workspace->memory.reserve(nodes);  // which refuses a negative number
            workspace->rows.reserve(count + 1);
            workspace->origins.reserve(count);
            workspace->parents.reserve(count);
            workspace->path.reserve(count);
            return workspace;
        } catch (...) {
            delete workspace;
            return nullptr;
        }
    } catch (...) {
        return nullptr;
    }
}

void specsample_workspace_destroy(specsample_workspace* workspace) { delete workspace; }

const char* specsample_message(const specsample_workspace* workspace) {
    return workspace == nullptr ? "the workspace is null, but must be one of specsample_workspace_create"
                                : workspace->message.c_str();
}

int specsample_draft_node(specsample_workspace* workspace, int rule, const specsample_rng* rng, int64_t node,
                          const specsample_row* row, int64_t depth, const int32_t* without, int64_t without_count,
                          int32_t* token, specsample_origin* origin) {
    return guarded(workspace, [&](specsample_workspace&) -> int {
        constexpr auto where = "specsample_draft";
        const RoundRng random = rng_of(at(rng, where, "rng"));
        const Row from = row_of(row, where);
        const ListRef<Token> removed(list(without, without_count, where, "without"));
        int32_t& drawn = at(token, where, "token");
        with_rule(rule, where, [&](const auto& judge) {
            const auto drafted = draft_token(judge, random, node, from, depth, removed);
            put(drafted.origin, at(origin, where, "origin"));
            drawn = drafted.token;
        });
        return SPECSAMPLE_OK;
    });
}

int specsample_draft(specsample_workspace* workspace, int rule, const specsample_rng* rng, int64_t node,
                     const specsample_row* row, int32_t* token, specsample_origin* origin) {
    return specsample_draft_node(workspace, rule, rng, node, row, node, nullptr, 0, token, origin);
}

void specsample_origin_named(specsample_origin* origin) {
    if (origin != nullptr) *origin = {};
}

int specsample_origin_sampled(specsample_workspace* workspace, const specsample_row* row, const int32_t* without,
                              int64_t without_count, specsample_origin* origin) {
    return guarded(workspace, [&](specsample_workspace&) -> int {
        constexpr auto where = "specsample_origin_sampled";
        const ListRef<Token> removed(list(without, without_count, where, "without"));
        put(Origin::sampled(row_of(row, where), removed), at(origin, where, "origin"));
        return SPECSAMPLE_OK;
    });
}

int specsample_verify(specsample_workspace* workspace, const specsample_call* call, specsample_round* round) {
    return guarded(workspace, [&](specsample_workspace& memory) -> int { return verify_call(memory, call, round); });
}
