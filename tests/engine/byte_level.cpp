// The byte-level tokenizer, from small files written here: cuts, special tokens, chats, any bytes, and damaged files.
#include "engine/byte_level.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/checkpoints.hpp"
#include "engine/gpt2_cut.hpp"
#include "engine/tokenizer.hpp"
#include "support/catch.hpp"

using namespace engine;
using testing::append;
using testing::overwrite;
using testing::TemporaryFile;

namespace {

using Tokens = std::vector<Token>;
using Texts = std::vector<std::string>;

struct Range {
    std::int32_t first, last;
};

// Enough of Unicode for the texts below: é and ü, Greek, ²; the no-break space and the em space.
const std::vector<Range> letters{{'A', 'Z'}, {'a', 'z'}, {0xE0, 0xFF}, {0x391, 0x3C9}};
const std::vector<Range> numbers{{'0', '9'}, {0xB2, 0xB3}, {0x660, 0x669}};
const std::vector<Range> spaces{{9, 13}, {' ', ' '}, {0xA0, 0xA0}, {0x2003, 0x2003}};

/// What a file holds, in the order of the ids: special pieces, then normal ones.
struct Content {
    Texts specials, normals;
    std::vector<std::pair<Token, Token>> merges;
    bool begins_texts = false, single_digits = true;
    std::optional<std::pair<std::string, std::string>> chat;
    Token begin = 1, end = 0;

    Index vocab() const { return std::ssize(specials) + std::ssize(normals); }
};

void append_count(std::string& file, std::ptrdiff_t count) {
    append(file, std::vector<std::int32_t>{static_cast<std::int32_t>(count)});
}

void append_pieces(std::string& file, const Texts& pieces, char kind) {
    for (const std::string& text : pieces) {
        file += kind;
        append(file, std::vector<std::uint16_t>{static_cast<std::uint16_t>(text.size())});
        file += text;
    }
}

std::string written(const Content& content) {
    std::string file = "SPTK";
    for (const Index number :
         {Index{1}, content.vocab(), Index{std::ssize(content.merges)}, Index{content.begin}, Index{content.end}}) {
        append_count(file, number);
    }
    for (const bool flag : {content.begins_texts, content.single_digits, content.chat.has_value()}) {
        file += static_cast<char>(flag);
    }
    append_pieces(file, content.specials, 1);
    append_pieces(file, content.normals, 0);
    for (const auto& [left, right] : content.merges) append(file, Tokens{left, right});
    for (const auto& ranges : {letters, numbers, spaces}) {
        append_count(file, std::ssize(ranges));
        append(file, ranges);
    }
    if (content.chat) {
        for (const std::string& text : {content.chat->first, content.chat->second}) {
            append_count(file, std::ssize(text));
            file += text;
        }
    }
    return file;
}

constexpr Token end = 0, user = 1, first_byte = 3;

/// Three special pieces, a piece for each byte, and some merges: of "the", " the", two spaces, "'ll", é and "12".
Content small_content() {
    Content content{.specials = {"<|end|>", "<|user|>", "<|user|>!"}, .normals = {}, .merges = {}, .chat = {}};
    for (int byte = 0; byte < 256; ++byte) content.normals.push_back(std::string(1, static_cast<char>(byte)));
    for (const auto& [left, right] : std::vector<std::pair<std::string, std::string>>{{"t", "h"},
                                                                                      {"th", "e"},
                                                                                      {" ", "the"},
                                                                                      {" ", " "},
                                                                                      {"l", "l"},
                                                                                      {"'", "ll"},
                                                                                      {"\xC3", "\xA9"},
                                                                                      {"1", "2"}}) {
        const auto id = [&](const std::string& text) {
            const auto found = std::find(content.normals.begin(), content.normals.end(), text);
            return static_cast<Token>(first_byte + (found - content.normals.begin()));
        };
        content.merges.emplace_back(id(left), id(right));
        content.normals.push_back(left + right);
    }
    content.chat = {"<|user|>\nsay: ", " ok<|end|>\n<|user|>"};
    return content;
}

Tokenizer loaded(const Content& content) {
    return Tokenizer::load(TemporaryFile(written(content)).path(), content.vocab());
}

Tokenizer novpy() { return Tokenizer::load(std::filesystem::path(SPECSAMPLE_MODELS_DIR) / "bpe2048.merges.u16", 2048); }

/// The text that each token adds.
Texts spelled(const Tokenizer& tokenizer, const Tokens& tokens) {
    Texts texts;
    for (const Token token : tokens) texts.push_back(tokenizer.decode(tokenizer.begin(), token));
    return texts;
}

std::string joined(const Texts& texts) {
    std::string text;
    for (const std::string& part : texts) text += part;
    return text;
}

Texts cut(const std::string& text, bool single_digits = true) {
    Gpt2Cut cut(single_digits);
    for (const auto& [ranges, kind] : {std::tuple(letters, CharacterClass::letter),
                                       {numbers, CharacterClass::number},
                                       {spaces, CharacterClass::space}}) {
        for (const Range& range : ranges) cut.classify(range.first, range.last, kind);
    }
    Texts pieces;
    for (const std::string_view piece : cut(text)) pieces.emplace_back(piece);
    return pieces;
}

void check_refused(const std::string& file, Index vocab, const std::string& reason) {
    CHECK_THROWS_AS(ByteLevel(file, vocab), std::runtime_error);
    CHECK_THROWS_WITH(ByteLevel(file, vocab), ContainsSubstring(reason));
}

/// Few pieces, so that a file can be damaged at each of its bytes: "<|x|>" and "<|y|>", then "a", "b", "ab".
Content tiny_content() {
    return {.specials = {"<|x|>", "<|y|>"}, .normals = {"a", "b", "ab"}, .merges = {{2, 3}}, .chat = {{"<|x|>a", "b"}}};
}

// Where numbers lie in a file.
constexpr std::size_t version_at = 4, pieces_at = 8, merges_at = 12, begin_at = 16, end_at = 20, flags_at = 24,
                      kind_at = 27;

std::string damaged(const Content& content, std::size_t offset, std::int32_t number) {
    std::string file = written(content);
    overwrite(file, offset, number);
    return file;
}

}  // namespace

