// The tokenizers of novpy and llama2.c: known encodings, exact round trips for any bytes, and damaged files.
#include "engine/tokenizer.hpp"

#include <limits>
#include <stdexcept>

#include "engine/checkpoints.hpp"
#include "support/catch.hpp"

using namespace engine;
using testing::append;
using testing::overwrite;
using testing::TemporaryFile;

namespace {

Tokenizer novpy() { return Tokenizer::load(std::filesystem::path(SPECSAMPLE_MODELS_DIR) / "bpe2048.merges.u16", 2048); }

std::string decoded(const Tokenizer& tokenizer, const std::vector<Token>& tokens) {
    std::string text;
    Token previous = tokenizer.begin();
    for (const Token token : tokens) {
        text += tokenizer.decode(previous, token);
        previous = token;
    }
    return text;
}

struct Piece {
    std::string text;
    float score;
};

/// A llama2.c tokenizer file: the specials, the bytes, then the pieces given.
std::string scored_file(const std::vector<Piece>& pieces, std::int32_t longest = 7) {
    std::string file;
    const auto add = [&](const std::string& text, float score) {
        append(file, std::vector<float>{score});
        append(file, std::vector<std::int32_t>{static_cast<std::int32_t>(text.size())});
        file += text;
    };
    append(file, std::vector<std::int32_t>{longest});
    for (const char* special : {"<unk>", "\n<s>\n", "\n</s>\n"}) add(special, 0);
    for (int byte = 0; byte < 256; ++byte) {
        constexpr std::string_view digits = "0123456789ABCDEF";
        add(std::string("<0x") + digits[static_cast<std::size_t>(byte / 16)] +
                digits[static_cast<std::size_t>(byte % 16)] + '>',
            0);
    }
    for (const Piece& piece : pieces) add(piece.text, piece.score);
    return file;
}

// Ids from 259 on: " " 259, "a" 260, "b" 261, "ab" 262, " a" 263, e with an accent 264, "aa" 265, "<" 266, "<s" 267 and
// a face of four bytes 268.
const std::vector<Piece> small_pieces{{" ", -9},        {"a", -9},  {"b", -9}, {"ab", -2}, {" a", -1},
                                      {"\xC3\xA9", -9}, {"aa", -3}, {"<", -9}, {"<s", -1}, {"\xF0\x9F\x98\x80", -9}};
constexpr Index small_vocab = 269;

Tokenizer small() { return Tokenizer::load(TemporaryFile(scored_file(small_pieces)).path(), small_vocab); }

std::string random_bytes(testing::Uniform& uniform, const std::vector<std::string>& syllables) {
    std::string text;
    for (int i = uniform.below(40); i >= 0; --i) {
        text += syllables[static_cast<std::size_t>(uniform.below(std::ssize(syllables)))];
        if (uniform() < 0.2) text += static_cast<char>(uniform.below(256));
    }
    return text;
}

void check_refused(const std::string& content, Index vocab, const std::string& reason) {
    const TemporaryFile file(content);
    CHECK_THROWS_WITH(Tokenizer::load(file.path(), vocab),
                      ContainsSubstring(file.path().string()) && ContainsSubstring(reason));
}

std::string pairs_file(const std::vector<std::uint16_t>& ids) {
    std::string file;
    append(file, ids);
    return file;
}

}  // namespace

TEST_CASE("novpy encodes as its training code did") {
    // From Python's re with the pattern of the format, merging the lowest rank first.
    const Tokenizer tokenizer = novpy();
    using Tokens = std::vector<Token>;
    CHECK(tokenizer.encode("It was a dark night, and the wind didn't stop.") ==
          Tokens{876, 320, 260, 1083, 930, 44, 282, 264, 1077, 1934, 466, 349, 558, 46});
    CHECK(tokenizer.encode("def f(x):\n    return x + 12\n") ==
          Tokens{733, 277, 40, 120, 632, 509, 800, 32, 120, 1412, 1295, 50, 10});
    CHECK(tokenizer.encode("  two  spaces \n\n end  ") == Tokens{32, 748, 32, 561, 667, 291, 32, 301, 32, 554, 258});
    CHECK(tokenizer.encode("caf\xC3\xA9 \xE2\x80\x94 'tis we'll'd") ==
          Tokens{99, 97, 102, 195, 169, 32, 226, 128, 148, 423, 116, 275, 357, 959, 1626});
    CHECK(tokenizer.encode("\xFF\xFE'sa 's") == Tokens{255, 254, 39, 115, 97, 423, 115});
    CHECK(tokenizer.encode("'tale don't") == Tokens{39, 116, 1051, 772, 466});
    CHECK(tokenizer.encode("").empty());
    CHECK(tokenizer.begin() == 256);
    CHECK(tokenizer.end() == 256);
    CHECK(tokenizer.vocab() == 2048);
}

TEST_CASE("a text that spells a special token is only text") {
    CHECK(novpy().encode("<|endoftext|>") == std::vector<Token>{60, 124, 554, 111, 718, 1092, 124, 62});
    for (const Token token : small().encode("<s></s><0x41>")) CHECK(token > 2);
    CHECK(decoded(small(), small().encode("<s></s><0x41>")) == "<s></s><0x41>");
}

