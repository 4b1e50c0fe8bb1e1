// What belongs to the answer alone begins after the prompt of each text, though one sampler writes them all.
#include <algorithm>
#include <array>
#include <functional>
#include <vector>

#include <specsample/beam.hpp>
#include <specsample/drafters.hpp>
#include <specsample/sampler/staged.hpp>
#include <specsample/shaping.hpp>
#include <specsample/specsample.hpp>
#include <specsample/testing.hpp>
#include <specsample/vocabularies.hpp>

#include "support/catch.hpp"

using namespace specsample;
using beam::BeamSearch;
using testing::ContextModel;

namespace {

using Text = std::vector<Token>;

constexpr Index vocab = 6;
const ContextModel guess(vocab, 1), truth(vocab, 2);
const std::array<Text, 4> prompts{Text{}, Text{1}, Text{0, 1, 2, 3, 4, 5, 0, 1}, Text{2, 2, 2}};

SamplingParams params(Index prompt_size) {
    return {.frequency_penalty = .7,
            .presence_penalty = .4,
            .prompt_size = prompt_size,
            .min_tokens = 6,
            .stop_token_ids = {5}};
}

/// A cursor that lets a text begin with 3, and go on with any token but 0.
struct Begins {
    Index size = 0;

    std::array<std::uint32_t, 1> mask() const { return {size == 0 ? 1u << 3 : 0b111110u}; }
    void accept(Token) { ++size; }
    void rollback(Index n) { size -= n; }
};

/// A model that notes where its texts begin.
struct Told {
    std::vector<Index>& sizes;

    Eigen::VectorXd operator()(std::span<const Token> prefix) const { return truth(prefix); }
    void begin_text(Index prompt_size) { sizes.push_back(prompt_size); }
};

/// A drafter that does.
struct Drafts {
    using Distribution = PointMass;
    std::vector<Index>& sizes;

    void propose(std::span<const Token>, const auto&, DraftTree<PointMass>& draft_tree) {
        for (Index node = root_node; draft_tree.grows(node);) node = draft_tree.add(node, 0, PointMass{});
    }
    void begin_text(Index prompt_size) { sizes.push_back(prompt_size); }
};

/// Check that a sampler writes after every prompt what the sampler that make(prompt size) makes for it writes.
template <class Made>
void check(auto& sampler, const Made& make) {
    for (int round = 0; round < 2; ++round)
        for (const Text& prompt : prompts) {
            const Limits limits{.max_new_tokens = 24, .request = static_cast<std::uint64_t>(round)};
            auto fixed = make(std::ssize(prompt));
            INFO("a prompt of " << prompt.size());
            CHECK(sampler.generate(prompt, limits).tokens == fixed.generate(prompt, limits).tokens);
        }
}

}  // namespace

TEST_CASE("one sampler serves prompts of any size", "[sampler]") {
    const Options options{.lookahead = 3, .seed = 5};
    const auto make = [&](Index size) {
        return Sampler(shaped(guess, params(size)), shaped(truth, params(size)), options);
    };
    auto sampler = make(filters::whole_prompt);
    check(sampler, make);
    CHECK(sampler.generate(prompts[2], {.max_new_tokens = 24}).tokens !=
          make(0).generate(prompts[2], {.max_new_tokens = 24}).tokens);
}

TEST_CASE("the prompt is told through adaptors, references and drafters", "[sampler]") {
    const Options options{.lookahead = 4, .seed = 6};
    const vocabularies::IdMap map(std::vector<Token>{1, 0, 2, 3, 4, 5}, vocab);
    const auto make = [&](Index size) {
        const auto shape = [&](const auto& model) { return shaped(model, params(size)); };
        return Sampler(United(LookupDrafter(), TreeDrafter(vocabularies::mapped(shape(guess), map), {2, 1, 1, 1})),
                       shaped(shape(truth), filters::TopK{4}), options, TraversalVerification{});
    };
    auto sampler = make(filters::whole_prompt);
    check(sampler, make);
    const auto make_staged = [&](Index size) {
        return Sampler(StagedDrafter(shaped(guess, params(size)), shaped(guess, params(size)), 2),
                       shaped(truth, params(size)), options);
    };
    auto staged = make_staged(filters::whole_prompt);
    check(staged, make_staged);
    auto target = shaped(truth, params(filters::whole_prompt));
    Sampler shared(shaped(guess, params(filters::whole_prompt)), std::ref(target), options);
    check(shared,
          [&](Index size) { return Sampler(shaped(guess, params(size)), shaped(truth, params(size)), options); });
}

