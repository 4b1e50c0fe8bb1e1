// What the programs of examples/llama_cpp call beside the functions of the stand-in: declared only, so that they can be
// compiled where llama.cpp is not installed.
#pragma once

#include "llama_cpp/llama.h"

#include <ggml-backend.h>

enum llama_vocab_type { LLAMA_VOCAB_TYPE_NONE };
enum llama_token_attr { LLAMA_TOKEN_ATTR_UNDEFINED };

struct llama_logit_bias {
    llama_token token;
    float bias;
};
struct llama_model_params {
    std::int32_t n_gpu_layers;
};
struct llama_context_params {
    std::uint32_t n_ctx, n_batch, n_ubatch, n_seq_max;
    std::int32_t n_threads, n_threads_batch;
    ggml_abort_callback abort_callback;
    void* abort_callback_data;
    bool no_perf, kv_unified;
};
struct llama_sampler_chain_params {
    bool no_perf;
};

void llama_backend_init();
void llama_log_set(ggml_log_callback callback, void* user_data);

llama_model_params llama_model_default_params();
llama_model* llama_model_load_from_file(const char* path, llama_model_params params);
void llama_model_free(llama_model* model);
bool llama_model_has_encoder(const llama_model* model);
bool llama_model_has_decoder(const llama_model* model);
std::int32_t llama_model_n_ctx_train(const llama_model* model);
std::int32_t llama_model_n_embd(const llama_model* model);
std::int32_t llama_model_n_layer(const llama_model* model);
std::int32_t llama_model_n_head(const llama_model* model);
std::int32_t llama_model_n_head_kv(const llama_model* model);

llama_context_params llama_context_default_params();
llama_context* llama_init_from_model(llama_model* model, llama_context_params params);
void llama_free(llama_context* context);
llama_batch llama_batch_get_one(llama_token* tokens, std::int32_t count);

llama_vocab_type llama_vocab_type(const llama_vocab* vocab);
const char* llama_vocab_get_text(const llama_vocab* vocab, llama_token token);
llama_token_attr llama_vocab_get_attr(const llama_vocab* vocab, llama_token token);
bool llama_vocab_is_eog(const llama_vocab* vocab, llama_token token);
std::int32_t llama_tokenize(const llama_vocab* vocab, const char* text, std::int32_t length, llama_token* tokens,
                            std::int32_t most, bool add_special, bool parse_special);
std::int32_t llama_token_to_piece(const llama_vocab* vocab, llama_token token, char* text, std::int32_t length,
                                  std::int32_t lstrip, bool special);

llama_sampler_chain_params llama_sampler_chain_default_params();
llama_sampler* llama_sampler_chain_init(llama_sampler_chain_params params);
void llama_sampler_chain_add(llama_sampler* chain, llama_sampler* sampler);
llama_sampler* llama_sampler_init_dist(std::uint32_t seed);
llama_sampler* llama_sampler_init_temp(float temperature);
llama_sampler* llama_sampler_init_top_k(std::int32_t k);
llama_sampler* llama_sampler_init_top_p(float p, std::size_t least);
llama_sampler* llama_sampler_init_min_p(float p, std::size_t least);
llama_sampler* llama_sampler_init_typical(float p, std::size_t least);
llama_sampler* llama_sampler_init_penalties(std::int32_t last_n, float repeat, float frequency, float presence);
llama_sampler* llama_sampler_init_logit_bias(std::int32_t vocab, std::int32_t count, const llama_logit_bias* biases);
