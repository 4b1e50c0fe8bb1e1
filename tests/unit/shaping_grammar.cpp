// Grammar: the mask of every context, whatever was asked before, and texts that always stay in the grammar.
#include <specsample/shaping/grammar.hpp>

#include <array>
#include <string>

#include <specsample/drafters.hpp>
#include <specsample/sampler.hpp>
#include <specsample/shaping/from_logits.hpp>
#include <specsample/shaping/penalties.hpp>
#include <specsample/shaping/pipeline.hpp>
#include <specsample/shaping/sampling_params.hpp>
#include <specsample/shaping/shaped.hpp>
#include <specsample/shaping/truncation.hpp>

#include "support/catch.hpp"
#include "support/rules.hpp"
#include "unit/shaping_grammar_toys.hpp"
#include "unit/shaping_rows.hpp"

using namespace shaping_rows;
using namespace specsample::kernels;
using namespace specsample::filters;
using namespace specsample::children;
using namespace toys;

namespace {

const Array<double> flat = Array<double>::Constant(tokens, 1. / tokens);

/// The ids that a shaper leaves possible, as bits.
template <class P>
std::uint32_t bits_after(const P& shaper, const std::vector<Token>& context) {
    std::uint32_t bits = 0;
    for (const Index id : possible(through(shaper, flat, context))) bits |= 1u << id;
    return bits;
}

/// Call f(context) for contexts as speculation has them, and worse: longer, shorter, or entirely different ones, some
/// with tokens that are refused.
template <class F>
void walk(std::uint64_t seed, int steps, F&& f) {
    std::vector<Token> context;
    for (int step = 0; step < steps; ++step) {
        const Rng rng({.seed = seed, .position = static_cast<std::uint32_t>(step)});
        auto below = [&, lane = 0u](std::size_t bound) mutable {
            return static_cast<std::size_t>(rng.uniform(lane++) * static_cast<double>(bound));
        };
        const std::size_t kind = below(10);
        if (kind == 0) context.clear();
        if (kind >= 7) context.resize(below(context.size() + 1));
        if (kind >= 4 && kind < 7) context.resize(context.size() - std::min(context.size(), below(4)));
        for (std::size_t more = below(6); more > 0; --more) {
            const std::uint32_t allowed = allowed_after(context);
            auto token = static_cast<Token>(below(tokens));
            while (below(40) > 0 && allowed != 0 && (allowed >> token & 1) == 0)
                token = static_cast<Token>(below(tokens));
            context.push_back(token);
        }
        f(context);
    }
}

/// A model over the toys' tokens, whose row depends on the context's last two.
struct Likes {
    std::uint64_t seed;

    Array<double> operator()(std::span<const Token> context) const {
        std::uint64_t key = 0;
        for (const Token token : context.last(std::min<std::size_t>(2, context.size())))
            key = 10 * key + static_cast<std::uint64_t>(token) + 1;
        Array<double> row(tokens);
        for (Index i = 0; i < tokens; ++i)
            row[i] = .05 + Rng({.seed = seed, .request = key}).uniform(static_cast<std::uint32_t>(i));
        row[end] *= .2;
        return row / row.sum();
    }
    RowMajorMatrix<double> operator()(std::span<const Token> prefix, Index count) const {
        RowMajorMatrix<double> rows(count, tokens);
        for (Index i = 0; i < count; ++i)
            rows.row(i) = (*this)(prefix.first(prefix.size() - static_cast<std::size_t>(count - 1 - i))).matrix();
        return rows;
    }
};

/// The same model, one row at a time.
struct OneByOne {
    Likes model;
    Array<double> operator()(std::span<const Token> context) const { return model(context); }
};

const std::vector<Token> prompt{5, 1, 3};  // no text of the grammar
const auto start = std::ssize(prompt);

/// True if a text, without its beginning, is in the grammar.
bool is_accepted(std::span<const Token> text) {
    const auto rest = text.subspan(prompt.size());
    return allowed_after(rest) != 0 ||
           (!rest.empty() && rest.back() == end && allowed_after(rest.first(rest.size() - 1)) >> end & 1);
}

template <class Draft, class Target, class Rule = TokenVerification>
std::vector<Token> text_of(Draft draft, Target target, std::uint64_t seed, Rule rule = {}, Index limit = 40) {
    Sampler sampler(std::move(draft), std::move(target), {.lookahead = 4, .seed = seed}, rule);
    std::vector<Token> text = prompt;
    (void)sampler.extend(text, {.max_new_tokens = limit, .stop_tokens = {end}});
    return text;
}

}  // namespace

