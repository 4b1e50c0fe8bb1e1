// Match rules on the real pair: the same seed gives the same text, bit for bit, with any drafter and any lookahead.
#include "pair/pair.hpp"
#include "support/catch.hpp"

namespace {

using namespace specsample;
using namespace specsample::children;
using namespace specsample::kernels;
using namespace specsample::walks;

constexpr Index length = 48;

/// Every token as likely as any other: nearly always wrong.
struct Uniform {
    Eigen::VectorXf operator()(std::span<const Token>) const { return Eigen::VectorXf::Constant(2048, 1.f / 2048); }
};

/// Drafts every token twice.
struct Stutterer {
    std::int64_t operator()(std::span<const Token> prefix) const { return prefix.empty() ? 0 : prefix.back(); }
};

/// The texts of three prompts as three requests, the last request first if so asked.
template <class Rule, class Draft>
std::vector<std::vector<Token>> texts(const Rule& rule, Draft draft, Index lookahead, bool reversed = false) {
    LanguageModel target(pair::target(), 1, 1);
    Sampler sampler(std::move(draft), std::ref(target), {.lookahead = lookahead, .seed = 7}, rule);
    std::vector<std::vector<Token>> result(3);
    for (std::size_t i = 0; i < result.size(); ++i) {
        const std::size_t request = reversed ? result.size() - 1 - i : i;
        result[request] =
            sampler.generate(pair::encode(pair::prompts[8 * request]), {.max_new_tokens = length, .request = request});
    }
    return result;
}

}  // namespace

TEMPLATE_TEST_CASE("with a match rule the text of the real pair is the same for any drafter, lookahead, tree and order",
                   "", GreedyMatch, SampleMatch, GumbelMatch) {
    static_assert(TestType::drafter_invariant);
    const TestType rule;
    const auto plain = texts(rule, Stutterer{}, 0);
    CHECK(plain[0].size() == length);
    CHECK(plain[0] != plain[1]);
    LanguageModel good(pair::draft(), 1, 1), argmax(pair::draft(), 0, 1);
    for (Index lookahead = 0; lookahead <= 8; ++lookahead) {
        INFO("lookahead " << lookahead);
        CHECK(texts(rule, std::ref(good), lookahead) == plain);
        CHECK(texts(rule, std::ref(argmax), lookahead) == plain);
        CHECK(texts(rule, Uniform{}, lookahead) == plain);
        CHECK(texts(rule, Stutterer{}, lookahead) == plain);
    }
    CHECK(texts(rule, std::ref(good), 4, true) == plain);
    for (const auto& shape : {std::vector<Index>{3}, {2, 2}, {4, 1, 1}, {1, 3, 2}}) {
        INFO("a tree of depth " << shape.size());
        CHECK(texts(rule, TreeDrafter(std::ref(good), shape), 4) == plain);
        CHECK(texts(rule, TreeDrafter(std::ref(good), shape, Independent{}), 4) == plain);
        CHECK(texts(rule, TreeDrafter(std::ref(good), shape, TopChildren{}), 4) == plain);
        CHECK(texts(rule, TreeDrafter(std::ref(good), shape, GreedyChildren{}), 4) == plain);
        CHECK(texts(rule, TreeDrafter(Uniform{}, shape), std::ssize(shape)) == plain);
    }
}
