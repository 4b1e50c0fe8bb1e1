// Who drafts a round, and how much: a model, or lookup first where the text repeats itself.
#pragma once

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include <specsample/drafters.hpp>

#include "generate/any_drafter.hpp"
#include "generate/learnt_costs.hpp"
#include "generate/lookahead.hpp"
#include "generate/lookup_offer.hpp"
#include "generate/payoff.hpp"

/// The drafter of one text, and its length policy at once. Lookup and model have an acceptance of their own, because
/// what is copied is right more often than what is guessed elsewhere, and costs nothing.
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

    /// The drafter itself finds out how many pay, of what lookup offers too, where `offer` is not null.
    Pace(AnyDrafter drafter, std::shared_ptr<LearntCosts> costs, std::shared_ptr<Payoff> payoff,
         std::shared_ptr<LookupOffer> offer = nullptr)
        : Pace(std::move(drafter), std::move(costs)) {
        payoff_ = std::move(payoff);
        offer_ = std::move(offer);
    }

    /// From now on, lookup drafts where it finds something and pays.
    void use(specsample::LookupDrafter lookup) {
        lookup_.emplace(std::move(lookup), Lookahead([costs = costs_](specsample::Index n) { return costs->pass(n); }));
    }

    /// Called before every round: looks whether the text repeats itself. `most`: the longest draft.
    void begin(std::span<const specsample::Token> text, specsample::Index most) {
        if (lookup_) lookup_->begin(text, is_plain() ? 0 : most);
        if (payoff_) payoff_->begin();
        if (offer_) offer_->begin(text, most);
    }

    specsample::Index next(specsample::Index most) const {
        if (is_plain()) return 0;
        if (looks_up()) return std::min(most, lookup_->wanted);
        const bool must_try = costs_ && since_drafted_ >= draft_interval;
        if (payoff_) return must_try || payoff_->row_pays(1, 0) || offer_pays() ? most : 0;
        return std::max(length_.next(most), std::min<specsample::Index>(most, must_try));
    }

    template <class Source, class L>
    void propose(std::span<const specsample::Token> prefix, const Source& rng, specsample::DraftTree<L>& draft_tree) {
        if (looks_up()) {
            lookup_->drafter.propose(prefix, rng, draft_tree);
        } else {
            drafter_.propose(prefix, rng, draft_tree);
        }
    }

    void rollback(specsample::Index length) {
        drafter_.rollback(length);
        if (lookup_) lookup_->drafter.rollback(length);
        if (offer_) offer_->rollback(length);
    }

    void record(const specsample::RoundCounts& counts) {
        if (payoff_) payoff_->record(counts);
        if (is_plain()) plain_interval_ = std::min(2 * plain_interval_, longest_interval);
        since_plain_ = counts.proposed == 0 ? 0 : since_plain_ + 1;
        since_drafted_ = counts.proposed == 0 ? since_drafted_ + 1 : 0;
        (looks_up() ? lookup_->length : length_).record(counts);
        if (lookup_ && lookup_->found > 0 && !looks_up()) lookup_->length.record({});  // it did not draft what it found
    }

    /// Learns from the times of a round that drafted `drafted` tokens.
    void observe(specsample::Index drafted, double draft_seconds, double target_seconds) {
        if (!costs_) return;
        const specsample::Index rows = payoff_ ? payoff_->rows() : looks_up() ? 0 : drafted;
        costs_->observe(rows, drafted + 1, draft_seconds, target_seconds);
    }

  private:
    struct Lookup {
        Lookup(specsample::LookupDrafter given, Lookahead its_length)
            : drafter(std::move(given)), length(std::move(its_length)) {}

        void begin(std::span<const specsample::Token> text, specsample::Index most) {
            draft.open(most, {}, std::numeric_limits<specsample::Token>::max());
            drafter.propose(text, specsample::RoundRng(0, 0, 0), draft);  // it draws nothing
            found = draft.size();
            wanted = found > 0 ? length.next(found) : 0;
        }

        specsample::LookupDrafter drafter;
        Lookahead length;
        specsample::DraftTree<specsample::PointMass> draft{};
        specsample::Index found = 0;   // tokens that it can offer now
        specsample::Index wanted = 0;  // and those that pay
    };

    // The first round, and one after so many with drafts, has none, to tell what a plain pass costs; and one after so
    // many without has one, because a single slow round may have made drafts look too dear.
    static constexpr specsample::Index first_interval = 4, longest_interval = 64, draft_interval = 32;

    bool is_plain() const { return costs_ && since_plain_ >= plain_interval_; }
    bool looks_up() const { return lookup_ && lookup_->wanted > 0; }
    bool offer_pays() const {
        return offer_ && !offer_->tokens().empty() && payoff_->token_pays(offer_->probability(0), 0);
    }

    AnyDrafter drafter_;
    std::shared_ptr<LearntCosts> costs_{};  // null: nothing is learnt
    Lookahead length_{};
    std::shared_ptr<Payoff> payoff_{};      // null: length_ decides
    std::shared_ptr<LookupOffer> offer_{};  // null: lookup_ drafts alone, or not at all
    std::optional<Lookup> lookup_{};
    specsample::Index plain_interval_ = first_interval, since_plain_ = first_interval, since_drafted_ = 0;  // rounds
};
