// Packed files: a snapshot whose variables are whole files. Each variable is an array of bytes, and its name is the
// file's path. Converts names and attributes in both directions. Bytes: docs/formats/packed-files.md.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/describe/schema.hpp"
#include "forebay/result.hpp"

namespace forebay::format {

/// The prefix of streams of packed files. Sessions do not open them, and prune skips them unless you name the stream.
inline constexpr std::string_view packed_prefix = "packed-";
inline bool is_packed_stream(std::string_view stream) { return stream.starts_with(packed_prefix); }

struct PackedFile {
    std::string path;  // relative, any bytes except NUL; no part is empty, "." or ".."
    std::uint64_t bytes = 0;
    std::uint32_t mode = 0644;  // permissions
    std::int64_t modified_unix_ns = 0;
    friend bool operator==(const PackedFile&, const PackedFile&) = default;
};

/// Returns the variable of a file. `number` is used in its name if the path cannot be a variable's name.
Variable packed_variable(const PackedFile& file, std::size_t number);

/// Returns the file of a variable, or nothing if packed_variable() did not make it or its path leads outside.
std::optional<PackedFile> packed_file(const Variable& variable);

/// Returns the time in the record of a batch of this step, in seconds since 1970.
inline double batch_time(std::int64_t step) { return static_cast<double>(step) * 1e-3; }

/// Gives an uncommitted batch another step. `first_pages` are the first 8192 bytes of its node file, and only the
/// record changes. Errors as peek(); `refused` if the file is not plain.
Result<> change_step(std::span<std::byte> first_pages, std::int64_t step, const std::string& name);

}  // namespace forebay::format
