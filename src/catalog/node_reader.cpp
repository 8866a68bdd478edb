#include "catalog/node_reader.hpp"

#include <fmt/format.h>

#include <array>
#include <vector>

#include "base/limits.hpp"
#include "catalog/catalog.hpp"

namespace forebay::catalog {

namespace {

constexpr std::uint64_t first_pages_bytes = format::record_offset_bytes + format::record_size_bytes;

Error cut_short(const std::string& path, std::uint64_t found, std::uint64_t expected) {
    return {ErrorKind::corrupt, fmt::format("{} is cut short: {} bytes, {} expected.", path, found, expected)};
}

}  // namespace

Result<NodeReader> NodeReader::open(sys::Store& store, const std::string& path, Length length) {
    FB_TRY_ASSIGN(file, store.open(path, sys::Access::read));
    FB_TRY_ASSIGN(size, file->size());
    if (size < first_pages_bytes) return cut_short(path, size, first_pages_bytes);
    std::array<std::byte, first_pages_bytes> pages;
    FB_TRY(file->read(0, pages));
    FB_TRY_ASSIGN(peek, format::peek(pages, path));
    if (size < peek.file_bytes) return cut_short(path, size, peek.file_bytes);
    if (size > peek.file_bytes && length == Length::exact)
        return Error{ErrorKind::corrupt,
                     fmt::format("{} is too long: {} bytes, {} expected.", path, size, peek.file_bytes)};
    if (peek.head_bytes > size || peek.head_bytes > limits::head_bytes_max)
        return Error{ErrorKind::corrupt,
                     fmt::format("{} claims a head of {} bytes in a file of {}.", path, peek.head_bytes, size)};
    return NodeReader(path, std::move(file), peek);
}

Result<format::NodeFile> NodeReader::head() {
    std::vector<std::byte> bytes(peek_.head_bytes);
    FB_TRY(file_->read(0, bytes));
    FB_TRY_ASSIGN(node_file, format::open_head(bytes, path_));
    // The record was read twice: a file that changes under us is being rewritten by somebody.
    if (node_file.record_crc32c != peek_.record_crc32c)
        return Error{ErrorKind::corrupt,
                     fmt::format("{} changed while it was read: record checksum {:08x}, then {:08x}.", path_,
                                 peek_.record_crc32c, node_file.record_crc32c)};
    return node_file;
}

Result<format::NodeFile> load_head(sys::Store& store, const std::string& path) {
    FB_TRY_ASSIGN(reader, NodeReader::open(store, path));
    return reader.head();
}

}  // namespace forebay::catalog
