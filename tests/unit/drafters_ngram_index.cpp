// The index of n-grams against a search of the whole text, through every append and rollback.
#include <specsample/drafters/ngram_index.hpp>

#include <algorithm>
#include <array>
#include <vector>

#include <specsample/random/rng.hpp>

#include "support/catch.hpp"
#include "support/texts.hpp"

using namespace specsample;
using namespace specsample::kernels;
using namespace specsample::walks;

namespace {

using texts::Dice;
using texts::Text;

/// The definition, by searching the text from its end.
detail::NgramMatch searched(const Text& text, Index min_match, Index max_match) {
    const Index size = std::ssize(text);
    for (Index n = std::min(max_match, size); n >= min_match; --n)
        for (Index end = size - 1; end >= n; --end)
            if (std::equal(text.end() - n, text.end(), text.begin() + (end - n))) return {n, end};
    return {};
}

bool same(const detail::NgramMatch& a, const detail::NgramMatch& b) { return a.length == b.length && a.end == b.end; }

/// Different tokens that hash to the same place in every table of up to 4096 slots.
Text colliding(std::size_t count) {
    Text tokens;
    for (Token token = 0; tokens.size() < count; ++token)
        if (detail::ngram_hash(std::array{token}) % 4096 == 77) tokens.push_back(token);
    return tokens;
}

}  // namespace

TEST_CASE("an index finds what a search of the whole text finds, through writing and undoing") {
    long matches = 0, longest = 0, undone = 0;
    for (const auto& [min_match, max_match] : {std::pair<Index, Index>{1, 1}, {1, 3}, {2, 2}, {3, 5}, {1, 7}})
        for (const Index alphabet : {1, 2, 3, 5, 40}) {
            Dice dice{static_cast<std::uint64_t>(100 * max_match + 10 * min_match + alphabet)};
            detail::NgramIndex index(min_match, max_match);
            Text text;
            bool good = true;
            for (int step = 0; step < 500; ++step) {
                if (dice(8) == 0) {
                    // Mostly a few tokens, sometimes most of the text.
                    const Index size = std::ssize(text);
                    const Index length = dice(6) == 0 ? dice(size + 1) : std::max<Index>(0, size - dice(12));
                    undone += size - length;
                    text.resize(static_cast<std::size_t>(length));
                    index.truncate(length);
                } else {
                    text.push_back(static_cast<Token>(dice(alphabet)));
                    index.push_back(text.back());
                }
                const detail::NgramMatch expected = searched(text, min_match, max_match);
                good = good && same(index.longest_match(), expected) && std::ranges::equal(index.text(), text);
                matches += expected.length > 0;
                longest += expected.length == max_match;
            }
            INFO("lengths " << min_match << " to " << max_match << ", " << alphabet << " tokens");
            CHECK(good);
        }
    CHECK(matches > 5000);
    CHECK(longest > 3000);
    CHECK(longest < matches);
    CHECK(undone > 5000);
}

TEST_CASE("an undo leaves an index as if nothing had been written") {
    Dice dice{5};
    detail::NgramIndex index(1, 4);
    Text text;
    for (int i = 0; i < 60; ++i) text.push_back(static_cast<Token>(dice(3)));
    for (const Token token : text) index.push_back(token);
    for (int round = 0; round < 50; ++round) {
        for (Index i = dice(300); i > 0; --i) index.push_back(static_cast<Token>(dice(4)));  // tables grow meanwhile
        index.truncate(60);
        REQUIRE(std::ranges::equal(index.text(), text));
        // Later answers depend on everything that is in the tables.
        Text longer = text;
        for (int i = 0; i < 10; ++i) {
            longer.push_back(static_cast<Token>(dice(3)));
            index.push_back(longer.back());
            REQUIRE(same(index.longest_match(), searched(longer, 1, 4)));
        }
        index.truncate(60);
    }
}

