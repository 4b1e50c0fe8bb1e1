#include "engine/reader.hpp"

namespace engine {

Reader::Reader(const std::filesystem::path& path) : path_(path), stream_(path, std::ios::binary) {
    if (!stream_) fail("cannot be opened");
    std::error_code error;
    size_ = std::filesystem::file_size(path, error);
    if (error) fail("is not a regular file");
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

}  // namespace engine
