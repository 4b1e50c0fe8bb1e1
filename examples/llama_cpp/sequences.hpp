// Many sequences in one context of llama.cpp: what each of them lacks of its text, in one llama_decode.
#pragma once

#include <llama.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "llama_cpp/glue.hpp"
#include "llama_cpp/text_model.hpp"

/// The sequences of a context, and one decode for what all of them lack.
class LlamaSequences {
    using Index = specsample::Index;
    using Text = std::span<const specsample::Token>;

  public:
    /// The context is borrowed, and forgets what it holds.
    explicit LlamaSequences(llama_context* context)
        : context_(context), memory_(llama_get_memory(context)), held_(llama_n_seq_max(context)) {
        llama_memory_clear(memory_, true);
    }

    /// Decode a text alone and from nothing, in as many parts as it takes.
    /// @returns the number of the row after it
    Index read(std::size_t sequence, Text text) {
        roll_back(sequence, {});
        Index last = 0;
        for (std::size_t end = 0; end < text.size();) {
            end = std::min(end + llama_n_batch(context_), text.size());
            last = ask(sequence, text.first(end), end == text.size() ? 1 : 0);
            decode();
        }
        return last;
    }

    /// Put what the cache lacks of a text into the next decode, with the logits after its last n prefixes.
    /// @returns the number of the first of those rows
    Index ask(std::size_t sequence, Text text, Index n) {
        roll_back(sequence, text.first(text.size() - static_cast<std::size_t>(n)));
        for (const auto token : text.subspan(held_[sequence].size())) {
            places_.push_back(static_cast<llama_pos>(held_[sequence].size()));
            held_[sequence].push_back(token);
            tokens_.push_back(token);
            sequences_.push_back(static_cast<llama_seq_id>(sequence));
            wanted_.push_back(held_[sequence].size() + static_cast<std::size_t>(n) > text.size());
        }
        return std::ssize(tokens_) - n;
    }

    /// Decode what was asked for. Where it throws, the object is of no use any more.
    void decode() {
        std::vector<std::int32_t> counts(tokens_.size(), 1);
        std::vector<llama_seq_id*> ids;
        for (auto& id : sequences_) ids.push_back(&id);
        const int status = llama_decode(context_, {static_cast<std::int32_t>(tokens_.size()), tokens_.data(), nullptr,
                                                   places_.data(), counts.data(), ids.data(), wanted_.data()});
        if (status == 2) throw Interrupted();
        if (status != 0) throw std::runtime_error("llama_decode failed with status " + std::to_string(status));
        tokens_.clear();
        places_.clear();
        sequences_.clear();
        wanted_.clear();
    }

    /// Valid until the next decode.
    LogitRow row(Index i) const {
        const auto vocab = llama_vocab_n_tokens(llama_model_get_vocab(llama_get_model(context_)));
        return {llama_get_logits_ith(context_, static_cast<std::int32_t>(i)), vocab};
    }

  private:
    /// Hold of a sequence what a text begins with.
    void roll_back(std::size_t sequence, Text text) {
        auto& held = held_[sequence];
        held.erase(std::ranges::mismatch(held, text).in1, held.end());
        const auto id = static_cast<llama_seq_id>(sequence);
        const Index needed = std::max<Index>(0, std::ssize(held) + 1 - llama_model_n_swa(llama_get_model(context_)));
        if (!llama_memory_seq_rm(memory_, id, static_cast<llama_pos>(held.size()), -1) ||
            llama_memory_seq_pos_min(memory_, id) > needed)
            throw std::runtime_error("this memory cannot roll back a draft");
    }

    llama_context* context_;
    llama_memory_t memory_;
    std::vector<std::vector<specsample::Token>> held_;  ///< of each sequence: in the cache, or in the next decode

    // Of the next decode, token by token.
    std::vector<llama_token> tokens_;
    std::vector<llama_pos> places_;
    std::vector<llama_seq_id> sequences_;
    std::vector<std::int8_t> wanted_;
};
