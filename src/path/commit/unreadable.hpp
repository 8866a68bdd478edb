// A directory of a step whose manifest is missing or damaged. Its node files know their save, so the directory can
// become the part of that save (".step-000120.ID.part"). recover() commits the part again if all node files are there.

#pragma once

#include <optional>
#include <string>

#include "core/sys/store.hpp"
#include "path/catalog/forms/file_form.hpp"

namespace forebay::commit {

/// The save to which the node files of a directory belong.
struct Unreadable {
    std::uint32_t files = 0;               // node files
    std::optional<format::Record> record;  // of the first node file; nothing if it is damaged or we may not read it
};
/// Call again after `retry` or `missing`: these errors are temporary.
Result<Unreadable> look_at_unreadable(sys::Store& store, const std::string& directory);

/// The path of the directory as a part. Its ID is 0 if there is no record.
std::string part_of(const std::string& directory, std::int64_t step, const Unreadable& unreadable);

/// Makes a part of each directory whose manifest is missing or damaged and whose node files are all there. Call it only
/// if nobody copies into the run: files that arrive later would miss their directory.
Result<> make_parts_of_unreadable(sys::Store& store, const std::string& run);

}  // namespace forebay::commit
