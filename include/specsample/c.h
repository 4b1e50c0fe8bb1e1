/* The C interface: draw drafted tokens and judge drafts, from any language that calls C.
 *
 *     specsample_workspace* workspace = specsample_workspace_create(nodes, 0);
 *     specsample_draft(workspace, rule, &rng, node, &row, &token, &origin);      for each drafted token
 *     specsample_verify(workspace, &call, &round);                               commit round.tokens
 *
 * Around these: specsample_shape applies sampling parameters to a row, specsample_lookup_draft drafts out of the text
 * without a model, specsample_token_scores returns log-probabilities, and specsample_verify_batch judges many requests.
 *
 * It is C99. The CMake target specsample::compiled has it, and specsample_c, a shared library that exports what is
 * declared here and nothing else: `cmake --build build --target specsample_c`, `cmake --install build`, then
 * `pkg-config --cflags --libs specsample-c`, or find_package(specsample), which gives specsample::c, in CMake. The same
 * seeds give the same tokens as rows that are values in C++.
 *
 * Every function that returns an int returns SPECSAMPLE_OK or what went wrong, which specsample_message then explains.
 * No exception leaves a function. Rows are the caller's memory. A workspace allocates for a round only if a draft is
 * larger than every draft before it and than specsample_workspace_create was told; scores, shapers and lookups grow to
 * what they have served. A workspace is used by one thread at a time: a second call meanwhile is refused with
 * SPECSAMPLE_BUSY.
 *
 * Structs begin with their size, which SPECSAMPLE_INIT sets: a library refuses a struct of another version.
 */
#ifndef SPECSAMPLE_C_H
#define SPECSAMPLE_C_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define SPECSAMPLE_C_API __attribute__((visibility("default")))
#else
#define SPECSAMPLE_C_API
#endif

/* The version of this interface. It changes whenever a struct or a function does. */
#define SPECSAMPLE_C_VERSION 3

/* What a function returns. */
enum {
    SPECSAMPLE_OK = 0,
    SPECSAMPLE_FAULT = 1, /* bad data in a row, an id or a draft: nothing was decided, the same call may be repeated */
    SPECSAMPLE_INVALID = 2,   /* an argument that breaks the contract */
    SPECSAMPLE_NO_MEMORY = 3, /* the system has no memory left */
    SPECSAMPLE_BUSY = 4       /* another thread is using the workspace */
};

/* The type of a row's numbers. */
enum { SPECSAMPLE_F32 = 0, SPECSAMPLE_F64 = 1, SPECSAMPLE_F16 = 2, SPECSAMPLE_BF16 = 3 };

/* What a row's numbers are. */
enum { SPECSAMPLE_PROBS = 0, SPECSAMPLE_LOGITS = 1, SPECSAMPLE_NORMALISED_LOGITS = 2 };

/* The type of a sparse row's ids. */
enum {
    SPECSAMPLE_EVERY_ID = 0,
    SPECSAMPLE_I32 = 1,
    SPECSAMPLE_U32 = 2,
    SPECSAMPLE_I64 = 3,
    SPECSAMPLE_U64 = 4,
    SPECSAMPLE_U16 = 5
};

/* The rule that judges a draft: the C++ types of these names. Block verification of a tree is TraversalVerification. All
 * but greedy match give the target's distribution. */
enum {
    SPECSAMPLE_TOKEN_VERIFICATION = 0,
    SPECSAMPLE_BLOCK_VERIFICATION = 1,
    SPECSAMPLE_GREEDY_MATCH = 2,
    SPECSAMPLE_SAMPLE_MATCH = 3,
    SPECSAMPLE_GUMBEL_MATCH = 4
};

/* How much of the rows a round checks: what it reads, or every row in full. */
enum { SPECSAMPLE_CHECK_READ = 0, SPECSAMPLE_CHECK_EVERY_ROW = 1 };

/* What the last token of a round is, and whether the round ends the text. */
enum { SPECSAMPLE_RECOVERED = 0, SPECSAMPLE_BONUS = 1, SPECSAMPLE_MATCHED = 2, SPECSAMPLE_STOPPED = 3 };
enum { SPECSAMPLE_GOES_ON = 0, SPECSAMPLE_AT_BUDGET = 1, SPECSAMPLE_AT_STOP_TOKEN = 2 };

/* A row: the distribution of one position, where it lies in memory; borrowed until the round ends.
 *
 *     specsample_row row = SPECSAMPLE_INIT(specsample_row);
 *     row.numbers = logits, row.count = vocab, row.kind = SPECSAMPLE_LOGITS, row.temperature = 0.8;
 */
