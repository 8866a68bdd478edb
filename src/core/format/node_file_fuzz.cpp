// Feeds any bytes to peek() and open_head(). They must not crash, and accepted input keeps every promise of
// node_file.hpp. A second attempt has correct checksums, else the code after their check would never run.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/base/crc32c.hpp"
#include "core/describe/geometry.hpp"
#include "core/format/combined.hpp"
#include "core/format/head.hpp"
#include "core/format/shared.hpp"

using namespace forebay;
using namespace forebay::format;

namespace {

void require(bool promise) {
    if (!promise) std::abort();
}

void check_promises(const NodeFile& file) {
    require(check(file.schema).has_value());
    require(file.extents.size() == file.schema.variables.size() && file.first_block.size() == file.extents.size() + 1);
    for (const auto& extent : file.extents)
        require(extent.used_bytes <= extent.capacity_bytes &&
                extent.offset_bytes + extent.capacity_bytes <= file.plain_bytes);
    for (const auto& block : file.blocks) {
        const auto& variable = file.schema.variables[block.variable];
        const auto& extent = file.extents[block.variable];
        require(std::ranges::binary_search(file.ranks, block.rank));
        require(block.offset_bytes >= extent.offset_bytes);
        require(block.offset_bytes + block.size_bytes <= extent.offset_bytes + extent.used_bytes);
        require(block.first_segment + segments_of(block.size_bytes) <= file.crc32c.size());
        require(volume(block.box.size) * variable.type.size_bytes == block.size_bytes);
        if (variable.kind != Kind::particles) require(inside(block.box, variable.shape));
    }
    for (const auto& chunk : file.chunk_table.chunks) {
        const auto& extent = file.extents[chunk.variable];
        require(chunk.plain_offset >= extent.offset_bytes);
        require(chunk.plain_offset + chunk.plain_bytes <= extent.offset_bytes + extent.used_bytes);
        require(chunk.stored_offset >= file.head_bytes && chunk.stored_offset + chunk.stored_bytes <= file.file_bytes);
        require(!chunk.filtered || chunk.stored_bytes < file.chunk_table.variables[chunk.variable].chunk_bytes);
    }
    if (file.storage == Storage::spread) {
        const auto& form = file.record.form;
        require(file.head_bytes <= arrival_offset(form, 0) - region_offset(form, 0));
        int left = 1000;  // a box may have more runs than a test can visit
        for_each_stretch(file, 0, file.plain_bytes, [&](const Stretch& stretch) {
            require(stretch.bytes > 0 && stretch.offset >= region_offset(form, nodes_in(form)));
            require(stretch.offset + stretch.bytes <= length_of(form));
            return --left > 0;
        });
    }
    for (std::uint32_t table = 0; table < file.schema.tables.size(); ++table) (void)file.rows(table);
}

void try_open(std::span<const std::byte> bytes) {
    const auto peeked = peek(bytes, "fuzz.h5");
    const auto file = open_head(bytes, "fuzz.h5");
    require(peeked.has_value() || !file.has_value());
    if (file.has_value()) check_promises(*file);
}

// Tries a combined file's page, and an arrival in the same bytes.
void try_combined(std::span<std::byte> bytes) {
    auto* page = bytes.data() + record_offset_bytes;
    constexpr std::size_t crc_at = 4092;
    for (const bool repaired : {false, true}) {
        if (repaired) store_le(page + crc_at, crc32c(std::span<const std::byte>(page, crc_at)));
        const auto arrived = open_arrival(std::span<const std::byte>(page, 4096), 0x00f30000c0ffee9a, 1, "fuzz.h5");
        require(arrived.has_value() || arrived.error().kind != ErrorKind::corrupt);
        const auto opened = open_page(bytes, "fuzz.h5");
        if (!opened) continue;
        const auto& form = opened->form;
        const auto end = first_node(form) + nodes_in(form);
        require(kind_of_file(form) != FormKind::own && end <= opened->nodes);
        for (auto node = first_node(form); node < end; ++node)
            require(arrival_offset(form, node) >= region_offset(form, node) + 8192 &&
                    arrival_offset(form, node) + 4096 <= length_of(form));
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::vector<std::byte> bytes(size);
    if (size > 0) std::memcpy(bytes.data(), data, size);
    try_open(bytes);
    if (size < 8192) return 0;
    auto copy = bytes;
    try_combined(copy);

    auto* record = bytes.data() + record_offset_bytes;
    store_le(record, record_magic);
    const auto version = load_le<std::uint32_t>(record + offsetof(RecordPage, version));
    if (version != compressed_version && version != shared_version)
        store_le(record + offsetof(RecordPage, version), plain_version);
    const auto head_bytes = load_le<std::uint64_t>(record + offsetof(RecordPage, head_bytes));
    if (head_bytes >= 8192 && head_bytes <= size) {
        const std::span<const std::byte> all(bytes);
        const auto crc = crc32c(all.subspan(8192, head_bytes - 8192), crc32c(all.first(4096)));
        store_le(record + offsetof(RecordPage, head_crc32c), crc);
    }
    constexpr auto crc_at = offsetof(RecordPage, record_crc32c);
    store_le(record + crc_at, crc32c(std::span<const std::byte>(record, crc_at)));
    try_open(bytes);
    return 0;
}
