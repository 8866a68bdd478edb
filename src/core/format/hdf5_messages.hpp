// Object headers and their messages, for hdf5.cpp (HDF5 file format specification 3.0, sections IV.A.1 and IV.A.2).

#pragma once

#include <cstring>
#include <string_view>

#include "core/base/bytes.hpp"
#include "core/format/hdf5.hpp"

namespace forebay::format::hdf5 {

/// A growing sequence of bytes with a known offset in the file.
class HeaderBytes {
public:
    explicit HeaderBytes(std::uint64_t offset) : offset_(offset) {}

    std::uint64_t at() const { return offset_ + bytes_.size(); }
    template <class T>
    void put(T value) {
        const auto from = bytes_.size();
        bytes_.resize(from + sizeof value);
        store_le(bytes_.data() + from, value);
    }
    void text(std::string_view text) {
        const auto from = bytes_.size();
        bytes_.resize(from + text.size());
        if (!text.empty()) std::memcpy(bytes_.data() + from, text.data(), text.size());
    }
    void zeros(std::size_t count) { bytes_.resize(bytes_.size() + count); }
    /// Each version-1 structure begins at a multiple of 8. The offset of this object must be such a multiple.
    void pad() { bytes_.resize((bytes_.size() + 7) & ~std::size_t{7}); }
    template <class T>
    void store(std::uint64_t at, T value) {
        store_le(bytes_.data() + (at - offset_), value);
    }
    void reserve(std::size_t bytes) { bytes_.reserve(bytes); }
    std::vector<std::byte> take() { return std::move(bytes_); }

private:
    std::uint64_t offset_;
    std::vector<std::byte> bytes_;
};

/// Writes the B-tree over the chunks of a dataset (at least one). Returns the address of its root.
std::uint64_t put_chunks(HeaderBytes& output, const Chunking& chunking);

/// Writes a version-1 object header: construct, add messages, finish().
class ObjectHeader {
public:
    explicit ObjectHeader(HeaderBytes& output);
    void finish();

    void symbol_table(std::uint64_t tree_at, std::uint64_t heap_at);
    Fields dataset(Type type, const Extents& dims);
    void chunked_dataset(Type type, const Extents& dims, const Chunking& chunking, std::uint64_t tree_at);
    void attribute(const Attribute& attribute);

private:
    std::uint64_t begin(std::uint16_t message);
    void end(std::uint64_t message_at);
    Fields space_and_type(Type type, const Extents& dims, std::uint8_t allocation);
    void filter(const Chunking& chunking);

    HeaderBytes& output_;
    std::uint64_t at_;
    std::uint16_t messages_ = 0;
};

}  // namespace forebay::format::hdf5
