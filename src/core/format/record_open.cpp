// Strict decoding of a node file's record: its identity, and the limits of its numbers.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/base/bytes.hpp"
#include "core/base/crc32c.hpp"
#include "core/base/limits.hpp"
#include "core/base/try.hpp"
#include "core/format/combined.hpp"
#include "core/format/head.hpp"

namespace forebay::format {
namespace {

constexpr std::string_view hdf5_signature = "\x89HDF\r\n\x1a\n";

bool all_zero(std::span<const std::byte> bytes) {
    return std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{0}; });
}

/// Returns the error for a file whose record does not begin with the magic number.
Error without_magic(const RecordPage& page, std::span<const std::byte> first_pages, const std::string& name) {
    const auto signature = first_pages.first(hdf5_signature.size());
    // A slot that was never filled begins with zeros instead of the HDF5 signature.
    const bool is_hdf5 = text_of(signature) == hdf5_signature;
    if (page.magic == 0 && (is_hdf5 || all_zero(signature)))
        return {ErrorKind::missing,
                fmt::format("the record of node file {} is empty: the file was not sealed, or its save is in progress",
                            name),
                "older snapshots", "use an older snapshot"};
    // If the checksum is right for the true magic number, only the magic number is damaged.
    auto repaired = page;
    repaired.magic = record_magic;
    const auto bytes = std::as_bytes(std::span(&repaired, 1)).first(offsetof(RecordPage, record_crc32c));
    if (has_page(first_pages))
        return {ErrorKind::refused, fmt::format("{} holds the node files of several nodes", name), "",
                fmt::format("give the file of a node, as in {}/{}", name, region_name(0))};
    if (crc32c(bytes) == page.record_crc32c)
        return damaged_head(name, fmt::format("the record's magic number is {:016x}.", page.magic));
    return {ErrorKind::refused,
            fmt::format("{} is not a node file: {}.", name,
                        is_hdf5 ? "it is HDF5 without Forebay's record at byte 4096" : "it is not HDF5")};
}

Result<RecordPage> read_page(std::span<const std::byte> first_pages, const std::string& name) {
    if (first_pages.size() < first_pages_bytes)
        return Error{ErrorKind::refused,
                     fmt::format("{} is not a node file: it has {} bytes, and a node file at least {}.", name,
                                 first_pages.size(), first_pages_bytes)};
    RecordPage page;
    const auto bytes = first_pages.subspan(record_offset_bytes, record_size_bytes);
    std::memcpy(&page, bytes.data(), sizeof page);
    if (page.magic != record_magic) return without_magic(page, first_pages, name);
    // The checksum comes before the version: damage must not look like a newer version.
    const auto crc = crc32c(bytes.first(offsetof(RecordPage, record_crc32c)));
    if (crc != page.record_crc32c)
        return damaged_head(
            name, fmt::format("its record, bytes 4096-8187, has the checksum {:08x}, but {:08x} is stored.", crc,
                              page.record_crc32c));
    if (page.version < plain_version || page.version > shared_version)
        return Error{ErrorKind::unsupported,
                     fmt::format("node file {} has format version {}, this Forebay reads versions {} to {}", name,
                                 page.version, plain_version, shared_version),
                     "", "use the Forebay that wrote it, or a later version"};
    return page;
}

/// One region of the head: `count` entries of `entry_bytes`, after the previous region.
struct Region {
    const char* what;
    std::uint64_t offset_bytes;
    std::uint64_t count;
    std::uint64_t entry_bytes;
};

