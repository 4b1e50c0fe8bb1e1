// Writes many texts at once in one context: a sequence each, one llama_decode for all positions of a round, one for
// every drafted depth, and one call of the library that verifies all drafts.
#pragma once

#include <llama.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <specsample/shaping.hpp>
#include <specsample/specsample.hpp>
#include <specsample/verify/batch.hpp>

#include "llama_cpp/interrupt.hpp"
#include "llama_cpp/run.hpp"
#include "llama_cpp/sequences.hpp"
#include "llama_cpp/text_model.hpp"

/// A shaped row, and the memory that it is a view of.
struct ParallelRow {
    Eigen::ArrayXf copy{};
    specsample::filters::ShapedMemory<float> memory{};
    std::optional<TextRow> shaped{};
};

/// One of many texts. It is the same whatever texts are written beside it, as far as its logits are.
struct ParallelText {
    std::vector<specsample::Token> text;  ///< the prompt and what was written after it
    std::uint64_t seed;
    TextRun run{};

    specsample::RoundRng rng() const { return {seed, 0, std::ssize(text)}; }
};

/// A place to write a text: a sequence of the context, and the memory of its rounds.
struct ParallelSlot {
    using Distribution =
        decltype(specsample::Mixed(std::declval<specsample::DraftedFrom<TextRow, specsample::TokenVerification>>()));

    std::size_t sequence = 0;
    ParallelText* text = nullptr;              ///< null: the slot is free
    std::vector<specsample::Token> drafted{};  ///< the text and its draft
    specsample::Index first_row = 0;
    specsample::DraftTree<Distribution> draft_tree{};
    std::vector<ParallelRow> draft_rows{}, target_rows{};
    specsample::LookupDrafter lookup{};

    /// The text and its draft up to a node.
    std::span<const specsample::Token> before(specsample::Index node) const {
        return std::span(drafted).first(text->text.size() + static_cast<std::size_t>(node));
    }
};

/// Writes texts, one per slot in every round. A text that has ended makes room for the next one.
/// @tparam Rule   any rule for chains
template <class Rule>
class ParallelWriter {
    using Index = specsample::Index;

  public:
    /// @param draft   null where texts draft by lookup in themselves, or options.lookahead is 0
    /// @throws std::invalid_argument for more slots than either context has sequences
    ParallelWriter(llama_context* draft, llama_context* target, TextShape shape, Rule rule,
                   const specsample::Options& options, const specsample::Limits& limits, std::size_t slots)
        : target_(target),
          shape_(std::move(shape)),
          rule_(rule),
          options_(options),
          limits_(limits),
          vocab_(target_vocab(target)),
          slots_(slots) {
        require_sequences(target, slots);
        if (draft != nullptr) {
            require_sequences(draft, slots);
            draft_.emplace(draft);
        }
        for (std::size_t i = 0; i < slots; ++i) {
            slots_[i].sequence = i;
            slots_[i].draft_rows.resize(static_cast<std::size_t>(options.lookahead));
            slots_[i].target_rows.resize(static_cast<std::size_t>(options.lookahead) + 1);
        }
    }

    /// Writes all texts. After an exception, what was written before it stays.
    /// @param seconds   the time of all rounds is added here; reading prompts is not counted
    void write(std::span<ParallelText> texts, double& seconds) {
        for (auto next = texts.begin();;) {
            for (Slot& slot : slots_)
                while (slot.text == nullptr && next != texts.end()) begin(slot, *next++);
            std::vector<Slot*> busy;
            for (Slot& slot : slots_)
                if (slot.text != nullptr) busy.push_back(&slot);
            if (busy.empty()) return;
            const Adding adding(seconds);
            round(busy);
        }
    }

  private:
    using Slot = ParallelSlot;

    static void require_sequences(llama_context* context, std::size_t slots) {
        const std::size_t most = llama_n_seq_max(context);
        if (slots > most)
            throw std::invalid_argument(std::to_string(slots) +
                                        " texts at once need as many sequences, but n_seq_max is " +
                                        std::to_string(most) + ": make the context with more");
    }

    static Index target_vocab(llama_context* context) {
        return llama_vocab_n_tokens(llama_model_get_vocab(llama_get_model(context)));
    }

    /// Writes the first token, as for a single text: from the pass that reads the prompt, with no draft behind it.
    void begin(Slot& slot, ParallelText& text) {
        if (has_ended(text)) return;
        slot.text = &text;
        slot.lookup = specsample::LookupDrafter();
        if (draft_) draft_->read(slot.sequence, text.text);
        slot.first_row = target_.read(slot.sequence, text.text);
        slot.draft_tree.open(0, limits_.stop_tokens, vocab_);
        slot.drafted = text.text;
        specsample::Workspace workspace;
        append(slot, judge(slot, workspace));
    }

