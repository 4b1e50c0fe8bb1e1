// Scores of the C interface; a part of c.cpp.
namespace {

/// Return the last round of a workspace.
const Round& judged(const specsample_workspace& workspace, const char* where) {
    if (!workspace.is_judged) refuse(where, "the last round of the workspace", "not there", "one that was judged");
    return workspace.last;
}

int score_tokens(specsample_workspace& workspace, const specsample_call* given, std::int64_t top,
                 const specsample_token_score** scores, std::int64_t* count) {
    constexpr auto where = "specsample_token_scores";
    const specsample_call& call = checked(given, where, "specsample_call");
    const auto*& result = at(scores, where, "scores");
    std::int64_t& size = at(count, where, "count");
    const Round& round = judged(workspace, where);
    const Rows rows = rows_of(workspace, call, where);
    const auto scored = token_scores(round, rows, workspace.scores, top);
    workspace.top.clear();
    for (const TokenScore& score : scored)
        for (const ScoredId& likely : score.top) workspace.top.push_back({likely.log_prob, likely.id, 0});
    workspace.token_scores.clear();
    const specsample_scored_id* next = workspace.top.data();
    for (const TokenScore& score : scored) {
        const std::int64_t listed = std::ssize(score.top);
        workspace.token_scores.push_back({score.log_prob, score.margin, score.row, next, listed, score.token, 0});
        next += listed;
    }
    result = workspace.token_scores.data();
    size = std::ssize(scored);
    return SPECSAMPLE_OK;
}

int score_drafts(specsample_workspace& workspace, const specsample_call* given, const specsample_draft_score** scores,
                 std::int64_t* count) {
    constexpr auto where = "specsample_draft_scores";
    const specsample_call& call = checked(given, where, "specsample_call");
    const auto*& result = at(scores, where, "scores");
    std::int64_t& size = at(count, where, "count");
    const Round& round = judged(workspace, where);
    if (call.rule != SPECSAMPLE_TOKEN_VERIFICATION && call.rule != SPECSAMPLE_BLOCK_VERIFICATION)
        refuse(where, "call.rule", std::to_string(call.rule), "a rule of ratios");
    const auto tokens = list(call.tokens, call.count, where, "call.tokens");
    if (std::ssize(tokens) != round.proposed)
        refuse(where, "call.count", std::to_string(call.count), "that of the round");
    const detail::Origins origins = origins_of(workspace, call);
    const Rows rows = rows_of(workspace, call, where);
    const auto scored = [&] {
        if (call.parents == nullptr)
            return draft_scores(round, tokens, origins, rows, rng_of(call.rng), workspace.scores);
        workspace.parents.assign(call.parents, call.parents + call.count);
        const Tree<Token, Index> tree{tokens, workspace.parents};
        return draft_scores(round, tree, origins, rows, rng_of(call.rng), workspace.scores);
    }();
    workspace.draft_scores.clear();
    for (const DraftScore& score : scored)
        workspace.draft_scores.push_back(
            {score.log_draft, score.ratio, score.slack, score.node, score.token, score.accepted});
    result = workspace.draft_scores.data();
    size = std::ssize(scored);
    return SPECSAMPLE_OK;
}

}  // namespace

int specsample_token_scores(specsample_workspace* workspace, const specsample_call* call, int64_t top,
                            const specsample_token_score** scores, int64_t* count) {
    return guarded(workspace, [&](auto& memory) -> int { return score_tokens(memory, call, top, scores, count); });
}

int specsample_draft_scores(specsample_workspace* workspace, const specsample_call* call,
                            const specsample_draft_score** scores, int64_t* count) {
    return guarded(workspace, [&](auto& memory) -> int { return score_drafts(memory, call, scores, count); });
}
