// Writing and reading a message, number by number.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>

#include <specsample/shard/communicator.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace shard::detail {

/// Appends numbers to a message.
class Writer {
  public:
    explicit Writer(Message& message) : message_(message) { message_.clear(); }

    template <class T>
        requires std::is_trivially_copyable_v<T>
    void put(const T& value) {
        put_bytes(std::as_bytes(std::span(&value, 1)));
    }
    void put_bytes(std::span<const std::byte> bytes) { message_.insert(message_.end(), bytes.begin(), bytes.end()); }

  private:
    Message& message_;
};

/// Takes numbers from a message in the order in which they were put. Numbers beyond the end of the message are zeros:
/// only a rank whose header differs sends too little, and the comparison of headers reports that.
class Reader {
  public:
    explicit Reader(std::span<const std::byte> message) : rest_(message) {}

    template <class T>
        requires std::is_trivially_copyable_v<T>
    T take() {
        T value{};
        take_bytes(std::as_writable_bytes(std::span(&value, 1)));
        return value;
    }
    void take_bytes(std::span<std::byte> bytes) {
        if (bytes.empty() || rest_.size() < bytes.size()) return;
        std::memcpy(bytes.data(), rest_.data(), bytes.size());
        rest_ = rest_.subspan(bytes.size());
    }

  private:
    std::span<const std::byte> rest_;
};

}}}  // namespace specsample::shard::detail
