#pragma once

// Reads a file of weights from front to back; every error names the file.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "engine/arena.hpp"
#include "engine/checkpoint.hpp"
#include "engine/kernel.hpp"

namespace engine {

static_assert(std::endian::native == std::endian::little, "files of weights hold little-endian numbers");

/// All functions that read throw std::runtime_error if the file is too short.
class Reader {
  public:
    explicit Reader(const std::filesystem::path& path);

    std::uintmax_t size() const { return size_; }

    [[noreturn]] void fail(const std::string& what) const;

    void read(std::span<std::byte> out);

    template <class T>
    T value() {
        T result;
        read(std::as_writable_bytes(std::span(&result, 1)));
        return result;
    }

    /// Also throws for a value that is not finite. Nothing is allocated for a file that is too short.
    template <class T>
    std::vector<T> values(Index count, const std::string& name) {
        check_room(static_cast<double>(count) * sizeof(T), name);
        std::vector<T> result(static_cast<std::size_t>(count));
        read(std::as_writable_bytes(std::span(result)));
        if constexpr (!std::is_integral_v<T>) {
            const auto is_finite = [](T value) { return std::isfinite(static_cast<float>(value)); };
            if (!std::all_of(result.begin(), result.end(), is_finite)) {
                fail("the " + name + " contain a value that is not finite");
            }
        }
        return result;
    }

    Eigen::ArrayXf vector(Index size, const std::string& name);
    void float_rows(PackedMatrix& matrix, Index first, Index count, const std::string& name);
    PackedMatrix float_matrix(Index rows, Index columns, const std::string& name);
    PackedMatrix int8_matrix(Index rows, Index columns, const std::string& name);  // followed by its scales

    PackedMatrix group_matrix(Index rows, Index columns, const std::string& name);  // which says how many bits it has

    /// How a file stores its matrices: one of the functions above.
    using Matrix = PackedMatrix (Reader::*)(Index rows, Index columns, const std::string& name);
    Layer layer(const Config& config, Matrix matrix);

    /// Throws if bytes follow.
    void end();

    void skip(Index bytes) { stream_.seekg(bytes, std::ios::cur); }

  private:
    void check_room(double bytes, const std::string& name);

    std::filesystem::path path_;
    std::ifstream stream_;
    std::uintmax_t size_ = 0;
    std::shared_ptr<Arena> arena_;  // of the matrices in groups, which are as large as in the file
};

}  // namespace engine
