// Models with caches: rollback(length) comes before every prefix that does not extend the one before.
#include <stdexcept>
#include <string>

#include <specsample/drafters/beam.hpp>
#include <specsample/lossy/paths.hpp>
#include <specsample/specsample.hpp>
#include <specsample/testing.hpp>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::testing;

namespace {

constexpr Index vocab = 6;

/// A model with a state per position, as a transformer has keys and values. It reads the tokens that its cache lacks
/// and no others, so a missing rollback shows in the text.
class Cache {
  public:
    explicit Cache(std::uint64_t seed) : states_{seed} {}

    Index size() const { return std::ssize(states_) - 1; }
    void cut(Index length) { states_.resize(static_cast<std::size_t>(length) + 1); }

    void feed(std::span<const Token> prefix) {
        while (size() < std::ssize(prefix)) {
            const Token token = prefix[static_cast<std::size_t>(size())];
            states_.push_back(Rng({.seed = states_.back(), .position = token + 1}).bits());
        }
    }

    Eigen::VectorXd row(std::size_t position) const {
        Eigen::VectorXd row(vocab);
        for (Index i = 0; i < vocab; ++i)
            row[i] = 0.05 + Rng({.seed = states_[position]}).uniform(static_cast<std::uint32_t>(i));
        return row / row.sum();
    }

    RowMajorMatrix<double> rows(std::span<const Token> prefix, Index n) const {
        RowMajorMatrix<double> rows(n, vocab);
        for (Index i = 0; i < n; ++i)
            rows.row(i) = row(prefix.size() - static_cast<std::size_t>(n - 1 - i)).transpose();
        return rows;
    }

  private:
    std::vector<std::uint64_t> states_;
};

/// Computes every prefix from nothing.
struct Stateless {
    std::uint64_t seed;

    Eigen::VectorXd operator()(std::span<const Token> prefix) const {
        Cache cache(seed);
        cache.feed(prefix);
        return cache.row(prefix.size());
    }
};

/// Refuses any prefix that does not extend its cache exactly, and positions that it cannot compute any more
/// because they are in the cache.
struct Strict {
    Cache cache;
    std::vector<Token> shown = {};
    std::vector<Index> rollbacks = {};

    explicit Strict(std::uint64_t seed) : cache(seed) {}

    void check(std::span<const Token> prefix, Index n) {
        if (prefix.size() < shown.size() || !std::equal(shown.begin(), shown.end(), prefix.begin()))
            throw std::logic_error("the prefix does not extend the cache");
        if (std::ssize(shown) > std::max<Index>(0, std::ssize(prefix) - n))
            throw std::logic_error("a position asked for is in the cache already");
        shown.assign(prefix.begin(), prefix.end());
        cache.feed(prefix);
    }

    Eigen::VectorXd operator()(std::span<const Token> prefix) {
        check(prefix, 1);
        return cache.row(prefix.size());
    }

    void rollback(Index length) {
        if (length < 0 || length > std::ssize(shown))
            throw std::logic_error("rollback to " + std::to_string(length) + " of " + std::to_string(shown.size()));
        if (length == std::ssize(shown)) return;
        rollbacks.push_back(length);
        shown.resize(static_cast<std::size_t>(length));
        cache.cut(length);
    }
};

struct StrictMany : Strict {
    using Strict::Strict;

    RowMajorMatrix<double> operator()(std::span<const Token> prefix, Index n) {
        check(prefix, n);
        return cache.rows(prefix, n);
    }
};

/// Compares the prefix with its own cache, and has no rollback.
struct Comparing {
    Cache cache;
    std::vector<Token> shown = {};

    explicit Comparing(std::uint64_t seed) : cache(seed) {}

