// Three parts of a combined file: the places of the regions (place_regions, fault_in), its page and the arrival pages
// (encode_*, open_*), and the HDF5 head of all regions (encode_combined_head). The page of a shared file has the same
// magic and the same first fields, so the same functions handle it.
//
// A page is 4096 bytes with its checksum in the last 4. All agents of a file write the same page, so a page torn by a
// crash is written again unchanged.

#include "core/format/combined.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "core/base/bytes.hpp"
#include "core/base/crc32c.hpp"
#include "core/format/head.hpp"
#include "core/format/shared.hpp"

namespace forebay::format {
namespace {

// "FBMANY" and "FBHERE", then two bytes that a text-mode transfer would change.
constexpr std::uint64_t page_magic = 0x0A0D594E414D4246;
constexpr std::uint64_t arrival_magic = 0x0A0D455245484246;
constexpr std::uint32_t combined_version = 1;
constexpr std::uint32_t shared_page_version = 2;

struct PageBytes {
    std::uint64_t magic;
    std::uint32_t version;
    std::uint32_t header_bytes;  // of this struct up to `reserved`
    std::uint64_t snapshot_id;
    std::int64_t step;
    std::uint32_t nodes;
    std::uint32_t nodes_per_file;
    std::uint32_t first_node;
    std::uint32_t group_nodes;
    std::array<std::uint64_t, limits::nodes_per_file_max + 1> offsets;
    std::array<std::byte, 1988> reserved;  // zero; readers ignore it
    std::uint32_t crc32c;                  // of the bytes before
};
static_assert(sizeof(PageBytes) == limits::page_bytes && offsetof(PageBytes, crc32c) == 4092);

/// The page of a shared file. `magic` to `nodes` are as in a combined file.
struct SharedPageBytes {
    std::uint64_t magic;
    std::uint32_t version;
    std::uint32_t header_bytes;
    std::uint64_t snapshot_id;
    std::int64_t step;
    std::uint32_t nodes;
    std::uint32_t naming;
    std::uint64_t heads_offset;
    std::uint64_t region_bytes;
    std::uint64_t alignment_bytes;
    std::uint64_t file_bytes;
    std::array<std::byte, 4020> reserved;  // zero; readers ignore it
    std::uint32_t crc32c;                  // of the bytes before
};
static_assert(sizeof(SharedPageBytes) == limits::page_bytes && offsetof(SharedPageBytes, crc32c) == 4092);
static_assert(offsetof(SharedPageBytes, nodes) == offsetof(PageBytes, nodes));

struct ArrivalBytes {
    std::uint64_t magic;
    std::uint32_t version;
    std::uint32_t node;
    std::uint64_t snapshot_id;
    std::uint32_t record_crc32c;
    std::array<std::byte, 4064> reserved;  // zero; readers ignore it
    std::uint32_t crc32c;                  // of the bytes before
};
static_assert(sizeof(ArrivalBytes) == limits::page_bytes && offsetof(ArrivalBytes, crc32c) == 4092);

constexpr std::size_t crc_at = offsetof(PageBytes, crc32c);

template <class Bytes>
Page sealed(Bytes& bytes) {
    Page page;
    bytes.crc32c = crc32c(std::as_bytes(std::span(&bytes, 1)).first(crc_at));
    std::memcpy(page.data(), &bytes, page.size());
    return page;
}

Error corrupt(const std::string& name, const std::string& why) {
    return {ErrorKind::corrupt, fmt::format("combined file {} is damaged: {}", name, why), "older snapshots"};
}

Error unsupported(const std::string& name, std::uint32_t version) {
    return {ErrorKind::unsupported,
            fmt::format("{}, a file of several nodes, has format version {}, this Forebay reads versions {} and {}",
                        name, version, combined_version, shared_page_version),
            "", "use the Forebay that wrote it, or a later version"};
}

}  // namespace

std::string region_name(std::uint32_t node) { return fmt::format("node-{:05}", node); }

std::uint64_t combined_head_bytes(const Schema& schema, std::uint32_t nodes) {
    CombinedPage page;
    page.form = CombinedFile{.offsets = Offsets(std::vector<std::uint64_t>(nodes + 1))};
    // The head's size depends on the numbers of nodes and variables only, so an empty head will do.
    Region empty{.extents = std::vector<Extent>(schema.variables.size()), .own = {}};
    return encode_combined_head(page, schema, std::vector<Region>(nodes, empty)).size();
}

CombinedFile place_regions(std::uint64_t head_bytes, std::uint32_t nodes_per_file, std::uint32_t first_node,
                           std::span<const std::uint64_t> file_bytes, std::uint64_t block_bytes) {
    CombinedFile file{.nodes_per_file = nodes_per_file, .first_node = first_node};
    if (file_bytes.size() < 2) return file;  // the last node of a save, without others: it has its own file
    const auto longest = *std::ranges::max_element(file_bytes);
    const auto step =
        longest >= block_bytes ? std::lcm(limits::region_alignment_bytes, block_bytes) : limits::region_alignment_bytes;
    const auto place = [&](std::uint64_t at) { return (at + step - 1) / step * step; };
    auto at = place(head_bytes);
    for (const auto bytes : file_bytes) {
        file.offsets.push_back(at);
        at = place(at + bytes + limits::page_bytes);  // and the page of its arrival
    }
    file.offsets.push_back(file.offsets.back() + file_bytes.back() + limits::page_bytes);
    return file;
}

std::optional<std::string> fault_in(const CombinedFile& file, std::uint32_t nodes) {
    const auto& offsets = file.offsets;
    const auto count = file.nodes();
    if (file.nodes_per_file == 0 || file.nodes_per_file > limits::nodes_per_file_max || count > file.nodes_per_file ||
        file.first_node % file.nodes_per_file != 0 || file.first_node > nodes || count > nodes - file.first_node)
        return fmt::format("it has {} nodes from {} of {}, {} a file.", count, file.first_node, nodes,
                           file.nodes_per_file);
    for (std::size_t i = 0; i < offsets.size(); ++i) {
        const auto least = i == 0 ? first_pages_bytes : offsets[i - 1] + first_pages_bytes + limits::page_bytes;
        if (offsets[i] % limits::page_bytes != 0 || offsets[i] < least || offsets[i] > std::uint64_t{1} << 62)
            return fmt::format("it places region {} at byte {}.", i, offsets[i]);
    }
    return {};
}

CombinedPage page_of(const Record& record) {
    return {.snapshot_id = record.snapshot_id, .step = record.step, .nodes = record.nodes, .form = record.form};
}

namespace {

Page encode(const CombinedPage& page, const SharedFile& places) {
    SharedPageBytes bytes{};
    bytes.magic = page_magic;
    bytes.version = shared_page_version;
    bytes.header_bytes = offsetof(SharedPageBytes, reserved);
    bytes.snapshot_id = page.snapshot_id;
    bytes.step = page.step;
    bytes.nodes = page.nodes;
    bytes.naming = places.naming;
    bytes.heads_offset = places.heads_offset;
    bytes.region_bytes = places.region_bytes;
    bytes.alignment_bytes = places.alignment_bytes;
    bytes.file_bytes = places.file_bytes;
    return sealed(bytes);
}

Result<CombinedPage> open_shared_page(const SharedPageBytes& bytes, const std::string& name) {
    if (bytes.header_bytes != offsetof(SharedPageBytes, reserved) || bytes.nodes > limits::nodes_max)
        return corrupt(name, fmt::format("its page has {} nodes.", bytes.nodes));
    const SharedFile file{.nodes = bytes.nodes,
                          .naming = bytes.naming,
                          .heads_offset = bytes.heads_offset,
                          .region_bytes = bytes.region_bytes,
                          .alignment_bytes = bytes.alignment_bytes,
                          .file_bytes = bytes.file_bytes};
    if (const auto fault = fault_in(file, bytes.nodes)) return corrupt(name, *fault);
    return CombinedPage{.snapshot_id = bytes.snapshot_id, .step = bytes.step, .nodes = bytes.nodes, .form = file};
}

// A file for one node has no page.
Page encode(const CombinedPage&, const OwnFile&) { return {}; }

Page encode(const CombinedPage& page, const CombinedFile& file) {
    PageBytes bytes{};
    bytes.magic = page_magic;
    bytes.version = combined_version;
    bytes.header_bytes = offsetof(PageBytes, reserved);
    bytes.snapshot_id = page.snapshot_id;
    bytes.step = page.step;
    bytes.nodes = page.nodes;
    bytes.nodes_per_file = file.nodes_per_file;
    bytes.first_node = file.first_node;
    bytes.group_nodes = file.nodes();
    std::ranges::copy(file.offsets, bytes.offsets.begin());
    return sealed(bytes);
}

}  // namespace

Page encode_page(const CombinedPage& page) {
    return std::visit([&](const auto& file) { return encode(page, file); }, page.form);
}

bool has_page(std::span<const std::byte> first_pages) {
    return first_pages.size() >= first_pages_bytes &&
           load_le<std::uint64_t>(first_pages.data() + record_offset_bytes) == page_magic;
}

Result<CombinedPage> open_page(std::span<const std::byte> first_pages, const std::string& name) {
    if (first_pages.size() < first_pages_bytes) return corrupt(name, "it ends within its first pages.");
    const auto bytes = load_le<PageBytes>(first_pages.data() + record_offset_bytes);
    if (bytes.magic == 0)
        return Error{ErrorKind::missing,
                     fmt::format("combined file {} has no page yet: its first writer was stopped", name),
                     "the staged copies", "drain them"};
    if (bytes.magic != page_magic) return Error{ErrorKind::refused, fmt::format("{} is not a combined file.", name)};
    if (crc32c(std::as_bytes(std::span(&bytes, 1)).first(crc_at)) != bytes.crc32c)
        return corrupt(name, "its page, bytes 4096-8187, does not match its checksum.");
    if (bytes.version == shared_page_version)
        return open_shared_page(load_le<SharedPageBytes>(first_pages.data() + record_offset_bytes), name);
    if (bytes.version != combined_version) return unsupported(name, bytes.version);
    if (bytes.header_bytes != offsetof(PageBytes, reserved) || bytes.nodes > limits::nodes_max ||
        bytes.group_nodes < 2 || bytes.group_nodes > limits::nodes_per_file_max)
        return corrupt(name, fmt::format("its page has {} of {} nodes.", bytes.group_nodes, bytes.nodes));
    const CombinedFile file{.nodes_per_file = bytes.nodes_per_file,
                            .first_node = bytes.first_node,
                            .offsets = Offsets(std::span(bytes.offsets).first(bytes.group_nodes + 1))};
    if (const auto fault = fault_in(file, bytes.nodes)) return corrupt(name, *fault);
    return CombinedPage{.snapshot_id = bytes.snapshot_id, .step = bytes.step, .nodes = bytes.nodes, .form = file};
}

Page encode_arrival(const Record& record, std::uint32_t record_crc32c) {
    ArrivalBytes bytes{};
    bytes.magic = arrival_magic;
    bytes.version = combined_version;
    bytes.node = record.node;
    bytes.snapshot_id = record.snapshot_id;
    bytes.record_crc32c = record_crc32c;
    return sealed(bytes);
}

Result<std::uint32_t> open_arrival(std::span<const std::byte> page, std::uint64_t snapshot_id, std::uint32_t node,
                                   const std::string& name) {
    const auto bytes = load_le<ArrivalBytes>(page.data());
    // A torn page counts as not written.
    const bool whole = bytes.magic == arrival_magic && crc32c(page.first(crc_at)) == bytes.crc32c;
    if (whole && bytes.version != combined_version) return unsupported(name, bytes.version);
    if (whole && bytes.snapshot_id == snapshot_id && bytes.node == node) return std::uint32_t{bytes.record_crc32c};
    return Error{ErrorKind::missing, fmt::format("node {} has not arrived in combined file {}.", node, name)};
}

std::vector<std::byte> encode_combined_head(const CombinedPage& page, const Schema& schema,
                                            std::span<const Region> regions) {
    const auto& file = std::get<CombinedFile>(page.form);
    const auto variables = schema.variables.size();
    std::vector<hdf5::Dataset> datasets{{"_forebay/page", u8, {limits::page_bytes}, {}}};
    const auto schema_bytes = schema_json(schema).size();
    for (std::uint32_t i = 0; i < regions.size(); ++i) {
        const auto& own = regions[i].own;
        const auto prefix = region_name(file.first_node + i) + "/";
        std::ranges::move(datasets_of({.schema = schema,
                                       .schema_bytes = schema_bytes,
                                       .ranks = own[static_cast<std::size_t>(OwnDataset::ranks)].count,
                                       .extents = regions[i].extents,
                                       .blocks = own[static_cast<std::size_t>(OwnDataset::index)].count},
                                      prefix),
                          std::back_inserter(datasets));
    }
    const auto headers = hdf5::encode_headers(datasets, first_pages_bytes);

    std::vector<std::byte> head(first_pages_bytes + headers.bytes.size());
    std::ranges::copy(headers.superblock, head.begin());
    store_le(head.data() + hdf5::superblock_eof_at, length_of(page.form));
    std::ranges::copy(encode_page(page), head.begin() + record_offset_bytes);
    std::ranges::copy(headers.bytes, head.begin() + first_pages_bytes);
    // The storage of the datasets is stored here, because encode_headers() leaves it undefined.
    hdf5::store_storage(head, headers.fields[0], record_offset_bytes, limits::page_bytes);
    for (std::size_t i = 0, field = 1; i < regions.size(); ++i) {
        const auto base = file.offsets[i];
        for (std::size_t v = 0; v < variables; ++v, ++field) {
            const auto& extent = regions[i].extents[v];
            hdf5::store_storage(head, headers.fields[field], base + extent.offset_bytes, extent.used_bytes);
        }
        for (std::size_t own = 0; own < regions[i].own.size(); ++own, ++field) {
            const auto& place = regions[i].own[own];
            hdf5::store_storage(head, headers.fields[field], base + place.offset_bytes,
                                place.count * own_entry_bytes(static_cast<OwnDataset>(own)));
            if (static_cast<OwnDataset>(own) == OwnDataset::crc32c)
                hdf5::store_first_dim(head, headers.fields[field], place.count);
        }
    }
    return head;
}

}  // namespace forebay::format