TEST_CASE("an index starts with nothing, and a text that does not repeat has no match") {
    detail::NgramIndex index(1, 3);
    CHECK(index.longest_match().length == 0);
    for (Token token = 0; token < 1000; ++token) {
        index.push_back(token);
        REQUIRE(index.longest_match().length == 0);
    }
    index.push_back(7);
    CHECK(same(index.longest_match(), {1, 8}));
    index.push_back(8);
    CHECK(same(index.longest_match(), {2, 9}));
    index.push_back(9);
    CHECK(same(index.longest_match(), {3, 10}));
    index.push_back(10);
    CHECK(same(index.longest_match(), {3, 11}));
    index.truncate(0);
    CHECK(index.longest_match().length == 0);
    CHECK(index.size() == 0);
}

TEST_CASE("the latest of several occurrences is found, and it may overlap the end of the text") {
    detail::NgramIndex index(1, 2);
    for (const Token token : {4, 5, 6, 4, 5, 7, 4, 5}) index.push_back(token);
    CHECK(same(index.longest_match(), {2, 5}));
    index.truncate(5);
    CHECK(same(index.longest_match(), {2, 2}));
    index.push_back(5);
    CHECK(same(index.longest_match(), {1, 5}));
    index.push_back(5);
    CHECK(same(index.longest_match(), {2, 6}));
}

TEST_CASE("n-grams whose hashes collide are told apart") {
    const Text tokens = colliding(200);  // all within the longest search
    Dice dice{9};
    detail::NgramIndex index(1, 1);
    Text text;
    for (int step = 0; step < 2000; ++step) {
        if (dice(5) == 0) {
            text.resize(text.size() - std::min(text.size(), static_cast<std::size_t>(dice(12))));
            index.truncate(std::ssize(text));
        } else {
            text.push_back(tokens[static_cast<std::size_t>(dice(std::ssize(tokens)))]);
            index.push_back(text.back());
        }
        REQUIRE(same(index.longest_match(), searched(text, 1, 1)));
    }
}

TEST_CASE("a text made to collide loses matches, and never gets a false one") {
    const Text tokens = colliding(400);
    const auto bound = static_cast<std::size_t>(detail::NgramIndex::longest_search);
    detail::NgramIndex index(1, 1);
    const auto found = [&](const Text& all) {
        std::size_t count = 0;
        for (std::size_t i = 0; i < all.size(); ++i) {
            index.push_back(all[i]);
            const detail::NgramMatch match = index.longest_match();
            if (match.length == 0) continue;
            REQUIRE(match.end == static_cast<Index>(i) + 1);
            ++count;
        }
        return count;
    };
    Text other_way = tokens;
    for (int again = 0; again < 3; ++again) {  // those that came first have the places
        REQUIRE(index.size() == 0);
        for (const Token token : other_way) {
            index.push_back(token);
            REQUIRE(index.longest_match().length == 0);
        }
        CHECK(found(other_way) == bound);
        index.truncate(std::ssize(tokens));
        CHECK(found(other_way) == bound);
        index.truncate(0);
        std::ranges::reverse(other_way);
    }
}

TEST_CASE("an index refuses wrong lengths by name") {
    CHECK_THROWS_WITH(detail::NgramIndex(0, 3), "specsample::NgramIndex: min_match is 0, but must be at least 1");
    CHECK_THROWS_WITH(detail::NgramIndex(-2, 3), "specsample::NgramIndex: min_match is -2, but must be at least 1");
    CHECK_THROWS_WITH(detail::NgramIndex(4, 3),
                      "specsample::NgramIndex: max_match is 3, but must be at least min_match, 4");
    detail::NgramIndex index(1, 3);
    index.push_back(1);
    CHECK_THROWS_WITH(index.truncate(2),
                      "specsample::NgramIndex: length is 2, but must be 0 to the 1 tokens there are");
    CHECK_THROWS_WITH(index.truncate(-1),
                      "specsample::NgramIndex: length is -1, but must be 0 to the 1 tokens there are");
    CHECK(index.size() == 1);
}
