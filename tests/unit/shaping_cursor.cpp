// Cursors: the concept, and moving one from text to text.
#include <specsample/shaping/cursor.hpp>

#include <array>
#include <bit>
#include <memory>
#include <numeric>

#include <specsample/random/rng.hpp>

#include "support/catch.hpp"
#include "unit/shaping_grammar_toys.hpp"

using namespace toys;
using namespace specsample::filters;

namespace {

struct Words {
    std::array<std::int32_t, 1> mask() { return {7}; }
};
struct GivenRows {
    void mask(Candidates<float>&) {}
};
template <class Mask>
struct Forward : Mask {
    void accept(Token) {}
};
template <class Mask>
struct OneWay : Forward<Mask> {
    OneWay() = default;
    OneWay(OneWay&&) = default;
};
template <class Mask>
struct TwoWay : OneWay<Mask> {
    void rollback(Index) {}
};
struct Telling : Words {
    bool accept(Token) { return true; }
};
/// Returns 0 for success.
struct OfC : Words {
    int accept(Token) { return 0; }
};
struct WideWords {
    std::array<std::uint64_t, 1> mask() { return {7}; }
    void accept(Token) {}
};
static_assert(Cursor<Forward<Words>> && Cursor<Forward<GivenRows>> && Cursor<TwoWay<Words>> &&
              Cursor<TwoWay<GivenRows>>);
static_assert(Cursor<Telling>);
static_assert(!Cursor<OneWay<Words>> && !Cursor<OneWay<GivenRows>>);
static_assert(!Cursor<Words> && !Cursor<GivenRows> && !Cursor<OfC> && !Cursor<WideWords> && !Cursor<int>);

/// Counts tokens, whatever they are.
struct Counting {
    std::shared_ptr<Calls> calls = std::make_shared<Calls>();
    Index length = 0;

    Counting() { ++calls->alive; }
    Counting(const Counting& other) : calls(other.calls), length(other.length) {
        ++calls->copies;
        ++calls->alive;
    }
    Counting& operator=(const Counting&) = delete;
    ~Counting() { --calls->alive; }

    std::array<std::uint32_t, 1> mask() { return {0}; }
    void accept(Token) {
        ++calls->accepts;
        ++length;
    }
};

std::vector<Token> numbers(Index count) {
    std::vector<Token> text(static_cast<std::size_t>(count));
    std::iota(text.begin(), text.end(), 0);
    return text;
}

}  // namespace

TEST_CASE("a cursor with rollback accepts what is new and takes back what is not there, and nothing else",
          "[shaping]") {
    Calls calls;
    detail::Trail<Rewinding> trail{Rewinding(calls)};
    auto cost = [&, before = Calls{}](const std::vector<Token>& text) mutable {
        CHECK(trail.after(text) != nullptr);
        const auto paid =
            std::array{calls.accepts - before.accepts, calls.back - before.back, calls.rollbacks - before.rollbacks};
        before = calls;
        return paid;
    };
    CHECK(cost({}) == std::array{0L, 0L, 0L});
    CHECK(cost({0, 4, 4}) == std::array{3L, 0L, 0L});
    CHECK(cost({0, 4, 4}) == std::array{0L, 0L, 0L});
    CHECK(cost({0, 4, 4, 1}) == std::array{1L, 0L, 0L});
    CHECK(cost({0, 4, 2}) == std::array{1L, 2L, 1L});
    CHECK(cost({0}) == std::array{0L, 2L, 1L});
    CHECK(cost({2, 3}) == std::array{2L, 1L, 1L});
    CHECK(cost({}) == std::array{0L, 2L, 1L});
}

TEST_CASE("a copied cursor goes back by a few tokens without a replay, and far back with a short one", "[shaping]") {
    for (const Index length : {1, 2, 7, 8, 9, 31, 64, 100, 777, 1024}) {
        const auto text = numbers(length);
        for (Index back = 1; back <= length; back += 1 + back / 30) {
            const Counting cursor;
            detail::Trail<Counting> trail(cursor);
            REQUIRE(trail.after(text)->length == length);
            REQUIRE(cursor.calls->accepts == length);
            REQUIRE(trail.after(std::span(text).first(static_cast<std::size_t>(length - back)))->length ==
                    length - back);
            INFO(back << " of " << length);
            CHECK(static_cast<double>(cursor.calls->accepts - length) <= (back <= 7 ? 0 : 2. / 7 * double(back)));
        }
    }
}

