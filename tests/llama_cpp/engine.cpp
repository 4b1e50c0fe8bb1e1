#include "llama_cpp/engine.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace {

std::uint64_t mixed(std::uint64_t x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

/// A token's content, of itself and what it sees.
class Content {
  public:
    void see(llama_pos place, std::uint64_t content) { sum_ += mixed(content + 3 * std::uint64_t(place) + 1); }
    std::uint64_t of(llama_token token, llama_pos place) const {
        return mixed(sum_ ^ mixed(std::uint64_t(token) << 32 | std::uint64_t(place)));
    }

  private:
    std::uint64_t sum_ = 0;  // in any order, as attention is
};

std::vector<float> logits_of(std::uint64_t content, std::int32_t vocab) {
    std::vector<float> logits;
    for (std::int32_t i = 0; i < vocab; ++i)
        logits.push_back(float(mixed(content + std::uint64_t(i) + 1) >> 40) * 0x1p-21f);  // in [0, 8)
    return logits;
}

bool sees(llama_pos place, llama_pos seen, std::int32_t window) {
    return seen < place && (window == 0 || place - seen < window);
}

[[noreturn]] void abort_with(const char* why) { throw std::logic_error(why); }  // where llama.cpp ends the program

/// The tokens of a sequence in a batch, in their order.
std::vector<llama_pos> places_of(llama_seq_id sequence, const llama_batch& batch) {
    std::vector<llama_pos> places;
    for (std::int32_t i = 0; i < batch.n_tokens; ++i)
        if (std::count(batch.seq_id[i], batch.seq_id[i] + batch.n_seq_id[i], sequence) > 0)
            places.push_back(batch.pos[i]);
    return places;
}

bool ids_are_right(const llama_context& context, const llama_batch& batch) {
    for (std::int32_t i = 0; i < batch.n_tokens; ++i) {
        if (batch.token[i] < 0 || batch.token[i] >= context.model.vocab.size) return false;
        if (batch.n_seq_id[i] < 1) return false;
        for (std::int32_t k = 0; k < batch.n_seq_id[i]; ++k)
            if (batch.seq_id[i][k] < 0 || batch.seq_id[i][k] >= context.memory.sequences) return false;
    }
    return batch.n_tokens > 0;
}

/// Checks that a sequence continues where the cache ends, position by position.
bool places_go_on(const llama_memory_i& memory, const llama_batch& batch) {
    for (llama_seq_id sequence = 0; sequence < memory.sequences; ++sequence) {
        const auto places = places_of(sequence, batch);
        for (std::size_t i = 0; i < places.size(); ++i)
            if (places[i] != memory.most(sequence) + 1 + llama_pos(i)) return false;
    }
    return true;
}

/// Checks that sequences which share a token have the same positions in the cache.
bool coupled_are_alike(const llama_memory_i& memory, const llama_batch& batch) {
    for (std::int32_t i = 0; i < batch.n_tokens; ++i)
        for (std::int32_t k = 1; k < batch.n_seq_id[i]; ++k) {
            const llama_seq_id one = batch.seq_id[i][0], other = batch.seq_id[i][k];
            if (memory.least(one) != memory.least(other) || memory.most(one) != memory.most(other)) return false;
            if (!memory.unified) return false;
        }
    return true;
}

/// Decode a token into a new cell.
void decode_token(llama_context& context, const llama_batch& batch, std::int32_t i) {
    std::vector<Cell>& cells = context.memory.cells;
    Content content;
    for (const Cell& cell : cells)
        if (cell.sequences.contains(batch.seq_id[i][0]) && sees(batch.pos[i], cell.place, context.model.window))
            content.see(cell.place, cell.content);
    cells.push_back({batch.pos[i],
                     content.of(batch.token[i], batch.pos[i]),
                     {batch.seq_id[i], batch.seq_id[i] + batch.n_seq_id[i]}});
    context.logits.emplace_back();
    if (batch.logits[i] != 0) context.logits.back() = logits_of(cells.back().content, context.model.vocab.size);
}

/// Drop cells that no next token sees.
void drop_unseen(llama_context& context) {
    if (context.keeps_window) return;
    std::erase_if(context.memory.cells, [&](const Cell& cell) {
        return std::ranges::all_of(cell.sequences, [&](llama_seq_id sequence) {
            return !sees(context.memory.most(sequence) + 1, cell.place, context.model.window);
        });
    });
}

}  // namespace

llama_pos llama_memory_i::least(llama_seq_id sequence) const {
    llama_pos result = -1;
    for (const Cell& cell : cells)
        if (cell.sequences.contains(sequence) && (result < 0 || cell.place < result)) result = cell.place;
    return result;
}

llama_pos llama_memory_i::most(llama_seq_id sequence) const {
    llama_pos result = -1;
    for (const Cell& cell : cells)
        if (cell.sequences.contains(sequence)) result = std::max(result, cell.place);
    return result;
}

std::vector<float> logits_after(std::span<const llama_token> text, const llama_model& model) {
    std::vector<std::uint64_t> contents;
    for (const llama_token token : text) {
        const auto place = llama_pos(contents.size());
        Content content;
        for (llama_pos seen = 0; seen < place; ++seen)
            if (sees(place, seen, model.window)) content.see(seen, contents[std::size_t(seen)]);
        contents.push_back(content.of(token, place));
    }
    return logits_of(contents.back(), model.vocab.size);
}