    Eigen::VectorXd operator()(std::span<const Token> prefix) {
        std::size_t common = 0;
        while (common < std::min(shown.size(), prefix.size()) && shown[common] == prefix[common]) ++common;
        cache.cut(static_cast<Index>(common));
        shown.assign(prefix.begin(), prefix.end());
        cache.feed(prefix);
        return cache.row(prefix.size());
    }
};

/// One long use of a sampler: prompts, stops, budgets, capacities, callbacks, edited texts, rounds by hand.
template <class Draft, class Target>
std::vector<std::vector<Token>> session(Draft& draft, Target& target, Index lookahead) {
    Sampler sampler(std::ref(draft), std::ref(target), {.lookahead = lookahead, .seed = 77});
    std::vector<std::vector<Token>> texts;
    texts.push_back(sampler.generate({1, 2, 3}, {.max_new_tokens = 60}));
    texts.push_back(sampler.generate({1, 2, 4}, {.max_new_tokens = 60, .request = 1}));
    texts.push_back(sampler.generate(std::vector<Token>{}, {.max_new_tokens = 20}));
    for (std::uint64_t request = 2; request < 30; ++request)
        texts.push_back(sampler.generate({5}, {.stop_tokens = {0, 3}, .request = request}));

    std::vector<Token> text{2, 2};
    for (const Index budget : {1, 2, 3, 4, 5, 6, 7, 0, 9}) (void)sampler.extend(text, {.max_new_tokens = budget});
    text.resize(text.size() - 5);
    text.back() = (text.back() + 1) % vocab;
    (void)sampler.extend(text, {.max_new_tokens = 20});
    text[1] = 4;
    (void)sampler.extend(text, {.max_new_tokens = 20});
    text.resize(3);
    (void)sampler.extend(text, {.max_length = 17});
    for (int written = 0; written < 6; ++written)
        (void)sampler.extend(text, {.max_new_tokens = 20}, [left = written](Token) mutable { return left-- > 0; });
    texts.push_back(text);

    for (int i = 0; i < 20; ++i) {
        const Round again = sampler.step(text);
        texts.emplace_back(again.tokens.begin(), again.tokens.end());
        const Round round = sampler.step(text);
        text.insert(text.end(), round.tokens.begin(), round.tokens.end());
    }
    texts.push_back(text);
    return texts;
}

std::vector<std::vector<Token>> stateless_session(Index lookahead) {
    Stateless draft{1}, target{2};
    return session(draft, target, lookahead);
}

}  // namespace

TEST_CASE("models with strict caches write the text of stateless models") {
    const Index lookahead = GENERATE(0, 1, 2, 4);
    Strict draft(1), target(2);
    CHECK(session(draft, target, lookahead) == stateless_session(lookahead));
}

TEST_CASE("a target with a strict cache that scores many positions writes the same text") {
    const Index lookahead = GENERATE(0, 1, 2, 4);
    Strict draft(1);
    StrictMany target(2);
    CHECK(session(draft, target, lookahead) == stateless_session(lookahead));
}

TEST_CASE("strict caches below trees, in one pass per path or per node, write the same text") {
    // Beams come level by level, so that one path follows another that it shares nothing with. The lossy rule asks for
    // the row after every node of a level before the next.
    const auto trees = [](auto& target) {
        const BeamDrafter beams(Stateless{1}, 4);
        const auto text = [&](const auto& rule) {
            Sampler sampler(beams, std::ref(target), {.lookahead = 4, .seed = 7}, rule);
            return sampler.generate({1, 2}, {.max_new_tokens = 200}).tokens;
        };
        return std::pair(text(RecursiveRejection{}), text(lossy::TypicalAcceptance{0, 0}));
    };
    Stateless plain{2};
    Strict target(2);
    StrictMany many(2);
    CHECK(trees(target) == trees(plain));
    CHECK(trees(many) == trees(plain));
}

TEST_CASE("strict caches in stages write the same text") {
    const auto stages = [](auto& draft, auto& middle, auto& target) {
        return Sampler(StagedDrafter(std::ref(draft), std::ref(middle), 2), std::ref(target),
                       {.lookahead = 5, .seed = 7});
    };
    Strict draft(1);
    StrictMany middle(2), target(3);
    auto used = stages(draft, middle, target);
    std::vector<Token> text{1, 2};
    for (int i = 0; i < 4; ++i) {
        std::vector<Token> expected = text;
        Stateless plain_draft{1}, plain_middle{2}, plain_target{3};
        (void)stages(plain_draft, plain_middle, plain_target).extend(expected, {.max_new_tokens = 20});
        (void)used.extend(text, {.max_new_tokens = 20});
        CHECK(text == expected);
        text.resize(text.size() - 5);
        text[1] = (text[1] + 1) % vocab;  // another text, of which the models have been shown the beginning only
    }
}

TEST_CASE("models that compare prefixes themselves need no rollback") {
    const Index lookahead = GENERATE(0, 1, 4);
    Comparing draft(1), target(2);
    CHECK(session(draft, target, lookahead) == stateless_session(lookahead));
}

TEST_CASE("a model held by value is rolled back as well") {
    const Limits limits{.max_new_tokens = 60};
    CHECK(Sampler(Strict(1), StrictMany(2), {.lookahead = 4}).generate({1}, limits).tokens ==
          Sampler(Stateless{1}, Stateless{2}, {.lookahead = 4}).generate({1}, limits).tokens);
}

