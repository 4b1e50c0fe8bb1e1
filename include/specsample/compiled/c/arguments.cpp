// What the functions of the C interface share; a part of c.cpp.
#include <specsample/c.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <specsample/drafters/suffix_lookup.hpp>
#include <specsample/shaping/sampling_params.hpp>
#include <specsample/shaping/shape_value.hpp>
#include <specsample/values.hpp>

using namespace specsample;

static_assert(std::is_trivially_copyable_v<Origin> && sizeof(Origin) <= sizeof(specsample_origin::opaque));
static_assert(std::is_same_v<Index, std::ptrdiff_t> && sizeof(Index) <= sizeof(std::int64_t));

/// What one thread at a time may use, and the sentence of its last failure.
struct specsample_guarded {
    std::string message{};
    std::atomic_flag busy{};
};

/// The rows of a call that has row_of.
struct specsample_row_source {
    specsample_row_of row_of = nullptr;
    void* context = nullptr;
    const char* where = "";
    Index vocab = -1;  // of the round that is scored; -1 while it is judged
    Index first = 0;   // the size of the first row that was made

    Row operator()(Index i);
};

struct specsample_workspace : specsample_guarded {
    Workspace memory{};
    std::vector<Row> rows{};
    std::vector<Origin> origins{};
    std::vector<Index> parents{};
    std::vector<std::int64_t> path{};
    specsample_row_source source{};
    Round last{};            // the round that scores are asked of, and what it was given
    bool is_judged = false;  // whether there is one
    std::vector<Token> tokens{};
    specsample_rng rng{};
    int rule = 0;
    Index vocab = 0;
    bool is_tree = false, has_origins = false;
    Scores scores{};
    std::vector<specsample_scored_id> top{};
    std::vector<specsample_token_score> token_scores{};
    std::vector<specsample_draft_score> draft_scores{};
};

