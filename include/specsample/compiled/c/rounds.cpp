// Draws and rounds of the C interface; a part of c.cpp.
namespace {

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
    if (call.rows == nullptr && call.row_of != nullptr) {
        workspace.source = {call.row_of, call.row_context, where};
        return Rows(workspace.source);
    }
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
    workspace.is_judged = false;
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
    workspace.last = made;
    workspace.tokens.assign(tokens.begin(), tokens.end());
    workspace.rng = call.rng;
    workspace.rule = call.rule;
    workspace.vocab = rows.count() < 0 ? workspace.source.first : rows[0].size();
    workspace.is_tree = call.parents != nullptr;
    workspace.has_origins = call.origins != nullptr;
    workspace.is_judged = true;
    return SPECSAMPLE_OK;
}

/// The requests of specsample_verify_batch.
struct Batch {
    specsample_workspace* const* workspaces;
    const specsample_call* calls;
    std::int64_t count;
    specsample_round* rounds;
    int* codes;

    void judge(std::int64_t i) const {
        if (i >= 0 && i < count) codes[i] = specsample_verify(workspaces[i], calls + i, rounds + i);
    }
};

}  // namespace

int specsample_c_version(void) { return SPECSAMPLE_C_VERSION; }

const char* specsample_simd(void) {
    try {
        return detail::loop_set_name();
    } catch (...) {
        return nullptr;
    }
}

specsample_workspace* specsample_workspace_create(int64_t nodes, int64_t tree_vocab) {
    try {
        auto workspace = std::make_unique<specsample_workspace>();
        workspace->memory.reserve(nodes, 0, tree_vocab);  // which refuses negative numbers
        const auto count = static_cast<std::size_t>(nodes);
        workspace->rows.reserve(count + 1);
        workspace->origins.reserve(count);
        workspace->tokens.reserve(count);
        workspace->parents.reserve(count);
        workspace->path.reserve(count);
        return workspace.release();
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
    return guarded(workspace, [&](specsample_workspace&) {
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
    return guarded(workspace, [&](specsample_workspace&) {
        constexpr auto where = "specsample_origin_sampled";
        const ListRef<Token> removed(list(without, without_count, where, "without"));
        put(Origin::sampled(row_of(row, where), removed), at(origin, where, "origin"));
    });
}

int specsample_verify(specsample_workspace* workspace, const specsample_call* call, specsample_round* round) {
    return guarded(workspace, [&](specsample_workspace& memory) { return verify_call(memory, call, round); });
}

int specsample_verify_batch(specsample_workspace* const* workspaces, const specsample_call* calls, int64_t count,
                            specsample_round* rounds, int* codes, specsample_parallel_for loop, void* context) {
    if (count < 0) return SPECSAMPLE_INVALID;
    if (count == 0) return SPECSAMPLE_OK;
    if (workspaces == nullptr || calls == nullptr || rounds == nullptr || codes == nullptr) return SPECSAMPLE_INVALID;
    std::fill_n(codes, count, SPECSAMPLE_INVALID);  // of a request that the loop leaves out
    Batch batch{workspaces, calls, count, rounds, codes};
    const specsample_body body = [](void* state, std::int64_t i) { static_cast<const Batch*>(state)->judge(i); };
    if (loop == nullptr)
        for (std::int64_t i = 0; i < count; ++i) batch.judge(i);
    else
        loop(context, count, body, &batch);
    const int* bad = std::find_if(codes, codes + count, [](int code) { return code != SPECSAMPLE_OK; });
    return bad == codes + count ? SPECSAMPLE_OK : *bad;
}
