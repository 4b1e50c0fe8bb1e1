// Vocabularies compared by the texts of their tokens: the common ones, and the differences.
#include <specsample/vocabularies/id_map_texts.hpp>

#include <array>
#include <string>
#include <vector>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::vocabularies;

namespace {

using Texts = std::vector<std::string>;

/// The image of every draft id, -1 for none.
std::vector<Token> images(const IdMap& map) {
    std::vector<Token> result;
    for (Index id = 0; id < map.draft_vocab(); ++id) result.push_back(map.image(id).value_or(-1));
    return result;
}

}  // namespace

TEST_CASE("equal texts are equal tokens, whatever their ids", "[shaping]") {
    const IdMap map = vocabulary_intersection(Texts{"a", "b", "c", "draft only"}, Texts{"c", "target only", "a", "b"});
    CHECK(images(map) == std::vector<Token>{2, 3, 0, -1});
    CHECK(map.target_vocab() == 4);
}

TEST_CASE("a text that the target has twice is the same id if it can be, else the lowest", "[shaping]") {
    const Texts target{"x", "a", "x", "x"};
    CHECK(images(vocabulary_intersection(Texts{"a", "x", "x", "b", "x"}, target)) ==
          std::vector<Token>{1, 0, 2, -1, 0});
    CHECK(images(vocabulary_intersection(target, target)) == std::vector<Token>{0, 1, 2, 3});
}

TEST_CASE("an empty text means nothing, for it is padding", "[shaping]") {
    CHECK(images(vocabulary_intersection(Texts{"", "a", ""}, Texts{"", "a", ""})) == std::vector<Token>{-1, 1, -1});
}

TEST_CASE("tokens are bytes: zeros and invalid UTF-8 are texts like others", "[shaping]") {
    using namespace std::string_literals;
    CHECK(images(vocabulary_intersection(Texts{"a\0b"s, "a"s, "\xff"s, "a\0c"s}, Texts{"\xff"s, "a\0b"s, "a"s})) ==
          std::vector<Token>{1, 2, 0, -1});
}

TEST_CASE("texts are strings or views, in anything contiguous", "[shaping]") {
    const std::array<std::string_view, 2> views{"a", "b"};
    const char* const pointers[] = {"b", "a"};
    CHECK(images(vocabulary_intersection(views, pointers)) == std::vector<Token>{1, 0});
    CHECK(images(vocabulary_intersection(std::span(views), Texts{"b"})) == std::vector<Token>{-1, 0});
    CHECK_FALSE(vocabulary_difference(std::span(views), Texts{"a", "b"}));
}

TEST_CASE("rows of the target may be padded beyond its texts", "[shaping]") {
    CHECK(vocabulary_intersection(Texts{"a"}, Texts{"a", "b"}, 64).target_vocab() == 64);
    CHECK_THROWS_WITH(vocabulary_intersection(Texts{"a"}, Texts{"a", "b"}, 1),
                      "specsample::vocabulary_intersection: target_vocab is 1, but must be at least the number of the "
                      "target's texts, 2");
}

TEST_CASE("vocabularies with nothing in common are refused", "[shaping]") {
    CHECK_THROWS_WITH(vocabulary_intersection(Texts{"a"}, Texts{"b"}),
                      "specsample::IdMap: the number of draft ids with an image is 0, but must be at least 1");
    CHECK_THROWS_AS(vocabulary_intersection(Texts{}, Texts{"b"}), std::invalid_argument);
}

TEST_CASE("vocabularies of one size that differ are told apart by content", "[shaping]") {
    const auto found = vocabulary_difference(Texts{"a", "b", "c", "d"}, Texts{"a", "x", "c", "y"});
    CHECK(found);
    CHECK(found.differing == 2);
    REQUIRE(found.first);
    CHECK(*found.first == 1);
    CHECK(message(found) ==
          "the draft has 4 ids and the target 4; of those that both have, 2 have different texts, the first of them "
          "1: \"b\" in the draft, \"x\" in the target");
}

TEST_CASE("vocabularies of different sizes are told apart by size", "[shaping]") {
    const auto found = vocabulary_difference(Texts{"a", "b"}, Texts{"a", "b", "c"});
    CHECK(found);
    CHECK(found.differing == 0);
    CHECK_FALSE(found.first);
    CHECK(message(found) == "the draft has 2 ids and the target 3; of those that both have, all have equal texts");
    CHECK(vocabulary_difference(Texts{"a", "b", "c"}, Texts{"a", "x"}).differing == 1);
    CHECK(vocabulary_difference(Texts{}, Texts{"a"}));
}

TEST_CASE("equal vocabularies have no difference", "[shaping]") {
    CHECK_FALSE(vocabulary_difference(Texts{}, Texts{}));
    const auto found = vocabulary_difference(Texts{"a", "b"}, Texts{"a", "b"});
    CHECK_FALSE(found);
    CHECK(message(found) == "the vocabularies are the same: 2 ids with equal texts");
}

TEST_CASE("a message shows the bytes of a token that cannot be printed", "[shaping]") {
    using namespace std::string_literals;
    CHECK_THAT(message(vocabulary_difference(Texts{"\n\xc4\xa0 \"\\"s}, Texts{"\0"s})),
               ContainsSubstring(R"("\x0a\xc4\xa0 \x22\x5c" in the draft, "\x00" in the target)"));
}
