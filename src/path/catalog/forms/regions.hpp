// The regions of combined and shared files at the target: the arrived regions, and the head that shows all regions to
// HDF5 programs.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "core/format/combined.hpp"
#include "core/sys/store.hpp"
#include "path/catalog/forms/file_form.hpp"

namespace forebay::catalog {

/// Reads the arrival page of a node and returns the checksum of the record in its region. Errors as
/// format::open_arrival().
Result<std::uint32_t> read_arrival(sys::File& file, const format::Form& form, std::uint64_t snapshot_id,
                                   std::uint32_t node, const std::string& path);

/// True if the error means "not arrived yet". In a file that other nodes began, absent and cut short mean the same.
bool has_not_come(const Error& error);

/// Returns a node of the file at `path` that has not arrived with this snapshot; empty if all arrived. The file may be
/// absent. Its first node is `first_node`. The search begins with `look_first_at`, if the file has this node.
Result<std::optional<std::uint32_t>> absent_region(sys::Store& store, const std::string& path,
                                                   std::uint64_t snapshot_id, std::uint32_t first_node,
                                                   std::uint32_t look_first_at);

/// Adds the arrived nodes of the file at `path`.
Result<> look_at_regions(sys::Store& store, const std::string& path, Arrived& arrived);

/// Writes the head of a file, durably, and sets its length if one is given.
Result<> write_head(sys::Store& store, const std::string& path, std::span<const std::byte> head,
                    std::optional<std::uint64_t> file_bytes);

}  // namespace forebay::catalog
