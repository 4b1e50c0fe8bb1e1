// Makes drafters from the command line: the source of their rows, and the shape of their drafts.
#pragma once

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <specsample/drafters.hpp>

#include "engine/smaller.hpp"
#include "generate/any_drafter.hpp"
#include "generate/arguments.hpp"
#include "generate/best_first_tree.hpp"
#include "generate/drawn_tree.hpp"
#include "generate/heads_models.hpp"
#include "generate/language_model.hpp"
#include "generate/pace.hpp"
#include "generate/state_space_model.hpp"

/// The drafter for a target, and its cost.
class Drafts {
  public:
    /// @throws std::invalid_argument where the files do not suit the target; what loading them throws
    Drafts(const Arguments& arguments, const LanguageModel& target, const RowShaper& shaper)
        : target_(target.engine()), shaper_(shaper), tree_(arguments.tree), context_(target.context()) {
        switch (arguments.draft_kind) {
            case DraftKind::model:
            case DraftKind::either:
                use_model(engine::Weights::load(arguments.draft), arguments);
                break;
            case DraftKind::pruned:
                use_model(pruned(*target_->weights(), layers(arguments)), arguments);
                break;
            case DraftKind::quantised:
                use_model(quantised_target(), arguments);
                break;
            case DraftKind::self:
                use_rows(std::make_shared<LanguageModel>(target.of_layers(layers(arguments))), arguments);
                cost_ *= static_cast<double>(layers(arguments)) / static_cast<double>(target_->layers());
                break;
            case DraftKind::heads:
                use_heads(arguments);
                break;
            case DraftKind::mtp:
                use_mtp(arguments);
                break;
            case DraftKind::ssm:
                use_state_space(arguments);
                break;
            case DraftKind::eagle:
                use_eagle(arguments, false);
                break;
            case DraftKind::automatic:
                use_best(arguments);
                break;
            case DraftKind::lookup:
                make_ = [] { return AnyDrafter(specsample::LookupDrafter()); };
                break;
            case DraftKind::none:
                make_ = [] { return AnyDrafter(specsample::LookupDrafter()); };  // never asked
                break;
        }
        costs_ = std::make_shared<LearntCosts>(cost_);
    }

    /// A drafter for one text. All of them share models and caches.
    AnyDrafter drafter() const { return make_(); }

    /// The same with a length of its own: as many tokens as allowed, or as many as pay. What rounds cost is learnt from
    /// all texts.
    Pace pace(bool adapts) const {
        if (!adapts) return Pace(make_());
        return make_adaptive_ ? make_adaptive_(costs_) : Pace(make_(), costs_);
    }

    /// Fills the drafter's caches with a prompt that the target has read. Its time is not that of a draft.
    void prefill(std::span<const specsample::Token> prompt) const { prefill_(prompt); }

    /// Drafts the token after a text once more, to measure its cost.
    void draft_one(std::span<const specsample::Token> text) const { one_(text); }

    /// What a drafted token is expected to cost, in target passes over one position.
    double cost() const { return cost_; }

    bool are_chains() const { return tree_.empty(); }

    double seconds() const { return meter_ ? meter_->seconds() : 0; }
    double work_seconds() const { return meter_ ? meter_->work_seconds() : 0; }
    long passes() const { return meter_ ? meter_->passes() : 0; }

    /// The longest text to draft after.
    specsample::Index context() const { return context_; }

    /// Pages of the drafter's own key-value cache; 0 without one.
    specsample::Index pages() const {
        return model_ && model_->engine() != target_ ? model_->engine()->pages().in_use() : 0;
    }

  private:
    /// For lookup beside a model: a short match says little, so that one token is not enough.
    static constexpr specsample::LookupOptions sure{.min_match = 2};

    /// What a drafted token may cost until one is measured: passes read weights, and little else takes time.
    double cost_of(std::size_t bytes) const {
        return static_cast<double>(bytes) / static_cast<double>(target_->weight_bytes());
    }

    specsample::Index layers(const Arguments& arguments) const {
        const specsample::Index all = target_->layers();
        const specsample::Index wanted = arguments.draft_layers == 0 ? (all + 1) / 2 : arguments.draft_layers;
        if (wanted > all)
            throw std::invalid_argument("--draft-layers is " + std::to_string(wanted) +
                                        ", but must be at most the target's " + std::to_string(all));
        return wanted;
    }

