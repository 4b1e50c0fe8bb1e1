// What the calls of a sampler are given: prompts, callbacks and predicates.
#include <string>

#include <specsample/beam.hpp>
#include <specsample/specsample.hpp>

// case: prompt_is_a_text
// A text in place of token ids.
// expect: error: static assertion failed.*specsample: a prompt must be contiguous token ids.*through the model.s
// tokenizer
namespace prompt_is_a_text {

using namespace specsample;

int program() {
    const auto model = [](std::span<const Token>) { return std::vector<float>{.5f, .5f}; };
    Sampler sampler(model, model);
#ifdef FIXED
    const Generation text = sampler.generate({1, 2});
#else
    const Generation text = sampler.generate("hello");
#endif
    return static_cast<int>(text.size());
}

}  // namespace prompt_is_a_text

// case: prompt_is_a_string
// The same in a string, whose characters are integers, too.
// expect: error: static assertion failed.*specsample: a prompt must be contiguous token ids.*through the model.s
// tokenizer
namespace prompt_is_a_string {

using namespace specsample;

int program() {
    const auto model = [](std::span<const Token>) { return std::vector<float>{.5f, .5f}; };
    Sampler sampler(model, model);
#ifdef FIXED
    const std::vector<Token> prompt{1, 2};
#else
    const std::string prompt = "hello";
#endif
    const Generation text = sampler.generate(prompt);
    return static_cast<int>(text.size());
}

}  // namespace prompt_is_a_string

// case: prompt_is_of_floats
// Token ids that were read as numbers.
// expect: error: static assertion failed.*specsample: a prompt must be contiguous token ids.*through the model.s
// tokenizer
namespace prompt_is_of_floats {

using namespace specsample;

int program() {
    const auto model = [](std::span<const Token>) { return std::vector<float>{.5f, .5f}; };
    Sampler sampler(model, model);
#ifdef FIXED
    const std::vector<std::int64_t> prompt{1, 2};
#else
    const std::vector<double> prompt{1, 2};
#endif
    const Generation text = sampler.generate(prompt);
    return static_cast<int>(text.size());
}

}  // namespace prompt_is_of_floats

// case: prompt_of_beams_is_a_text
// A beam search takes prompts as a sampler does.
// expect: error: static assertion failed.*specsample: a prompt must be contiguous token ids.*through the model.s
// tokenizer
namespace prompt_of_beams_is_a_text {

using namespace specsample;

int program() {
    const auto model = [](std::span<const Token>) { return std::vector<float>{.5f, .5f}; };
    beam::BeamSearch search(model, model);
#ifdef FIXED
    const int prompt[] = {1, 0};
#else
    const char* prompt = "hello";
#endif
    return static_cast<int>(search.generate(prompt).beams.size());
}

}  // namespace prompt_of_beams_is_a_text

// case: callback_takes_a_text
// A callback for words.
// expect: error: static assertion failed.*specsample::Sampler: on_token must be callable with a Token.*return nothing,
// or false
namespace callback_takes_a_text {

using namespace specsample;

int program() {
    const auto model = [](std::span<const Token>) { return std::vector<float>{.5f, .5f}; };
    Sampler sampler(model, model);
#ifdef FIXED
    const auto on_token = [](Token) { return true; };
#else
    const auto on_token = [](std::string) { return true; };
#endif
    const Generation text = sampler.generate({1}, {}, on_token);
    return static_cast<int>(text.size());
}

}  // namespace callback_takes_a_text

// case: callback_takes_many_tokens
// A callback for a round's tokens.
// expect: error: static assertion failed.*specsample::Sampler: on_token must be callable with a Token.*return nothing,
// or false
namespace callback_takes_many_tokens {

using namespace specsample;

int program() {
    const auto model = [](std::span<const Token>) { return std::vector<float>{.5f, .5f}; };
    Sampler sampler(model, model);
#ifdef FIXED
    const auto on_token = [](Token) {};
#else
    const auto on_token = [](std::span<const Token>) {};
#endif
    const Generation text = sampler.generate({1}, {}, on_token);
    return static_cast<int>(text.size());
}

}  // namespace callback_takes_many_tokens

// case: callback_returns_a_text
// A callback whose answer cannot be tested.
// expect: error: static assertion failed.*specsample::Sampler: on_token must be callable with a Token.*return nothing,
// or false
namespace callback_returns_a_text {

using namespace specsample;

int program() {
    const auto model = [](std::span<const Token>) { return std::vector<float>{.5f, .5f}; };
    Sampler sampler(model, model);
    std::vector<Token> text{1};
#ifdef FIXED
    const auto on_token = [](const TokenScore&) { return 1; };
#else
    const auto on_token = [](const TokenScore&) { return std::string(); };
#endif
    return static_cast<int>(sampler.extend(text, {}, on_token));
}

}  // namespace callback_returns_a_text

// case: until_takes_a_token
// A predicate that sees the last token alone.
// expect: error: static assertion failed.*specsample: `until` must be callable with the tokens, std::span<const
// specsample::Token> expect: return a specsample::StopDecision, or true to end the text
namespace until_takes_a_token {

using namespace specsample;

int program() {
    const auto model = [](std::span<const Token>) { return std::vector<float>{.5f, .5f}; };
    Sampler sampler(model, model);
#ifdef FIXED
    const auto until = [](std::span<const Token> tokens) { return tokens.back() == 1; };
#else
    const auto until = [](Token token) { return token == 1; };
#endif
    const Generation text = sampler.generate({1}, {.until = until});
    return static_cast<int>(text.size());
}

}  // namespace until_takes_a_token

// case: until_returns_nothing
// A predicate that forgets to answer.
// expect: error: static assertion failed.*specsample: `until` must be callable with the tokens, std::span<const
// specsample::Token> expect: return a specsample::StopDecision, or true to end the text
namespace until_returns_nothing {

using namespace specsample;

int program() {
#ifdef FIXED
    const auto until = [](std::span<const Token>) { return StopDecision::go_on; };
#else
    const auto until = [](std::span<const Token>) {};
#endif
    const RoundLimits limits{.until = until};
    return static_cast<int>(limits.max_tokens);
}

}  // namespace until_returns_nothing

// case: until_returns_a_number
// A number may count, be an index, or be a code: it is no answer.
// expect: error: static assertion failed.*specsample: `until` must be callable with the tokens, std::span<const
// specsample::Token> expect: return a specsample::StopDecision, or true to end the text
namespace until_returns_a_number {

using namespace specsample;

int program() {
#ifdef FIXED
    const auto until = [](std::span<const Token> tokens) { return tokens.size() > 3; };
#else
    const auto until = [](std::span<const Token> tokens) { return static_cast<int>(tokens.size()); };
#endif
    const RoundLimits limits{.until = until};
    return static_cast<int>(limits.max_tokens);
}

}  // namespace until_returns_a_number
