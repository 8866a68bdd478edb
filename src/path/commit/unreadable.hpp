// A directory of a step whose manifest is missing or damaged. Its node files name their save themselves, so it can
// become the part of that save (".step-000120.ID.part"), which recover() commits again if all node files are there.

#pragma once

#include <optional>
#include <string>

#include "core/sys/store.hpp"
#include "path/catalog/forms/file_form.hpp"

namespace forebay::commit {

/// The save that the node files of a directory name.
struct Unreadable {
    std::uint32_t files = 0;               // node files
    std::optional<format::Record> record;  // of the first one; nothing if it is damaged or closed to us
};
/// `retry` and `missing` are for now: look again.
Result<Unreadable> look_at_unreadable(sys::Store& store, const std::string& directory);

/// The path that the directory gets as a part. Its ID is 0 if there is no record.
std::string part_of(const std::string& directory, std::int64_t step, const Unreadable& unreadable);

/// Makes a part of each directory in the run whose manifest is missing or damaged and whose node files are all there.
/// For runs into which nobody copies: files that still come would miss their directory.
Result<> make_parts_of_unreadable(sys::Store& store, const std::string& run);

}  // namespace forebay::commit
