#include "engine/reader.hpp"

namespace engine {

Reader::Reader(const std::filesystem::path& path) : path_(path), stream_(path, std::ios::binary) {
    if (!stream_) fail("cannot be opened");
    std::error_code error;
    size_ = std::filesystem::file_size(path, error);
    if (error) fail("is not a regular file");
    arena_ = std::make_shared<Arena>(size_);
}

void Reader::fail(const std::string& what) const {
    throw std::runtime_error("checkpoint " + path_.string() + ": " + what);
}

void Reader::read(std::span<std::byte> out) {
    stream_.read(reinterpret_cast<char*>(out.data()), std::ssize(out));
    if (!stream_) fail("ends too early, it has only " + std::to_string(size_) + " bytes");
}

Eigen::ArrayXf Reader::vector(Index size, const std::string& name) {
    const auto read = values<float>(size, name);
    return Eigen::Map<const Eigen::ArrayXf>(read.data(), size);
}

void Reader::float_rows(PackedMatrix& matrix, Index first, Index count, const std::string& name) {
    matrix.set_rows(first, values<float>(count * matrix.columns(), name));
}

PackedMatrix Reader::float_matrix(Index rows, Index columns, const std::string& name) {
    PackedMatrix matrix(rows, columns);
    float_rows(matrix, 0, rows, name);
    return matrix;
}

PackedMatrix Reader::int8_matrix(Index rows, Index columns, const std::string& name) {
    const auto weights = values<std::int8_t>(rows * columns, name);
    return {rows, columns, weights, values<float>(rows, name + " scales")};
}

PackedMatrix Reader::group_matrix(Index rows, Index columns, const std::string& name) {
    const auto bits = value<std::int32_t>();
    if (bits != 4 && bits != 8) fail("the " + name + " have " + std::to_string(bits) + " bits, but must have 4 or 8");
    const Index groups = rows * (columns / group_columns);
    const auto codes = values<std::uint8_t>(groups * group_columns * bits / 8, name);
    const auto scales = values<Eigen::half>(groups, name + "' scales");
    const auto minima = values<Eigen::half>(bits == 4 ? groups : 0, name + "' minima");
    return GroupMatrix(rows, columns, bits, codes, scales, minima, arena_);
}

Layer Reader::layer(const Config& c, Matrix matrix) {
    Layer layer;
    layer.attention_norm = vector(c.dim, "attention norms");
    layer.query_key_value = (this->*matrix)(c.dim + 2 * c.kv_dim(), c.dim, "query, key and value weights");
    layer.attention_output = (this->*matrix)(c.dim, c.dim, "attention output weights");
    layer.feed_forward_norm = vector(c.dim, "feed-forward norms");
    layer.gate_up = (this->*matrix)(2 * c.hidden, c.dim, "gate and up weights");
    layer.down = (this->*matrix)(c.dim, c.hidden, "down weights");
    return layer;
}

void Reader::end() {
    if (static_cast<std::uintmax_t>(stream_.tellg()) != size_) {
        fail("has " + std::to_string(size_) + " bytes, but ends after " + std::to_string(stream_.tellg()));
    }
}

void Reader::check_room(double bytes, const std::string& name) {
    const double left = static_cast<double>(size_) - static_cast<double>(stream_.tellg());
    if (bytes > left) {
        fail("ends too early, it has only " + std::to_string(size_) + " bytes, and the " + name + " are not all there");
    }
}

}  // namespace engine