TEMPLATE_TEST_CASE("a grammar's mask is that of a cursor from the beginning, after contexts in any order", "[shaping]",
                   Rewinding, CloneOnly) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        Calls calls;
        const Grammar grammar{TestType(calls)};
        walk(seed, 500, [&](const std::vector<Token>& context) {
            INFO("seed " << seed << ", " << context.size() << " tokens");
            REQUIRE(bits_after(grammar, context) == allowed_after(context));
        });
    }
}

TEMPLATE_TEST_CASE("copies of a grammar share a cursor, and disturb each other not at all", "[shaping]", Rewinding,
                   CloneOnly) {
    Calls calls;
    const Grammar first{TestType(calls)};
    const Pipeline second{first};
    const Grammar third = first;
    std::vector<std::vector<Token>> contexts;
    walk(1, 300, [&](const std::vector<Token>& context) { contexts.push_back(context); });
    for (std::size_t i = 0; i < 100; ++i) {
        REQUIRE(bits_after(first, contexts[i]) == allowed_after(contexts[i]));
        REQUIRE(bits_after(second, contexts[i + 100]) == allowed_after(contexts[i + 100]));
        REQUIRE(bits_after(third, contexts[i + 200]) == allowed_after(contexts[i + 200]));
    }
}

TEST_CASE("a grammar accepts what two contexts do not share, and takes back the rest", "[shaping]") {
    Calls calls;
    const Grammar grammar{Rewinding(calls)};
    std::vector<Token> taken;  // what the cursor holds: the context as far as it was accepted
    long accepts = 0, back = 0;
    walk(7, 2000, [&](const std::vector<Token>& context) {
        bits_after(grammar, context);
        const auto common = std::mismatch(taken.begin(), taken.end(), context.begin(), context.end()).first;
        back += taken.end() - common;
        taken.erase(common, taken.end());
        while (taken.size() < context.size()) {
            const Token token = context[taken.size()];
            ++accepts;  // asked, whatever the answer
            if (!(allowed_after(taken) >> token & 1)) break;
            taken.push_back(token);
        }
        REQUIRE(calls.accepts == accepts);
        REQUIRE(calls.back == back);
    });
    CHECK(calls.accepts > 1000);
}

TEST_CASE("a grammar begins after its start", "[shaping]") {
    Calls calls;
    const Grammar grammar(Rewinding(calls), 3);
    const std::uint32_t beginning = allowed_after({});
    CHECK(bits_after(grammar, {9, 9, 9}) == beginning);
    CHECK(bits_after(grammar, {9, 9, 9, round_open}) == allowed_after(std::vector<Token>{round_open}));
    CHECK(bits_after(grammar, {9, 9}) == beginning);
    CHECK(bits_after(grammar, {}) == beginning);
    CHECK(bits_after(grammar, {1, 2, 3, square_open}) == allowed_after(std::vector<Token>{square_open}));
    CHECK_THROWS_WITH(Grammar(Rewinding(calls), -2),
                      "specsample::Grammar: start is -2, but must be at least 0, or whole_prompt");
}

