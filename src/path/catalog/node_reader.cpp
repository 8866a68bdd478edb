#include "path/catalog/node_reader.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>
#include <vector>

#include "core/base/limits.hpp"
#include "core/base/path.hpp"
#include "core/base/try.hpp"
#include "path/catalog/catalog.hpp"
#include "path/catalog/forms/file_form.hpp"
#include "path/catalog/names.hpp"

namespace forebay::catalog {

namespace {

constexpr std::uint64_t first_pages_bytes = format::record_offset_bytes + format::record_size_bytes;

// True if the file lies in the directory of an uncommitted snapshot, or in a directory below it.
bool is_in_part(const std::string& path) {
    for (auto at = directory_of(path); at != "." && at != "/"; at = directory_of(at))
        if (const auto left = leftover_of(leaf_of(at))) return left->kind == Leftover::Kind::part;
    return false;
}

Error cut_short(const std::string& path, std::uint64_t actual, std::uint64_t expected) {
    return {ErrorKind::corrupt, fmt::format("{} is cut short: {} bytes, {} expected.", path, actual, expected)};
}

}  // namespace

Result<NodeReader> NodeReader::open(sys::Store& store, const std::string& path, Length length) {
    FB_TRY_ASSIGN(file, open_file(store, path));
    return open(std::move(file), path, length);
}

Result<NodeReader> NodeReader::open(sys::Store& store, const std::string& directory, const format::NodeLine& line,
                                    sys::Access access) {
    FB_TRY_ASSIGN(file, open_line(store, directory, line, access));
    return form_of(line.form).reader_of(std::move(file), line, name_of(directory, line));
}

Result<NodeReader> NodeReader::open(std::unique_ptr<sys::File> file, const std::string& path, Length length) {
    FB_TRY_ASSIGN(size, file->size());
    if (size < first_pages_bytes) return cut_short(path, size, first_pages_bytes);
    std::array<std::byte, first_pages_bytes> pages;
    FB_TRY(file->read(0, pages));
    FB_TRY_ASSIGN(peek, format::peek(pages, path));
    if (size < peek.file_bytes) return cut_short(path, size, peek.file_bytes);
    if (size > peek.file_bytes && length == Length::exact)
        return Error{ErrorKind::corrupt,
                     fmt::format("{} is too long: {} bytes, {} expected.", path, size, peek.file_bytes)};
    // The size comes from the file: check it before head_bytes() allocates.
    if (peek.head_bytes > size || peek.head_bytes > limits::head_bytes_max)
        return Error{ErrorKind::corrupt,
                     fmt::format("{} needs a head of {} bytes in a file of {}.", path, peek.head_bytes, size)};
    return NodeReader(path, std::move(file), 0, peek);
}

Result<NodeReader> NodeReader::open_within(std::unique_ptr<sys::File> file, std::uint64_t head_at,
                                           const std::string& path) {
    FB_TRY_ASSIGN(size, file->size());
    if (size < head_at || size - head_at < first_pages_bytes) return cut_short(path, size, head_at + first_pages_bytes);
    std::array<std::byte, first_pages_bytes> pages;
    FB_TRY(file->read(head_at, pages));
    FB_TRY_ASSIGN(peek, format::peek(pages, path));
    const auto& form = peek.record.form;
    if (format::region_offset(form, peek.record.node) != head_at)
        return Error{ErrorKind::corrupt,
                     fmt::format("{} is at byte {}, but its record has another place for it.", path, head_at)};
    if (size != format::length_of(form))
        return Error{ErrorKind::corrupt,
                     fmt::format("the file of {} has {} bytes, {} expected.", path, size, format::length_of(form))};
    return NodeReader(path, std::move(file), head_at, peek);
}

Result<std::vector<std::byte>> NodeReader::head_bytes() {
    std::vector<std::byte> bytes(peek_.head_bytes);
    FB_TRY(file_->read(head_at_, bytes));
    return bytes;
}

Result<format::NodeFile> NodeReader::head() {
    FB_TRY_ASSIGN(bytes, head_bytes());
    FB_TRY_ASSIGN(node_file, format::open_head(bytes, path_));
    // The record is read twice. If it differs, somebody is rewriting the file.
    if (node_file.record_crc32c != peek_.record_crc32c)
        return Error{ErrorKind::corrupt, fmt::format("{} changed during the read: record checksum {:08x}, then {:08x}.",
                                                     path_, peek_.record_crc32c, node_file.record_crc32c)};
    return node_file;
}

Result<std::unique_ptr<sys::File>> open_file(sys::Store& store, const std::string& path) {
    return store.open(path, is_in_part(path) ? sys::Access::read_direct : sys::Access::read);
}

Result<std::unique_ptr<sys::File>> open_line(sys::Store& store, const std::string& directory,
                                             const format::NodeLine& line, sys::Access access) {
    FB_TRY_ASSIGN(file, store.open(directory + "/" + line.path, access));
    return form_of(line.form).part_of(std::move(file), line);
}

std::string name_of(const std::string& directory, const format::NodeLine& line) {
    const auto path = directory + "/" + line.path;
    return format::is_region(line) ? path + "/" + format::region_name(line.node) : path;
}

Result<format::NodeFile> load_region(sys::File& file, const format::CombinedPage& page, std::uint32_t node,
                                     const std::string& name) {
    const auto offset = format::region_offset(page.form, node);
    const auto room = format::arrival_offset(page.form, node) - offset;
    FB_TRY_ASSIGN(reader, NodeReader::open(sys::stretch_of(file, offset, room), name, NodeReader::Length::at_least));
    return reader.head();
}

Result<format::CombinedPage> load_page(sys::File& file, const std::string& path) {
    FB_TRY_ASSIGN(size, file.size());
    if (size < first_pages_bytes) return cut_short(path, size, first_pages_bytes);
    std::array<std::byte, first_pages_bytes> pages;
    FB_TRY(file.read(0, pages));
    return format::open_page(pages, path);
}

namespace {

// "X.h5/node-00003": the region of a node. HDF5 programs use the same name for its group.
Result<format::NodeFile> load_named_region(sys::Store& store, const std::string& path) {
    const auto slash = path.rfind('/');
    const auto file_path = path.substr(0, slash), name = path.substr(slash + 1);
    FB_TRY_ASSIGN(file, open_file(store, file_path));
    FB_TRY_ASSIGN(page, load_page(*file, file_path));
    const auto first = format::first_node(page.form), end = first + format::nodes_in(page.form);
    for (auto node = first; node < end; ++node)
        if (format::region_name(node) == name) return load_region(*file, page, node, path);
    return Error{ErrorKind::missing,
                 fmt::format("{} holds the nodes {} to {}, but not {}.", file_path, first, end - 1, name)};
}

}  // namespace

Result<format::NodeFile> load_head(sys::Store& store, const std::string& path) {
    if (path.find(".h5/node-") != std::string::npos && !path.ends_with(".h5")) return load_named_region(store, path);
    FB_TRY_ASSIGN(reader, NodeReader::open(store, path));
    return reader.head();
}

}  // namespace forebay::catalog
