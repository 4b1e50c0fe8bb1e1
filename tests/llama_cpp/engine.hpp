// The engine behind the stand-in for llama.h: it keeps a cache of (position, token, sequences), refuses the same
// batches as llama_decode, and computes a token's logits from the cells that its sequence sees. A wrong cell therefore
// changes every number that follows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "llama_cpp/llama.h"

struct Cell {
    llama_pos place;
    std::uint64_t content;  ///< hash of the token and of all that it saw
    std::set<llama_seq_id> sequences;
};

struct llama_vocab {
    std::int32_t size = 11;
};

struct llama_model {
    llama_vocab vocab = {};
    std::int32_t window = 0;  ///< tokens that a token sees, itself included; 0: all
};

struct llama_memory_i {
    std::vector<Cell> cells = {};
    llama_seq_id sequences = 8;
    bool unified = true;
    bool can_cut = true;  ///< false: a sequence can only be removed as a whole

    llama_pos least(llama_seq_id sequence) const;
    llama_pos most(llama_seq_id sequence) const;
};

/// The status of the next call of llama_decode, after it has decoded some tokens.
struct Trouble {
    std::int32_t status = 0;
    std::int32_t decoded = 0;
};

struct llama_context {
    llama_model model = {};
    std::uint32_t n_ctx = 4096;
    std::uint32_t n_batch = 64;
    bool keeps_window = true;  ///< false: only what the next token sees of it
    mutable llama_memory_i memory = {};

    Trouble trouble = {};
    std::vector<std::int32_t> decodes = {};       ///< tokens of every batch that was decoded
    std::vector<std::vector<float>> logits = {};  ///< of the last batch; empty where not wanted
};

/// The logits after a text, computed from an empty cache.
std::vector<float> logits_after(std::span<const llama_token> text, const llama_model& model);
