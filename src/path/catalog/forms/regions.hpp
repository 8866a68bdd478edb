// The regions of combined and shared files at the target: which of them have arrived, and the head that shows all of
// them to HDF5 programs.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "core/format/combined.hpp"
#include "core/sys/store.hpp"
#include "path/catalog/forms/file_form.hpp"

namespace forebay::catalog {

/// The answer of the page of a node's arrival: the checksum of the record in its region. Errors as
/// format::open_arrival().
Result<std::uint32_t> read_arrival(sys::File& file, const format::Form& form, std::uint64_t snapshot_id,
                                   std::uint32_t node, const std::string& path);

/// Whether what was asked for of a file has not come: absent and cut short say the same of one that others have begun.
bool has_not_come(const Error& error);

/// A node of the file at `path`, which begins with `first_node`, that has not arrived with this snapshot; nothing when
/// all have. The file may be absent. The nodes are looked at from `look_first_at` on, if that is one of them.
Result<std::optional<std::uint32_t>> absent_region(sys::Store& store, const std::string& path,
                                                   std::uint64_t snapshot_id, std::uint32_t first_node,
                                                   std::uint32_t look_first_at);

/// Adds the nodes that have arrived in the file at `path`.
Result<> look_at_regions(sys::Store& store, const std::string& path, Arrived& arrived);

/// Writes the head of a file, durably, and sets its length if one is given.
Result<> write_head(sys::Store& store, const std::string& path, std::span<const std::byte> head,
                    std::optional<std::uint64_t> file_bytes);

}  // namespace forebay::catalog