TEST_CASE("byte level: words are cut with the space before them") {
    CHECK(cut("").empty());
    CHECK(cut("a bc, d!?") == Texts{"a", " bc", ",", " d", "!?"});
    CHECK(cut("f(x): {_y}") == Texts{"f", "(", "x", "):", " {_", "y", "}"});
    CHECK(cut("caf\xC3\xA9 \xCE\xB1\xCF\x89\xE2\x86\x92 \xC3\xBC") ==
          Texts{"caf\xC3\xA9", " \xCE\xB1\xCF\x89", "\xE2\x86\x92", " \xC3\xBC"});
}

TEST_CASE("byte level: endings are cut from words, in lower case only") {
    CHECK(cut("I'm we'll they've you're he'd it's don't") ==
          Texts{"I", "'m", " we", "'ll", " they", "'ve", " you", "'re", " he", "'d", " it", "'s", " don", "'t"});
    CHECK(cut("'tis 'tis DON'T 'x") == Texts{"'t", "is", " '", "tis", " DON", "'", "T", " '", "x"});
    CHECK(cut("''s!'s") == Texts{"''", "s", "!'", "s"});
}

TEST_CASE("byte level: digits stand alone, or with all of a number") {
    CHECK(cut("a12 34b") == Texts{"a", "1", "2", " ", "3", "4", "b"});
    CHECK(cut("a12 34b", false) == Texts{"a", "12", " 34", "b"});
    CHECK(cut("x\xC2\xB2\xC2\xB3 \xD9\xA3") == Texts{"x", "\xC2\xB2", "\xC2\xB3", " ", "\xD9\xA3"});
    CHECK(cut("x\xC2\xB2\xC2\xB3 \xD9\xA3", false) == Texts{"x", "\xC2\xB2\xC2\xB3", " \xD9\xA3"});
    CHECK(cut("  1") == Texts{"  ", "1"});  // a digit ends the text before it
    CHECK(cut("  1", false) == Texts{" ", " 1"});
    CHECK(cut("'s1's") == Texts{"'s", "1", "'s"});
}

