#include "catalog/region.hpp"

#include <fmt/format.h>

#include <utility>

#include "catalog/names.hpp"
#include "catalog/node_reader.hpp"

namespace forebay::catalog {

namespace {

Result<std::uint32_t> read_arrival(sys::File& file, const format::FileGroup& group, std::uint64_t snapshot_id,
                                   std::uint32_t node, const std::string& path) {
    alignas(limits::page_bytes) format::Page page;
    FB_TRY(file.read(format::arrival_offset(group, node), page));
    return format::open_arrival(page, snapshot_id, node, path);
}

/// One page, from where a direct write wants it.
Result<> write_page(sys::File& file, std::uint64_t offset, const format::Page& page) {
    alignas(limits::page_bytes) const format::Page aligned = page;
    return file.write(offset, aligned);
}

// Absent and cut short say the same of a file that others have begun: what is asked for has not come.
bool has_not_come(const Error& error) { return error.kind == ErrorKind::missing || error.kind == ErrorKind::corrupt; }

}  // namespace

Result<bool> is_region_there(sys::Store& store, const std::string& path, const format::NodeFile& file) {
    const auto& record = file.record;
    auto found = store.open(path, sys::Access::read);
    if (!found && found.error().kind == ErrorKind::missing) return false;
    if (!found) return found.error();
    const auto arrived = read_arrival(**found, record.group, record.snapshot_id, record.node, path);
    if (!arrived && !has_not_come(arrived.error())) return arrived.error();
    if (!arrived || *arrived != file.record_crc32c) return false;
    const auto offset = record.group.offset_of(record.node);
    auto reader = catalog::NodeReader::open(sys::stretch_of(std::move(*found), offset, file.file_bytes), path,
                                            catalog::NodeReader::Length::exact);
    if (!reader) return false;
    const auto head = reader->head();  // all of it: what is damaged at the target is to be written anew
    return head && head->record_crc32c == file.record_crc32c;
}

Result<> write_region(sys::Store& store, const std::string& path, bool direct, const format::NodeFile& file,
                      const WriteRegion& write) {
    const auto& group = file.record.group;
    FB_TRY_ASSIGN(whole, store.open(path, direct ? sys::Access::update_direct : sys::Access::update));
    FB_TRY_ASSIGN(size, whole->size());
    if (size > group.file_bytes())
        return Error{ErrorKind::refused,
                     fmt::format("{} has {} bytes, this save makes it {} long: it is not of this save", path, size,
                                 group.file_bytes()),
                     "", "move it away and drain again"};
    // Any number of agents may do this at once, with this very number.
    if (size < group.file_bytes()) FB_TRY(whole->truncate(group.file_bytes()));
    FB_TRY(write_page(*whole, format::record_offset_bytes, format::encode_page(format::page_of(file.record))));
    auto& all = *whole;
    const auto arrival_at = format::arrival_offset(group, file.record.node);
    // One that came and was damaged at the target: it has not come any more, before its first byte is written anew.
    if (read_arrival(all, group, file.record.snapshot_id, file.record.node, path)) {
        FB_TRY(write_page(all, arrival_at, {}));
        FB_TRY(all.sync());
    }
    const auto region = sys::stretch_of(std::move(whole), group.offset_of(file.record.node), file.file_bytes);
    FB_TRY(write(all, *region));
    FB_TRY(region->sync());
    // Whoever sees this page knows the region durable. It is synced for the agent's own promise alone.
    FB_TRY(write_page(all, arrival_at, format::encode_arrival(file.record, file.record_crc32c)));
    FB_TRY(region->sync());
    return region->close();
}

Result<std::optional<std::uint32_t>> absent_region(sys::Store& store, const std::string& path,
                                                   std::uint64_t snapshot_id, std::uint32_t first_node,
                                                   std::uint32_t look_first_at) {
    auto file = store.open(path, sys::Access::read);
    if (!file && file.error().kind == ErrorKind::missing) return std::optional(first_node);
    if (!file) return file.error();
    const auto page = catalog::load_page(**file, path);
    if (!page && has_not_come(page.error())) return std::optional(first_node);
    if (!page) return page.error();
    const auto& group = page->group;
    if (page->snapshot_id != snapshot_id || group.first_node != first_node)
        return Error{ErrorKind::refused,
                     fmt::format("{} does not belong to this snapshot: it holds the nodes from {} of snapshot {}", path,
                                 group.first_node, catalog::id_text(page->snapshot_id)),
                     "nothing was committed, moved or removed; the staged copies stay on their nodes",
                     "move the file away and drain its nodes again"};
    // Where many are absent, each agent finds one soon, and not all the same one.
    const auto begin =
        look_first_at >= first_node && look_first_at - first_node < group.nodes() ? look_first_at - first_node : 0;
    for (std::uint32_t i = 0; i < group.nodes(); ++i) {
        const auto node = first_node + (begin + i) % group.nodes();
        const auto arrived = read_arrival(**file, group, snapshot_id, node, path);
        if (!arrived && has_not_come(arrived.error())) return std::optional(node);
        if (!arrived) return arrived.error();
    }
    return std::optional<std::uint32_t>{};
}

Result<std::vector<std::uint32_t>> arrived_regions(sys::File& file, const format::CombinedPage& page,
                                                   const std::string& path) {
    std::vector<std::uint32_t> nodes;
    for (auto node = page.group.first_node; node < page.group.first_node + page.group.nodes(); ++node) {
        const auto arrived = read_arrival(file, page.group, page.snapshot_id, node, path);
        if (!arrived && !has_not_come(arrived.error())) return arrived.error();
        if (arrived) nodes.push_back(node);
    }
    return nodes;
}

}  // namespace forebay::catalog