TEMPLATE_TEST_CASE("after a refused token, and after the end, nothing is possible, until it goes back", "[shaping]",
                   Rewinding, CloneOnly) {
    Calls calls;
    const Grammar grammar{TestType(calls)};
    filters::ShapedMemory<double> memory;
    const auto cause = [&](const std::vector<Token>& context) {
        const auto fault = inspect(shape(flat, grammar, context, memory), Side::target, 0);
        return fault ? fault->cause : Cause::wrong_count;
    };
    for (const auto& context : {std::vector<Token>{round_open, square_close},
                                {round_open, square_close, letter},
                                {end},
                                {end, round_open},
                                {letter},
                                {-1},
                                {77},
                                {round_open, letter, end}}) {
        CHECK(cause(context) == Cause::all_masked);
        CHECK(bits_after(grammar, {round_open}) == allowed_after(std::vector<Token>{round_open}));
        CHECK(bits_after(grammar, {}) == allowed_after({}));
    }
}

TEST_CASE("a bad row is the fault of its model, after any context", "[shaping]") {
    Calls calls;
    const Grammar grammar{Rewinding(calls)};
    filters::ShapedMemory<double> memory;
    const std::vector<double> negative{.5, -.5, 1, 0, 0, 0};
    for (const auto& context : {std::vector<Token>{}, {round_open}, {letter}})
        CHECK(inspect(shape(negative, grammar, context, memory), Side::target, 0)->cause == Cause::negative);
}

TEST_CASE("a grammar works with other shapers, on logits and on probabilities", "[shaping]") {
    Calls calls;
    const Grammar grammar{Rewinding(calls)};
    const std::vector<Token> context{round_open};  // ( [ ) and letters may follow
    const auto logits = random_logits(tokens, 3);
    const auto masked = only(softmax_of(logits), {round_open, round_close, square_open, letter});
    CHECK(distance(through(grammar, Logits(logits), context), masked) < 1e-15);
    CHECK(distance(through(Pipeline{grammar, SamplingParams{}}, softmax_of(logits), context), masked) < 1e-15);
    const Pipeline both{TopK{5}, grammar, TopK{1}};
    Index best = 0;
    masked.maxCoeff(&best);
    CHECK(through(both, Logits(logits), context)[best] == 1);
    CHECK(distance(through(std::ref(grammar), Logits(logits), context), masked) < 1e-15);
}

TEST_CASE("a processor with a state that its tokens decide is a cursor, and shapes in other ways", "[shaping]") {
    // Counts incrementally what FrequencyPenalty counts in the context every time.
    struct Counts {
        std::array<double, tokens> seen{};

        void mask(Candidates<double>& row) {
            const auto logits = row.change_logits();
            for (Index place = 0; place < row.size(); ++place)
                logits[static_cast<std::size_t>(place)] -= .7 * seen[static_cast<std::size_t>(row.id(place))];
        }
        void accept(Token token) { ++seen[static_cast<std::size_t>(token)]; }
    };
    const Grammar live{Counts{}, 2};
    const FrequencyPenalty window(.7, {.skip = 2});
    for (std::uint64_t seed = 0; seed < 5; ++seed)
        walk(seed, 200, [&](const std::vector<Token>& context) {
            const auto logits = random_logits(tokens, seed);
            REQUIRE(distance(through(live, Logits(logits), context), through(window, Logits(logits), context)) < 1e-13);
        });
}

TEST_CASE("what is written is in the grammar, whoever drafts it and whoever judges", "[shaping]") {
    rules::for_each([](const auto& rule, const std::string& name) {
        long longest = 0;
        for (std::uint64_t seed = 0; seed < 100; ++seed) {
            INFO(name << ", seed " << seed);
            Calls calls;
            const auto target = shaped(Likes{1}, Grammar(Rewinding(calls), start));
            const auto one_by_one = shaped(OneByOne{{1}}, Grammar(CloneOnly(calls), start));
            const auto masked = shaped(Likes{2}, Grammar(CloneOnly(calls), start));
            for (const auto& text : {text_of(masked, target, seed, rule), text_of(Likes{2}, target, seed, rule),
                                     text_of(Likes{2}, one_by_one, seed, rule)}) {
                REQUIRE(is_accepted(text));
                longest = std::max(longest, static_cast<long>(text.size()) - start);
            }
        }
        CHECK(longest > 10);
    });
}

