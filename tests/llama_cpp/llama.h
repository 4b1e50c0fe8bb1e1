// A stand-in for the few functions of llama.cpp that the glue and the loops over it call: the same names, a recorded
// engine behind them.
#pragma once

#include <cstddef>
#include <cstdint>

using llama_token = std::int32_t;
using llama_pos = std::int32_t;
using llama_seq_id = std::int32_t;

struct llama_context;
struct llama_model;
struct llama_vocab;
using llama_memory_t = struct llama_memory_i*;

struct llama_batch {
    std::int32_t n_tokens;
    llama_token* token;
    float* embd;
    llama_pos* pos;
    std::int32_t* n_seq_id;
    llama_seq_id** seq_id;
    std::int8_t* logits;
};

std::int32_t llama_decode(llama_context* context, llama_batch batch);
float* llama_get_logits_ith(llama_context* context, std::int32_t i);

std::uint32_t llama_n_batch(const llama_context* context);
std::uint32_t llama_n_ctx(const llama_context* context);
std::uint32_t llama_n_ctx_seq(const llama_context* context);
std::uint32_t llama_n_seq_max(const llama_context* context);

const llama_model* llama_get_model(const llama_context* context);
const llama_vocab* llama_model_get_vocab(const llama_model* model);
std::int32_t llama_vocab_n_tokens(const llama_vocab* vocab);
std::int32_t llama_model_n_swa(const llama_model* model);

llama_memory_t llama_get_memory(const llama_context* context);
void llama_memory_clear(llama_memory_t memory, bool data);
bool llama_memory_seq_rm(llama_memory_t memory, llama_seq_id sequence, llama_pos begin, llama_pos end);
void llama_memory_seq_cp(llama_memory_t memory, llama_seq_id from, llama_seq_id to, llama_pos begin, llama_pos end);
llama_pos llama_memory_seq_pos_min(llama_memory_t memory, llama_seq_id sequence);

struct llama_token_data {
    llama_token id;
    float logit;
    float p;
};

struct llama_token_data_array {
    llama_token_data* data;
    std::size_t size;
    std::int64_t selected;
    bool sorted;
};

struct llama_sampler;

struct llama_sampler_i {
    const char* (*name)(const llama_sampler* sampler);
    void (*accept)(llama_sampler* sampler, llama_token token);
    void (*apply)(llama_sampler* sampler, llama_token_data_array* candidates);
    void (*reset)(llama_sampler* sampler);
    llama_sampler* (*clone)(const llama_sampler* sampler);
    void (*free)(llama_sampler* sampler);
    void (*copy_state)(const llama_sampler* from, llama_sampler* to);
};

struct llama_sampler {
    llama_sampler_i* iface;
    void* ctx;
};

llama_sampler* llama_sampler_init(llama_sampler_i* functions, void* state);
llama_sampler* llama_sampler_init_greedy();
void llama_sampler_accept(llama_sampler* sampler, llama_token token);
void llama_sampler_apply(llama_sampler* sampler, llama_token_data_array* candidates);
void llama_sampler_reset(llama_sampler* sampler);
void llama_sampler_copy(const llama_sampler* from, llama_sampler* to);
llama_sampler* llama_sampler_clone(const llama_sampler* sampler);
void llama_sampler_free(llama_sampler* sampler);
llama_token llama_sampler_sample(llama_sampler* sampler, llama_context* context, std::int32_t i);
