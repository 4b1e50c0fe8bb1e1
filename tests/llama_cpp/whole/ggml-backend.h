// A stand-in for ggml's header of backends, as far as the programs of examples/llama_cpp use it.
#pragma once

enum ggml_log_level { GGML_LOG_LEVEL_ERROR = 4 };
using ggml_log_callback = void (*)(ggml_log_level level, const char* text, void* user_data);
using ggml_abort_callback = bool (*)(void* data);

void ggml_backend_load_all();
