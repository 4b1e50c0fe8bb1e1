// One input judged by a rule, and all conditions on the result.
#pragma once

#include "fuzz/input.hpp"

namespace fuzz {

/// May `token` be written from the row of these numbers?
template <class Kind>
bool allows(const Numbers& numbers, Token token) {
    if constexpr (is_shaped<Kind>) {
        return Kind::allows(numbers, token);
    } else {
        return numbers.allows(token);
    }
}

template <class P, class Rule>
void check_tokens(const Told& told, const std::vector<Numbers>& rows) {
    for (std::size_t i = 0; i < told.tokens.size(); ++i) {
        const Numbers& row = rows[i == 0 ? 0 : static_cast<std::size_t>(told.path[i - 1] + 1)];
        const Token token = told.tokens[i];
        must(token >= 0 && token < row.vocab, "tokens are inside the vocabulary");
        must(allows<P>(row, token), "tokens are possible in their rows");
        if constexpr (std::same_as<Rule, GreedyMatch> && !is_shaped<P>)
            must(*row.at(token) == row.largest(), "a greedy token is the largest");
    }
}

/// Every good round can be scored; the scores of one that passed every check are numbers.
template <class Rows>
void check_token_scores(const Round& round, const Rows& rows, Scores& memory, bool is_checked) {
    const auto scores = token_scores(round, rows, memory, 3);
    must(scores.size() == round.tokens.size(), "a score per token");
    for (std::size_t i = 0; i < scores.size() && is_checked; ++i) {
        const TokenScore& score = scores[i];
        must(score.token == round.tokens[i], "scores are those of the tokens");
        must(score.log_prob > -infinity && score.log_prob < .02, "a token's probability is in (0, 1]");
        must(score.margin >= 0 && !score.top.empty() && score.top[0].log_prob >= score.log_prob,
             "the likeliest come first");
    }
}

inline void check_draft_scores(const Round& round, std::span<const DraftScore> scores, bool is_checked) {
    Index accepted = 0;
    for (const DraftScore& score : scores) {
        accepted += score.accepted ? 1 : 0;
        if (!is_checked) continue;
        must(score.ratio >= 0 && score.ratio <= 1, "a ratio is a probability");
        must(score.slack >= 0 && score.log_draft <= .02, "a draft's distribution is a probability");
    }
    must(accepted == round.accepted, "scores tell what was accepted");
}

template <class P, class Q, bool is_tree>
class Case {
  public:
    explicit Case(Bytes& bytes) : input_(bytes) {}

    void check(Bytes& bytes) {
        switch (bytes.below(6)) {
            case 0:
                return check(TokenVerification{});
            case 1:
                return check(BlockVerification{});
            case 2:
                return check(SampleMatch{});
            case 3:
                return check(GumbelMatch{});
            case 4:
                return check(GreedyMatch{});
            default:
                if constexpr (!std::same_as<Q, NoRow>) check(KSeq{});
        }
    }

  private:
    template <class Rule>
    void check(const Rule& rule) {
        if constexpr (IsMatrix<P>) {
            const typename P::Matrix matrix(input_.target_memory);
            check(rule, matrix.rows());
        } else {
            check(rule, P::rows(input_.target_memory));
        }
    }

    template <class Rule, class Rows>
    void check(const Rule& rule, const Rows& rows) {
        Workspace workspace;
        const auto told = [&](Check how) { return tell([&] { return judge(rule, rows, how, workspace); }); };
        const Told read = told(Check::entries_read), every = told(Check::every_row);
        must(read == told(Check::entries_read), "a repeated round is the same round");
        must(every == told(Check::every_row), "a repeated round is the same round");
        must(!every.is_good() || every == read, "a round that passed every check is the round without them");

        // KSeq refuses more: siblings of different rows.
        const bool must_refuse = input_.template is_refused_by<Rule>();
        must(read.refusal.empty() == !must_refuse || std::same_as<Rule, KSeq>, "broken contracts are refused");
        must(!must_refuse || !every.refusal.empty(), "broken contracts are refused in any mode");
        if (!must_refuse && input_.is_good_round())
            must(!read.round.fault && !every.round.fault, "good rows have no fault");
        for (const Told* one : {&read, &every}) {
            if (one->round.fault) check_fault(*one);
            if (!one->is_good()) continue;
            check_round(*one, input_.given);
            check_tokens<P, Rule>(*one, input_.target_numbers);
        }
        if (!read.is_good()) return;
        const Round round = judge(rule, rows, Check::entries_read, workspace);
        Scores memory;
        check_token_scores(round, rows, memory, every.is_good());
        if constexpr (std::same_as<Rule, TokenVerification> || std::same_as<Rule, BlockVerification>) {
            const std::vector<Token> tokens(input_.given.tokens.begin(), input_.given.tokens.end());
            const auto scores = draft_scores(round, draft_of(tokens), input_.distributions, rows, rng_, memory);
            check_draft_scores(round, scores, every.is_good());
        }
    }

    template <class Rule, class Rows>
    Round judge(const Rule& rule, const Rows& rows, Check how, Workspace& workspace) const {
        RoundLimits limits = input_.given.limits;
        limits.check = how;
        return verify(draft_of(input_.given.tokens), input_.distributions, rows, rule, rng_, limits, workspace);
    }

    /// Tokens as verify is given them.
    template <class Id>
    auto draft_of(const std::vector<Id>& tokens) const {
        if constexpr (is_tree) {
            return Tree(tokens, input_.given.parents);
        } else {
            return std::span(tokens);
        }
    }

    Input<P, Q, is_tree> input_;
    RoundRng rng_{input_.seed, 7, input_.position};
};

/// Judge a chain, or a tree, whose rows and distributions are of these kinds.
template <class P, class Q>
void run_chain(Bytes& bytes) {
    Case<P, Q, false>(bytes).check(bytes);
}
template <class P, class Q>
void run_tree(Bytes& bytes) {
    Case<P, Q, true>(bytes).check(bytes);
}

// Rounds by the kind of the target's rows, one file each; any kind of distributions.
void run_dense(Bytes& bytes);
void run_logits(Bytes& bytes);
void run_sparse(Bytes& bytes);
void run_shaped(Bytes& bytes);

}  // namespace fuzz