namespace {

[[noreturn]] void refuse(const char* where, const char* what, const std::string& is, const char* must) {
    throw std::invalid_argument(std::string(where) + ": " + what + " is " + is + ", but must be " + must);
}

/// Return what a pointer points to.
template <class T>
T& at(T* pointer, const char* where, const char* what) {
    if (pointer == nullptr) refuse(where, what, "null", "the address of one");
    return *pointer;
}

template <class Struct>
Struct& checked(Struct* pointer, const char* where, const char* what) {
    if (at(pointer, where, what).size != sizeof(Struct))
        refuse(where, "the size of a struct", std::to_string(pointer->size),
               ("that of " + std::string(what) + ", " + std::to_string(sizeof(Struct)) + ": SPECSAMPLE_INIT sets it")
                   .c_str());
    return *pointer;
}

template <class T>
std::span<const T> list(const T* data, std::int64_t count, const char* where, const char* what) {
    if (count < 0) refuse(where, "a number of elements", std::to_string(count), "at least 0");
    if (count > 0 && data == nullptr) refuse(where, what, "null", "the address of a list");
    return {data, static_cast<std::size_t>(count)};
}

/// Call f, which may return a code, and turn what it throws into a code and a message.
template <class Object, class F>
int guarded(Object* object, const F& f) {
    if (object == nullptr) return SPECSAMPLE_INVALID;
    if (object->busy.test_and_set(std::memory_order_acquire)) return SPECSAMPLE_BUSY;
    int code = SPECSAMPLE_OK;
    try {
        try {
            if constexpr (std::is_void_v<decltype(f(*object))>)
                f(*object);
            else
                code = f(*object);
        } catch (const std::bad_alloc&) {
            code = SPECSAMPLE_NO_MEMORY;
            object->message = "no memory";
        } catch (const std::exception& error) {
            code = SPECSAMPLE_INVALID;
            object->message = error.what();
        }
    } catch (...) {  // no memory for the message
        code = SPECSAMPLE_NO_MEMORY;
        object->message.clear();
    }
    object->busy.clear(std::memory_order_release);
    return code;
}

/// Make an object in a call; null, and a message, if that fails.
template <class Object, class F>
Object* made_in(specsample_workspace* workspace, const F& make) {
    Object* object = nullptr;
    guarded(workspace, [&](specsample_workspace&) { object = make(); });
    return object;
}

detail::IdsView ids_of(const specsample_row& row, const char* where) {
    const auto view = [&]<class Id>(Id) { return detail::IdsView(static_cast<const Id*>(row.ids), row.count); };
    if (row.id_type == SPECSAMPLE_I32) return view(std::int32_t{});
    if (row.id_type == SPECSAMPLE_U32) return view(std::uint32_t{});
    if (row.id_type == SPECSAMPLE_I64) return view(std::int64_t{});
    if (row.id_type == SPECSAMPLE_U64) return view(std::uint64_t{});
    if (row.id_type == SPECSAMPLE_U16) return view(std::uint16_t{});
    refuse(where, "row.id_type", std::to_string(row.id_type), "SPECSAMPLE_EVERY_ID, SPECSAMPLE_I32, ..");
}

Row row_of(const specsample_row* given, const char* where) {
    const specsample_row& row = checked(given, where, "specsample_row");
    if (row.scalar < SPECSAMPLE_F32 || row.scalar > SPECSAMPLE_BF16)
        refuse(where, "row.scalar", std::to_string(row.scalar), "SPECSAMPLE_F32, ..");
    if (row.step < 0) refuse(where, "row.step", std::to_string(row.step), "at least 0");
    constexpr Row::Scalar scalars[] = {Row::Scalar::f32, Row::Scalar::f64, Row::Scalar::f16, Row::Scalar::bf16};
    const detail::NumbersView numbers(row.numbers, scalars[row.scalar], row.count, row.step == 0 ? 1 : row.step);
    const auto dense = [&] {
        if (row.kind == SPECSAMPLE_PROBS) return Row::probs(numbers);
        if (row.kind == SPECSAMPLE_LOGITS) return Row::logits(numbers, row.temperature);
        if (row.kind == SPECSAMPLE_NORMALISED_LOGITS) return Row::logits(numbers, row.temperature, row.log_sum_exp);
        refuse(where, "row.kind", std::to_string(row.kind), "SPECSAMPLE_PROBS, ..");
    };
    Row value = row.id_type == SPECSAMPLE_EVERY_ID ? dense() : Row::sparse(ids_of(row, where), dense(), row.vocab);
    detail::parts_of(value).is_refused = row.refused != 0;
    return value;
}

/// Refuse a row of another vocabulary than the round's.
void require_vocab(Index vocab, const Row& row, Index i, const char* where) {
    if (row.size() != vocab)
        refuse(where, ("the vocabulary of row " + std::to_string(i)).c_str(), std::to_string(row.size()),
               ("that of the round, " + std::to_string(vocab)).c_str());
}

}  // namespace

Row specsample_row_source::operator()(Index i) {
    specsample_row row = SPECSAMPLE_INIT(specsample_row);
    if (const int code = row_of(context, i, &row); code != 0)
        refuse(where, ("what call.row_of returned for row " + std::to_string(i)).c_str(), std::to_string(code), "0");
    const Row value = ::row_of(&row, where);
    if (vocab >= 0) require_vocab(vocab, value, i, where);
    if (first == 0) first = value.size();
    return value;
}

namespace {

RoundRng rng_of(const specsample_rng& rng) { return {rng.seed, rng.request, rng.round_start}; }

/// Call f with the rule of a number.
template <class F>
auto with_rule(int rule, const char* where, const F& f) {
    if (rule == SPECSAMPLE_TOKEN_VERIFICATION) return f(TokenVerification{});
    if (rule == SPECSAMPLE_BLOCK_VERIFICATION) return f(BlockVerification{});
    if (rule == SPECSAMPLE_GREEDY_MATCH) return f(GreedyMatch{});
    if (rule == SPECSAMPLE_SAMPLE_MATCH) return f(SampleMatch{});
    if (rule == SPECSAMPLE_GUMBEL_MATCH) return f(GumbelMatch{});
    refuse(where, "rule", std::to_string(rule), "SPECSAMPLE_TOKEN_VERIFICATION, ..");
}

}  // namespace
