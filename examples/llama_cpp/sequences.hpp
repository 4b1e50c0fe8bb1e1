// Many sequences in one context of llama.cpp, with one llama_decode for the missing tokens of all of them.
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

/// The sequences of a context, and one decode for the missing tokens of all of them.
class LlamaSequences {
    using Index = specsample::Index;
    using Text = std::span<const specsample::Token>;

  public:
    /// The context is borrowed, and its cache is emptied.
    explicit LlamaSequences(llama_context* context)
        : context_(context), memory_(llama_get_memory(context)), held_(llama_n_seq_max(context)) {
        llama_memory_clear(memory_, true);
    }

    /// Decodes a text by itself into an empty sequence, in as many batches as it takes.
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

    /// Adds the tokens of a text that the cache lacks to the next decode, with logits after its last n prefixes.
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

    /// Decodes the tokens that were added. After an exception the object must not be used any more.
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

    /// A row of the last decode; valid until the next one.
    LogitRow row(Index i) const {
        const auto vocab = llama_vocab_n_tokens(llama_model_get_vocab(llama_get_model(context_)));
        return {llama_get_logits_ith(context_, static_cast<std::int32_t>(i)), vocab};
    }

  private:
    /// Keeps the part of a sequence that a text begins with.
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
    std::vector<std::vector<specsample::Token>> held_;  ///< per sequence: the tokens in the cache or in the next decode

    // The next decode, token by token.
    std::vector<llama_token> tokens_;
    std::vector<llama_pos> places_;
    std::vector<llama_seq_id> sequences_;
    std::vector<std::int8_t> wanted_;
};