    std::shared_ptr<const engine::Weights> quantised_target() const {
        const auto floats = sizeof(float) * static_cast<std::size_t>(target_->parameters());
        if (target_->weight_bytes() < floats / 2)
            throw std::invalid_argument("--drafter quantised needs a float32 target, but this one is int8 already");
        return quantised(*target_->weights());
    }

    void require_vocab(specsample::Index vocab) const {
        if (vocab != target_->vocab())
            throw std::invalid_argument("--draft has " + std::to_string(vocab) +
                                        " tokens, but must have the target's " + std::to_string(target_->vocab()));
    }

    void use_model(std::shared_ptr<const engine::Weights> weights, const Arguments& arguments) {
        require_vocab(weights->config.vocab);
        const auto pages =
            arguments.page == 0 ? nullptr : std::make_shared<engine::PagePool>(weights->config.cache(), arguments.page);
        use_rows(std::make_shared<LanguageModel>(
                     std::make_shared<engine::Model>(std::move(weights), pages, target_->team()), shaper_),
                 arguments);
    }

    void use_rows(std::shared_ptr<LanguageModel> model, const Arguments& arguments) {
        meter_ = model_ = model;
        prefill_ = [model](auto prompt) { model->prefill(prompt); };
        context_ = model->context();
        cost_ = cost_of(model->engine()->weight_bytes());
        const DraftModel rows = [model](auto prefix) { return (*model)(prefix); };
        one_ = [rows](auto text) { rows(text); };
        const bool looks_up = arguments.draft_kind == DraftKind::either || arguments.draft_kind == DraftKind::automatic;
        make_ = [=, tree = tree_] { return looks_up ? with_lookup(rows, tree) : chain_or_tree(rows, tree); };
        make_adaptive_ = [=](const auto& costs) {
            Pace pace{specsample::ChainDrafter(rows), costs};
            if (looks_up) pace.use(offer());
            return pace;
        };
    }

    void use_heads(const Arguments& arguments) {
        engine::Heads heads = engine::Heads::load(
            arguments.heads.empty() ? shipped("heads3_int8.bin") : arguments.heads, target_->weights());
        const specsample::Index depth = tree_.empty() ? heads.count() : std::ssize(tree_);
        if (depth > heads.count())
            throw std::invalid_argument("--tree is " + std::to_string(depth) + " deep, but there are " +
                                        std::to_string(heads.count()) + " heads");
        heads.keep(depth);
        const auto model = std::make_shared<TargetHeads>(std::move(heads), target_, shaper_);
        meter_ = model;
        cost_ = cost_of(target_->weights()->classifier().bytes());
        one_ = [model](auto text) { (*model)(text); };
        make_ = [model, tree = tree_]() -> AnyDrafter {
            using namespace specsample;
            using namespace specsample::heads;
            if (tree.empty()) return HeadsDrafter(std::ref(*model), model->count());
            return HeadsTreeDrafter(std::ref(*model), expansion_tree(tree));
        };
    }

    void use_mtp(const Arguments& arguments) {
        const auto model = std::make_shared<TargetModule>(
            engine::Mtp::load(arguments.heads.empty() ? shipped("mtp_int8.bin") : arguments.heads, target_->weights()),
            target_, shaper_);
        meter_ = model;
        cost_ = cost_of(target_->weights()->classifier().bytes());
        const DraftModel rows = [model](auto prefix) { return (*model)(prefix); };
        const auto begin = [model](auto text) { model->begin(text); };
        one_ = [begin, rows](auto text) {
            begin(text);
            rows(text);
        };
        make_ = [begin, rows, tree = tree_] { return PreparedDrafter(begin, chain_or_tree(rows, tree)); };
    }

    void use_state_space(const Arguments& arguments) {
        const auto weights =
            engine::StateSpaceWeights::load(arguments.given_draft.value_or(shipped("draft_ssm_int8.bin")));
        require_vocab(weights->config.vocab);
        const auto model = std::make_shared<StateSpaceModel>(weights, shaper_, arguments.lookahead + 2);
        meter_ = model;
        cost_ = cost_of(weights->bytes());
        prefill_ = [model](auto prompt) { model->prefill(prompt); };
        const DraftModel rows = [model](auto prefix) { return (*model)(prefix); };
        one_ = [rows, longer = std::vector<specsample::Token>()](auto text) mutable {
            if (longer.size() < text.size()) longer.assign(text.begin(), text.end());
            longer.push_back(longer.back());  // the state has read the text, and takes a step for one more token
            rows(longer);
        };
        make_ = [rows, tree = tree_] { return chain_or_tree(rows, tree); };
        make_adaptive_ = [rows](const auto& costs) { return Pace{specsample::ChainDrafter(rows), costs}; };
    }