typedef struct specsample_row {
    size_t size;
    const void* numbers; /* the first number; aligned for its type */
    int64_t count;       /* how many numbers: the vocabulary, or as many as there are ids */
    int64_t step;        /* how many numbers lie from one to the next; 0 means 1 */
    int32_t scalar;      /* SPECSAMPLE_F32, .. */
    int32_t kind;        /* SPECSAMPLE_PROBS, .. */
    double temperature;  /* of logits, >= 0; 0 is the argmax */
    double log_sum_exp;  /* of normalised logits: ln sum exp(z / temperature) */
    const void* ids;     /* of a sparse row: strictly increasing ids, side by side; all others have probability 0 */
    int32_t id_type;     /* SPECSAMPLE_EVERY_ID: not sparse */
    int32_t refused;     /* not 0 if specsample_shape found a fault in it, which every use then reports */
    int64_t vocab;       /* of a sparse row: the number of ids of the vocabulary */
} specsample_row;

/* What a drafted token was drawn from. It views the numbers, and the list of removed ids, of the call that made it.
 * One that is all zeros says what specsample_origin_named says. */
typedef struct specsample_origin {
    uint64_t mark; /* tells memory that no function wrote */
    uint64_t opaque[39];
} specsample_origin;

/* The random numbers of a round: a function of the three, and of nothing else. */
typedef struct specsample_rng {
    uint64_t seed;
    uint64_t request;    /* below 2^32; each request has numbers of its own */
    int64_t round_start; /* the length of the text before the round */
} specsample_rng;

/* Write row i of a round to *row, which SPECSAMPLE_INIT was applied to, and return 0. Another number ends the call with
 * SPECSAMPLE_INVALID. A row is asked for when it is needed; what it views must last until the round ends. It may call
 * specsample_shape. */
typedef int (*specsample_row_of)(void* context, int64_t i, specsample_row* row);

/* A round that is to be judged. */
typedef struct specsample_call {
    size_t size;
    int32_t rule;  /* SPECSAMPLE_TOKEN_VERIFICATION, .. */
    int32_t check; /* SPECSAMPLE_CHECK_READ, .. */
    specsample_rng rng;
    const int32_t* tokens;            /* [count] drafted tokens */
    const int64_t* parents;           /* [count] the node that each follows, -1 for the prefix; null: a chain */
    const specsample_origin* origins; /* [count] what each was drawn from; null: none was drawn at random */
    int64_t count;
    const specsample_row* rows; /* [row_count] the target's rows; row 0 follows the prefix, row i + 1 node i */
    int64_t row_count;          /* count + 1 */
    int64_t row_stride;         /* if not 0, rows[0] is the first of rows that lie this many numbers apart */
    specsample_row_of row_of;   /* if rows is null: makes a row when it is needed */
    void* row_context;          /* its first argument */
    int64_t max_tokens;         /* most tokens that the round emits; 0: no limit */
    const int32_t* stop_tokens; /* [stop_count] the text ends after any of these */
    int64_t stop_count;
} specsample_call;

/* The result of a round. Lists belong to the workspace, and are valid until its next use. */
typedef struct specsample_round {
    size_t size;
    const int32_t* tokens; /* [token_count] the accepted drafted tokens, and at most one more */
    int64_t token_count;
    const int64_t* path; /* [accepted] the accepted nodes */
    int64_t accepted;    /* drafted tokens that the text keeps */
    int64_t evaluated;   /* drafted tokens that were decided */
    int64_t proposed;    /* drafted tokens */
    int64_t keep_target; /* how many positions of the target's cache stay valid */
    int64_t keep_draft;  /* the same of the draft's cache; of a tree, along the path */
    int32_t last;        /* SPECSAMPLE_RECOVERED, .. */
    int32_t end;         /* SPECSAMPLE_GOES_ON, .. */
} specsample_round;

/* Initialise a struct: its size is set, everything else is 0. */
#ifdef __cplusplus
#define SPECSAMPLE_INIT(type)     \
    ([] {                         \
        type made{};              \
        made.size = sizeof(type); \
        return made;              \
    }())
#else
#define SPECSAMPLE_INIT(type) \
    { .size = sizeof(type) }
#endif

typedef struct specsample_workspace specsample_workspace;

/* Return SPECSAMPLE_C_VERSION of the library, which must be that of the header. */
SPECSAMPLE_C_API int specsample_c_version(void);

/* Return the name of the loops that run: "v4" or "v3" for x86-64-v4 or v3, "base" for what the library was compiled
 * for. It is the widest that the machine has, or what the environment's SPECSAMPLE_SIMD names; null if that cannot run,
 * which every call then says. Tokens do not depend on it. */
SPECSAMPLE_C_API const char* specsample_simd(void);

