// Owners of llama.cpp models and contexts, with errors that name the file and the reason.
#pragma once

#include <ggml-backend.h>
#include <llama.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <specsample/core/types.hpp>
#include <specsample/vocabularies.hpp>

struct FreeModel {
    void operator()(llama_model* model) const { llama_model_free(model); }
};
struct FreeContext {
    void operator()(llama_context* context) const { llama_free(context); }
};
using ModelOwner = std::unique_ptr<llama_model, FreeModel>;
using ContextOwner = std::unique_ptr<llama_context, FreeContext>;

/// Options of a context; 0 leaves a number to the model or to llama.cpp.
struct ContextOptions {
    std::uint32_t n_ctx = 0;      ///< tokens of all sequences together
    std::uint32_t n_batch = 0;    ///< tokens of one decode
    std::uint32_t n_seq_max = 1;  ///< one more than the leaves of the widest tree
    bool one_cache = true;        ///< one for all sequences, so that they can share what they begin with; or one each
    std::int32_t threads = 0;
    ggml_abort_callback abort = nullptr;  ///< asked during a decode; true ends it
};

namespace loading {

/// The first error that llama.cpp has logged since this was emptied: later ones only follow from it.
inline std::string& logged_error() {
    static std::string text;
    return text;
}

/// Takes llama.cpp's log, which would otherwise go to stderr.
inline void start_quietly() {
    [[maybe_unused]] static const bool once = [] {
        llama_log_set(
            [](ggml_log_level level, const char* text, void*) {
                if (level == GGML_LOG_LEVEL_ERROR && logged_error().empty()) logged_error() = text;
            },
            nullptr);
        ggml_backend_load_all();  // backends may be separate libraries
        llama_backend_init();
        return true;
    }();
    logged_error().clear();
}

/// "what failed: what llama.cpp said", without its line break.
[[noreturn]] inline void fail(const std::string& what) {
    std::string said = logged_error();
    while (!said.empty() && (said.back() == '\n' || said.back() == ' ')) said.pop_back();
    throw std::runtime_error(said.empty() ? what : what + " (llama.cpp: " + said + ")");
}

/// Makes a token's text safe to print: it may have bytes that no terminal should see.
inline std::string shown(std::string_view text) {
    std::string result = "'";
    for (const char c : text) result += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
    return result + "'";
}

}  // namespace loading

/// @throws std::runtime_error with the file and what is wrong with it
inline ModelOwner load(const std::filesystem::path& path) {
    loading::start_quietly();
    if (!std::filesystem::is_regular_file(path)) throw std::runtime_error("there is no file " + path.string());
    ModelOwner model(llama_model_load_from_file(path.string().c_str(), llama_model_default_params()));
    if (!model) loading::fail(path.string() + " is no complete GGUF model that this llama.cpp can load");
    if (llama_model_has_encoder(model.get()) || !llama_model_has_decoder(model.get()))
        throw std::runtime_error(path.string() + " is no model that continues a text: only decoders do");
    return model;
}

namespace loading {

/// The size in bytes of a cache for so many tokens, in half precision: keys and values of every layer.
inline double cache_bytes(const llama_model& model, double tokens) {
    const double head = static_cast<double>(llama_model_n_embd(&model)) / llama_model_n_head(&model);
    return 2 * 2 * tokens * llama_model_n_layer(&model) * llama_model_n_head_kv(&model) * head;
}

/// Refuses a cache that does not fit in memory: llama.cpp would write zeros to it until the system ends the program.
inline void require_memory(const llama_model& model, double tokens) {
    constexpr double gib = 1 << 30;
    const double needed = cache_bytes(model, tokens) / gib;
    const double present =
        static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE)) / gib;
    if (needed <= present) return;
    char text[192];
    std::snprintf(text, sizeof text,
                  "there is no room for a context of %.0f tokens: its cache takes %.1f GiB, and this machine has %.1f; "
                  "ask for a shorter one",
                  tokens, needed, present);
    throw std::runtime_error(text);
}

}  // namespace loading

