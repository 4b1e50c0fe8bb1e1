// Shaped models: grammars, masks and other shapers, and what must be rewound with a draft.
#include <array>
#include <cstdint>
#include <memory>

#include <specsample/shaping.hpp>
#include <specsample/shaping/grammar.hpp>
#include <specsample/shaping/outlook.hpp>
#include <specsample/shaping/shaped.hpp>
#include <specsample/specsample.hpp>

// case: cursor_that_answers_with_a_number
// accept as C interfaces have it, where 0 says that all went well.
// expect: error: static assertion failed.*specsample::Grammar: a cursor must have accept.token., which returns nothing
namespace cursor_that_answers_with_a_number {

using namespace specsample;

struct Matcher {
    std::array<std::uint32_t, 1> mask() { return {3}; }
#ifdef FIXED
    bool accept(Token) { return true; }
#else
    int accept(Token) { return 0; }
#endif
};

int program() {
    const Grammar grammar{Matcher{}};
    return sizeof grammar > 0;
}

}  // namespace cursor_that_answers_with_a_number

// case: cursor_that_cannot_be_rewound
// A matcher that only goes forward.
// expect: error: static assertion failed.*specsample::Grammar: a cursor that cannot be rewound cannot follow a draft
namespace cursor_that_cannot_be_rewound {

using namespace specsample;

struct Matcher {
    std::unique_ptr<int> state = std::make_unique<int>(3);

    std::array<int, 1> mask() { return {*state}; }
    void accept(Token) { *state ^= 1; }
#ifdef FIXED
    void rollback(Index n) { *state ^= static_cast<int>(n % 2); }
#endif
};

int program() {
    auto model = shaped([](std::span<const Token>) { return std::vector<float>{.5f, .5f}; }, Grammar(Matcher{}));
    return static_cast<int>(model(std::span<const Token>{}).size());
}

}  // namespace cursor_that_cannot_be_rewound

// case: cursor_without_mask
// A cursor whose mask has words of another size.
// expect: error: static assertion failed.*specsample::Grammar: a cursor must have mask.., which returns the words
namespace cursor_without_mask {

using namespace specsample;

struct Matcher {
#ifdef FIXED
    std::array<std::uint32_t, 1> mask() { return {3}; }
#else
    std::array<std::uint64_t, 1> mask() { return {3}; }
#endif
    void accept(Token) {}
};

int program() {
    const Grammar grammar{Matcher{}};
    return sizeof grammar > 0;
}

}  // namespace cursor_without_mask

// case: from_logits_of_a_row
// One row of logits is no model of them.
// expect: error: static assertion failed.*specsample::from_logits: the first argument must be a model that returns
// rows.*write Logits.row, temperature
namespace from_logits_of_a_row {

using namespace specsample;

int program() {
    const std::vector<float> row{.5f, .5f};
#ifdef FIXED
    const auto model = [&](std::span<const Token>) { return row; };
#else
    const auto model = row;
#endif
    auto probabilities = from_logits(model, .8);
    return sizeof(probabilities) > 0 ? 0 : 1;
}

}  // namespace from_logits_of_a_row

// case: mask_that_cannot_be_rewound
// A matcher behind a callable of the context: it moves forward, and nobody takes it back.
// expect: error: static assertion failed.*specsample::filters::TokenMask: a callable that changes when it is called
// cannot be re
namespace mask_that_cannot_be_rewound {

using namespace specsample;
using namespace specsample::filters;

int program() {
    std::vector<std::uint32_t> words{3};
#ifdef FIXED
    const TokenMask mask([words](std::span<const Token>) { return words; });
#else
    const TokenMask mask([words](std::span<const Token>) mutable { return words[0] ^= 1, words; });
#endif
    auto model = shaped([](std::span<const Token>) { return std::vector<float>{.5f, .5f}; }, mask);
    return static_cast<int>(model(std::span<const Token>{}).size());
}

}  // namespace mask_that_cannot_be_rewound

// case: pipeline_that_cannot_be_rewound
// The same inside of a pipeline, and behind a std::ref.
// expect: error: static assertion failed.*specsample::shaped: a shaper that changes when it is called cannot be rewound
namespace pipeline_that_cannot_be_rewound {

using namespace specsample;
using namespace specsample::filters;

/// Adapts to what it has seen.
struct Mirostat {
    double surprise = 3;

#ifdef FIXED
    void operator()(Candidates<float>& row, std::span<const Token>) const { row.heat(surprise); }
#else
    void operator()(Candidates<float>& row, std::span<const Token>) { row.heat(surprise -= .1); }
#endif
};

int program() {
    Mirostat mirostat;
    auto model = shaped(
        [](std::span<const Token>) {
            return std::vector<float>{.5f, .5f};
        },
        Pipeline{TopK{1}, std::ref(mirostat)});
    return static_cast<int>(model(std::span<const Token>{}).size());
}

}  // namespace pipeline_that_cannot_be_rewound