TEST_CASE("byte level: a run of white space leaves its last character to a word") {
    CHECK(cut("a  b   c ") == Texts{"a", " ", " b", "  ", " c", " "});
    CHECK(cut("a\n\n  b") == Texts{"a", "\n\n ", " b"});
    CHECK(cut("a\n\nb\nc") == Texts{"a", "\n", "\n", "b", "\n", "c"});
    CHECK(cut("\t\r\n") == Texts{"\t\r\n"});
    CHECK(cut("a \xC2\xA0\xE2\x80\x83z") == Texts{"a", " \xC2\xA0", "\xE2\x80\x83", "z"});
    CHECK(cut("  's") == Texts{" ", " '", "s"});
}

TEST_CASE("byte level: what is no UTF-8 is neither letter, number nor space") {
    CHECK(cut("a\xFF\x80 b") == Texts{"a", "\xFF\x80", " b"});
    CHECK(cut("a\xC3") == Texts{"a", "\xC3"});                            // cut off
    CHECK(cut("\xC3z") == Texts{"\xC3", "z"});                            // another character follows
    CHECK(cut("\xC1\xA1\xE0\x81\xA1") == Texts{"\xC1\xA1\xE0\x81\xA1"});  // an "a" longer than needed
    CHECK(cut("\xED\xA0\x80"
              "a") == Texts{"\xED\xA0\x80", "a"});  // half of a surrogate pair
    CHECK(cut("\xF4\x90\x80\x80"
              "1") == Texts{"\xF4\x90\x80\x80", "1"});  // beyond the last character
    CHECK(cut(std::string("a\0b", 3)) == Texts{"a", std::string(1, '\0'), "b"});
}

TEST_CASE("byte level: characters have one class") {
    Gpt2Cut cut(true);
    CHECK_THROWS_WITH(cut.classify(5, 4, CharacterClass::letter), ContainsSubstring("the characters 5 to 4"));
    CHECK_THROWS_AS(cut.classify(-1, 4, CharacterClass::letter), std::runtime_error);
    CHECK_THROWS_AS(cut.classify(0, 0x110000, CharacterClass::letter), std::runtime_error);
    cut.classify(0x10FFFF, 0x10FFFF, CharacterClass::letter);
    CHECK_THROWS_WITH(cut.classify(0x10FFF0, 0x10FFFF, CharacterClass::space), ContainsSubstring("a class already"));
}

TEST_CASE("byte level: merges join within a cut, the first rank first") {
    const Tokenizer tokenizer = loaded(small_content());
    const auto pieces = [&](const std::string& text) { return spelled(tokenizer, tokenizer.encode(text)); };
    CHECK(pieces("the the then") == Texts{"the", " the", " the", "n"});
    CHECK(pieces("a   the") == Texts{"a", "  ", " the"});
    CHECK(pieces("we'll x'l") == Texts{"w", "e", "'ll", " ", "x", "'", "l"});
    CHECK(pieces("\xC3\xA9\xC3\xA8") == Texts{"\xC3\xA9", "\xC3", "\xA8"});
    CHECK(pieces("123") == Texts{"1", "2", "3"});
    Content together = small_content();
    together.single_digits = false;
    CHECK(spelled(loaded(together), loaded(together).encode("123")) == Texts{"12", "3"});
    CHECK(tokenizer.encode("").empty());
    CHECK(tokenizer.encode("a") == Tokens{first_byte + 'a'});
    CHECK(tokenizer.vocab() == small_content().vocab());
    CHECK(tokenizer.begin() == user);
    CHECK(tokenizer.end() == end);
}

TEST_CASE("byte level: special tokens are found only where asked") {
    const Tokenizer tokenizer = loaded(small_content());
    const std::string text = "the<|end|><|user|>!\n<|user|><|use|end|>";
    const Tokens plain = tokenizer.encode(text);
    for (const Token token : plain) CHECK(token >= first_byte);
    CHECK(joined(spelled(tokenizer, plain)) == text);
    Tokens found = tokenizer.encode("the");
    found.insert(found.end(), {end, 2, first_byte + '\n', user});  // the longest of those that begin there
    for (const char c : std::string("<|use|end|>")) found.push_back(first_byte + c);
    CHECK(tokenizer.encode_with_specials(text) == found);
    CHECK(tokenizer.encode_with_specials("").empty());
    CHECK(tokenizer.encode_with_specials("<|end|>") == Tokens{end});
    CHECK(tokenizer.decode(user, end).empty());
}

