// The C interface on arbitrary bytes: any rows, parameters, drafts and texts, null pointers included. No call may crash
// or throw; each returns a code, explains one that is not SPECSAMPLE_OK, and otherwise gives tokens of the vocabulary.
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include <specsample/c.h>

#include "fuzz/bytes.hpp"

namespace {

using fuzz::Bytes;
using fuzz::Index;
using fuzz::must;

constexpr Index most = 6;  // tokens of a draft

/// How many rounds were judged, and rows shaped.
struct Done {
    int rounds = 0, faults = 0, shaped = 0;
};
Done done;

struct AnyRow {
    std::vector<double> memory{};
    std::vector<std::int64_t> ids{};
    specsample_row row = SPECSAMPLE_INIT(specsample_row);
};

/// A row of up to `vocab` numbers: any bits, or ones that make a good row.
AnyRow any_row(Bytes& bytes, Index vocab) {
    AnyRow made;
    const bool is_good = bytes.one_in(2);
    made.row.scalar = is_good ? SPECSAMPLE_F32 : static_cast<std::int32_t>(bytes.below(6)) - 1;
    made.row.kind = is_good ? SPECSAMPLE_LOGITS : static_cast<std::int32_t>(bytes.below(4));
    made.row.temperature = is_good ? 1 : bytes.number();
    made.row.log_sum_exp = is_good ? 0 : bytes.number();
    made.row.count = bytes.one_in(40) ? static_cast<Index>(bytes.below(9)) - 4 : vocab;
    made.row.refused = bytes.one_in(40);
    const Index count = std::max(vocab, Index{16});
    made.memory.resize(static_cast<std::size_t>(count));
    for (double& number : made.memory) {
        const std::uint64_t bits = bytes.word(is_good ? 1 : 8);
        const std::array<float, 2> halves{static_cast<float>(bits % 16), static_cast<float>(bits / 16)};
        std::memcpy(&number, is_good ? static_cast<const void*>(&halves) : &bits, sizeof number);
    }
    made.row.numbers = bytes.one_in(60) ? nullptr : made.memory.data();
    if (bytes.one_in(4)) {
        for (Index id = 0; id < count; ++id)
            made.ids.push_back(bytes.one_in(30) ? static_cast<std::int64_t>(bytes.word()) : 2 * id);
        made.row.id_type = bytes.one_in(20) ? static_cast<std::int32_t>(bytes.below(8)) : SPECSAMPLE_I64;
        made.row.ids = made.ids.data();
        made.row.vocab = bytes.one_in(20) ? static_cast<Index>(bytes.below(9)) - 4 : 2 * count;
    }
    if (bytes.one_in(60)) made.row.size = bytes.byte();
    return made;
}

std::int64_t any_count(Bytes& bytes, std::int64_t usual) {
    return bytes.one_in(40) ? static_cast<std::int64_t>(bytes.below(20)) - 10 : usual;
}

/// Check what a call returned, and tell whether it did what it was asked.
template <class Message>
bool is_ok(int code, const Message& message) {
    must(code >= SPECSAMPLE_OK && code <= SPECSAMPLE_NO_MEMORY, "a call returns a code");
    if (code != SPECSAMPLE_OK) must(!std::string(message()).empty(), "a code is explained");
    return code == SPECSAMPLE_OK;
}

specsample_params any_params(Bytes& bytes, const std::vector<std::int32_t>& tokens,
                             const std::vector<std::int64_t>& sizes, const std::vector<double>& biases) {
    specsample_params params;
    specsample_params_init(&params);
    const auto some = [&](double& number, double usual) {
        if (bytes.one_in(3)) number = bytes.one_in(8) ? bytes.number() : usual;
    };
    some(params.temperature, .7);
    some(params.top_p, .8);
    some(params.min_p, .1);
    some(params.typical_p, .8);
    some(params.top_n_sigma, 1);
    some(params.epsilon_cutoff, .01);
    some(params.eta_cutoff, .01);
    some(params.xtc_probability, .5);
    some(params.dynatemp_range, .3);
    some(params.repetition_penalty, 1.2);
    some(params.frequency_penalty, .3);
    some(params.dry_multiplier, 1);
    if (bytes.one_in(3)) params.top_k = bytes.one_in(9) ? static_cast<Index>(bytes.below(9)) - 4 : 3;
    if (bytes.one_in(4)) params.no_repeat_ngram_size = static_cast<Index>(bytes.below(5)) - 1;
    if (bytes.one_in(4)) params.min_tokens = static_cast<Index>(bytes.below(5)) - 1;
    params.stop_tokens = tokens.data(), params.stop_count = any_count(bytes, 1);
    const specsample_token_lists lists{tokens.data(), sizes.data(), 2};
    if (bytes.one_in(4)) params.bad_words = lists;
    if (bytes.one_in(4)) params.dry_breakers = lists;
    if (bytes.one_in(4)) params.thinking = lists, params.thinking_budget = static_cast<Index>(bytes.below(4)) - 1;
    if (bytes.one_in(4)) params.bias_tokens = tokens.data(), params.biases = biases.data(), params.bias_count = 2;
    if (bytes.one_in(4))
        params.mask_of = [](void*, const std::int32_t*, std::int64_t count, std::int64_t* size) {
            static const std::array<std::uint32_t, 2> words{0x5a5a5a5a, 0x0f0f0f0f};
            *size = count % 4 - 1;
            return count % 7 == 6 ? nullptr : words.data();
        };
    return params;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Bytes bytes({data, size});
    const Index vocab = 1 + bytes.below(40), count = bytes.below(most + 1);
    specsample_workspace* workspace = specsample_workspace_create(bytes.below(4), 0);
    must(workspace != nullptr, "there is a workspace");
    const auto message = [&] { return specsample_message(workspace); };
    const specsample_rng rng{bytes.word(1), bytes.one_in(30) ? bytes.word() : 1, any_count(bytes, 3)};
    const int rule = bytes.one_in(30) ? bytes.byte() : static_cast<int>(bytes.below(5));

    // Tokens by draws and by lookup.
    std::vector<AnyRow> memory;
    std::vector<specsample_row> rows;
    for (Index i = 0; i <= 2 * count; ++i) memory.push_back(any_row(bytes, vocab));
    std::vector<std::int32_t> tokens(most), text(12);
    std::vector<std::int64_t> parents(most, -1);
    std::vector<specsample_origin> origins(most);
    for (std::int32_t& token : text) token = static_cast<std::int32_t>(bytes.below(vocab));
    for (Index i = 0; i < count; ++i) {
        const auto node = static_cast<std::size_t>(i);
        std::int32_t token = 0;
        if (is_ok(specsample_draft_node(workspace, rule, &rng, i, &memory[node].row, any_count(bytes, i), text.data(),
                                        any_count(bytes, 0), &token, bytes.one_in(60) ? nullptr : &origins[node]),
                  message))
            tokens[node] = bytes.one_in(40) ? static_cast<std::int32_t>(bytes.word(4)) : token;
        parents[node] = bytes.one_in(30) ? static_cast<Index>(bytes.below(9)) - 3 : bytes.below(i + 1) - 1;
    }
    if (bytes.one_in(4)) {
        specsample_lookup* lookup =
            specsample_lookup_create(workspace, any_count(bytes, most), any_count(bytes, 2), any_count(bytes, 1));
        std::int64_t drafted = 0;
        if (lookup != nullptr &&
            is_ok(specsample_lookup_learn(workspace, lookup, text.data(), any_count(bytes, 6)), message)) {
            std::vector<std::int32_t> found(16);
            std::vector<std::int64_t> above(16);
            if (is_ok(specsample_lookup_draft(workspace, lookup, text.data(), std::min<Index>(12, any_count(bytes, 9)),
                                              any_count(bytes, 3), any_count(bytes, vocab), found.data(), above.data(),
                                              &drafted),
                      message))
                must(drafted >= 0 && drafted <= 16, "a lookup drafts no more than it may");
        }
        specsample_lookup_destroy(lookup);
    }

    // The target's rows, some of them shaped.
    const std::vector<std::int64_t> sizes{static_cast<std::int64_t>(bytes.below(3)), any_count(bytes, 1)};
    const std::vector<double> biases{1, bytes.one_in(9) ? bytes.number() : -1};
    const specsample_params params = any_params(bytes, text, sizes, biases);
    specsample_shaper* shaper = specsample_shaper_create(workspace, &params);
    if (shaper == nullptr) must(!std::string(message()).empty(), "bad parameters are explained");
    for (Index i = 0; i <= count; ++i) {
        specsample_row row = memory[static_cast<std::size_t>(count + i)].row;
        specsample_row shaped = SPECSAMPLE_INIT(specsample_row);
        if (shaper != nullptr &&
            is_ok(specsample_shape(shaper, i, &row, text.data(), std::min<Index>(12, any_count(bytes, i)), &shaped),
                  [&] { return specsample_shaper_message(shaper); }))
            row = shaped, ++done.shaped;
        rows.push_back(row);
    }

    specsample_call call = SPECSAMPLE_INIT(specsample_call);
    call.rule = rule;
    call.check = static_cast<std::int32_t>(bytes.below(2));
    call.rng = rng;
    call.tokens = bytes.one_in(60) ? nullptr : tokens.data();
    call.count = std::min(count, any_count(bytes, count));
    call.parents = bytes.one_in(2) ? parents.data() : nullptr;
    call.origins = bytes.one_in(4) ? nullptr : origins.data();
    call.rows = bytes.one_in(60) ? nullptr : rows.data();
    call.row_count = std::min(count + 1, any_count(bytes, call.count + 1));
    call.max_tokens = any_count(bytes, 0);
    call.stop_tokens = text.data(), call.stop_count = std::min<Index>(12, any_count(bytes, 1));
    if (bytes.one_in(4)) {
        call.rows = nullptr;
        call.row_context = &rows;
        call.row_of = [](void* context, std::int64_t i, specsample_row* row) {
            const auto& all = *static_cast<const std::vector<specsample_row>*>(context);
            if (i < 0 || i >= std::ssize(all)) return 5;
            *row = all[static_cast<std::size_t>(i)];
            return 0;
        };
    }
    specsample_round round = SPECSAMPLE_INIT(specsample_round);
    const int code = specsample_verify(workspace, &call, &round);
    done.faults += code == SPECSAMPLE_FAULT;
    if (is_ok(code, message)) {
        ++done.rounds;
        must(round.token_count >= 0 && round.token_count <= call.count + 1, "a round emits at most count + 1 tokens");
        must(round.accepted <= round.token_count && round.accepted <= call.count, "it accepts what was drafted");
        for (std::int64_t i = 0; i < round.token_count; ++i)
            must(round.tokens[i] >= 0 && round.tokens[i] < 2 * std::max(vocab, Index{16}), "its tokens exist");
        if (bytes.one_in(3)) {  // in other rows
            std::ranges::rotate(rows, rows.begin() + bytes.below(count + 1));
            call.row_count = std::min(count + 1, any_count(bytes, call.row_count));
            call.parents = bytes.one_in(2) ? parents.data() : nullptr;
            call.count = std::min(count, any_count(bytes, call.count));
        }
        const specsample_token_score* scores = nullptr;
        const specsample_draft_score* drafts = nullptr;
        std::int64_t scored = 0;
        if (is_ok(specsample_token_scores(workspace, &call, any_count(bytes, 3), &scores, &scored), message))
            must(scored == round.token_count, "each token has a score");
        if (is_ok(specsample_draft_scores(workspace, &call, &drafts, &scored), message))
            must(scored >= 0 && scored <= most, "each decided token has a score");
    }
    specsample_shaper_destroy(shaper);
    specsample_workspace_destroy(workspace);
    return 0;
}