TEST_CASE("nothing is rolled back where every draft is accepted") {
    Strict draft(1);
    StrictMany target(1);
    Sampler sampler(std::ref(draft), std::ref(target), {.lookahead = 4});
    const Generation made = sampler.generate({1}, {.max_new_tokens = 50});
    REQUIRE(made.tally.bonus == made.tally.rounds);
    CHECK(draft.rollbacks.empty());
    CHECK(target.rollbacks.empty());
}

TEST_CASE("after a rejection a model is cut back to the accepted part") {
    Strict draft(1);
    StrictMany target(2);
    Sampler sampler(std::ref(draft), std::ref(target), {.lookahead = 4, .seed = 3});
    std::vector<Token> text{1};
    std::vector<Index> expected_target, expected_draft;
    for (int i = 0; i < 40; ++i) {
        const auto start = std::ssize(text);
        const Round round = sampler.step(text);
        if (round.last == LastToken::recovered) expected_target.push_back(start + round.accepted);
        if (round.last == LastToken::recovered && round.accepted < 3) expected_draft.push_back(start + round.accepted);
        text.insert(text.end(), round.tokens.begin(), round.tokens.end());
    }
    (void)sampler.step(text);
    CHECK(target.rollbacks == expected_target);
    CHECK(draft.rollbacks == expected_draft);
}

TEST_CASE("a fresh sampler over models that others have used starts from nothing") {
    Strict draft(1);
    StrictMany target(2);
    const auto text = [&](std::vector<Token> prompt) {
        Sampler sampler(std::ref(draft), std::ref(target), {.lookahead = 3});
        return sampler.generate(prompt, {.max_new_tokens = 20}).tokens;
    };
    const auto expected = [&](std::vector<Token> prompt) {
        Sampler sampler(Stateless{1}, Stateless{2}, {.lookahead = 3});
        return sampler.generate(prompt, {.max_new_tokens = 20}).tokens;
    };
    CHECK(text({1, 2}) == expected({1, 2}));
    CHECK(text({1, 3}) == expected({1, 3}));
    CHECK(text({}) == expected({}));
}

TEST_CASE("a model that throws before or after it filled its cache is cut back to what is certain") {
    const bool after = GENERATE(false, true);
    struct Throwing : StrictMany {
        bool after;
        int calls = 0;
        Throwing(std::uint64_t seed, bool late) : StrictMany(seed), after(late) {}
        void maybe_throw(bool now) {
            if (now == after && ++calls % 7 == 1) throw std::runtime_error("out of memory");
        }
        Eigen::VectorXd operator()(std::span<const Token> prefix) { return (*this)(prefix, 1).row(0).transpose(); }
        RowMajorMatrix<double> operator()(std::span<const Token> prefix, Index n) {
            maybe_throw(false);
            check(prefix, n);
            maybe_throw(true);
            return cache.rows(prefix, n);
        }
    };
    Throwing draft(1, after), target(2, after);
    Sampler sampler(std::ref(draft), std::ref(target), {.lookahead = 3, .seed = 5});
    std::vector<Token> text{1, 2};
    int thrown = 0;
    while (text.size() < 40) {
        try {
            (void)sampler.extend(text, {.max_length = 40});
        } catch (const std::runtime_error&) {
            ++thrown;
        }
        REQUIRE(thrown < 1000);
    }
    Sampler calm(Stateless{1}, Stateless{2}, {.lookahead = 3, .seed = 5});
    std::vector<Token> expected{1, 2};
    (void)calm.extend(expected, {.max_length = 40});
    CHECK(thrown > 5);
    CHECK(text == expected);
}

TEST_CASE("another prompt cuts a cache back to the common beginning") {
    Strict draft(1);
    StrictMany target(2);
    Sampler sampler(std::ref(draft), std::ref(target), {.lookahead = 0});
    (void)sampler.generate({1, 2, 3, 4, 5}, {.max_new_tokens = 1});
    (void)sampler.generate({1, 2, 3, 0, 0}, {.max_new_tokens = 1});
    CHECK(target.rollbacks == std::vector<Index>{3});
}

TEST_CASE("the same prompt again leaves its last token to compute") {
    Strict draft(1);
    StrictMany target(2);
    Sampler sampler(std::ref(draft), std::ref(target), {.lookahead = 0});
    const Round first = sampler.step(std::vector<Token>{1, 2, 3});
    const std::vector<Token> tokens(first.tokens.begin(), first.tokens.end());
    const Round second = sampler.step(std::vector<Token>{1, 2, 3});
    CHECK(std::vector(second.tokens.begin(), second.tokens.end()) == tokens);
    CHECK(target.rollbacks == std::vector<Index>{2});
}
