// Scores of the C interface; a part of c.cpp.
namespace {

/// Check that there is a round, and return the rows that it is scored in: as many and as long as those it was judged
/// by.
Rows rows_of_scores(specsample_workspace& workspace, const specsample_call& call, const char* where) {
    if (!workspace.is_judged) refuse(where, "the last round of the workspace", "not there", "one that was judged");
    const Rows rows = rows_of(workspace, call, where);
    const Index count = workspace.last.proposed + 1;
    if (rows.count() >= 0 && rows.count() != count)
        refuse(where, "call.row_count", std::to_string(rows.count()),
               ("that of the round, " + std::to_string(count)).c_str());
    workspace.source.vocab = workspace.vocab;
    for (Index i = 0; i < rows.count(); ++i) require_vocab(workspace.vocab, rows[i], i, where);
    return rows;
}

/// Write a list of scores of a call's rows, which f(workspace, rows, list) makes.
template <class Score, class F>
int score(specsample_workspace* of, const specsample_call* given, const char* where,
          std::vector<Score> specsample_workspace::*memory, const Score** scores, std::int64_t* count, const F& f) {
    return guarded(of, [&](specsample_workspace& workspace) {
        const specsample_call& call = checked(given, where, "specsample_call");
        const Score*& result = at(scores, where, "scores");
        std::int64_t& size = at(count, where, "count");
        const Rows rows = rows_of_scores(workspace, call, where);
        std::vector<Score>& list = workspace.*memory;
        list.clear();
        f(workspace, rows, list);
        result = list.data();
        size = std::ssize(list);
    });
}

}  // namespace

int specsample_token_scores(specsample_workspace* of, const specsample_call* given, int64_t top,
                            const specsample_token_score** scores, int64_t* count) {
    const auto make = [&](specsample_workspace& workspace, const Rows& rows, auto& list) {
        const auto scored = token_scores(workspace.last, rows, workspace.scores, top);
        workspace.top.clear();
        for (const TokenScore& score : scored)
            for (const ScoredId& likely : score.top) workspace.top.push_back({likely.log_prob, likely.id, 0});
        const specsample_scored_id* next = workspace.top.data();
        for (const TokenScore& score : scored) {
            const std::int64_t listed = std::ssize(score.top);
            list.push_back({score.log_prob, score.margin, score.row, next, listed, score.token, 0});
            next += listed;
        }
    };
    return score(of, given, "specsample_token_scores", &specsample_workspace::token_scores, scores, count, make);
}

int specsample_draft_scores(specsample_workspace* of, const specsample_call* given,
                            const specsample_draft_score** scores, int64_t* count) {
    constexpr auto where = "specsample_draft_scores";
    const auto make = [&](specsample_workspace& workspace, const Rows& rows, auto& list) {
        if (workspace.rule != SPECSAMPLE_TOKEN_VERIFICATION && workspace.rule != SPECSAMPLE_BLOCK_VERIFICATION)
            refuse(where, "the rule of the round", std::to_string(workspace.rule), "a rule of ratios");
        const detail::Origins origins = workspace.has_origins ? detail::Origins(workspace.origins) : PointMass{};
        const RoundRng rng = rng_of(workspace.rng);
        const auto scored = [&] {
            const std::span<const Token> tokens = workspace.tokens;
            if (!workspace.is_tree) return draft_scores(workspace.last, tokens, origins, rows, rng, workspace.scores);
            const Tree<Token, Index> tree{tokens, workspace.parents};
            return draft_scores(workspace.last, tree, origins, rows, rng, workspace.scores);
        }();
        for (const DraftScore& score : scored)
            list.push_back({score.log_draft, score.ratio, score.slack, score.node, score.token, score.accepted});
    };
    return score(of, given, where, &specsample_workspace::draft_scores, scores, count, make);
}
