// The bytes of a node's part of an analysis: numbers one after another, little-endian, each list after its count. Every
// operator uses them. Parts lie in the run's directory until all nodes have written theirs. They are read from files,
// so every count is checked before use. Only programs of the same version read them.

#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "forebay/result.hpp"

namespace forebay::insitu {

static_assert(std::endian::native == std::endian::little, "parts are written as they lie in memory");

/// A number stored as its bytes.
template <class T>
concept Plain = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;

class PartWriter {
public:
    template <Plain T>
    void number(T value) {
        append(&value, sizeof value);
    }
    /// Writes the count, then the numbers.
    template <Plain T>
    void numbers(std::span<const T> values) {
        number(static_cast<std::uint64_t>(values.size()));
        append(values.data(), values.size_bytes());
    }
    std::vector<std::byte> take() && { return std::move(bytes_); }

private:
    void append(const void* from, std::size_t size) {
        const auto end = bytes_.size();  // insert() makes gcc 12 warn of an overflow by mistake
        bytes_.resize(end + size);
        if (size > 0) std::memcpy(bytes_.data() + end, from, size);
    }
    std::vector<std::byte> bytes_;
};

/// After the end of the bytes, every number is 0 and every list empty. done() reports it.
class PartReader {
public:
    /// `bytes` must outlive this. `name` begins error texts: "a part of the histogram".
    PartReader(std::span<const std::byte> bytes, std::string name) : bytes_(bytes), name_(std::move(name)) {}

    template <Plain T>
    T number() {
        T value{};
        copy(&value, sizeof value);
        return value;
    }
    /// Reads a list of at most `most` numbers.
    template <Plain T>
    std::vector<T> numbers(std::uint64_t most) {
        const auto count = number<std::uint64_t>();
        if (count > most || count > bytes_.size() / sizeof(T)) {
            fits_ = false;
            return {};
        }
        std::vector<T> values(static_cast<std::size_t>(count));
        copy(values.data(), values.size() * sizeof(T));
        return values;
    }
    /// `corrupt` if a number was missing, or bytes are left.
    Result<> done() const {
        if (fits_ && bytes_.empty()) return {};
        return Error{ErrorKind::corrupt, name_ + (fits_ ? " is too long" : " is cut short, or damaged")};
    }

private:
    void copy(void* to, std::size_t size) {
        if (!fits_ || bytes_.size() < size) {
            fits_ = false;
            bytes_ = {};
            return;
        }
        if (size > 0) std::memcpy(to, bytes_.data(), size);
        bytes_ = bytes_.subspan(size);
    }
    std::span<const std::byte> bytes_;
    std::string name_;
    bool fits_ = true;
};

}  // namespace forebay::insitu
