// GenericIO files, also in partitions: their headers, checked before use. Bytes: docs/formats/genericio.md.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "insight/foreign/contents.hpp"

namespace forebay::foreign {

namespace genericio {

inline constexpr std::uint64_t is_float = 1, is_signed = 2, maybe_ghost = 32;
inline constexpr std::array<std::uint64_t, 3> coordinate{4, 8, 16};
inline constexpr std::uint64_t crc_bytes = 8;

struct GioVariable {
    std::string name;
    std::uint64_t flags = 0;
    std::uint64_t record_bytes = 0;
    std::uint64_t element_bytes = 0;  // a record has one or several elements
    std::uint64_t elements() const { return record_bytes / element_bytes; }
    friend bool operator==(const GioVariable&, const GioVariable&) = default;
};

struct Rank {
    std::array<std::uint64_t, 3> coords{};  // in the grid of processes
    std::uint64_t elements = 0;
    std::uint64_t start = 0;
    std::uint64_t global_rank = 0;
};

/// One rank's values of one variable, without their checksum.
struct GioBlock {
    Range stored;
    std::string filter;  // "", "BLOSC", or unknown names in order: "SZ+BLOSC"
};

struct GioHeader {
    bool big_endian = false;
    std::uint64_t file_bytes = 0;
    std::uint64_t header_bytes = 0;  // with the header's checksum
    std::uint64_t elements = 0;
    std::array<std::uint64_t, 3> dims{};
    std::array<double, 3> phys_origin{}, phys_scale{};
    std::vector<GioVariable> variables;
    std::vector<Rank> ranks;
    std::uint64_t ranks_start = 0, rank_bytes = 0;  // of the ranks' entries
    Range origin_place, scale_place;                // empty if the file has none
    bool has_global_ranks = false;

    bool has_blocks() const { return !stored.empty(); }
    GioBlock block(std::size_t rank, std::size_t variable) const;
    /// `unsupported` for filters that this build of Forebay lacks. `name` is the file's.
    Result<Sealed> sealed(std::size_t rank, std::size_t variable, const std::string& name) const;

    // For files with blocks, rank after rank; `filter_of` holds indices into `filters`.
    std::vector<Range> stored;
    std::vector<std::uint16_t> filter_of;
    std::vector<std::string> filters;
    std::vector<std::uint64_t> variable_offsets;  // for files without blocks: bytes of an element before each variable
};

/// True if the first 8 bytes of a file are GenericIO's magic, in either byte order.
bool is_genericio(std::span<const std::byte> first);

/// Decodes `bytes`, the header with its checksum. `refused` for other files, `corrupt` for damage. All blocks lie after
/// the header, within `file_bytes`, without overlap. `name` is the file's, for errors.
Result<GioHeader> decode(std::span<const std::byte> bytes, std::uint64_t file_bytes, const std::string& name);
Result<GioHeader> read_header(sys::File& file, const std::string& name);

/// "float signed coordinate_x", and back. Unknown names are ignored.
std::string flags_text(std::uint64_t flags);
std::uint64_t flags_of(const std::string& text);

/// The type of a variable's elements; `unsupported` for sizes without a type in Forebay.
Result<Type> type_of(const GioVariable& variable, const std::string& name);

/// A name stands for one file, or for a list of ranks and the files with their data.
struct Set {
    struct Part {
        std::string path;
        GioHeader header;
    };
    struct Place {
        std::uint32_t part = 0;
        std::uint32_t rank = 0;  // index in the part
        std::uint64_t global_rank = 0;
    };
    std::vector<Part> parts;
    std::vector<Place> ranks;  // by global rank if the file is partitioned, else in file order
    std::optional<Part> list;  // only for a partitioned file

    const GioHeader& header() const { return parts.front().header; }
    const Rank& rank(std::size_t i) const { return parts[ranks[i].part].header.ranks[ranks[i].rank]; }
    std::uint64_t elements() const;
};

Result<Set> open_set(sys::Store& store, const std::string& path);

/// Reads all values of an int32 variable, rank after rank.
Result<std::vector<std::int32_t>> read_integers(sys::File& file, const Set::Part& part, const std::string& variable);

/// A damaged block, or bytes after the last block.
struct GioDamage {
    std::string file, variable;  // "": bytes after the last block
    std::uint64_t rank = 0;      // global
    std::uint64_t block = 0;     // number in the file
    std::uint64_t first_byte = 0, last_byte = 0;
    std::string text;
};

struct GioVerified {
    std::uint64_t bytes = 0;  // as stored
    std::uint64_t blocks = 0;
    std::vector<GioDamage> damage;
};

/// Reads every block and checks its checksums. An error means that the check could not run.
Result<GioVerified> verify(sys::Store& store, const Set& set,
                           const std::function<void(std::uint64_t, std::uint64_t)>& progress);

/// The stream in the run beside a file of the GenericIO library.
inline constexpr const char* stream_name = "restart";

/// The table with the ranks' elements as rows.
inline constexpr const char* table_name = "particles";
inline constexpr const char* ranks_table_name = "genericio_ranks";
Result<ForeignContents> open(sys::Store& store, const std::string& path);

}  // namespace genericio

}  // namespace forebay::foreign
