// Compares all drafters on the shipped pair of models, as chains and as trees, under the rules that suit them: tokens
// per round, and time per token against plain decoding.
//
//     compare_drafters           some minutes
//     compare_drafters --quick   a quick look
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <specsample/drafters.hpp>
#include <specsample/length.hpp>
#include <specsample/tree.hpp>

#include "compare_drafters/editors.hpp"
#include "compare_drafters/measure.hpp"
#include "compare_drafters/texts.hpp"
#include "engine/smaller.hpp"
#include "engine/tokenizer.hpp"
#include "generate/arguments.hpp"
#include "generate/costs.hpp"
#include "generate/heads_models.hpp"
#include "generate/language_model.hpp"
#include "generate/state_space_model.hpp"

namespace {

using namespace specsample;
using namespace specsample::heads;
using namespace specsample::walks;

/// A draft model as `measure` asks it.
struct OfModel {
    const DraftModel& model;
    void draft_one(std::span<const Token> text) const { model(text); }
};

/// The likeliest tokens of some heads as a lattice, whose positions do not depend on each other.
class HeadsBlock {
  public:
    explicit HeadsBlock(TargetHeads heads) : heads_(std::move(heads)) {}

    lattice::Block<float> operator()(std::span<const Token> text) {
        ids_.clear(), logits_.clear();
        for (const auto& row : heads_(text)) {
            order_.resize(static_cast<std::size_t>(row.size()));
            std::iota(order_.begin(), order_.end(), Token{0});
            std::ranges::partial_sort(order_, order_.begin() + width, std::greater{},
                                      [&](Token id) { return row[id]; });
            for (const Token id : std::span(order_).first(width)) {
                ids_.push_back(id);
                logits_.push_back(std::log(static_cast<float>(row[id])));
            }
        }
        return {.ids = ids_, .logits = logits_, .width = width};
    }

  private:
    static constexpr Index width = 8;

    TargetHeads heads_;
    std::vector<Token> order_{}, ids_{};
    std::vector<float> logits_{};
};

/// The rows of a lattice with every id, as all drafters here have them.
template <class Rows>
auto with_every_id(Rows rows) {
    return [rows](std::span<const Token> prefix) {
        const auto row = rows.get()(prefix);
        return Eigen::ArrayXf(row.probs().template cast<float>());
    };
}

class Comparison {
  public:
    explicit Comparison(Index tokens)
        : target_(std::make_shared<engine::Model>(engine::Weights::load(shipped("target_1.8M_int8.bin")))),
          draft_(std::make_shared<engine::Model>(engine::Weights::load(shipped("draft_230K_kd_int8.bin")))),
          pruned_(std::make_shared<engine::Model>(engine::pruned(*target_->weights(), 4))),
          tokenizer_(engine::Tokenizer::load(shipped("bpe2048.merges.u16"), target_->vocab())),
          tokens_(tokens) {}

    void compare_written(const Texts& texts, double temperature) {
        LanguageModel target(target_, RowShaper(temperature, 1));
        print_head(std::string(texts.name) + at(temperature));
        compare(texts, target, RowShaper(temperature, 1));
    }

    /// The same with a target that copies from the text it has read, as an editor does.
    void compare_edited(double temperature) {
        CopyingTarget target(LanguageModel(target_, RowShaper(temperature, 1)));
        print_head("editing by a target that copies" + at(temperature));
        Texts texts{"", {}};
        for (const Edit& edit : recorded) texts.prompts.push_back(edit.before);
        compare(texts, target, RowShaper(temperature, 1));
    }

