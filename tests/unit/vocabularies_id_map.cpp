// IdMap: the target id of each draft id, from lists, from offsets, and by number.
#include <specsample/vocabularies/id_map.hpp>

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::vocabularies;

namespace {

std::vector<Token> list(std::span<const Token> ids) { return {ids.begin(), ids.end()}; }

/// True if a map sends each draft id to the entry of a list.
void check_images(const IdMap& map, const std::vector<Token>& expected) {
    REQUIRE(map.draft_vocab() == std::ssize(expected));
    for (Index id = 0; id < map.draft_vocab(); ++id)
        CHECK(map.image(id).value_or(-1) == expected[static_cast<std::size_t>(id)]);
}

}  // namespace

TEST_CASE("an id map from a list: partial, many to one, in any order", "[shaping]") {
    const std::vector<int> to_target{4, -1, 1, 4, 0, -1};
    const IdMap map(to_target, 6);
    CHECK(map.target_vocab() == 6);
    check_images(map, to_target);
    CHECK(list(map.by_image()) == std::vector<Token>{4, 2, 0, 3});
    CHECK(list(map.images()) == std::vector<Token>{0, 1, 4});
    CHECK_FALSE(map.is_total());
    CHECK_FALSE(map.is_injective());
    CHECK_FALSE(map.is_monotone());
}

TEST_CASE("what is outside the draft vocabulary of an id map has no image", "[shaping]") {
    const IdMap map(std::vector{0, 1}, 2);
    CHECK_FALSE(map.image(-1));
    CHECK_FALSE(map.image(2));
    CHECK_FALSE(map.image(std::numeric_limits<Index>::max()));
    CHECK_FALSE(map.image(std::numeric_limits<Index>::min()));
}

TEST_CASE("an id map says what kind of map it is", "[shaping]") {
    const auto check = [](const std::vector<int>& to_target, bool total, bool injective, bool monotone) {
        const IdMap map(to_target, 5);
        CHECK(map.is_total() == total);
        CHECK(map.is_injective() == injective);
        CHECK(map.is_monotone() == monotone);
    };
    check({0, 2, 4}, true, true, true);
    check({0, -1, 4}, false, true, true);
    check({2, 0, 4}, true, true, false);
    check({0, 2, 2}, true, false, true);
    check({2, 0, 2}, true, false, false);
    check({-1, 3, -1}, false, true, true);
}

TEST_CASE("ids of an id map are of any integral type, in anything contiguous", "[shaping]") {
    const std::vector<Token> expected{2, 0};
    check_images(IdMap(std::vector<std::int64_t>{2, 0}, 3), expected);
    check_images(IdMap(std::array<std::uint8_t, 2>{2, 0}, 3), expected);
    const std::uint32_t memory[] = {2, 0};
    check_images(IdMap(memory, 3), expected);
    check_images(IdMap(std::span(memory), 3), expected);
    check_images(IdMap::from_offsets(std::array<std::int16_t, 2>{2, -1}, 3), expected);
}

TEST_CASE("a table of offsets gives draft id plus offset, as in EAGLE-3 checkpoints", "[shaping]") {
    // The target ids of a reduced head, and the offsets from draft ids that are stored for them.
    const std::vector<std::int64_t> kept{0, 3, 4, 9}, d2t{0, 2, 2, 6};
    const IdMap map = IdMap::from_offsets(d2t, 10);
    check_images(map, {0, 3, 4, 9});
    CHECK(list(map.images()) == std::vector<Token>(kept.begin(), kept.end()));
    CHECK(map.is_total());
    CHECK(map.is_injective());
    CHECK(map.is_monotone());
}

TEST_CASE("the same ids under two paddings", "[shaping]") {
    check_images(IdMap::same_ids(3, 5), {0, 1, 2});
    check_images(IdMap::same_ids(5, 3), {0, 1, 2, -1, -1});
    CHECK(IdMap::same_ids(3, 5).is_total());
    CHECK_FALSE(IdMap::same_ids(5, 3).is_total());
}

TEST_CASE("a wrong id map is refused by name", "[shaping]") {
    CHECK_THROWS_WITH(IdMap(std::vector{0, 1, 7}, 5),
                      "specsample::IdMap: the image of draft id 2 is 7, but must be in [0, 5), or -1 in a list of ids "
                      "for none");
    CHECK_THROWS_WITH(IdMap(std::vector{0, -2}, 5), ContainsSubstring("the image of draft id 1 is -2, but must be"));
    CHECK_THROWS_WITH(IdMap(std::vector<std::uint32_t>{0, 0xffff'ffff}, 5),
                      ContainsSubstring("the image of draft id 1 is 4294967295"));
    CHECK_THROWS_WITH(IdMap(std::vector<std::int64_t>{std::int64_t{1} << 32}, 5),
                      ContainsSubstring("the image of draft id 0 is 4294967296"));
    CHECK_THROWS_WITH(IdMap::from_offsets(std::vector{0, 4}, 5),
                      ContainsSubstring("the image of draft id 1 is 1 + 4, but must be in [0, 5)"));
    CHECK_THROWS_WITH(IdMap::from_offsets(std::vector{0, -2}, 5), ContainsSubstring("draft id 1 is 1 + -2"));
    CHECK_THROWS_WITH(IdMap::from_offsets(std::vector{0, std::numeric_limits<int>::min()}, 5),
                      ContainsSubstring("draft id 1 is 1 + -2147483648"));
    CHECK_THROWS_WITH(IdMap::from_offsets(std::vector{std::numeric_limits<std::uint64_t>::max()}, 5),
                      ContainsSubstring("draft id 0 is 0 + 18446744073709551615"));
    CHECK_NOTHROW(IdMap(std::vector{0, 4, -1}, 5));
    CHECK_NOTHROW(IdMap::from_offsets(std::vector{4, -1}, 5));
}

TEST_CASE("an id map without ids or without an image is refused", "[shaping]") {
    const std::string draft = "specsample::IdMap: the draft vocabulary is 0, but must be a positive 31-bit number";
    CHECK_THROWS_WITH(IdMap(std::vector<int>{}, 5), draft);
    CHECK_THROWS_WITH(IdMap::from_offsets(std::vector<int>{}, 5), draft);
    CHECK_THROWS_WITH(IdMap::same_ids(0, 5), draft);
    CHECK_THROWS_WITH(IdMap::same_ids(-3, 5), draft);
    for (const Index vocab : {Index{0}, Index{-1}, Index{1} << 31})
        CHECK_THROWS_WITH(IdMap(std::vector{0}, vocab), "specsample::IdMap: the target vocabulary is " +
                                                            std::to_string(vocab) +
                                                            ", but must be a positive 31-bit number");
    CHECK_THROWS_WITH(IdMap(std::vector{-1, -1}, 5),
                      "specsample::IdMap: the number of draft ids with an image is 0, but must be at least 1");
}