// case: row_that_cannot_be_rewound
// The same for an engine that shapes its own rows.
// expect: error: static assertion failed.*specsample::shaped: a shaper that changes when it is called cannot be rewound
namespace row_that_cannot_be_rewound {

using namespace specsample;
using namespace specsample::filters;

int program() {
    const std::vector<float> row{.5f, .5f};
    filters::ShapedMemory<float> memory;
#ifdef FIXED
    const auto heat = [](Candidates<float>& rest, std::span<const Token>) { rest.heat(2); };
#else
    const auto heat = [calls = 0](Candidates<float>& rest, std::span<const Token>) mutable { rest.heat(++calls); };
#endif
    return static_cast<int>(shape(row, heat, {}, memory).size());
}

}  // namespace row_that_cannot_be_rewound

// case: shaped_by_a_number
// A temperature is not a pipeline.
// expect: error: static assertion failed.*specsample::shaped: the second argument must be a SamplingParams.*write
// shaped
namespace shaped_by_a_number {

using namespace specsample;

int program() {
    const auto model = [](std::span<const Token>) { return std::vector<float>{.5f, .5f}; };
#ifdef FIXED
    auto target = shaped(model, SamplingParams{.temperature = .8});
#else
    auto target = shaped(model, .8);
#endif
    return static_cast<int>(target(std::span<const Token>{}).size());
}

}  // namespace shaped_by_a_number

// case: shaped_token_model
// A draft that names its token has no row to shape.
// expect: error: static assertion failed.*specsample::shaped: the first argument must be a model that returns rows
namespace shaped_token_model {

using namespace specsample;
using namespace specsample::filters;

int program() {
#ifdef FIXED
    auto model = shaped([](std::span<const Token>) { return std::vector<float>{.5f, .5f}; }, TopP{.9});
#else
    auto model = shaped([](std::span<const Token>) -> Token { return 0; }, TopP{.9});
#endif
    return static_cast<int>(model(std::span<const Token>{}).size());
}

}  // namespace shaped_token_model

// case: shaper_that_cannot_be_rewound
// A processor that changes with every call: after a rejection it has seen tokens that are not in the text.
// expect: error: static assertion failed.*specsample::shaped: a shaper that changes when it is called cannot be rewound
namespace shaper_that_cannot_be_rewound {

using namespace specsample;

int program() {
    const auto model = [](std::span<const Token>) { return std::vector<float>{.5f, .5f}; };
#ifdef FIXED
    const auto hotter = [](auto& row, std::span<const Token> context) { row.heat(1 + double(context.size())); };
#else
    const auto hotter = [calls = 0](auto& row, std::span<const Token>) mutable { row.heat(++calls); };
#endif
    auto target = shaped(model, hotter);
    return static_cast<int>(Sampler(model, target).generate({0}, {.max_new_tokens = 3}).tokens.size());
}

}  // namespace shaper_that_cannot_be_rewound

// case: foresee_that_is_not_const
// It would be taken for a shaper without foresee, and ranks would gather whole rows.
// expect: error: static assertion failed.*specsample::filters::Outlook: a shaper's foresee must be callable as foresee
namespace foresee_that_is_not_const {

using namespace specsample;

struct First {
    template <class Value>
    void operator()(filters::Candidates<Value>&, std::span<const Token>) const {}
#ifdef FIXED
    void foresee(filters::Outlook& outlook, std::span<const Token> context) const { outlook.change(context[0]); }
#else
    void foresee(filters::Outlook& outlook, std::span<const Token> context) { outlook.change(context[0]); }
#endif
};

int program() {
    std::vector<Token> memory;
    filters::Outlook outlook(1, memory);
    outlook.ask(First(), memory);
    return static_cast<int>(outlook.changed().size());
}

}  // namespace foresee_that_is_not_const

// case: mask_of_other_words
// A mask whose words have another size.
// expect: error: static assertion failed.*specsample::SamplingParams: mask must be a callable
namespace mask_of_other_words {

using namespace specsample;

int program() {
#ifdef FIXED
    const SamplingParams params{.mask = [](std::span<const Token>) { return std::vector<std::uint32_t>{3}; }};
#else
    const SamplingParams params{.mask = [](std::span<const Token>) { return std::vector<std::uint64_t>{3}; }};
#endif
    return params.mask ? 0 : 1;
}

}  // namespace mask_of_other_words

// case: mask_that_changes_in_params
// A mask that moves forward with every call: contexts come in any order.
// expect: error: static assertion failed.*specsample::SamplingParams: mask must be a callable
namespace mask_that_changes_in_params {

using namespace specsample;

int program() {
    std::vector<std::uint32_t> words{3};
#ifdef FIXED
    const SamplingParams params{.mask = [words](std::span<const Token>) { return words; }};
#else
    const SamplingParams params{.mask = [words](std::span<const Token>) mutable { return words[0] ^= 1, words; }};
#endif
    return params.mask ? 0 : 1;
}

}  // namespace mask_that_changes_in_params

// case: future_of_a_token_alone
// A weight of the future that does not know the context.
// expect: error: static assertion failed.*specsample::filters::FutureWeights: weight must be callable as weight.context
namespace future_of_a_token_alone {

using namespace specsample;

int program() {
#ifdef FIXED
    const filters::FutureWeights weights([](std::span<const Token>, Token token) { return -.5 * token; });
#else
    const filters::FutureWeights weights([](Token token) { return -.5 * token; });
#endif
    return sizeof weights > 0;
}

}  // namespace future_of_a_token_alone