std::int32_t llama_decode(llama_context* context, llama_batch batch) {
    const Trouble trouble = std::exchange(context->trouble, {});
    context->logits.clear();
    if (batch.n_tokens > std::int32_t(context->n_batch)) abort_with("n_tokens > n_batch");
    if (!ids_are_right(*context, batch) || !places_go_on(context->memory, batch) ||
        !coupled_are_alike(context->memory, batch))
        return -1;
    if (trouble.status == 1 || context->memory.cells.size() + std::size_t(batch.n_tokens) > context->n_ctx) return 1;
    const std::int32_t count = trouble.status == 0 ? batch.n_tokens : std::min(trouble.decoded, batch.n_tokens);
    for (std::int32_t i = 0; i < count; ++i) decode_token(*context, batch, i);
    if (trouble.status != 0) return trouble.status;
    context->decodes.push_back(batch.n_tokens);
    drop_unseen(*context);
    return 0;
}

float* llama_get_logits_ith(llama_context* context, std::int32_t i) {
    if (i < 0) i += std::int32_t(context->logits.size());  // these tests have the logits of the last tokens
    std::vector<float>& logits = context->logits.at(std::size_t(i));
    if (logits.empty()) abort_with("no logits were asked for there");
    return logits.data();
}

std::uint32_t llama_n_batch(const llama_context* context) { return context->n_batch; }
std::uint32_t llama_n_ctx(const llama_context* context) { return context->n_ctx; }
std::uint32_t llama_n_ctx_seq(const llama_context* context) {
    return context->memory.unified ? context->n_ctx : context->n_ctx / llama_n_seq_max(context);
}
std::uint32_t llama_n_seq_max(const llama_context* context) { return std::uint32_t(context->memory.sequences); }
const llama_model* llama_get_model(const llama_context* context) { return &context->model; }
const llama_vocab* llama_model_get_vocab(const llama_model* model) { return &model->vocab; }
std::int32_t llama_vocab_n_tokens(const llama_vocab* vocab) { return vocab->size; }
std::int32_t llama_model_n_swa(const llama_model* model) { return model->window; }
llama_memory_t llama_get_memory(const llama_context* context) { return &context->memory; }

void llama_memory_clear(llama_memory_t memory, bool) { memory->cells.clear(); }

bool llama_memory_seq_rm(llama_memory_t memory, llama_seq_id sequence, llama_pos begin, llama_pos end) {
    if (sequence >= memory->sequences) abort_with("seq_rm of a sequence that there is not");
    const auto is_in = [&](const Cell& cell) {
        return cell.sequences.contains(sequence) && cell.place >= begin && (end < 0 || cell.place < end);
    };
    if (!memory->can_cut && begin > 0 && std::ranges::any_of(memory->cells, is_in)) return false;
    for (Cell& cell : memory->cells)
        if (is_in(cell)) cell.sequences.erase(sequence);
    std::erase_if(memory->cells, [](const Cell& cell) { return cell.sequences.empty(); });
    return true;
}

void llama_memory_seq_cp(llama_memory_t memory, llama_seq_id from, llama_seq_id to, llama_pos begin, llama_pos end) {
    if (std::max(from, to) >= memory->sequences) abort_with("seq_cp of a sequence that there is not");
    if (!memory->unified && begin > 0) abort_with("seq_cp of a part between two caches");
    for (Cell& cell : memory->cells)
        if (cell.sequences.contains(from) && cell.place >= begin && (end < 0 || cell.place < end))
            cell.sequences.insert(to);
}

llama_pos llama_memory_seq_pos_min(llama_memory_t memory, llama_seq_id sequence) { return memory->least(sequence); }

llama_sampler* llama_sampler_init(llama_sampler_i* functions, void* state) {
    return new llama_sampler{functions, state};
}
void llama_sampler_accept(llama_sampler* sampler, llama_token token) {
    if (sampler->iface->accept != nullptr) sampler->iface->accept(sampler, token);
}
void llama_sampler_apply(llama_sampler* sampler, llama_token_data_array* candidates) {
    sampler->iface->apply(sampler, candidates);
}
void llama_sampler_reset(llama_sampler* sampler) { sampler->iface->reset(sampler); }
void llama_sampler_copy(const llama_sampler* from, llama_sampler* to) { from->iface->copy_state(from, to); }
llama_sampler* llama_sampler_clone(const llama_sampler* sampler) { return sampler->iface->clone(sampler); }
void llama_sampler_free(llama_sampler* sampler) {
    if (sampler->iface->free != nullptr) sampler->iface->free(sampler);
    delete sampler;
}

llama_sampler* llama_sampler_init_greedy() {
    static llama_sampler_i functions{};
    functions.apply = [](llama_sampler*, llama_token_data_array* all) {
        all->selected =
            std::ranges::max_element(all->data, all->data + all->size, {}, &llama_token_data::logit) - all->data;
    };
    return llama_sampler_init(&functions, nullptr);
}

llama_token llama_sampler_sample(llama_sampler* sampler, llama_context* context, std::int32_t i) {
    const float* const logits = llama_get_logits_ith(context, i);
    std::vector<llama_token_data> candidates;
    for (llama_token id = 0; id < context->model.vocab.size; ++id) candidates.push_back({id, logits[id], 0});
    llama_token_data_array all{candidates.data(), candidates.size(), -1, false};
    llama_sampler_apply(sampler, &all);
    if (all.selected < 0 || all.selected >= std::int64_t(all.size)) abort_with("no selected token during sampling");
    llama_sampler_accept(sampler, all.data[all.selected].id);
    return all.data[all.selected].id;
}