/// @throws std::runtime_error with what llama.cpp said
inline ContextOwner context(llama_model& model, const ContextOptions& options) {
    loading::start_quietly();
    loading::require_memory(model, options.n_ctx);
    llama_context_params given = llama_context_default_params();
    given.n_ctx = options.n_ctx;
    if (options.n_batch > 0) given.n_batch = options.n_batch;
    given.n_seq_max = options.n_seq_max;
    if (options.threads > 0) given.n_threads = given.n_threads_batch = options.threads;
    given.abort_callback = options.abort;
    given.kv_unified = options.one_cache;
    ContextOwner result(llama_init_from_model(&model, given));
    if (!result)
        loading::fail("there is no room for a context of " +
                      (options.n_ctx == 0 ? "the model's length" : std::to_string(options.n_ctx) + " tokens"));
    return result;
}

/// The first difference between the vocabularies of target and draft; empty if they are the same.
inline std::string vocabulary_difference(const llama_vocab& draft, const llama_vocab& target) {
    const auto size = llama_vocab_n_tokens(&target);
    if (llama_vocab_n_tokens(&draft) != size)
        return "the draft has " + std::to_string(llama_vocab_n_tokens(&draft)) + " tokens, but the target " +
               std::to_string(size);
    if (llama_vocab_type(&target) != llama_vocab_type(&draft)) return "their tokenizers are of different kinds";
    for (llama_token token = 0; token < size; ++token) {
        const std::string_view text = llama_vocab_get_text(&target, token), other = llama_vocab_get_text(&draft, token);
        if (text != other)
            return "token " + std::to_string(token) + " is " + loading::shown(text) + " to the target and " +
                   loading::shown(other) + " to the draft";
        if (llama_vocab_get_attr(&target, token) != llama_vocab_get_attr(&draft, token))
            return "token " + std::to_string(token) + ", " + loading::shown(text) +
                   ", has other attributes in the draft than in the target";
    }
    return "";
}

/// @throws std::runtime_error unless every id is the same token to both
inline void same_vocabulary(const llama_model& draft, const llama_model& target) {
    const auto difference = vocabulary_difference(*llama_model_get_vocab(&draft), *llama_model_get_vocab(&target));
    if (!difference.empty()) throw std::runtime_error("this draft is not for this target: " + difference);
}

/// The tokens of a text, with those that the model wants around it. Names of special tokens are ordinary text unless
/// `parse_special`.
inline std::vector<specsample::Token> tokenise(const llama_vocab& vocab, std::string_view text,
                                               bool parse_special = false) {
    const auto length = static_cast<std::int32_t>(text.size());
    std::vector<specsample::Token> tokens(text.size() + 4);
    const auto fill = [&] {
        return llama_tokenize(&vocab, text.data(), length, tokens.data(), static_cast<std::int32_t>(tokens.size()),
                              true, parse_special);
    };
    auto count = fill();
    if (count < 0) {  // the buffer must have -count tokens
        tokens.resize(static_cast<std::size_t>(-count));
        count = fill();
    }
    tokens.resize(static_cast<std::size_t>(count));
    return tokens;
}

/// The bytes of a token; nothing for special ones unless `special`.
inline std::string piece(const llama_vocab& vocab, specsample::Token token, bool special = false) {
    std::string bytes(64, '\0');
    const auto fill = [&] {
        return llama_token_to_piece(&vocab, token, bytes.data(), static_cast<std::int32_t>(bytes.size()), 0, special);
    };
    auto count = fill();
    if (count < 0) {
        bytes.resize(static_cast<std::size_t>(-count));
        count = fill();
    }
    bytes.resize(static_cast<std::size_t>(count));
    return bytes;
}

/// The tokens that end a text.
inline std::vector<specsample::Token> end_tokens(const llama_vocab& vocab) {
    std::vector<specsample::Token> result;
    for (llama_token token = 0; token < llama_vocab_n_tokens(&vocab); ++token)
        if (llama_vocab_is_eog(&vocab, token)) result.push_back(token);
    return result;
}

/// The tokens that a model must never write. Older versions of llama.cpp do not tell them.
template <class Vocab = llama_vocab>
std::vector<specsample::Token> suppressed_tokens(const Vocab& vocab) {
    std::int32_t count = 0;
    if constexpr (requires { llama_vocab_get_suppress_tokens(&vocab, &count); }) {
        const llama_token* tokens = llama_vocab_get_suppress_tokens(&vocab, &count);
        return {tokens, tokens + count};
    } else {
        return {};
    }
}
