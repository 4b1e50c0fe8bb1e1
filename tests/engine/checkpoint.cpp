// Damaged and lying checkpoint files: each is refused with the file's name and what is wrong.
#include "engine/checkpoint.hpp"

#include <cmath>
#include <limits>

#include "engine/checkpoints.hpp"
#include "support/catch.hpp"

using namespace engine;
using testing::odd_config;
using testing::overwrite;
using testing::ReferenceModel;
using testing::TemporaryFile;

namespace {

enum Field : std::size_t { dim, hidden, layers, heads, kv_heads, vocab, context };

struct Format {
    std::string file;
    std::size_t header;

    std::string with(Field field, std::int32_t value) const {
        std::string copy = file;
        overwrite(copy, header + 4 * field, value);
        return copy;
    }
    std::string with_float(std::size_t offset, float value) const {
        std::string copy = file;
        overwrite(copy, offset, value);
        return copy;
    }
};

Format float32() { return {ReferenceModel(odd_config, true, 1).float32_file(), 0}; }
Format int8() { return {ReferenceModel(odd_config, true, 1).int8_file(), 4}; }

void check_refused(const std::string& content, const std::string& reason) {
    const TemporaryFile file(content);
    CHECK_THROWS_WITH(Weights::load(file.path()), ContainsSubstring(file.path().string()) && ContainsSubstring(reason));
}

}  // namespace

TEST_CASE("both formats are told apart by content, and parameters are counted") {
    const Index matrices = 3 * (18 * (18 + 2 * 6) + 18 * 18 + 3 * 18 * 22);
    const Index norms = 18 * (2 * 3 + 1);
    const auto parameters = [](const std::string& file) {
        return Weights::load(TemporaryFile(file).path())->parameters();
    };
    CHECK(parameters(float32().file) == 37 * 18 + matrices + norms);
    CHECK(parameters(int8().file) == 37 * 18 + matrices + norms);
    CHECK(parameters(ReferenceModel(odd_config, false, 1).float32_file()) == 2 * 37 * 18 + matrices + norms);
}

TEST_CASE("files of the wrong length are refused") {
    for (const Format& format : {float32(), int8()}) {
        const std::size_t size = format.file.size();
        const std::string expected = "asks for " + std::to_string(size);
        check_refused(format.file.substr(0, size - 1), expected);
        check_refused(format.file.substr(0, size / 2), expected);
        check_refused(format.file + '\0', expected);
        check_refused(format.file.substr(0, format.header + 28), expected);
        check_refused(format.file.substr(0, format.header + 27), "ends too early");
    }
    check_refused("", "ends too early");
    check_refused("SPQ8", "ends too early");
    check_refused(std::string(4096, 'x'), "its header");
}

TEST_CASE("headers that lie are refused before anything is allocated") {
    constexpr std::int32_t huge = std::numeric_limits<std::int32_t>::max();
    constexpr std::int32_t lowest = std::numeric_limits<std::int32_t>::min();
    for (const Format& format : {float32(), int8()}) {
        for (const Field field : {dim, hidden, layers, heads, kv_heads, context}) {
            for (const std::int32_t value : {0, -1, lowest}) {
                check_refused(format.with(field, value), "all sizes must be positive");
            }
        }
        check_refused(format.with(vocab, 0), "all sizes must be positive");
        check_refused(format.with(heads, 4), "heads must divide dim");
        check_refused(format.with(kv_heads, 2), "key heads must divide heads");
        check_refused(format.with(kv_heads, 18), "key heads must divide heads");
        check_refused(format.with(heads, 6), "must be even");
        check_refused(format.with(context, huge), "key-value cache");
        for (const Field field : {dim, hidden, layers, heads, kv_heads, vocab}) {
            check_refused(format.with(field, huge), "its header");
        }
        std::string all = format.file;
        for (const Field field : {dim, hidden, layers, heads, kv_heads, vocab, context}) {
            overwrite(all, format.header + 4 * field, std::int32_t{1} << 30);
        }
        check_refused(all, "its header");
    }
    check_refused(int8().with(vocab, -37), "all sizes must be positive");
    check_refused(float32().with(vocab, lowest), "where its header");
    check_refused(float32().with(vocab, -37), "where its header");  // untied, but no classifier follows
    check_refused(float32().with(context, 69), "where its header");
}

TEST_CASE("weights that are not finite are refused by name") {
    for (const float bad : {NAN, INFINITY, -INFINITY}) {
        check_refused(float32().with_float(28, bad), "embeddings contain a value that is not finite");
        check_refused(float32().with_float(28 + 4 * 37 * 18, bad), "attention norms contain");
        check_refused(int8().with_float(32 + 37 * 18, bad), "embeddings scales contain");
        check_refused(int8().with_float(int8().file.size() - 4, bad), "final norm weights contain");
    }
    // The table of angles is not used, so nothing in it can hurt.
    const Format format = float32();
    CHECK_NOTHROW(Weights::load(TemporaryFile(format.with_float(format.file.size() - 4, NAN)).path()));
}

TEST_CASE("what is no file is refused") {
    CHECK_THROWS_WITH(Weights::load("/no/such/checkpoint.bin"), ContainsSubstring("/no/such/checkpoint.bin"));
    const auto folder = std::filesystem::temp_directory_path();
    CHECK_THROWS_WITH(Weights::load(folder), ContainsSubstring(folder.string()));
}

TEST_CASE("a file of groups that is cut short, too long or lying is refused by name") {
    for (const bool tied : {true, false}) {
        ReferenceModel model(testing::group_config, tied, 1);
        const Format groups{model.groups_file(4), 8};
        CHECK(Weights::load(TemporaryFile(groups.file).path())->parameters() > 0);
        for (std::size_t size = 4; size < groups.file.size(); size += 1009)
            check_refused(groups.file.substr(0, size), "");
        check_refused(groups.file.substr(0, groups.file.size() - 1), "ends too early");
        check_refused(groups.file + "x", "but ends after");
        for (const Field field : {dim, hidden, layers, heads, kv_heads, vocab, context})
            for (const std::int32_t value : {0, -1, field == context ? -7 : 7, 1 << 30})
                check_refused(groups.with(field, value), "");
        check_refused(groups.with_float(8 + 4 * 7, 0.0f), "impossible header");  // epsilon
        check_refused(groups.with_float(8 + 4 * 8, NAN), "impossible header");   // theta
        std::string other = groups.file;
        overwrite(other, 4, std::int32_t{2});
        check_refused(other, "has version 2 of its format, but must have 1");
        overwrite(other, 4, std::int32_t{1});
        overwrite(other, 8 + 4 * 9, std::int32_t{2});
        check_refused(other, "impossible header");  // tied
        overwrite(other, 8 + 4 * 9, std::int32_t{tied ? 1 : 0});
        overwrite(other, 8 + 4 * 10, std::int32_t{5});
        check_refused(other, "the embeddings have 5 bits, but must have 4 or 8");
        overwrite(other, 8 + 4 * 10, std::int32_t{8});
        overwrite(other, 8 + 4 * 11 + 37 * 96, std::uint16_t{0x7c00});  // an infinite scale
        check_refused(other, "embeddings' scales contain a value that is not finite");
    }
}