TEMPLATE_TEST_CASE("trees are judged by the grammar of every path", "[shaping]", TokenVerification, BlockVerification,
                   SampleMatch) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        INFO("seed " << seed);
        Calls calls;
        const Grammar grammar{Rewinding(calls), start};
        const auto target = shaped(Likes{1}, grammar);
        const auto masked = shaped(OneByOne{{2}}, Grammar{CloneOnly(calls), start});
        REQUIRE(is_accepted(text_of(TreeDrafter(masked, {2, 2, 1}), target, seed, TestType{})));
        REQUIRE(is_accepted(text_of(TreeDrafter(masked, {3, 2}, Independent{}), target, seed, TestType{})));
        REQUIRE(
            is_accepted(text_of(TreeDrafter(OneByOne{{2}}, {3, 2}), shaped(OneByOne{{1}}, grammar), seed, TestType{})));
    }
}

TEST_CASE("a grammar shared by draft and target writes what two of them write", "[shaping]") {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        Calls calls;
        const Grammar grammar(Rewinding(calls), start);
        const auto shared = text_of(shaped(Likes{2}, grammar), shaped(Likes{1}, grammar), seed);
        const auto apart = text_of(shaped(Likes{2}, Grammar(Rewinding(calls), start)),
                                   shaped(Likes{1}, Grammar(CloneOnly(calls), start)), seed);
        REQUIRE(shared == apart);
    }
}

TEMPLATE_TEST_CASE("rounds that are dropped leave no trace in a grammar", "[shaping]", Rewinding, CloneOnly) {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        Calls calls;
        const auto sampler = [&] {
            const Grammar grammar(TestType(calls), start);
            return Sampler(shaped(Likes{2}, grammar), shaped(Likes{1}, grammar), {.lookahead = 3, .seed = seed});
        };
        auto plain = sampler(), disturbed = sampler();
        std::vector<Token> text = prompt, other = prompt;
        const Limits limits{.stop_tokens = {end}};
        for (int round = 0; round < 12 && text.back() != end; ++round) {
            const auto made = plain.step(text, limits).tokens;
            text.insert(text.end(), made.begin(), made.end());
            // The same round, and others, from here and from where the text has been: all dropped but the last.
            (void)disturbed.step(other, limits);
            (void)disturbed.step(std::span(other).first(prompt.size()), {.stop_tokens = {end}, .request = 5});
            (void)disturbed.step(other, {.stop_tokens = {end}, .request = 6});
            const auto again = disturbed.step(other, limits).tokens;
            other.insert(other.end(), again.begin(), again.end());
            REQUIRE(other == text);
        }
        REQUIRE(is_accepted(text));
    }
}

TEST_CASE("a grammar that ends without a stop token is a fault that keeps the text, and can be left again",
          "[shaping]") {
    Calls calls;
    const Grammar grammar(Rewinding(calls), start);
    Sampler sampler(shaped(Likes{2}, grammar), shaped(Likes{1}, grammar), {.lookahead = 3, .seed = 3});
    std::vector<Token> text = prompt;
    try {
        (void)sampler.extend(text, {.max_new_tokens = 1000});
        FAIL("no fault");
    } catch (const Fault& fault) {
        CHECK(fault.fault.cause == Cause::all_masked);
        CHECK(std::vector<Token>(text.begin() + start, text.end()) == fault.emitted);
    }
    const auto ending = std::find(text.begin() + start, text.end(), end);
    text.erase(ending, text.end());
    REQUIRE(is_accepted(text));
    CHECK(sampler.extend(text, {.max_new_tokens = 1000, .stop_tokens = {end}, .request = 1}) == FinishReason::stop);
    CHECK(is_accepted(text));
}

