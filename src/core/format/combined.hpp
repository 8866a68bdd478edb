// A combined file: the node files of several nodes in one HDF5 file. Each lies unchanged in a region of its own at an
// aligned offset. The first pages list the nodes and show all of them to HDF5 programs. Bytes:
// docs/formats/combined-file.md, version 1. Pure functions on memory; opens no file.
//
// An agent writes its own region, and all agents write the same page. The HDF5 part of the head follows from the heads
// of the regions, so the committing agent writes it.

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

/// Returns the bytes of the head: superblock, page, HDF5 headers. They do not depend on the data.
std::uint64_t combined_head_bytes(const Schema& schema, std::uint32_t nodes);

/// Returns the places of the regions, in the order of the nodes. They are multiples of limits::region_alignment_bytes,
/// and also of `block_bytes` if the longest region has that length. Allocates no memory.
CombinedFile place_regions(std::uint64_t head_bytes, std::uint32_t nodes_per_file, std::uint32_t first_node,
                           std::span<const std::uint64_t> file_bytes, std::uint64_t block_bytes);

/// The content of the page at byte 4096.
struct CombinedPage {
    std::uint64_t snapshot_id = 0;
    std::int64_t step = 0;
    std::uint32_t nodes = 0;  // of the snapshot
    Form form;                // combined or shared
    friend bool operator==(const CombinedPage&, const CombinedPage&) = default;
};

CombinedPage page_of(const Record& record);
Page encode_page(const CombinedPage& page);
/// `first_pages` is the file's first 8192 bytes. `missing` if the page is not written yet. Other errors as peek().
Result<CombinedPage> open_page(std::span<const std::byte> first_pages, const std::string& name);
/// Returns true if the file begins like a file of several nodes, valid or damaged.
bool has_page(std::span<const std::byte> first_pages);

/// The page at arrival_offset().
Page encode_arrival(const Record& record, std::uint32_t record_crc32c);
/// Returns the checksum of the region's record if the page shows the arrival of this snapshot, else `missing`.
Result<std::uint32_t> open_arrival(std::span<const std::byte> page, std::uint64_t snapshot_id, std::uint32_t node,
                                   const std::string& name);

/// The part of the head about one region.
struct Region {
    std::vector<Extent> extents;
    OwnPlaces own{};
};
inline Region region_of(const NodeFile& file) { return {file.extents, file.own}; }

/// Returns the head with its page, combined_head_bytes() bytes. Every caller gets the same bytes. `regions` are the
/// regions of the page's nodes, in order.
std::vector<std::byte> encode_combined_head(const CombinedPage& page, const Schema& schema,
                                            std::span<const Region> regions);

/// "node-00003": the group of a node in a combined file, and the name of its region in texts.
std::string region_name(std::uint32_t node);

}  // namespace forebay::format
