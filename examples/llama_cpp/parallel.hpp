// Many texts at once in one context: a sequence each, one llama_decode for all positions of a round, one for every
// drafted depth, and one call of the library that judges all drafts.
#pragma once

#include <llama.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include <specsample/specsample.hpp>

#include "llama_cpp/interrupt.hpp"
#include "llama_cpp/run.hpp"
#include "llama_cpp/sequences.hpp"
#include "llama_cpp/text_model.hpp"

/// A row, shaped once, with what it is a view of.
struct ParallelRow {
    Eigen::ArrayXf copy{};
    specsample::ShapedMemory<float> memory{};
    std::optional<TextRow> shaped{};
};

/// One of many texts. What it becomes depends on nothing but itself, as far as logits do not.
struct ParallelText {
    using Law = specsample::Mixed<specsample::row_view_t<TextRow>>;

    std::vector<specsample::Token> text;  ///< with its prompt
    std::uint64_t seed;
    TextRun run{};

    // Of a round.
    std::size_t sequence = 0;
    std::vector<specsample::Token> drafted{};  ///< the text and its draft
    specsample::Index first_row = 0;
    specsample::Proposal<Law> proposal{};
    std::vector<ParallelRow> draft_rows{}, target_rows{};
    specsample::LookupDraft lookup{};

    specsample::Coins coins() const { return {seed, 0, std::ssize(text)}; }
    std::span<const specsample::Token> before(specsample::Index node) const {
        return std::span(drafted).first(text.size() + static_cast<std::size_t>(node));
    }
};

/// Writes texts, all of them in every round, until each has ended.
/// @tparam Rule   any rule for chains
template <class Rule>
class ParallelWriter {
    using Index = specsample::Index;

  public:
    /// @param draft   null where texts draft from themselves, or options.lookahead is 0
    ParallelWriter(llama_context* target, llama_context* draft, TextShape shape, Rule rule,
                   const specsample::Options& options, const specsample::Limits& limits)
        : target_(target),
          shape_(std::move(shape)),
          rule_(rule),
          options_(options),
          limits_(limits),
          vocab_(target_vocab(target)) {
        if (draft != nullptr) draft_.emplace(draft);
    }

    /// @param seconds   of all rounds are added here; prompts are read off the clock
    /// What was written before an exception stays.
    void write(std::vector<ParallelText*> texts, double& seconds) {
        for (std::size_t i = 0; i < texts.size(); ++i)
            if (texts[i]->sequence = i; !has_ended(*texts[i])) read_prompt(*texts[i]);
        const Adding adding(seconds);
        while (std::erase_if(texts, [&](auto* each) { return has_ended(*each); }), !texts.empty()) round(texts);
    }

  private:
    static Index target_vocab(llama_context* context) {
        return llama_vocab_n_tokens(llama_model_get_vocab(llama_get_model(context)));
    }

    /// As one text alone is: its first token comes from the pass that reads its prompt, with no draft behind it.
    void read_prompt(ParallelText& each) {
        each.draft_rows.resize(static_cast<std::size_t>(options_.lookahead));
        each.target_rows.resize(static_cast<std::size_t>(options_.lookahead) + 1);
        if (draft_) draft_->read(each.sequence, each.text);
        each.first_row = target_.read(each.sequence, each.text);
        each.proposal.open(0, limits_.stop_tokens, vocab_);
        each.drafted = each.text;
        specsample::Workspace workspace;
        append(each, judge(each, workspace));
    }

    void round(std::span<ParallelText* const> texts) {
        for (ParallelText* each : texts) open(*each);
        if (draft_) draft(texts);
        for (ParallelText* each : texts) {
            if (each->proposal.fault()) throw std::runtime_error(message(*each->proposal.fault()));
            each->first_row = target_.ask(each->sequence, each->drafted, each->proposal.size() + 1);
        }
        target_.decode();
        const auto judge = [&](Index i, specsample::Workspace& workspace) {
            return this->judge(*texts[static_cast<std::size_t>(i)], workspace);
        };
        const auto rounds = verify_batch(std::ssize(texts), judge, memory_);
        for (std::size_t i = 0; i < texts.size(); ++i) {
            append(*texts[i], rounds[i]);
            texts[i]->run.tally.record(rounds[i].counts());
        }
    }

