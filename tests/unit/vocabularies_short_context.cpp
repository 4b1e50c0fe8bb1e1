// A draft model that sees the end of the text alone.
#include <specsample/vocabularies/short_context.hpp>

#include <functional>
#include <vector>

#include <specsample/specsample.hpp>
#include <specsample/testing.hpp>
#include <specsample/vocabularies/mapped_prefix.hpp>

#include "support/catch.hpp"

using namespace specsample;
using vocabularies::prefix_mapped;
using vocabularies::ShortContext;

namespace {

constexpr Index vocab = 4;
const testing::ContextModel truth(vocab, 3);

/// A model with a cache of `most` tokens, which it refuses to overrun.
struct Small {
    Index most;
    std::vector<Token> cache{};
    Index computed = 0;

    void rollback(Index length) { cache.resize(static_cast<std::size_t>(length)); }
    auto operator()(std::span<const Token> prefix) {
        REQUIRE(std::ssize(prefix) <= most);
        REQUIRE(std::equal(cache.begin(), cache.end(), prefix.begin()));  // it was rolled back to what is the same
        computed += std::ssize(prefix) - std::ssize(cache);
        cache.assign(prefix.begin(), prefix.end());
        return truth(prefix);
    }
};

}  // namespace

TEST_CASE("a short context is the end of the text, and moves in steps of half of it", "[vocabularies]") {
    for (const Index most : {2, 3, 8, 9}) {
        const ShortContext context(most);
        std::vector<Token> text;
        Index moves = 0, hidden = 0;
        for (Index length = 0; length < 100; ++length, text.push_back(static_cast<Token>(length % vocab))) {
            const std::span<const Token> shown = context(text);
            const Index now = length - std::ssize(shown);
            CHECK(shown.data() == text.data() + now);
            CHECK(std::ssize(shown) <= most);
            if (length <= most) CHECK(now == 0);
            if (length > most) CHECK(std::ssize(shown) > most - most / 2);
            moves += now != hidden;
            hidden = now;
        }
        CHECK(moves == (99 - most + most / 2 - 1) / (most / 2));
    }
    CHECK_THROWS_WITH(ShortContext(1), "specsample::ShortContext: most is 1, but must be at least 2");
}

TEST_CASE("a draft of a short context never sees more, and the text is the target's", "[vocabularies]") {
    Small small{8};
    const auto target = [](std::span<const Token> prefix) { return truth(prefix); };
    Sampler sampler(prefix_mapped(std::ref(small), ShortContext(8)), target, {.lookahead = 3, .seed = 5},
                    SampleMatch{});
    Sampler plain([](std::span<const Token>) { return Eigen::VectorXd::Constant(vocab, .25).eval(); }, target,
                  {.lookahead = 0, .seed = 5}, SampleMatch{});
    const std::vector<Token> text = sampler.generate({1, 2}, {.max_new_tokens = 120});
    CHECK(text == std::vector<Token>(plain.generate({1, 2}, {.max_new_tokens = 120})));
    CHECK(small.computed < 4 * 360);  // not the whole context with every token
}