    /// Drafts on edits whose result is known: the target writes exactly that result, as a perfect editor would.
    void compare_recorded() {
        print_head("recorded edits, teacher-forced");
        const DraftModel model = rows_of(draft_, RowShaper(1, 1));
        const auto line = [&](const char* name, RuleKind rule, Index lookahead, auto drafter) {
            double rounds = 0, written = 0, nodes = 0;
            TokenTexts texts;
            for (const Edit& edit : recorded) {
                RecordedTarget target{encode(edit.before), target_->vocab()};
                const TokenTexts prompt{target.text};
                const std::vector<Token> after = tokenizer_.encode(edit.after);
                target.text.insert(target.text.end(), after.begin(), after.end());
                const auto size = static_cast<double>(after.size());
                const Measured one = measure_line({name, AnyDrafter(drafter), rule, lookahead}, AnyTarget(target),
                                                  prompt, {.max_new_tokens = std::ssize(after)});
                rounds += size / one.tokens_per_round;
                nodes += one.nodes_per_round * size / one.tokens_per_round;
                written += size;
                texts.push_back(after);
            }
            print_line(name, ::name(rule), {written / rounds, nodes / rounds, 0, distinct_share(texts)}, 0);
        };
        const LookupOptions sure{.min_match = 2};
        line("model", RuleKind::token, 4, ChainDrafter(model));
        line("lookup, 4", RuleKind::token, 4, LookupDrafter());
        line("lookup, 8", RuleKind::token, 8, LookupDrafter());
        line("lookup of 2 and more, 8", RuleKind::token, 8, LookupDrafter(sure));
        line("lookup, else model, 8", RuleKind::token, 8, FirstOf(LookupDrafter(sure), model));
        line("suffix tree of 16, 8", RuleKind::traversal, 8, SuffixLookupDrafter());
    }

    /// The texts of all kinds together: a drafter that suits one kind has to write the others as well.
    void print_mix() const {
        print_head("all that was written above");
        for (const Mix& mix : mixes_)
            print_line(mix.drafter, mix.rule,
                       {.tokens_per_round = mix.tokens / mix.rounds,
                        .nodes_per_round = mix.nodes / mix.rounds,
                        .seconds_per_token = mix.seconds / mix.tokens,
                        .distinct = mix.distinct / mix.tokens},
                       mixes_.front().seconds / mixes_.front().tokens);
    }

  private:
    /// What a line of the tables wrote in all of them.
    struct Mix {
        std::string drafter, rule;
        double tokens = 0, rounds = 0, nodes = 0, seconds = 0, distinct = 0;

        void add(const Measured& measured) {
            const double here = measured.tokens / measured.tokens_per_round;
            tokens += measured.tokens;
            rounds += here;
            nodes += measured.nodes_per_round * here;
            seconds += measured.seconds_per_token * measured.tokens;
            distinct += measured.distinct * measured.tokens;
        }
    };

    static std::string at(double temperature) {
        char text[32];
        std::snprintf(text, sizeof text, ", temperature %.2g", temperature);
        return text;
    }

    std::vector<Token> encode(std::string_view text) const {
        std::vector<Token> tokens = tokenizer_.encode(text);
        tokens.insert(tokens.begin(), tokenizer_.begin());
        return tokens;
    }

    static DraftModel rows_of(const std::shared_ptr<engine::Model>& model, const RowShaper& shaper) {
        return [model = LanguageModel(model, shaper)](auto prefix) mutable { return model(prefix); };
    }

    template <class Target>
    void compare(const Texts& texts, Target& target, const RowShaper& shaper) {
        TokenTexts prompts;
        for (const auto text : texts.prompts) prompts.push_back(encode(text));
        const DraftModel model = rows_of(draft_, shaper);
        double plain = 0;
        std::size_t number = 0;
        for (Line& line : lines(model, shaper, prompts.front())) {
            const std::string drafter = line.name;
            const RuleKind rule = line.rule;
            const bool is_plain = line.lookahead == 0;
            const Measured measured = measure_line(
                std::move(line), AnyTarget(target), prompts,
                {.max_new_tokens = tokens_, .max_length = std::min(target_->context(), draft_->context())});
            if (is_plain) plain = measured.seconds_per_token;
            print_line(drafter, is_plain ? "-" : name(rule), measured, plain);
            if (number == mixes_.size()) mixes_.push_back({drafter, is_plain ? "-" : std::string(name(rule))});
            mixes_[number++].add(measured);
        }
    }

