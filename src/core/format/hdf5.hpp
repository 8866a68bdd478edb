// The strict subset of HDF5 that node files are made of, written without the HDF5 library: superblock 0, version-1
// object headers, symbol-table groups, contiguous datasets (chunked ones in compressed node files), small attributes.
// Nothing in it has a checksum, so a size changes by plain stores. Bytes: docs/formats/node-file.md, "The HDF5 part".
//
// Pure functions on memory; any number of threads may call them at once.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "forebay/describe.hpp"

namespace forebay::format::hdf5 {

/// The address of nothing. A dataset without elements must have it: HDF5 1.14.6 and later refuse any other.
inline constexpr std::uint64_t undefined_address = ~0ull;

inline constexpr std::size_t superblock_bytes = 96;
inline constexpr std::size_t superblock_eof_at = 40;

using Value = std::variant<std::string, double, std::int64_t, std::vector<std::uint64_t>>;

struct Attribute {
    std::string name;
    Value value;
};

/// One chunk of a dataset, in the order of its elements.
struct ChunkPlace {
    std::uint64_t address = 0;
    std::uint32_t bytes = 0;  // as stored
    bool filtered = true;     // else stored as it is
};

/// A 1-D dataset in chunks that went through a filter.
struct Chunking {
    std::uint16_t filter = 0;               // as registered with The HDF Group
    std::span<const std::uint32_t> values;  // its client data
    std::uint32_t elements = 0;             // of one chunk; the last is stored whole too
    std::span<const ChunkPlace> chunks;
};

/// One dataset. `path` has no leading '/'; the groups on it are made. No dims make a scalar.
struct Dataset {
    std::string path;
    Type type;
    Extents dims;
    std::vector<Attribute> attributes;
    const Chunking* chunking = nullptr;  // null: contiguous
};

/// Where the numbers of one dataset that may change stand, as offsets in the file.
struct Fields {
    std::uint64_t dims_at = 0;     // the first dimension; 0 for a scalar
    std::uint64_t storage_at = 0;  // address, then size in bytes
};

struct Headers {
    std::array<std::byte, superblock_bytes> superblock{};  // of offset 0; end-of-file is still 0
    std::vector<std::byte> bytes;                          // of the offset given to encode_headers()
    std::vector<Fields> fields;                            // one a dataset, in the order given
};

/// Encodes all groups and object headers. Every dataset comes out with the dims given, an undefined address and no
/// bytes: store_storage() gives it its place, unless it is chunked. Paths are unique and none is a group of another.
Headers encode_headers(std::span<const Dataset> datasets, std::uint64_t offset);

/// Stores place and size of one dataset; no bytes make its address undefined.
void store_storage(std::span<std::byte> image, const Fields& fields, std::uint64_t address, std::uint64_t bytes);
/// Stores the first (for us: the only changing) dimension.
void store_first_dim(std::span<std::byte> image, const Fields& fields, std::uint64_t elements);

}  // namespace forebay::format::hdf5