    void use_eagle(const Arguments& arguments, bool looks_up) {
        if (arguments.heads.empty())
            throw std::invalid_argument("--drafter eagle needs --heads, a file of models/train_drafter.py");
        const auto model = std::make_shared<TargetEagle>(engine::Eagle::load(arguments.heads, target_), shaper_);
        meter_ = model;
        context_ = model->context();
        prefill_ = [model](auto prompt) { model->prefill(prompt); };
        const DraftModel rows = [model](auto prefix) { return (*model)(prefix); };
        const auto begin = [model](auto text) { model->begin(text); };
        one_ = [begin, rows](auto text) {
            begin(text.first(std::max<std::size_t>(text.size(), 2) - 1));  // so that one step is left to be taken
            rows(text);
        };
        cost_ = cost_of(model->weight_bytes());
        make_ = [=, tree = tree_] {
            return PreparedDrafter(begin, looks_up ? with_lookup(rows, tree) : chain_or_tree(rows, tree));
        };
        make_adaptive_ = [=, is_greedy = shaper_.temperature() == 0](const auto& costs) {
            const auto copies = looks_up ? offer() : nullptr;
            const auto pace = [&]() -> Pace {
                if (!is_greedy) {
                    const auto asked = std::make_shared<specsample::Index>(0);
                    Pace drawn{DrawnTree(
                                   rows, [model] { return model->likelihood(); }, costs, asked, begin),
                               costs};
                    drawn.count(asked);
                    return drawn;
                }
                const auto payoff = std::make_shared<Payoff>(costs);
                const BeliefModel beliefs = [model](auto prefix) { return model->beliefs(prefix); };
                return {BestFirstTree(beliefs, payoff, begin, copies), costs, payoff};
            };
            Pace result = pace();
            result.use(copies);
            return result;
        };
    }

    /// Lookup where the text repeats itself, and the best source of drafts that there is for the target.
    void use_best(const Arguments& arguments) {
        if (!arguments.heads.empty()) return use_eagle(arguments, true);
        if (arguments.draft != arguments.target) return use_model(engine::Weights::load(arguments.draft), arguments);
        if (!tree_.empty())
            throw std::invalid_argument(
                "--tree needs --heads or --draft beside --drafter auto: lookup knows no alternatives");
        make_ = [] { return AnyDrafter(specsample::LookupDrafter()); };
    }

    static std::shared_ptr<LookupOffer> offer() {
        return std::make_shared<LookupOffer>(specsample::LookupDrafter(sure));
    }

    static AnyDrafter with_lookup(const DraftModel& rows, const std::vector<specsample::Index>& tree) {
        using namespace specsample;
        if (tree.empty()) return FirstOf(LookupDrafter(sure), rows);
        return United(LookupDrafter(sure), TreeDrafter(rows, tree));
    }

    static AnyDrafter chain_or_tree(const DraftModel& rows, const std::vector<specsample::Index>& tree) {
        if (tree.empty()) return specsample::ChainDrafter(rows);
        return specsample::TreeDrafter(rows, tree);
    }

    std::shared_ptr<engine::Model> target_;
    RowShaper shaper_;
    std::vector<specsample::Index> tree_;
    specsample::Index context_;
    std::shared_ptr<LanguageModel> model_;  // null: no cache
    std::shared_ptr<const Metered> meter_;  // null: drafting takes no time
    double cost_ = 0;                       // of a drafted token, in target passes, as expected
    std::shared_ptr<LearntCosts> costs_;    // of rounds
    std::function<AnyDrafter()> make_;
    std::function<Pace(const std::shared_ptr<LearntCosts>&)> make_adaptive_;  // null: make_
    std::function<void(std::span<const specsample::Token>)> one_ = [](auto) {}, prefill_ = [](auto) {};
};
