// The errors of the glue where an engine cannot continue, and that the glue can be used afterwards.
#include <type_traits>

#include "llama_cpp/engine.hpp"
#include "llama_cpp/glue.hpp"
#include "support/catch.hpp"

using namespace specsample;

namespace {

using Tokens = std::vector<Token>;

const Tokens text{1, 2, 3, 4, 5, 6};
const Tokens tree_tokens{7, 8, 9};
const std::vector<Index> tree_parents{-1, -1, 0};
const Tree<Token, Index> two_leaves{tree_tokens, tree_parents};

/// True if a call for a text gives the right rows now.
bool works(LlamaModel& model, const llama_context& context, const Tokens& prefix) {
    return std::ranges::equal(model(prefix, 1)[0], logits_after(prefix, context.model));
}

static_assert(BatchModel<LlamaModel> && TreeModel<LlamaModel>);
static_assert(!std::is_copy_constructible_v<LlamaModel> && std::is_move_constructible_v<LlamaModel>);

}  // namespace

TEST_CASE("a context that is full reports its length, and can be rolled back") {
    llama_context context{.n_ctx = 8};
    LlamaModel model(&context);
    CHECK(works(model, context, text));
    CHECK_THROWS_WITH(model(text, two_leaves),
                      ContainsSubstring("the context is full") && ContainsSubstring("after 5"));
    CHECK(works(model, context, {1, 2, 3, 4, 5, 6, 7, 8}));
    CHECK_THROWS_WITH(model(Tokens{1, 2, 3, 4, 5, 6, 7, 8, 9}, 1), ContainsSubstring("after 8"));
    CHECK(model.held() == 8);
    CHECK(works(model, context, text));
}

TEST_CASE("drafts and texts that no call can take are refused before anything is decoded") {
    llama_context context{.n_batch = 3};
    LlamaModel model(&context);
    CHECK_THROWS_WITH(model(Tokens{}, 1), ContainsSubstring("no logits before the first token"));
    CHECK_THROWS_WITH(model(Tokens{}, two_leaves), ContainsSubstring("no logits before the first token"));
    CHECK_THROWS_WITH(model(text, 0), ContainsSubstring("no logits"));
    CHECK_THROWS_WITH(model(text, 4), ContainsSubstring("does not fit in n_batch, 3"));
    CHECK_THROWS_WITH(model(text, two_leaves), ContainsSubstring("does not fit in n_batch, 3"));
    CHECK(context.decodes.empty());
    CHECK(works(model, context, text));
}

TEST_CASE("a tree needs sequences in one cache") {
    const bool few = GENERATE(true, false);
    llama_context context{.memory = {.sequences = few ? 2 : 8, .unified = few}};
    LlamaModel model(&context);
    CHECK_THROWS_WITH(model(text, two_leaves), ContainsSubstring("kv_unified, and n_seq_max above the number"));
    CHECK(works(model, context, text));
    CHECK(works(model, context, {1, 2, 9}));
    CHECK(model(text, Tree<Token, Index>{}).size() == 1);  // nothing drafted: no sequence needed
}

TEST_CASE("as many leaves as there are sequences for") {
    llama_context context{.memory = {.sequences = 3}};
    LlamaModel model(&context);
    CHECK(model(text, two_leaves).size() == 4);
    CHECK(works(model, context, {1, 2, 3, 4, 5, 6, 7, 9, 1}));
    CHECK(context.decodes == std::vector{9, 1});
}

TEST_CASE("a wrong token is refused by the engine, and nothing of it stays") {
    llama_context context;
    LlamaModel model(&context);
    CHECK(works(model, context, text));
    CHECK_THROWS_WITH(model(Tokens{1, 2, 99}, 1), ContainsSubstring("llama_decode failed with status -1"));
    CHECK(model.held() == 2);
    CHECK(works(model, context, {1, 2, 4}));
    CHECK(context.decodes == std::vector{6, 1});
}

TEST_CASE("an interrupted prompt keeps what was decoded before") {
    llama_context context{.n_batch = 4};
    LlamaModel model(&context);
    CHECK(works(model, context, {1, 2, 3, 4}));
    context.trouble = {.status = 2, .decoded = 1};
    CHECK_THROWS_AS(model(text, 1), Interrupted);
    CHECK(model.held() == 4);
    CHECK(context.memory.cells.size() == 4);
    CHECK(works(model, context, text));
    CHECK(context.decodes == std::vector{4, 2});
}

TEST_CASE("a memory that cannot be rolled back decodes plainly, and refuses drafts") {
    llama_context context{.memory = {.can_cut = false}};
    LlamaModel model(&context);
    for (std::size_t size = 1; size <= text.size(); ++size)
        CHECK(works(model, context, {text.begin(), text.begin() + Index(size)}));
    CHECK(context.decodes == std::vector{1, 1, 1, 1, 1, 1});
    CHECK_THROWS_WITH(model(Tokens{1, 2, 9}, 1), ContainsSubstring("cannot roll back"));
    CHECK(model.held() == 0);
    CHECK(works(model, context, {1, 2, 9}));
    model.keep({});
    CHECK(works(model, context, text));
}

TEST_CASE("a window that is not kept whole is refused where a row would lack some of it") {
    llama_context context{.model = {.window = 3}, .keeps_window = false};
    LlamaModel model(&context);
    for (std::size_t size = 1; size <= text.size(); ++size)
        CHECK(works(model, context, {text.begin(), text.begin() + Index(size)}));
    CHECK_THROWS_WITH(model(Tokens{1, 2, 3, 4, 5, 9}, 1), ContainsSubstring("cannot roll back"));
    CHECK(works(model, context, {1, 2, 3, 4, 5, 9}));
}