Result<> check_regions(const RecordPage& page, const std::string& name) {
    const auto filters_at = is_compressed(page) ? page.filters_offset_bytes : page.crc_offset_bytes;
    const auto chunks_at = is_compressed(page) ? page.chunks_offset_bytes : page.crc_offset_bytes;
    const std::array<Region, 8> regions{
        {{"HDF5 headers", page.hdf5_offset_bytes, page.hdf5_capacity_bytes, 1},
         {"schema", page.schema_offset_bytes, page.schema_size_bytes, 1},
         {"ranks", page.ranks_offset_bytes, page.ranks, sizeof(std::uint32_t)},
         {"extents", page.extents_offset_bytes, page.variables, sizeof(ExtentRow)},
         {"index", page.index_offset_bytes, page.blocks, sizeof(IndexRow)},
         {"filters", filters_at, is_compressed(page) ? page.variables : 0, sizeof(FilterRow)},
         {"chunks", chunks_at, is_compressed(page) ? page.chunks : 0, sizeof(ChunkRow)},
         {"checksum words", page.crc_offset_bytes, page.crc_words, sizeof(std::uint32_t)}}};
    std::uint64_t end = first_pages_bytes;
    for (const auto& region : regions) {
        const bool fits = region.offset_bytes % 8 == 0 && region.offset_bytes >= end &&
                          region.offset_bytes <= page.head_bytes &&
                          region.count <= (page.head_bytes - region.offset_bytes) / region.entry_bytes;
        if (!fits)
            return damaged_head(name, fmt::format("the record places {} {} at byte {}, the head has {} bytes.",
                                                  region.count, region.what, region.offset_bytes, page.head_bytes));
        end = region.offset_bytes + region.count * region.entry_bytes;
    }
    if (end != page.head_bytes) return damaged_head(name, "the record's head does not end with its checksum words.");
    return {};
}

Lineage lineage_of(const RecordPage& page) {
    Lineage lineage{.run_id = page.run_id, .save = page.save, .lines = {}};
    for (const auto& row : std::span(page.line_starts).first(page.lines))
        lineage.lines.push_back({{row.session, row.turn}, row.from});
    return lineage;
}

Result<> check_lineage(const RecordPage& page, const std::string& name) {
    if (page.lines <= line_starts_max && is_ascending(lineage_of(page).lines)) return {};
    return damaged_head(name, fmt::format("its record has {} lines that do not follow one another.", page.lines));
}

Result<> check_page(const RecordPage& page, const std::string& name) {
    if (page.header_bytes != record_header_bytes)
        return damaged_head(name, "its record has the size of another version.");
    if (page.file_bytes > std::uint64_t{1} << 62 || page.plain_bytes > std::uint64_t{1} << 62 ||
        page.head_bytes > limits::head_bytes_max || page.head_bytes > page.data_offset_bytes ||
        page.data_offset_bytes > page.file_bytes)
        return damaged_head(name, fmt::format("its record has {} bytes of head, data from {} and {} bytes in all.",
                                              page.head_bytes, page.data_offset_bytes, page.file_bytes));
    if (page.nodes > limits::nodes_max || page.node >= page.nodes || page.ranks == 0 ||
        page.ranks > limits::ranks_per_node_max || page.ranks > page.world_ranks ||
        page.variables > limits::variables_max)
        return damaged_head(name, fmt::format("its record has node {} of {}, {} of {} ranks, {} variables.", page.node,
                                              page.nodes, page.ranks, page.world_ranks, page.variables));
    FB_TRY(check_lineage(page, name));
    FB_TRY(check_form(page, name));
    return check_regions(page, name);
}

}  // namespace

std::uint32_t staged_crc32c_of(const RecordPage& page) {
    return has_plain_form(page) ? static_cast<std::uint32_t>(page.staged_crc32c) : page.record_crc32c;
}

Record record_of(const RecordPage& page) {
    return {.snapshot_id = page.snapshot_id,
            .step = page.step,
            .time = page.time,
            .sealed_unix_ns = page.sealed_unix_ns,
            .node = page.node,
            .nodes = page.nodes,
            .world_ranks = page.world_ranks,
            .form = form_of(page),
            .lineage = lineage_of(page)};
}

Result<RecordPage> read_good_page(std::span<const std::byte> first_pages, const std::string& name) {
    FB_TRY_ASSIGN(page, read_page(first_pages, name));
    FB_TRY(check_page(page, name));
    return page;
}

}  // namespace forebay::format
