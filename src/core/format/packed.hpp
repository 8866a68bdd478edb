// Packed files: a snapshot whose variables are whole files, each an array of bytes that is named by its path. Names and
// attributes, both ways. Bytes: docs/formats/packed-files.md.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/describe/schema.hpp"
#include "forebay/result.hpp"

namespace forebay::format {

/// Streams of packed files begin so; a session opens none of them, and prune passes over them unless one is named.
inline constexpr std::string_view packed_prefix = "packed-";
inline bool is_packed_stream(std::string_view stream) { return stream.starts_with(packed_prefix); }

struct PackedFile {
    std::string path;  // relative, of any bytes but NUL; no part is empty, "." or ".."
    std::uint64_t bytes = 0;
    std::uint32_t mode = 0644;  // permissions
    std::int64_t modified_unix_ns = 0;
    friend bool operator==(const PackedFile&, const PackedFile&) = default;
};

/// The variable of a file. `number` names it where its path cannot be a variable's name.
Variable packed_variable(const PackedFile& file, std::size_t number);

/// The file of a variable; nothing when it is not one that packed_variable() makes, or has a path that leads elsewhere.
std::optional<PackedFile> packed_file(const Variable& variable);

/// The time that the record of a batch of this step says, in seconds since 1970.
inline double batch_time(std::int64_t step) { return static_cast<double>(step) * 1e-3; }

/// Gives a batch that is not committed another step: `first_pages` are the first 8192 bytes of its node file, of which
/// only the record changes. Errors as peek(); `refused` for a file that is not plain.
Result<> change_step(std::span<std::byte> first_pages, std::int64_t step, const std::string& name);

}  // namespace forebay::format
