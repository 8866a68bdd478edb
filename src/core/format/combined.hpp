// A combined file: the node files of several nodes in one HDF5 file, each unchanged, in a region of its own at an
// aligned offset. Its first pages say which nodes, and show all of them to programs that read HDF5.
// Bytes: docs/formats/combined-file.md, version 1. Pure functions on memory; opens no file.
//
// Agents write their own regions only, and all of them the same page; the head's HDF5 part follows from the heads of
// the regions, so whoever commits writes it.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/limits.hpp"
#include "core/format/node_file.hpp"

namespace forebay::format {

using Page = std::array<std::byte, limits::page_bytes>;

/// Bytes of the head of a combined file: superblock, page, HDF5 headers. The same whatever the nodes hold.
std::uint64_t combined_head_bytes(const Schema& schema, std::uint32_t nodes);

/// Where the regions lie: at multiples of limits::region_alignment_bytes, and of `block_bytes` where a region is that
/// long, in the order of the nodes. Takes no memory.
CombinedFile place_regions(std::uint64_t head_bytes, std::uint32_t nodes_per_file, std::uint32_t first_node,
                           std::span<const std::uint64_t> file_bytes, std::uint64_t block_bytes);

/// What the page at byte 4096 says.
struct CombinedPage {
    std::uint64_t snapshot_id = 0;
    std::int64_t step = 0;
    std::uint32_t nodes = 0;  // of the snapshot
    Form form;                // combined or shared
    friend bool operator==(const CombinedPage&, const CombinedPage&) = default;
};

CombinedPage page_of(const Record& record);
Page encode_page(const CombinedPage& page);
/// `first_pages` is the file's first 8192 bytes. `missing` when nobody has written the page yet; else as peek().
Result<CombinedPage> open_page(std::span<const std::byte> first_pages, const std::string& name);
/// Whether a file begins as a file of several nodes does, right or damaged.
bool has_page(std::span<const std::byte> first_pages);

/// What stands at arrival_offset().
Page encode_arrival(const Record& record, std::uint32_t record_crc32c);
/// The record's checksum of the region, when the page says that it has come with this snapshot.
Result<std::uint32_t> open_arrival(std::span<const std::byte> page, std::uint64_t snapshot_id, std::uint32_t node,
                                   const std::string& name);

/// What the head shows of one region.
struct Region {
    std::vector<Extent> extents;
    OwnPlaces own{};
};
inline Region region_of(const NodeFile& file) { return {file.extents, file.own}; }

/// The head, combined_head_bytes() long, page and all: the same bytes from whoever encodes it. `regions` are those of
/// the page's nodes, in their order.
std::vector<std::byte> encode_combined_head(const CombinedPage& page, const Schema& schema,
                                            std::span<const Region> regions);

/// "node-00003": the group of a node in a combined file, and what names its region in texts.
std::string region_name(std::uint32_t node);

}  // namespace forebay::format