    std::vector<Line> lines(const DraftModel& model, const RowShaper& shaper, std::span<const Token> text) {
        const Costs costs = measure(OfModel{model}, *target_, text, 9);
        Costs free = costs;
        free.draft = 0;
        const Index most = std::ssize(costs.verify_curve) - 1;
        const TreeShape sparse = sparse_tree(std::vector<double>{.6, .15, .08}, 8, 4);
        const LookupOptions sure{.min_match = 2};
        using enum RuleKind;
        std::vector<Line> list;
        const auto add = [&](const char* name, RuleKind rule, auto drafter) {
            list.push_back({name, AnyDrafter(std::move(drafter)), rule});
        };
        list.push_back({"plain", LookupDrafter(), token, 0});
        for (const RuleKind rule : {token, block, gumbel, match}) add("model", rule, ChainDrafter(model));
        add("model, stops when unsure", block, ChainDrafter(model, ConfidenceStop()));
        list.push_back({"model, as many as pay", ChainDrafter(model), block, most, Lookahead(costs)});
        list.push_back(by_confidence(model, costs, most));
        for (const RuleKind rule : {token, traversal, gumbel})
            add("tree 2, 2, 1, 1", rule, TreeDrafter(model, {2, 2, 1, 1}));
        for (const RuleKind rule : {token, traversal}) add("sparse tree of 8", rule, TreeDrafter(model, sparse));
        add("dynamic tree of 8", traversal, DynamicTreeDrafter(model, {.width = 3, .nodes = 8}));
        add("dynamic tree, as many as pay", traversal,
            DynamicTreeDrafter(model, {.width = 3, .nodes = most}, costs.verify_curve));
        add("2 beams", traversal, BeamDrafter(model, 2));
        add("4 of the target's 5 layers", block, ChainDrafter(self(shaper, 4)));
        add("target without its 4th layer", block, ChainDrafter(rows_of(pruned_, shaper)));
        add("state-space model", block, ChainDrafter(state_space(shaper)));
        add("state-space model, tree 2, 2, 1, 1", traversal, TreeDrafter(state_space(shaper), {2, 2, 1, 1}));
        add_heads(list, model, shaper);
        add("lookup", token, LookupDrafter());
        list.push_back({"lookup, as many as pay", LookupDrafter(), token, most, Lookahead(free)});
        add("lookup, else model", block, FirstOf(LookupDrafter(sure), model));
        add("lookup and model", traversal, United(LookupDrafter(sure), model));
        list.push_back({.name = "lookup or model, by their overlaps",
                        .drafter = AnyDrafter(choosing::BestOf(*overlaps_, LookupDrafter(sure), model)),
                        .rule = block,
                        .overlaps = overlaps_});
        add("suffix tree of 16", traversal, SuffixLookupDrafter());
        add_past_rows(list);
        return list;
    }

    DraftModel self(const RowShaper& shaper, Index layers) const {
        return
            [model = LanguageModel(target_, shaper).of_layers(layers)](auto prefix) mutable { return model(prefix); };
    }

    static DraftModel state_space(const RowShaper& shaper) {
        return StateSpaceModel(engine::StateSpaceWeights::load(shipped("draft_ssm_int8.bin")), shaper, 6);
    }

    /// Drafts that end where the draft model is not sure enough to pay, as it has turned out.
    static Line by_confidence(const DraftModel& model, const Costs& costs, Index most) {
        using Stop = confidence::GoodputStop<std::vector<double>>;
        const auto estimator = std::make_shared<confidence::Estimator>();
        const auto stop = std::make_shared<Stop>(*estimator, costs.verify_curve, costs.draft);
        const auto learn = [estimator, stop](const RoundCounts& round) { stop->record(round); };
        return {"model, by confidence", ChainDrafter(model, std::ref(*stop)), RuleKind::block, most,
                Lookahead::of_learner(learn)};
    }