/* Make a workspace for drafts of up to `nodes` tokens. Block verification of a tree whose tokens are drawn from rows also
 * takes 16 bytes per id of the vocabulary: `tree_vocab` is their number, or 0 where there are no such trees. Returns null
 * if a number is negative or memory is out. */
SPECSAMPLE_C_API specsample_workspace* specsample_workspace_create(int64_t nodes, int64_t tree_vocab);
SPECSAMPLE_C_API void specsample_workspace_destroy(specsample_workspace* workspace);

/* Say what the last call that did not return SPECSAMPLE_OK complained of: a sentence that names the argument or the
 * row, what it was, and what it must be. Valid until the next call. */
SPECSAMPLE_C_API const char* specsample_message(const specsample_workspace* workspace);

/* Draw the token of a chain at place `node` for a rule, and say what it was drawn from. The token is -1 if nothing can
 * be drawn, which specsample_verify answers with a fault. */
SPECSAMPLE_C_API int specsample_draft(specsample_workspace* workspace, int rule, const specsample_rng* rng,
                                      int64_t node, const specsample_row* row, int32_t* token,
                                      specsample_origin* origin);

/* Draw the token of a node of a tree: `depth` tokens lie on the path before it, and the tokens of its older siblings,
 * `without`, are not drawn again. The list is borrowed until the round ends. */
SPECSAMPLE_C_API int specsample_draft_node(specsample_workspace* workspace, int rule, const specsample_rng* rng,
                                           int64_t node, const specsample_row* row, int64_t depth,
                                           const int32_t* without, int64_t without_count, int32_t* token,
                                           specsample_origin* origin);

/* Say that a token was not drawn at random: argmax, lookup, beam, or of unknown origin. */
SPECSAMPLE_C_API void specsample_origin_named(specsample_origin* origin);

/* Say that a token was drawn from a row by the caller's own code, without the given ids. */
SPECSAMPLE_C_API int specsample_origin_sampled(specsample_workspace* workspace, const specsample_row* row,
                                               const int32_t* without, int64_t without_count,
                                               specsample_origin* origin);

/* Judge a draft. Nothing is decided unless it returns SPECSAMPLE_OK. */
SPECSAMPLE_C_API int specsample_verify(specsample_workspace* workspace, const specsample_call* call,
                                       specsample_round* round);

/* Judge the drafts of several requests, each in its own workspace. One that cannot be judged leaves the others alone:
 * codes[i] is what specsample_verify would have returned for it. Returns the first code that is not SPECSAMPLE_OK.
 *
 * Without a loop the requests are judged one after the other. A loop calls body(state, i) once for each i below count,
 * on any threads, and returns when all calls have. Results do not depend on it. */
typedef void (*specsample_body)(void* state, int64_t i);
typedef void (*specsample_parallel_for)(void* context, int64_t count, specsample_body body, void* state);
SPECSAMPLE_C_API int specsample_verify_batch(specsample_workspace* const* workspaces, const specsample_call* calls,
                                             int64_t count, specsample_round* rounds, int* codes,
                                             specsample_parallel_for loop, void* context);

/* ---- Log-probabilities of the last round of a workspace, which must have been judged ---- */

typedef struct specsample_scored_id {
    double log_prob;
    int32_t id;
    int32_t reserved;
} specsample_scored_id;

/* An emitted token in its row. */
typedef struct specsample_token_score {
    double log_prob;                 /* ln p(token); -inf where it is impossible */
    double margin;                   /* the largest number stored in the row less the second largest */
    int64_t row;                     /* the number of its row */
    const specsample_scored_id* top; /* [top_count] the most likely tokens, the likeliest first */
    int64_t top_count;
    int32_t token;
    int32_t reserved;
} specsample_token_score;

/* A drafted token that was decided. */
typedef struct specsample_draft_score {
    double log_draft; /* ln of the probability that it was drafted with; 0 if it was named */
    double ratio;     /* its probability of acceptance by token verification */
    double slack;     /* a random number or rows that differ by less give the same decision */
    int64_t node;
    int32_t token;
    int32_t accepted; /* 1 if the round kept it */
} specsample_draft_score;

/* Score the emitted tokens, and list the `top` likeliest, at most 64, of each row. `call` is that of the round, or one
 * that has the model's own rows instead of shaped ones. The list is valid until the workspace's next use. */
SPECSAMPLE_C_API int specsample_token_scores(specsample_workspace* workspace, const specsample_call* call, int64_t top,
                                             const specsample_token_score** scores, int64_t* count);

/* Score the drafted tokens that a round of token or block verification decided. `call` is that of the round, of which
 * the rows are read again; so are those that its tokens were drawn from. */