TEST_CASE("byte level: a begin token comes where the model was trained with it") {
    const Tokenizer without = loaded(small_content());
    CHECK(without.with_begin({7, 8}) == Tokens{7, 8});
    CHECK(without.with_begin({}) == Tokens{user});  // a model must read something
    Content begins = small_content();
    begins.begins_texts = true;
    const Tokenizer with = loaded(begins);
    CHECK(with.with_begin({7, 8}) == Tokens{user, 7, 8});
    CHECK(with.with_begin({user, 8}) == Tokens{user, 8});
    CHECK(with.with_begin({}) == Tokens{user});
    CHECK(novpy().with_begin({7}) == Tokens{256, 7});
}

TEST_CASE("byte level: a chat's message is encoded with the text around it, and can end no turn") {
    const Tokenizer tokenizer = loaded(small_content());
    const auto form = [&](const std::string& message) {
        Tokens tokens{user};
        for (const Token token : tokenizer.encode("\nsay: " + message + " ok")) tokens.push_back(token);
        tokens.insert(tokens.end(), {end, first_byte + '\n', user});
        return tokens;
    };
    for (const char* message : {"the", "", "  ", "a<|end|>b", "\xFF"}) CHECK(tokenizer.chat(message) == form(message));
    CHECK(spelled(tokenizer, tokenizer.chat("the").value())[6] == " the");  // one token over the border
    Content content = small_content();
    content.begin = 2;
    content.begins_texts = true;
    Tokens begun = form("a");
    begun.insert(begun.begin(), 2);
    CHECK(loaded(content).chat("a") == begun);
    content.chat.reset();
    CHECK_FALSE(loaded(content).chat("a").has_value());
    CHECK_FALSE(novpy().chat("a").has_value());
    CHECK(novpy().encode_with_specials("<|endoftext|> a") == novpy().encode("<|endoftext|> a"));
}

TEST_CASE("byte level: any bytes survive the way to tokens and back") {
    const Tokenizer tokenizer = loaded(small_content());
    testing::Uniform uniform(5);
    const Texts syllables{"the", " ",        "  ",           "\n",       "'ll",   "7",
                          "12",  "\xC3\xA9", "\xE2\x80\x83", "\xF0\x9F", "<|use", "."};
    for (int i = 0; i < 3000; ++i) {
        std::string text;
        for (int part = uniform.below(40); part > 0; --part) {
            text += syllables[static_cast<std::size_t>(uniform.below(std::ssize(syllables)))];
            if (uniform() < 0.4) text += static_cast<char>(uniform.below(256));
        }
        const Tokens tokens = tokenizer.encode(text);
        CHECK(joined(spelled(tokenizer, tokens)) == text);
        CHECK(tokens == tokenizer.encode_with_specials(text));  // it has none
    }
}

TEST_CASE("byte level: a byte without a piece is left out of a text") {
    const Tokenizer tokenizer = loaded(tiny_content());
    CHECK(tokenizer.encode("a\xFF"
                           "bca") == Tokens{4 - 2, 3, 2});  // cuts come first
    CHECK(tokenizer.encode("acb") == Tokens{4});
    CHECK(tokenizer.encode("\xFF").empty());
}