TEST_CASE("copies are few, however long the text", "[shaping]") {
    const Counting cursor;
    detail::Trail<Counting> trail(cursor);
    const auto text = numbers(5000);
    for (std::size_t length = 1; length <= text.size(); ++length) {
        trail.after(std::span(text).first(length));
        // One of length 0, one here, and at most 5 per digit.
        REQUIRE(cursor.calls->alive - 1 <= 2 + 5 * static_cast<long>(std::bit_width(length)));
    }
    CHECK(cursor.calls->accepts == 5000);
}

TEST_CASE("a copied cursor replays no more than was taken back, over any walk", "[shaping]") {
    const Counting cursor;
    detail::Trail<Counting> trail(cursor);
    std::vector<Token> text;
    long forward = 0, back = 0;
    Token next = 0;
    for (int step = 0; step < 3000; ++step) {
        const Rng random({.seed = 5, .position = static_cast<std::uint32_t>(step)});
        // Mostly a few tokens back, sometimes many, then some forward.
        const double u = random.uniform(0);
        const auto away =
            std::min(text.size(), static_cast<std::size_t>(u < .9 ? 8 * random.uniform(1) : 200 * random.uniform(1)));
        text.resize(text.size() - away);
        back += static_cast<long>(away);
        const auto more = static_cast<std::size_t>(10 * random.uniform(2));
        for (std::size_t i = 0; i < more; ++i) text.push_back(next++);
        forward += static_cast<long>(more);
        REQUIRE(trail.after(text)->length == std::ssize(text));
        REQUIRE(cursor.calls->accepts <= forward + back);
    }
}

TEST_CASE("a cursor that may be moved only is never copied, and one with rollback is not either", "[shaping]") {
    struct Both : Counting {
        void rollback(Index n) { length -= n; }
    };
    const Both cursor;
    detail::Trail<Both> trail(cursor);
    const long copies = cursor.calls->copies;
    const auto text = numbers(20);
    CHECK(trail.after(text)->length == 20);
    CHECK(trail.after(std::span(text).first(3))->length == 3);
    CHECK(cursor.calls->copies == copies);
    CHECK(cursor.calls->accepts == 20);
}

TEST_CASE("a refused token leaves a cursor where it was", "[shaping]") {
    const auto check = [](auto trail) {
        CHECK(trail.after(std::vector<Token>{0, 3}) == nullptr);
        CHECK(trail.after(std::vector<Token>{0, 3, 4}) == nullptr);
        CHECK(trail.after(std::vector<Token>{1}) == nullptr);
        CHECK(trail.after(std::vector<Token>{0, 4, 1, 5, 5}) == nullptr);
        CHECK(trail.after(std::vector<Token>{-1}) == nullptr);
        CHECK(trail.after(std::vector<Token>{0, 4, 1, 2}) != nullptr);
    };
    Calls calls;
    check(detail::Trail<Rewinding>{Rewinding(calls)});
    check(detail::Trail<CloneOnly>{CloneOnly(calls)});
}

TEST_CASE("after an exception of its cursor a trail goes on", "[shaping]") {
    struct Throwing : Counting {
        void accept(Token token) {
            if (token == 99) {
                length = -1000;
                throw std::runtime_error("99");
            }
            ++length;
        }
    };
    detail::Trail<Throwing> trail{Throwing{}};
    CHECK(trail.after(std::vector<Token>{1, 2})->length == 2);
    CHECK_THROWS_AS(trail.after(std::vector<Token>{1, 2, 3, 99, 4}), std::runtime_error);
    CHECK(trail.after(std::vector<Token>{1, 2, 3, 4})->length == 4);
    CHECK_THROWS_AS(trail.after(std::vector<Token>{99}), std::runtime_error);
    CHECK(trail.after(std::vector<Token>{})->length == 0);
}
