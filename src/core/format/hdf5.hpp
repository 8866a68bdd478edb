// A strict subset of HDF5 for node files, written without the HDF5 library: superblock 0, version-1 object headers,
// symbol-table groups, contiguous datasets (chunked in compressed files), small attributes. No part has a checksum, so
// a size can change by a plain store. Bytes: docs/formats/node-file.md, "The HDF5 part".
//
// Pure functions on memory. Threads: any, concurrently.

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

/// The undefined address. A dataset without elements must have it: HDF5 1.14.6 and later refuse any other address.
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
    std::span<const std::uint32_t> values;  // the client data of the filter
    std::uint32_t elements = 0;             // elements of one chunk; the last chunk is stored whole too
    std::span<const ChunkPlace> chunks;
};

/// One dataset. `path` has no leading '/', and its groups are created. Without dims it is a scalar.
struct Dataset {
    std::string path;
    Type type;
    Extents dims;
    std::vector<Attribute> attributes;
    const Chunking* chunking = nullptr;  // null: contiguous
};

/// The places of the changeable numbers of one dataset, as offsets in the file.
struct Fields {
    std::uint64_t dims_at = 0;     // the first dimension; 0 for a scalar
    std::uint64_t storage_at = 0;  // address, then size in bytes
};

struct Headers {
    std::array<std::byte, superblock_bytes> superblock{};  // for offset 0; end-of-file is still 0
    std::vector<std::byte> bytes;                          // for the offset given to encode_headers()
    std::vector<Fields> fields;                            // one for each dataset, in the given order
};

/// Encodes all groups and object headers. Each contiguous dataset gets an undefined address and no bytes: call
/// store_storage() to set its place. Paths must be unique, and no path may be a group of another.
Headers encode_headers(std::span<const Dataset> datasets, std::uint64_t offset);

/// Stores the place and size of one dataset. With 0 bytes the address becomes undefined.
void store_storage(std::span<std::byte> image, const Fields& fields, std::uint64_t address, std::uint64_t bytes);
/// Stores the first dimension, the only one that Forebay changes.
void store_first_dim(std::span<std::byte> image, const Fields& fields, std::uint64_t elements);

}  // namespace forebay::format::hdf5