    void round(std::span<Slot* const> slots) {
        for (Slot* slot : slots) open(*slot);
        if (draft_) draft(slots);
        for (Slot* slot : slots) {
            if (slot->draft_tree.fault()) throw std::runtime_error(message(*slot->draft_tree.fault()));
            slot->first_row = target_.ask(slot->sequence, slot->drafted, slot->draft_tree.size() + 1);
        }
        target_.decode();
        const auto judge = [&](Index i, specsample::Workspace& workspace) {
            return this->judge(*slots[static_cast<std::size_t>(i)], workspace);
        };
        const auto rounds = verify_batch(std::ssize(slots), judge, memory_);
        for (std::size_t i = 0; i < slots.size(); ++i) {
            if (rounds[i]) slots[i]->text->run.tally.record(rounds[i].counts());
            append(*slots[i], rounds[i]);
        }
    }

    /// Begins a draft. Lookup drafts all of it at once.
    void open(Slot& slot) {
        const std::vector<specsample::Token>& text = slot.text->text;
        slot.draft_tree.open(std::min(options_.lookahead, limits_.max_length - std::ssize(text) - 1),
                             limits_.stop_tokens, vocab_);
        slot.drafted = text;
        if (draft_) return;
        slot.lookup.propose(text, slot.text->rng(), slot.draft_tree);
        slot.drafted.insert(slot.drafted.end(), slot.draft_tree.tokens().begin(), slot.draft_tree.tokens().end());
    }

    /// Drafts by the model, with one pass per depth over the texts whose drafts continue.
    void draft(std::span<Slot* const> slots) {
        const auto grows = [](const Slot* slot) { return slot->draft_tree.grows(slot->draft_tree.size() - 1); };
        for (std::vector<Slot*> growing(slots.begin(), slots.end());;) {
            std::erase_if(growing, [&](const Slot* slot) { return !grows(slot); });
            if (growing.empty()) return;
            for (Slot* slot : growing) slot->first_row = draft_->ask(slot->sequence, slot->drafted, 1);
            draft_->decode();
            std::erase_if(growing, [&](Slot* slot) { return !draw_next(*slot, draft_->row(slot->first_row)); });
        }
    }

    /// Draws the next token; false if the row has none to offer. The row is copied: the next depth overwrites it, and
    /// verification reads it.
    bool draw_next(Slot& slot, const LogitRow& given) {
        using namespace specsample;
        const Index node = slot.draft_tree.size();
        const RoundRng rng = slot.text->rng();
        ParallelRow& row = slot.draft_rows[static_cast<std::size_t>(node)];
        row.copy = given;
        row.shaped.emplace(shape_(LogitRow(row.copy.data(), row.copy.size()), slot.drafted, row.memory));
        const auto drawn = draft_token(rule_, rng, node, *row.shaped);
        if constexpr (requires { ParallelSlot::Distribution(drawn.distribution); }) {
            slot.draft_tree.add(node - 1, drawn.token, drawn.distribution);
        } else {  // drawn with the noise of a match rule, which compares tokens only
            slot.draft_tree.add(node - 1, drawn.token, PointMass{});
        }
        if (slot.draft_tree.size() == node) return false;
        slot.drafted.push_back(slot.draft_tree.token(node));
        return true;
    }

    specsample::Round judge(Slot& slot, specsample::Workspace& workspace) {
        for (ParallelRow& row : slot.target_rows) row.shaped.reset();
        const auto rows = [&](Index i) -> const TextRow& {
            ParallelRow& row = slot.target_rows[static_cast<std::size_t>(i)];
            if (!row.shaped) row.shaped.emplace(shape_(target_.row(slot.first_row + i), slot.before(i), row.memory));
            return *row.shaped;
        };
        return verify(slot.draft_tree.tokens(), slot.draft_tree.distributions(), rows, rule_, slot.text->rng(),
                      left(*slot.text), workspace);
    }

    specsample::RoundLimits left(const ParallelText& text) const {
        const Index budget = limits_.max_new_tokens - std::ssize(text.run.tokens);
        return {.max_tokens = std::min(budget, limits_.max_length - std::ssize(text.text)),
                .stop_tokens = limits_.stop_tokens,
                .check = options_.check};
    }

    /// Appends a round to its text, which leaves its slot if it has ended.
    void append(Slot& slot, const specsample::Round& round) const {
        if (!round) throw std::runtime_error(message(round));
        ParallelText& text = *slot.text;
        text.text.insert(text.text.end(), round.tokens.begin(), round.tokens.end());
        ::append(text.run, round);
        if (has_ended(text)) slot.text = nullptr;
    }

    bool has_ended(ParallelText& text) const { return ::has_ended(text.run, std::ssize(text.text), limits_); }

    LlamaSequences target_;
    std::optional<LlamaSequences> draft_;
    TextShape shape_;
    Rule rule_;
    specsample::Options options_;
    specsample::Limits limits_;
    Index vocab_;
    std::vector<Slot> slots_;
    specsample::BatchWorkspace memory_;
};
