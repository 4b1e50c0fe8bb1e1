// The loop of an engine in C: draft, score in one pass, verify, commit, roll back.
// Prints, a bar after each round:
//   12 8 | 12 9 1 12 6 | 4 2 11 8 | 9 14 | 0 13 14 | 12 | 10 13 9 15 |
#include <specsample/c.h>
#include <stdio.h>
#include <string.h>

enum { K = 4, V = 16, most = 128 };  // drafted tokens per round; vocabulary; positions

// A toy for a causal model with a KV cache: an entry per position, computed from the entry before.
typedef struct {
    float scale;
    uint32_t cache[most];
    int64_t cached;
} toy_model;

// Compute the positions of `text` that the cache lacks; write the logits after each of the last n, [n][V].
static void forward(toy_model* model, const int32_t* text, int64_t size, int64_t n, float* logits) {
    for (; model->cached < size; ++model->cached) {
        const uint32_t before = model->cached == 0 ? 7 : model->cache[model->cached - 1];
        model->cache[model->cached] = before * 31 + (uint32_t)text[model->cached];
    }
    for (int64_t i = size - n; i < size; ++i)
        for (uint32_t id = 0; id < V; ++id) *logits++ = model->scale * (float)((model->cache[i] ^ id * 97) % 13);
}

static specsample_row row_of(const float* logits) {
    specsample_row row = SPECSAMPLE_INIT(specsample_row);
    row.numbers = logits;
    row.count = V;
    row.kind = SPECSAMPLE_LOGITS;
    row.temperature = 0.8;
    return row;
}

int main(void) {
    toy_model draft = {.scale = .2f}, target = {.scale = .4f};
    float draft_logits[K * V], target_logits[(K + 1) * V];  // the engine's: [K][V], [K + 1][V]
    int32_t text[most] = {1, 2, 3};                         // the prompt
    const int32_t stop_token = 15;
    int64_t size = 3;
    specsample_workspace* workspace = specsample_workspace_create(K, 0);
    specsample_round round = SPECSAMPLE_INIT(specsample_round);
    while (workspace != NULL && round.end == SPECSAMPLE_GOES_ON) {
        const specsample_rng rng = {.seed = 4, .request = 0, .round_start = size};
        specsample_origin origins[K];
        for (int i = 0; i < K; ++i) {  // draft
            forward(&draft, text, size + i, 1, &draft_logits[i * V]);
            const specsample_row q = row_of(&draft_logits[i * V]);
            if (specsample_draft(workspace, SPECSAMPLE_TOKEN_VERIFICATION, &rng, i, &q, &text[size + i], &origins[i]))
                return puts(specsample_message(workspace)), 1;
        }
        forward(&target, text, size + K, K + 1, target_logits);  // score

        const specsample_row p = row_of(target_logits);
        specsample_call call = SPECSAMPLE_INIT(specsample_call);
        call.rng = rng;
        call.tokens = &text[size], call.origins = origins, call.count = K;
        call.rows = &p, call.row_count = K + 1, call.row_stride = V;  // the rows lie one after the other
        call.max_tokens = 100, call.stop_tokens = &stop_token, call.stop_count = 1;
        if (specsample_verify(workspace, &call, &round)) return puts(specsample_message(workspace)), 1;

        memcpy(&text[size], round.tokens, (size_t)round.token_count * sizeof *text);  // commit
        size += round.token_count;
        target.cached = round.keep_target;  // roll back
        draft.cached = round.keep_draft;
        for (int64_t i = 0; i < round.token_count; ++i) printf("%d ", (int)round.tokens[i]);
        printf("| ");
    }
    printf("\n");
    specsample_workspace_destroy(workspace);
    return 0;
}