    /// Begin a draft. What the text itself has to say is all of it at once.
    void open(ParallelText& each) {
        const Index room = limits_.max_length - std::ssize(each.text);
        each.proposal.open(std::min(options_.lookahead, room - 1), limits_.stop_tokens, vocab_);
        each.drafted = each.text;
        if (draft_) return;
        each.lookup.propose(each.text, each.coins(), each.proposal);
        each.drafted.insert(each.drafted.end(), each.proposal.tokens().begin(), each.proposal.tokens().end());
    }

    /// A pass for every depth, over the texts whose drafts go on.
    void draft(std::span<ParallelText* const> texts) {
        const auto grows = [](const auto* each) { return each->proposal.grows(each->proposal.size() - 1); };
        for (std::vector<ParallelText*> growing(texts.begin(), texts.end());;) {
            std::erase_if(growing, [&](const auto* each) { return !grows(each); });
            if (growing.empty()) return;
            for (ParallelText* each : growing) each->first_row = draft_->ask(each->sequence, each->drafted, 1);
            draft_->decode();
            for (ParallelText* each : growing) draw_next(*each, draft_->row(each->first_row));
        }
    }

    /// The row is copied: the next depth overwrites it, and the draft is judged by it.
    void draw_next(ParallelText& each, const LogitRow& given) {
        using namespace specsample;
        const Index node = each.proposal.size();
        ParallelRow& row = each.draft_rows[static_cast<std::size_t>(node)];
        row.copy = given;
        row.shaped.emplace(shape_(LogitRow(row.copy.data(), row.copy.size()), each.drafted, row.memory));
        const auto weights = row_weights(*row.shaped);
        if constexpr (requires { requires bool(Rule::shares_noise); }) {
            each.proposal.add(node - 1, race(each.coins().at(Purpose::race, node), weights), PointMass{});
        } else {
            const Index token = draw(each.coins().at(Purpose::draft, node), weights).index;
            each.proposal.add(node - 1, token, Sampled(probs_of(*row.shaped, weights)));
        }
        if (!each.proposal.fault()) each.drafted.push_back(each.proposal.token(node));
    }

    specsample::Round judge(ParallelText& each, specsample::Workspace& workspace) {
        for (ParallelRow& row : each.target_rows) row.shaped.reset();
        const auto rows = [&](Index i) -> const TextRow& {
            ParallelRow& row = each.target_rows[static_cast<std::size_t>(i)];
            if (!row.shaped) row.shaped.emplace(shape_(target_.row(each.first_row + i), each.before(i), row.memory));
            return *row.shaped;
        };
        return verify(each.proposal.tokens(), each.proposal.laws(), rows, rule_, each.coins(), left(each), workspace);
    }

    specsample::RoundLimits left(const ParallelText& each) const {
        const Index budget = limits_.max_new_tokens - std::ssize(each.run.tokens);
        return {.max_tokens = std::min(budget, limits_.max_length - std::ssize(each.text)),
                .stop_tokens = limits_.stop_tokens,
                .check = options_.check};
    }

    static void append(ParallelText& each, const specsample::BatchRound& round) {
        if (!round) throw std::runtime_error(message(round));
        each.text.insert(each.text.end(), round.tokens.begin(), round.tokens.end());
        ::append(each.run, round);
    }

    bool has_ended(ParallelText& each) const { return ::has_ended(each.run, std::ssize(each.text), limits_); }

    LlamaSequences target_;
    std::optional<LlamaSequences> draft_;
    TextShape shape_;
    Rule rule_;
    specsample::Options options_;
    specsample::Limits limits_;
    Index vocab_;
    specsample::BatchWorkspace memory_;
};