TEST_CASE("byte level: a long text takes no quadratic time, with or without cuts") {
    const Tokenizer tokenizer = loaded(small_content());
    for (const std::string part : {"l", " ", "\n", "the ", "1", ".", "<|use", "\xC3", "'"}) {
        std::string text;
        while (text.size() < 300'000) text += part;
        CHECK(joined(spelled(tokenizer, tokenizer.encode_with_specials(text))) == text);
    }
}

TEST_CASE("byte level: tokens outside the vocabulary cannot be decoded") {
    const Tokenizer tokenizer = loaded(tiny_content());
    CHECK_THROWS_AS(tokenizer.decode(0, 5), std::invalid_argument);
    CHECK_THROWS_WITH(tokenizer.decode(0, -1), ContainsSubstring("token -1"));
}

TEST_CASE("byte level: the tokenizer names a file that it refuses") {
    const TemporaryFile file(written(tiny_content()));
    CHECK_THROWS_WITH(Tokenizer::load(file.path(), 6), ContainsSubstring(file.path().string()) &&
                                                           ContainsSubstring("a vocabulary of 6") &&
                                                           ContainsSubstring("byte-level pieces, but it has 5 pieces"));
}

TEST_CASE("byte level: a file cut short is refused wherever it ends, and one too long too") {
    const std::string good = written(tiny_content());
    CHECK(ByteLevel(good, 5).vocab() == 5);
    for (std::size_t size = 0; size < good.size(); ++size) {
        CHECK_THROWS_AS(ByteLevel(good.substr(0, size), 5), std::runtime_error);
    }
    check_refused(good.substr(0, good.size() - 1), 5, "ends too early");
    check_refused(good + "x", 5, "bytes follow its end");
}

TEST_CASE("byte level: a file with any byte changed is refused or read, and never crashes") {
    const std::string good = written(tiny_content());
    for (std::size_t at = 0; at < good.size(); ++at) {
        for (const char value : {'\x00', '\x01', '\x7F', '\x80', '\xFF'}) {
            std::string bad = good;
            bad[at] = value;
            try {
                const ByteLevel tokenizer(bad, 5);
                const Tokens tokens = tokenizer.chat("ab<|x|>").value_or(Tokens{});
                for (const Token token : tokens) CHECK((token >= 0 && token < 5));
            } catch (const std::exception& error) {
                CHECK(dynamic_cast<const std::runtime_error*>(&error) != nullptr);
            }
        }
    }
}

TEST_CASE("byte level: counts that cannot be are refused before anything is reserved for them") {
    constexpr auto most = std::numeric_limits<std::int32_t>::max();
    const Content tiny = tiny_content();
    check_refused(damaged(tiny, pieces_at, most), most, "the kind of piece 5");  // a merge is read as a piece
    check_refused(damaged(tiny, pieces_at, -1), 5, "the number of pieces is -1");
    check_refused(damaged(tiny, merges_at, most), 5, "");
    check_refused(damaged(tiny, merges_at, -1), 5, "the number of merges is -1");
    const std::size_t letters_at =
        written({.specials = tiny.specials, .normals = tiny.normals, .merges = tiny.merges, .chat = {}}).find("A") - 4;
    check_refused(damaged(tiny, letters_at, most), 5, "");
    check_refused(damaged(tiny, letters_at, -1), 5, "the number of ranges of characters is -1");
    const std::size_t chat_at = written(tiny).rfind("<|x|>a") - 4;
    check_refused(damaged(tiny, chat_at, most), 5, "ends too early");
    check_refused(damaged(tiny, chat_at, -1), 5, "the number of bytes of the text before a message is -1");
}

TEST_CASE("byte level: what contradicts itself is refused by a sentence") {
    const Content tiny = tiny_content();
    check_refused("SPTX", 5, "does not begin with SPTK");
    check_refused(damaged(tiny, version_at, 2), 5, "its version is 2, but must be 1");
    check_refused(damaged(tiny, begin_at, 5), 5, "token 5 cannot begin or end");
    check_refused(damaged(tiny, end_at, -1), 5, "token -1 cannot begin or end");
    std::string file = written(tiny);
    file[flags_at + 1] = 2;
    check_refused(file, 5, "whether digits are cut one by one is 2");
    file = written(tiny);
    file[kind_at] = 3;
    check_refused(file, 5, "the kind of piece 0 is 3");
    file = written({.specials = {"", "<|y|>"}, .normals = {"a"}, .merges = {}, .chat = {}});
    check_refused(file, 3, "piece 0 is empty");
    const auto refused_merges = [&](std::vector<std::pair<Token, Token>> merges, const std::string& reason) {
        Content content = tiny_content();
        content.merges = std::move(merges);
        check_refused(written(content), 5, reason);
    };
    refused_merges({{2, 5}}, "the merge (2, 5) must be of normal pieces");
    refused_merges({{-1, 2}}, "the merge (-1, 2) must be of normal pieces");
    refused_merges({{0, 2}}, "the merge (0, 2) must be of normal pieces");
    refused_merges({{3, 2}}, "the merge (3, 2) makes what is no piece");
    refused_merges({{2, 3}, {2, 3}}, "the merge (2, 3) comes twice");
    Content twice = tiny_content();
    twice.normals.back() = "a";
    check_refused(written(twice), 5, "piece 4 has the bytes of an earlier one");
}