TEST_CASE("scored pieces: a leading space, the best score first, bytes for what is no piece") {
    const Tokenizer tokenizer = small();
    using Tokens = std::vector<Token>;
    CHECK(tokenizer.encode("ab") == Tokens{263, 261});              // " a" (-1) before "ab" (-2)
    CHECK(tokenizer.encode("bab") == Tokens{259, 261, 262});        // no " b"; then "ab"
    CHECK(tokenizer.encode("baaa") == Tokens{259, 261, 265, 260});  // the leftmost of equals
    CHECK(tokenizer.encode("\xC3\xA9") == Tokens{259, 264});
    CHECK(tokenizer.encode("\xC3") == Tokens{259, 0xC3 + 3});
    CHECK(tokenizer.encode("\xF0\x9F\x98\x80\x80") == Tokens{259, 268, 0x80 + 3});  // no character has five bytes
    CHECK(tokenizer.encode("\n") == Tokens{259, '\n' + 3});
    CHECK(tokenizer.encode("").empty());
    CHECK(tokenizer.decode(1, 263) == "a");  // the leading space goes
    CHECK(tokenizer.decode(260, 263) == " a");
    CHECK(tokenizer.decode(1, 1).empty());
    CHECK(tokenizer.decode(260, 2).empty());
    CHECK(tokenizer.begin() == 1);
    CHECK(tokenizer.end() == 2);
    CHECK(tokenizer.vocab() == small_vocab);
}

TEST_CASE("any bytes survive the way to tokens and back") {
    std::string every_byte;
    for (int byte = 0; byte < 256; ++byte) every_byte += static_cast<char>(byte);
    testing::Uniform uniform(3);
    for (const Tokenizer& tokenizer : {novpy(), small()}) {
        for (const std::string& text : {every_byte, std::string("\0\0", 2), std::string("   "), std::string(" a"),
                                        std::string("\xE2\x80"), std::string("\x80\x80\x80\x80\x80\x80")}) {
            CHECK(decoded(tokenizer, tokenizer.encode(text)) == text);
        }
        for (int i = 0; i < 2000; ++i) {
            const std::string text =
                random_bytes(uniform, {"a", "ab", "the", " ", "  ", "\n", "'", "'ll", "7", "\xC3\xA9"});
            const auto tokens = tokenizer.encode(text);
            CHECK(decoded(tokenizer, tokens) == text);
            for (const Token token : tokens) CHECK((token >= 0 && token < tokenizer.vocab()));
        }
    }
}

TEST_CASE("a long text without a cut takes no quadratic time") {
    const std::string text(1'000'000, 'a');
    for (const Tokenizer& tokenizer : {novpy(), small()}) CHECK(decoded(tokenizer, tokenizer.encode(text)) == text);
}

TEST_CASE("tokens outside the vocabulary cannot be decoded") {
    CHECK_THROWS_AS(novpy().decode(0, 2048), std::invalid_argument);
    CHECK_THROWS_WITH(novpy().decode(0, -1), ContainsSubstring("token -1"));
}

TEST_CASE("damaged merges are refused") {
    check_refused(pairs_file({97, 98, 257, 258}), 259,
                  "(257, 258) of token 258 must refer to bytes and earlier merges");
    check_refused(pairs_file({97, 256}), 258, "(97, 256)");
    check_refused(pairs_file({97, 98, 97, 98}), 259, "comes twice");
    std::vector<std::uint16_t> doubling{97, 97};
    for (std::uint16_t id = 257; id < 300; ++id) doubling.insert(doubling.end(), {id, id});
    check_refused(pairs_file(doubling), 257 + std::ssize(doubling) / 2, "more than 1024 bytes");
    check_refused(pairs_file({97, 98, 97}), 259, "not the 8 bytes of byte-pair merges");
    check_refused(pairs_file({97, 98}), 2048, "not the 7164 bytes of byte-pair merges");
}

TEST_CASE("damaged scored pieces are refused") {
    const std::string good = scored_file(small_pieces);
    check_refused(good.substr(0, good.size() - 1), small_vocab, "piece 268 of 269 has an impossible length of 4 bytes");
    check_refused(good.substr(0, good.size() - 5), small_vocab, "ends too early");
    check_refused(good, small_vocab + 1, "ends too early");
    check_refused(good, small_vocab - 1, "bytes follow its last piece");
    check_refused(good + "x", small_vocab, "bytes follow its last piece");
    check_refused(good, 200, "no room for the 256 byte pieces");
    check_refused("", small_vocab, "ends too early");
    check_refused(scored_file(small_pieces, 5), small_vocab, "impossible length of 6");
    std::string negative = good;
    overwrite(negative, 8, std::int32_t{-1});
    check_refused(negative, small_vocab, "piece 0 of 269 has an impossible length of -1");
    std::string huge = good;
    overwrite(huge, 0, std::numeric_limits<std::int32_t>::max());
    overwrite(huge, 8, std::numeric_limits<std::int32_t>::max());
    check_refused(huge, small_vocab, "impossible length of 2147483647");
    std::string infinite = good;
    overwrite(infinite, 4, std::numeric_limits<float>::infinity());
    check_refused(infinite, small_vocab, "not finite");
    std::string renamed = good;
    renamed[renamed.find("<0x41>") + 4] = '2';
    check_refused(renamed, small_vocab, "the piece for byte <0x41> is missing");
    CHECK_THROWS_WITH(Tokenizer::load("/no/such/tokenizer", 512), ContainsSubstring("/no/such/tokenizer"));
}
