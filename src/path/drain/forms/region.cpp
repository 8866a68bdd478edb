#include "path/drain/forms/region.hpp"

#include <fmt/format.h>

#include <utility>

#include "core/base/try.hpp"
#include "path/catalog/forms/regions.hpp"
#include "path/catalog/node_reader.hpp"

namespace forebay::drain {

namespace {

/// Writes one page from aligned memory, because a direct write needs it.
Result<> write_page(sys::File& file, std::uint64_t offset, const format::Page& page) {
    alignas(limits::page_bytes) const format::Page aligned = page;
    return file.write(offset, aligned);
}

}  // namespace

Result<Arrival> look_at_region(sys::Store& store, const std::string& path, const format::NodeFile& file) {
    const auto& record = file.record;
    auto opened = catalog::open_file(store, path);
    if (!opened && opened.error().kind == ErrorKind::missing) return Arrival::absent;
    if (!opened) return opened.error();
    const auto arrived = catalog::read_arrival(**opened, record.form, record.snapshot_id, record.node, path);
    if (!arrived && catalog::has_not_come(arrived.error())) return Arrival::absent;
    if (!arrived) return arrived.error();
    if (*arrived != file.record_crc32c) return Arrival::damaged;
    const auto offset = format::region_offset(record.form, record.node);
    auto reader = catalog::NodeReader::open(sys::stretch_of(std::move(*opened), offset, file.file_bytes), path,
                                            catalog::NodeReader::Length::exact);
    if (!reader) return Arrival::damaged;
    const auto head = reader->head();  // read the whole head: damage at the target is written again
    return head && head->record_crc32c == file.record_crc32c ? Arrival::whole : Arrival::damaged;
}

Result<> write_region(sys::Store& store, const std::string& path, bool direct, const format::NodeFile& file,
                      Arrival arrival, const WriteRegion& write) {
    const auto& form = file.record.form;
    const auto file_bytes = format::length_of(form);
    FB_TRY_ASSIGN(whole, store.open(path, direct ? sys::Access::update_direct : sys::Access::update));
    FB_TRY_ASSIGN(size, whole->size());
    if (size > file_bytes)
        return Error{ErrorKind::refused,
                     fmt::format("{} has {} bytes, but this save needs {}: the file is not from this save", path, size,
                                 file_bytes),
                     "", "move it away and drain again"};
    // Any number of agents may do this at once, with the same number.
    if (size < file_bytes) FB_TRY(whole->truncate(file_bytes));
    FB_TRY(write_page(*whole, format::record_offset_bytes, format::encode_page(format::page_of(file.record))));
    auto& all = *whole;
    const auto arrival_at = format::arrival_offset(form, file.record.node);
    // It arrived and was damaged at the target. Clear its arrival page before the first new byte.
    if (arrival == Arrival::damaged) {
        FB_TRY(write_page(all, arrival_at, {}));
        FB_TRY(all.sync());
    }
    const auto region =
        sys::stretch_of(std::move(whole), format::region_offset(form, file.record.node), file.file_bytes);
    FB_TRY(write(all, *region));
    FB_TRY(region->sync());
    // The region was synced before, so any agent that reads this page knows that the region is durable. The sync of the
    // page is only for this agent's own promise.
    FB_TRY(write_page(all, arrival_at, format::encode_arrival(file.record, file.record_crc32c)));
    FB_TRY(region->sync());
    return region->close();
}

}  // namespace forebay::drain