SPECSAMPLE_C_API int specsample_draft_scores(specsample_workspace* workspace, const specsample_call* call,
                                             const specsample_draft_score** scores, int64_t* count);

/* ---- Sampling parameters ---- */

/* Write the mask of the token after a text: bit i of word i / 32 allows token i. Returns null on failure. The words
 * must last until the row is shaped. */
typedef const uint32_t* (*specsample_mask_of)(void* context, const int32_t* text, int64_t count, int64_t* word_count);

/* Several lists of tokens, one after the other in `tokens`. */
typedef struct specsample_token_lists {
    const int32_t* tokens;
    const int64_t* sizes; /* [count] */
    int64_t count;
} specsample_token_lists;

/* The sampling parameters of a request, by the names of vLLM and llama.cpp. The C++ type SamplingParams says what each
 * does, and in which order. specsample_params_init sets all of them to values that change nothing. */
typedef struct specsample_params {
    size_t size;
    double temperature; /* 0 is the argmax */
    int64_t top_k;
    double top_p, min_p, typical_p, top_n_sigma, epsilon_cutoff, eta_cutoff;
    double xtc_probability, xtc_threshold;
    uint64_t xtc_seed;
    double dynatemp_range, dynatemp_exponent;
    double repetition_penalty, frequency_penalty, presence_penalty;
    int64_t penalty_last_n; /* last tokens that penalties count */
    int64_t prompt_size;    /* leading tokens that frequency, presence and min_tokens skip */
    double dry_multiplier, dry_base;
    int64_t dry_allowed_length, dry_last_n;
    specsample_token_lists dry_breakers;
    int64_t no_repeat_ngram_size;
    const int32_t* bias_tokens; /* [bias_count] */
    const double* biases;       /* [bias_count] */
    int64_t bias_count;
    specsample_token_lists bad_words;
    int64_t min_tokens;
    const int32_t* stop_tokens; /* [stop_count] */
    int64_t stop_count;
    specsample_token_lists thinking; /* two lists: the markers of begin and end; or none */
    int64_t thinking_budget;
    specsample_mask_of mask_of;
    void* mask_context; /* its first argument */
} specsample_params;

SPECSAMPLE_C_API void specsample_params_init(specsample_params* params);

typedef struct specsample_shaper specsample_shaper;

/* Make a shaper of a request's parameters, which are copied. Returns null for a bad one, which specsample_message of
 * the workspace names, or if memory is out. */
SPECSAMPLE_C_API specsample_shaper* specsample_shaper_create(specsample_workspace* workspace,
                                                             const specsample_params* params);
SPECSAMPLE_C_API void specsample_shaper_destroy(specsample_shaper* shaper);

/* Shape the row of the token after a text, drafted tokens included. The shaped row views the slot's memory, and the
 * numbers of `row`, until the slot is used again: rows in use at one time have slots of their own, 0, 1, 2 ..
 * It may be called by a row_of, so it keeps its own messages; one thread at a time. */
SPECSAMPLE_C_API int specsample_shape(specsample_shaper* shaper, int64_t slot, const specsample_row* row,
                                      const int32_t* text, int64_t count, specsample_row* shaped);
SPECSAMPLE_C_API const char* specsample_shaper_message(const specsample_shaper* shaper);

/* ---- Drafts out of the text ---- */

typedef struct specsample_lookup specsample_lookup;

/* Make a drafter that continues the text as it, or a learned text, went on before: the C++ type SuffixLookupDrafter.
 * A draft has at most `nodes` tokens, a node at most `width` children (1: chains), and a match at least `min_match`
 * tokens. Returns null for a bad number, which specsample_message names, or if memory is out. */
SPECSAMPLE_C_API specsample_lookup* specsample_lookup_create(specsample_workspace* workspace, int64_t nodes,
                                                             int64_t width, int64_t min_match);
SPECSAMPLE_C_API void specsample_lookup_destroy(specsample_lookup* lookup);

/* Remember a text for good. */
SPECSAMPLE_C_API int specsample_lookup_learn(specsample_workspace* workspace, specsample_lookup* lookup,
                                             const int32_t* text, int64_t count);

/* Draft a tree after a text, which is read from where it differs from that of the last call, or again. Writes the
 * tokens and the parents of at most `nodes` nodes, none deeper than `depth`, and how many they are. Their origins are
 * named. */
SPECSAMPLE_C_API int specsample_lookup_draft(specsample_workspace* workspace, specsample_lookup* lookup,
                                             const int32_t* text, int64_t count, int64_t depth, int64_t vocab,
                                             int32_t* tokens, int64_t* parents, int64_t* drafted);

#ifdef __cplusplus
}
#endif

#endif
