// Who drafts a round, and how much: a model, or lookup where the text repeats itself.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include <specsample/drafters.hpp>

#include "generate/any_drafter.hpp"
#include "generate/learnt_costs.hpp"
#include "generate/lookahead.hpp"
#include "generate/lookup_offer.hpp"
#include "generate/payoff.hpp"

/// The drafter of one text, and its length policy at once.
class Pace {
  public:
    using Distribution = AnyDrafter::Distribution;

    /// As many tokens as are allowed.
    explicit Pace(AnyDrafter drafter) : drafter_(std::move(drafter)) {}

    /// As many as pay.
    Pace(AnyDrafter drafter, std::shared_ptr<LearntCosts> costs)
        : drafter_(std::move(drafter)),
          costs_(std::move(costs)),
          length_([costs = costs_](specsample::Index n) { return costs->draft(n - 1) + costs->pass(n); }) {}

    /// The drafter itself finds out how many pay.
    Pace(AnyDrafter drafter, std::shared_ptr<LearntCosts> costs, std::shared_ptr<Payoff> payoff)
        : Pace(std::move(drafter), std::move(costs)) {
        payoff_ = std::move(payoff);
    }

    /// A drafter of trees that asks for fewer rows than it drafts tokens says how many.
    void count(std::shared_ptr<const specsample::Index> rows) { rows_ = std::move(rows); }

    /// From now on there is an offer of lookup. A drafter that finds out itself what pays has it already; of any other
    /// it takes the rounds in which it promises more tokens for their cost, and it costs no draft. Null: no lookup.
    void use(std::shared_ptr<LookupOffer> offer) { offer_ = std::move(offer); }

    /// Called before every round: looks whether the text repeats itself. `most`: the longest draft.
    void begin(std::span<const specsample::Token> text, specsample::Index most) {
        if (payoff_) payoff_->begin();
        if (!offer_) return;
        offer_->begin(text, most);
        copied_ = payoff_ || is_plain() ? 0 : worth_copying();
    }

    specsample::Index next(specsample::Index most) const {
        if (is_plain()) return 0;
        if (copied_ > 0) return std::min(most, copied_);
        const bool must_try = costs_ && since_drafted_ >= draft_interval;
        if (payoff_) return must_try || payoff_->row_pays(1, 0) || offer_pays() ? most : 0;
        const specsample::Index pays = length_.next(most);
        const specsample::Index draft = rows_ && pays > 0 ? most : pays;  // a drawn tree ends by itself
        return std::max(draft, std::min<specsample::Index>(most, must_try));
    }

    template <class Source, class L>
    void propose(std::span<const specsample::Token> prefix, const Source& rng, specsample::DraftTree<L>& draft_tree) {
        if (copied_ == 0) return drafter_.propose(prefix, rng, draft_tree);
        specsample::Index node = specsample::root_node;
        for (const specsample::Token token : offer_->tokens())
            if (draft_tree.grows(node)) node = draft_tree.add(node, token, specsample::PointMass{});
    }

    void rollback(specsample::Index length) {
        drafter_.rollback(length);
        if (offer_) offer_->rollback(length);
    }

    void record(const specsample::RoundCounts& counts) {
        if (payoff_) payoff_->record(counts);
        if (is_plain()) plain_interval_ = std::min(2 * plain_interval_, longest_interval);
        since_plain_ = counts.proposed == 0 ? 0 : since_plain_ + 1;
        since_drafted_ = counts.proposed == 0 ? since_drafted_ + 1 : 0;
        if (copied_ > 0) return;
        length_.record(counts);
        if (!costs_ || counts.proposed == 0) return;
        tokens_ = memory * tokens_ + static_cast<double>(counts.tokens);
        cost_ = memory * cost_ + costs_->draft(rows(counts.proposed)) + costs_->pass(counts.proposed + 1);
    }

    /// Learns from the times of a round that drafted `drafted` tokens.
    void observe(specsample::Index drafted, double draft_seconds, double target_seconds) {
        if (!costs_) return;
        costs_->observe(rows(drafted), drafted + 1, draft_seconds, target_seconds);
    }

  private:
    // The first round, and one after so many with drafts, has none, to tell what a plain pass costs; and one after so
    // many without has one, because a single slow round may have made drafts look too dear.
    static constexpr specsample::Index first_interval = 4, longest_interval = 64, draft_interval = 32;

    /// What the model was asked for in a round that drafted so many tokens.
    specsample::Index rows(specsample::Index drafted) const {
        if (payoff_) return payoff_->rows();
        return copied_ > 0 || drafted == 0 ? 0 : rows_ ? *rows_ : drafted;
    }

    bool is_plain() const { return costs_ && since_plain_ >= plain_interval_; }
    bool offer_pays() const {
        return offer_ && !offer_->tokens().empty() && payoff_->token_pays(offer_->probability(0), 0);
    }

    /// The number of offered tokens that promises most for the cost of its pass; 0 if the model's rounds bring more.
    specsample::Index worth_copying() const {
        specsample::Index best = 0;
        double most = tokens_ / cost_, all_right = 1, tokens = 1;
        for (specsample::Index n = 1; n <= std::ssize(offer_->tokens()); ++n) {
            all_right *= offer_->probability(n - 1);
            tokens += all_right;
            if (const double value = tokens / costs_->pass(n + 1); value > most) {
                most = value;
                best = n;
            }
        }
        return best;
    }

    static constexpr double memory = .98;  // the weight of a round after one more

    AnyDrafter drafter_;
    std::shared_ptr<LearntCosts> costs_{};  // null: nothing is learnt
    Lookahead length_{};
    std::shared_ptr<Payoff> payoff_{};                 // null: length_ decides
    std::shared_ptr<LookupOffer> offer_{};             // null: no lookup
    std::shared_ptr<const specsample::Index> rows_{};  // of the last draft; null: a row for each token
    specsample::Index copied_ = 0;                     // offered tokens that are this round's draft
    double tokens_ = 7, cost_ = 5;  // of recent rounds that the model drafted, and before them a guess
    specsample::Index plain_interval_ = first_interval, since_plain_ = first_interval, since_drafted_ = 0;  // rounds
};
