#include "engine/checkpoint.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <sstream>
#include <string>
#include <string_view>

#include "engine/reader.hpp"

namespace engine {
namespace {

constexpr std::string_view int8_magic = "SPQ8";
constexpr std::string_view groups_magic = "SPQG";
constexpr std::int32_t groups_version = 1;
constexpr double max_cache_bytes = 4.0 * (1 << 30);

enum class FileFormat { float32, int8, groups };

struct Header {
    FileFormat format;
    Config config;
    bool tied;
};

std::string describe(const Config& c) {
    std::ostringstream text;
    text << "dim " << c.dim << ", hidden " << c.hidden << ", " << c.layers << " layers, " << c.heads << " heads, "
         << c.kv_heads << " key heads, vocabulary " << c.vocab << ", context " << c.context;
    return text.str();
}

void check_config(const Reader& file, const Config& c) {
    const auto require = [&](bool good, const char* rule) {
        if (!good) file.fail(std::string(rule) + ", but its header says " + describe(c));
    };
    require(std::min({c.dim, c.hidden, c.layers, c.heads, c.kv_heads, c.vocab, c.context}) > 0,
            "all sizes must be positive");
    require(c.dim % c.heads == 0, "heads must divide dim");
    require(c.heads % c.kv_heads == 0, "key heads must divide heads");
    require(c.head_size() % 2 == 0, "the head size, dim / heads, must be even");
    require(PagePool::bytes(c.cache(), c.context) <= max_cache_bytes, "the key-value cache may take at most 4 GiB");
}

/// The size in bytes of a file with this header. In double: exact below 2^53, and unlike an integer it cannot overflow
/// to a plausible number.
double expected_bytes(const Header& header) {
    const Config& c = header.config;
    const double dim = static_cast<double>(c.dim);
    const auto matrix = [&](Index rows, Index columns) {
        const double r = static_cast<double>(rows);
        const double size = r * static_cast<double>(columns);
        return header.format == FileFormat::float32 ? 4.0 * size : size + 4.0 * r;
    };
    const double layer = matrix(c.dim + 2 * c.kv_dim(), c.dim) + matrix(c.dim, c.dim) + matrix(2 * c.hidden, c.dim) +
                         matrix(c.dim, c.hidden) + 2 * 4.0 * dim;
    const double body = matrix(c.vocab, c.dim) + static_cast<double>(c.layers) * layer + 4.0 * dim;
    const double fields = 7 * 4.0;
    if (header.format == FileFormat::int8) return static_cast<double>(int8_magic.size()) + fields + body;
    return fields + body + matrix(c.context, c.head_size()) + (header.tied ? 0.0 : matrix(c.vocab, c.dim));
}

void check_size(const Reader& file, const Header& header) {
    const double expected = expected_bytes(header);
    if (expected == static_cast<double>(file.size())) return;
    std::ostringstream text;
    text.precision(0);
    text << std::fixed << "has " << file.size() << " bytes where its header (" << describe(header.config)
         << ") asks for " << expected;
    file.fail(text.str());
}

Config config_of(std::span<const std::int32_t, 7> fields) {
    return {fields[0], fields[1], fields[2], fields[3], fields[4], fields[5], fields[6]};
}

/// What follows the magic number of a file of groups. Its matrices say themselves how many bits they have, so their
/// sizes are checked one by one.
Header read_groups_header(Reader& file) {
    if (const auto version = file.value<std::int32_t>(); version != groups_version) {
        file.fail("has version " + std::to_string(version) + " of its format, but must have " +
                  std::to_string(groups_version));
    }
    std::array<std::int32_t, 7> fields{};
    file.read(std::as_writable_bytes(std::span(fields)));
    Config config = config_of(fields);
    config.rms_epsilon = file.value<float>();
    config.rope_theta = file.value<float>();
    const auto tied = file.value<std::int32_t>();
    check_config(file, config);
    const auto number = [](Index value) { return static_cast<double>(value); };
    const bool fits =
        number(config.layers) * number(config.dim) * number(config.dim) <= 2 * static_cast<double>(file.size());
    const bool good = config.has_constants() && (tied == 0 || tied == 1) && config.dim % group_columns == 0 &&
                      config.hidden % group_columns == 0;
    if (!good || !fits) file.fail("has an impossible header: " + describe(config));
    return {FileFormat::groups, config, tied == 1};
}

Header read_header(Reader& file) {
    const auto magic = file.value<std::array<char, 4>>();
    const auto begins_with = [&](std::string_view name) { return std::ranges::equal(magic, name); };
    if (begins_with(groups_magic)) return read_groups_header(file);
    const bool int8 = begins_with(int8_magic);
    std::array<std::int32_t, 7> fields{};
    const std::size_t known = int8 ? 0 : 1;  // without a magic number, these bytes are the first field
    std::memcpy(fields.data(), magic.data(), magic.size());
    file.read(std::as_writable_bytes(std::span(fields).subspan(known)));
    Config config = config_of(fields);
    const bool tied = int8 || config.vocab > 0;  // llama2.c's version 0 marks untied weights by a negative vocabulary
    if (!tied) config.vocab = -config.vocab;
    const Header header{int8 ? FileFormat::int8 : FileFormat::float32, config, tied};
    check_config(file, config);
    check_size(file, header);
    return header;
}

void read_float32(Reader& file, bool tied, Weights& w) {
    const Config& c = w.config;
    const Index kv_dim = c.kv_dim();
    w.embedding = file.float_matrix(c.vocab, c.dim, "embeddings");
    for (Layer& layer : w.layers) {
        layer.query_key_value = PackedMatrix(c.dim + 2 * kv_dim, c.dim);
        layer.gate_up = PackedMatrix(2 * c.hidden, c.dim);
    }
    for (Layer& layer : w.layers) layer.attention_norm = file.vector(c.dim, "attention norms");
    for (Layer& layer : w.layers) file.float_rows(layer.query_key_value, 0, c.dim, "query weights");
    for (Layer& layer : w.layers) file.float_rows(layer.query_key_value, c.dim, kv_dim, "key weights");
    for (Layer& layer : w.layers) file.float_rows(layer.query_key_value, c.dim + kv_dim, kv_dim, "value weights");
    for (Layer& layer : w.layers) layer.attention_output = file.float_matrix(c.dim, c.dim, "attention output weights");
    for (Layer& layer : w.layers) layer.feed_forward_norm = file.vector(c.dim, "feed-forward norms");
    for (Layer& layer : w.layers) file.float_rows(layer.gate_up, 0, c.hidden, "gate weights");
    for (Layer& layer : w.layers) layer.down = file.float_matrix(c.dim, c.hidden, "down weights");
    for (Layer& layer : w.layers) file.float_rows(layer.gate_up, c.hidden, c.hidden, "up weights");
    w.final_norm = file.vector(c.dim, "final norm weights");
    const Index rope_table = c.context * c.head_size();  // skipped: computed anew, so it need not be trusted
    file.skip(rope_table * static_cast<Index>(sizeof(float)));
    if (!tied) w.untied_classifier = file.float_matrix(c.vocab, c.dim, "classifier weights");
}

/// A file of our own: layer by layer, with matrices of one kind.
void read_layers(Reader& file, bool tied, Reader::Matrix matrix, Weights& w) {
    const Config& c = w.config;
    w.embedding = (file.*matrix)(c.vocab, c.dim, "embeddings");
    for (Layer& layer : w.layers) layer = file.layer(c, matrix);
    w.final_norm = file.vector(c.dim, "final norm weights");
    if (!tied) w.untied_classifier = (file.*matrix)(c.vocab, c.dim, "classifier weights");
    file.end();
}

/// The sum of f over every matrix and norm that a pass reads in full.
template <class OfMatrix, class OfNorm>
auto sum_over(const Weights& w, OfMatrix of_matrix, OfNorm of_norm) {
    auto sum = of_matrix(w.classifier()) + of_norm(w.final_norm);
    for (const Layer& layer : w.layers) {
        sum += of_matrix(layer.query_key_value) + of_matrix(layer.attention_output) + of_matrix(layer.gate_up) +
               of_matrix(layer.down) + of_norm(layer.attention_norm) + of_norm(layer.feed_forward_norm);
    }
    return sum;
}

Index elements(const PackedMatrix& matrix) { return matrix.rows() * matrix.columns(); }

}  // namespace

Index Weights::parameters() const {
    const Index per_pass = sum_over(*this, elements, [](const Eigen::ArrayXf& norm) { return norm.size(); });
    return per_pass + (untied_classifier ? elements(embedding) : 0);
}

std::size_t Weights::bytes_per_pass() const {
    const auto of_norm = [](const Eigen::ArrayXf& norm) {
        return sizeof(float) * static_cast<std::size_t>(norm.size());
    };
    return sum_over(
        *this, [](const PackedMatrix& matrix) { return matrix.bytes(); }, of_norm);
}

std::shared_ptr<const Weights> Weights::load(const std::filesystem::path& path) {
    Reader file(path);
    const Header header = read_header(file);
    auto weights = std::make_shared<Weights>();
    weights->config = header.config;
    weights->layers.resize(static_cast<std::size_t>(header.config.layers));
    switch (header.format) {
        case FileFormat::float32:
            read_float32(file, header.tied, *weights);
            break;
        case FileFormat::int8:
            read_layers(file, header.tied, &Reader::int8_matrix, *weights);
            break;
        case FileFormat::groups:
            read_layers(file, header.tied, &Reader::group_matrix, *weights);
            break;
    }
    return weights;
}

}  // namespace engine