    /// Drafts from rows that the target gave before, in these texts.
    static void add_past_rows(std::vector<Line>& list) {
        using enum RuleKind;
        const auto add = [&](const char* name, RuleKind rule, Index context, const auto& make) {
            const auto table = std::make_shared<recycling::Table>(recycling::TableOptions{.context = context});
            list.push_back(
                {.name = name, .drafter = make(with_every_id(std::ref(*table))), .rule = rule, .table = table});
        };
        add("past rows", block, 2, [](auto rows) { return ChainDrafter(rows); });
        add("past rows, tree 2, 2, 1, 1", traversal, 2, [](auto rows) { return TreeDrafter(rows, {2, 2, 1, 1}); });
        add("past rows, likeliest 16", traversal, 2,
            [](auto rows) { return DynamicTreeDrafter(rows, {.width = 4, .nodes = 16}); });
        add("token recycling, likeliest 16", traversal, 1,
            [](auto rows) { return DynamicTreeDrafter(rows, {.width = 4, .nodes = 16}); });
    }

    void add_heads(std::vector<Line>& list, const DraftModel& model, const RowShaper& shaper) const {
        using enum RuleKind;
        const auto& weights = target_->weights();
        const auto heads_of = [&](engine::Heads heads) { return TargetHeads(std::move(heads), target_, shaper); };
        const auto trained = engine::Heads::load(shipped("heads3_int8.bin"), weights);
        const auto add = [&](const char* name, RuleKind rule, auto drafter) {
            list.push_back({name, AnyDrafter(std::move(drafter)), rule});
        };
        add("heads", block, HeadsDrafter(heads_of(trained), 3));
        add("heads, tree 4, 2, 1", traversal, HeadsTreeDrafter(heads_of(trained), expansion_tree({4, 2, 1})));
        add("untrained heads, tree 4, 2, 1", traversal,
            HeadsTreeDrafter(heads_of(engine::Heads::untrained(3, weights)), expansion_tree({4, 2, 1})));
        const auto lattice_of = [&](const auto& make) {
            return lattice::Drafter(lattice::Model(HeadsBlock(heads_of(trained)), target_->vocab()), make);
        };
        add("heads as a lattice, a path", block,
            lattice_of([](auto rows) { return ChainDrafter(with_every_id(rows)); }));
        add("heads as a lattice, drawn 4, 2, 1", traversal, lattice_of([](auto rows) {
                return TreeDrafter(with_every_id(rows), {4, 2, 1});
            }));
        add("heads as a lattice, likeliest 20", traversal,
            lattice_of([](auto rows) { return DynamicTreeDrafter(with_every_id(rows), {.width = 8, .nodes = 20}); }));
        add("model and heads 1, 1, 1", traversal, HybridDrafter(model, heads_of(trained), {1, 1, 1}));
        const auto module =
            std::make_shared<TargetModule>(engine::Mtp::load(shipped("mtp_int8.bin"), weights), target_, shaper);
        const DraftModel rows = [module](auto prefix) { return (*module)(prefix); };
        const auto begin = [module](auto text) { module->begin(text); };
        add("module", block, PreparedDrafter(begin, ChainDrafter(rows)));
        add("module, tree 2, 2, 1, 1", traversal, PreparedDrafter(begin, TreeDrafter(rows, {2, 2, 1, 1})));
    }

    std::shared_ptr<engine::Model> target_, draft_, pruned_;
    engine::Tokenizer tokenizer_;
    Index tokens_;
    std::shared_ptr<choosing::Overlaps> overlaps_ = std::make_shared<choosing::Overlaps>();
    std::vector<Mix> mixes_{};  ///< by the number of the line
};

}  // namespace

int main(int count, char** values) try {
    if (count > 2 || (count == 2 && std::string_view(values[1]) != "--quick"))
        throw std::invalid_argument("'" + std::string(values[count - 1]) + "' is unknown, but must be --quick");
    Comparison comparison(count == 2 ? 12 : 160);
    for (const Texts& texts : written) comparison.compare_written(texts, .8);
    comparison.compare_edited(.8);
    comparison.print_mix();
    comparison.compare_recorded();
} catch (const std::exception& error) {
    std::fprintf(stderr, "compare_drafters: %s\n", error.what());
    return 1;
}