TEST_CASE("a grammar begins after the prompt, whatever its size", "[sampler]") {
    const Options options{.lookahead = 3, .seed = 7};
    const auto make = [&](Index size) {
        const Grammar grammar(Begins{}, size);
        return Sampler(FirstOf(ForcedDrafter{grammar}, shaped(guess, grammar)), shaped(truth, grammar), options);
    };
    auto sampler = make(filters::whole_prompt);
    check(sampler, make);
    for (const Text& prompt : prompts) {
        const Text text = sampler.generate(prompt, {.max_new_tokens = 8}).tokens;
        CHECK(text.front() == 3);
        CHECK(std::ranges::count(text, 0) == 0);
    }
}

TEST_CASE("a text that goes on, and steps, have the prompt that limits give", "[sampler]") {
    const Options options{.lookahead = 3, .seed = 8};
    const auto make = [&](Index size) {
        return Sampler(shaped(guess, params(size)), shaped(truth, params(size)), options);
    };
    auto sampler = make(filters::whole_prompt), fixed = make(3), counts_all = make(0);
    Text a = prompts[3], b = prompts[3];
    for (int part = 0; part < 3; ++part) {
        CHECK(sampler.extend(a, {.max_new_tokens = 5, .prompt_size = 3}) == fixed.extend(b, {.max_new_tokens = 5}));
        CHECK(a == b);
    }
    Text c = prompts[3], d = c, e = c, f = c;
    for (int step = 0; step < 8; ++step) {
        const auto append = [](Text& text, const Round& round) {
            text.insert(text.end(), round.tokens.begin(), round.tokens.end());
        };
        append(c, sampler.step(c, {.prompt_size = 3}));
        append(d, fixed.step(d));
        append(e, sampler.step(e));
        append(f, counts_all.step(f));
    }
    CHECK(c == d);
    CHECK(e == f);
    CHECK(c != e);
    CHECK_THROWS_WITH(sampler.generate(prompts[1], {.prompt_size = -1}),
                      "specsample::Sampler: limits.prompt_size is -1, but must be at least 0");
}

TEST_CASE("a model and a drafter of the user's own are told where each text begins", "[sampler]") {
    std::vector<Index> model, drafter;
    Sampler sampler(Drafts{drafter}, Told{model});
    for (const Text& prompt : prompts) (void)sampler.generate(prompt, {.max_new_tokens = 5});
    (void)sampler.step(prompts[3], {.prompt_size = 2});
    CHECK(model == std::vector<Index>{0, 1, 8, 3, 2});
    CHECK(drafter == model);
}

TEST_CASE("an engine tells the memory of its rows the size of the prompt", "[sampler]") {
    const Eigen::VectorXd row = truth(prompts[3]);
    filters::ShapedMemory<double> told, fixed, none;
    told.begin_text(2);
    const auto tokens = [&](Index size, auto& memory) {
        const auto left = shape(row, params(size), prompts[3], memory);
        return Eigen::VectorXd(detail::as_row(left));
    };
    CHECK(tokens(filters::whole_prompt, told) == tokens(2, fixed));
    CHECK(tokens(filters::whole_prompt, none) == tokens(0, fixed));
    CHECK(tokens(0, fixed) != tokens(2, fixed));
}

TEST_CASE("a beam search tells its models where the answer begins", "[sampler]") {
    const auto make = [&](Index size) {
        return BeamSearch(shaped(guess, params(size)), shaped(truth, params(size)), {.width = 2, .lookahead = 2});
    };
    auto search = make(filters::whole_prompt);
    for (const Text& prompt : prompts) {
        auto fixed = make(std::ssize(prompt));
        CHECK(search.generate(prompt, {.max_new_tokens = 10}).beams[0].tokens ==
              fixed.generate(prompt, {.max_new_tokens = 10}).beams[0].tokens);
    }
    CHECK_THROWS_WITH(search.generate(prompts[1], {.prompt_size = -1}),
                      "specsample::BeamSearch: limits.prompt_size is -1, but must be at least 0");
}
