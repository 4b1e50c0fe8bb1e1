// Sampling parameters of the C interface; a part of c.cpp.
struct specsample_shaper : specsample_guarded {
    SamplingParams params{};
    std::vector<std::unique_ptr<filters::ShapedMemory<Row>>> slots{};  // a row may view its memory while others come
};

namespace {

constexpr auto creates_shaper = "specsample_shaper_create";

std::vector<Token> tokens_of(const std::int32_t* tokens, std::int64_t count, const char* what) {
    const auto given = list(tokens, count, creates_shaper, what);
    return {given.begin(), given.end()};
}

std::vector<std::vector<Token>> lists_of(const specsample_token_lists& given, const char* what) {
    std::vector<std::vector<Token>> lists;
    const std::int32_t* next = given.tokens;
    for (const std::int64_t size : list(given.sizes, given.count, creates_shaper, what)) {
        lists.push_back(tokens_of(next, size, what));
        next += size;
    }
    return lists;
}

/// Return a mask that a C function makes.
filters::AnyMask mask_of(specsample_mask_of function, void* context) {
    if (function == nullptr) return {};
    return [function, context](std::span<const Token> text) {
        std::int64_t count = 0;
        const std::uint32_t* words = function(context, text.data(), std::ssize(text), &count);
        if (words == nullptr) refuse("specsample_shape", "what params.mask_of returned", "null", "the words of a mask");
        return list(words, count, "specsample_shape", "the mask");
    };
}

/// Call f(number, its counterpart) for every number of the parameters in C and in C++, but the size of the prompt, which
/// C++ finds by itself.
template <class Given, class Params, class F>
void each_number(Given& given, Params& params, const F& f) {
    f(given.temperature, params.temperature);
    f(given.top_k, params.top_k);
    f(given.top_p, params.top_p);
    f(given.min_p, params.min_p);
    f(given.typical_p, params.typical_p);
    f(given.top_n_sigma, params.top_n_sigma);
    f(given.epsilon_cutoff, params.epsilon_cutoff);
    f(given.eta_cutoff, params.eta_cutoff);
    f(given.xtc_probability, params.xtc.probability);
    f(given.xtc_threshold, params.xtc.threshold);
    f(given.xtc_seed, params.xtc.seed);
    f(given.dynatemp_range, params.dynatemp_range);
    f(given.dynatemp_exponent, params.dynatemp_exponent);
    f(given.repetition_penalty, params.repetition_penalty);
    f(given.frequency_penalty, params.frequency_penalty);
    f(given.presence_penalty, params.presence_penalty);
    f(given.penalty_last_n, params.penalty_last_n);
    f(given.dry_multiplier, params.dry.multiplier);
    f(given.dry_base, params.dry.base);
    f(given.dry_allowed_length, params.dry.allowed_length);
    f(given.dry_last_n, params.dry.last_n);
    f(given.no_repeat_ngram_size, params.no_repeat_ngram_size);
    f(given.min_tokens, params.min_tokens);
}

SamplingParams params_of(const specsample_params* address) {
    const specsample_params& given = checked(address, creates_shaper, "specsample_params");
    SamplingParams params;
    each_number(given, params, [](const auto& number, auto& in_params) { in_params = number; });
    params.prompt_size = given.prompt_size;
    params.dry.sequence_breakers = lists_of(given.dry_breakers, "params.dry_breakers");
    params.bad_words = {lists_of(given.bad_words, "params.bad_words")};
    params.stop_token_ids = tokens_of(given.stop_tokens, given.stop_count, "params.stop_tokens");
    params.mask = mask_of(given.mask_of, given.mask_context);
    const auto biased = list(given.bias_tokens, given.bias_count, creates_shaper, "params.bias_tokens");
    const auto biases = list(given.biases, given.bias_count, creates_shaper, "params.biases");
    for (std::size_t i = 0; i < biased.size(); ++i) params.logit_bias.emplace_back(biased[i], biases[i]);
    const auto markers = lists_of(given.thinking, "params.thinking");
    if (!markers.empty() && markers.size() != 2)
        refuse(creates_shaper, "params.thinking.count", std::to_string(markers.size()), "0 or 2");
    if (!markers.empty()) params.thinking = {markers[0], markers[1], given.thinking_budget};
    detail::require(params.prompt_size >= 0, creates_shaper, "params.prompt_size", params.prompt_size, "at least 0");
    params.check();
    return params;
}

/// Return the memory of a slot.
filters::ShapedMemory<Row>& slot_of(specsample_shaper& shaper, std::int64_t slot) {
    constexpr std::int64_t most = 1 << 20;
    if (slot < 0 || slot >= most) refuse("specsample_shape", "slot", std::to_string(slot), "in 0 .. 2^20 - 1");
    const auto i = static_cast<std::size_t>(slot);
    if (i >= shaper.slots.size()) shaper.slots.resize(i + 1);
    if (!shaper.slots[i]) shaper.slots[i] = std::make_unique<filters::ShapedMemory<Row>>();
    return *shaper.slots[i];
}

/// Write a row that was shaped: dense, or with the ids that are left.
void write(const Row& row, specsample_row& shaped) {
    const detail::RowParts& parts = detail::parts_of(row);
    shaped = SPECSAMPLE_INIT(specsample_row);
    shaped.numbers = parts.numbers.data();
    shaped.count = parts.numbers.size();
    shaped.scalar = row.scalar() == Row::Scalar::f64 ? SPECSAMPLE_F64 : SPECSAMPLE_F32;
    shaped.kind = row.are_logits() ? SPECSAMPLE_LOGITS : SPECSAMPLE_PROBS;
    shaped.temperature = row.are_logits() ? parts.temperature : 0;
    shaped.refused = parts.is_refused;
    if (parts.ids.size() < 0) return;
    shaped.ids = parts.ids.data();
    shaped.id_type = SPECSAMPLE_I32;
    shaped.vocab = row.size();
}

}  // namespace

void specsample_params_init(specsample_params* given) {
    if (given == nullptr) return;
    *given = SPECSAMPLE_INIT(specsample_params);
    const SamplingParams params;
    each_number(*given, params, [](auto& number, const auto& in_params) { number = in_params; });
}

specsample_shaper* specsample_shaper_create(specsample_workspace* workspace, const specsample_params* params) {
    return made_in<specsample_shaper>(workspace, [&] {
        auto shaper = std::make_unique<specsample_shaper>();
        shaper->params = params_of(params);
        return shaper.release();
    });
}

void specsample_shaper_destroy(specsample_shaper* shaper) { delete shaper; }

const char* specsample_shaper_message(const specsample_shaper* shaper) {
    return shaper == nullptr ? "the shaper is null, but must be one of specsample_shaper_create"
                             : shaper->message.c_str();
}

int specsample_shape(specsample_shaper* given, int64_t slot, const specsample_row* row, const int32_t* text,
                     int64_t count, specsample_row* shaped) {
    return guarded(given, [&](specsample_shaper& shaper) {
        constexpr auto where = "specsample_shape";
        const Row from = row_of(row, where);
        const auto context = list(text, count, where, "text");
        specsample_row& result = at(shaped, where, "shaped");
        write(shape(from, shaper.params, context, slot_of(shaper, slot)), result);
    });
}