TEST_CASE("one sampler writes many texts under a grammar", "[shaping]") {
    Calls calls;
    const Grammar grammar(CloneOnly(calls), start);
    Sampler sampler(Likes{2}, shaped(Likes{1}, grammar), {.lookahead = 4});
    for (std::uint64_t request = 0; request < 100; ++request) {
        std::vector<Token> text = prompt;
        (void)sampler.extend(text, {.max_new_tokens = 30, .stop_tokens = {end}, .request = request});
        REQUIRE(is_accepted(text));
    }
    CHECK(calls.alive < 40);
}

TEST_CASE("the masks of a tree are those of each path, in any order of the nodes", "[shaping][grammar]") {
    Calls calls;
    const Grammar grammar(Rewinding{calls}, whole_prompt);
    walk(31, 60, [&](const std::vector<Token>& text) {
        std::vector<Token> prefix = prompt;
        prefix.insert(prefix.end(), text.begin(), text.end());
        std::vector<Token> drafted;
        std::vector<Index> parents;
        const Rng rng({.seed = 3, .position = std::ssize(text)});
        for (Index node = 0; node < 12; ++node) {
            const auto lane = static_cast<std::uint32_t>(2 * node);
            parents.push_back(static_cast<Index>(rng.uniform(lane) * static_cast<double>(node + 1)) - 1);
            drafted.push_back(static_cast<Token>(rng.uniform(lane + 1) * tokens));
        }
        std::vector<std::uint32_t> masks(13, ~0u);
        grammar.masks(prefix, Tree{drafted, parents}, tokens, masks, start);  // the grammar does not see the prompt
        CHECK(masks[0] == allowed_after(text));
        for (Index node = 0; node < 12; ++node) {
            std::vector<Token> path;
            for (Index at = node; at != root_node; at = parents[static_cast<std::size_t>(at)])
                path.insert(path.begin(), drafted[static_cast<std::size_t>(at)]);
            std::vector<Token> whole = text;
            whole.insert(whole.end(), path.begin(), path.end());
            CHECK(masks[static_cast<std::size_t>(node + 1)] == allowed_after(whole));
        }
    });
}

TEST_CASE("the masks of a tree have as many words as the vocabulary", "[shaping][grammar]") {
    Calls calls;
    const Grammar grammar(Rewinding{calls});
    std::vector<std::uint32_t> masks(6, ~0u);  // the cursor's mask has one word: ids beyond it are forbidden
    const std::vector<Token> two{round_open, letter}, one{letter}, none{};
    const std::vector<Index> chain{root_node, 0}, itself{root_node, 1}, root{root_node}, nobody{};
    grammar.masks({}, Tree{two, chain}, 40, masks);
    CHECK(masks[0] == allowed_after({}));
    CHECK(masks[2] == allowed_after(std::vector<Token>{round_open}));
    CHECK(masks[1] == 0);
    CHECK(masks[5] == 0);
    CHECK_THROWS_WITH(grammar.masks({}, Tree{one, nobody}, 40, masks),
                      "specsample::Grammar::masks: the number of parents is 0, but must be the number of tokens, 1");
    CHECK_THROWS_WITH(grammar.masks({}, Tree{two, itself}, 40, masks),
                      "specsample::Grammar::masks: parents[1] is 1, but must be -1 or a node before 1");
    CHECK_THROWS_WITH(grammar.masks({}, Tree{one, root}, 40, masks),
                      "specsample::Grammar::masks: masks.size() is 6, but must be (tokens + 1) * (vocab + 31) / 32, 4");
    grammar.masks({}, Tree{none, nobody}, 40, std::span(masks).first(2));
    CHECK(masks[0] == allowed_after({}));
}
