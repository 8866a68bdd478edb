// Looks at the node files of a part directory: are all there, and do they make one snapshot? The same files give the
// same manifest in whichever agent gathers them.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "format/manifest.hpp"
#include "sys/store.hpp"

namespace forebay::drain {

/// The first node whose file is not in `directory` under its final name; nothing when all are there. Lists one
/// directory for each group up to the first incomplete one; opens nothing.
Result<std::optional<std::uint32_t>> absent_node(sys::Store& store, const std::string& directory, std::uint32_t nodes);

/// What has arrived in a part directory.
struct Arrived {
    std::uint32_t files = 0;             // node files under their final names
    std::optional<std::uint32_t> nodes;  // how many there are to be, as one of them says; nothing without any
};
/// Lists the directory and its groups, and reads 8 KiB of one node file.
Result<Arrived> look_at_part(sys::Store& store, const std::string& directory);

struct Wanted {
    std::uint64_t snapshot_id = 0;
    std::int64_t step = 0;
    std::uint32_t nodes = 0;
};

/// Reads every node file's head and makes the manifest. `refused` when a file is of another snapshot or disagrees
/// with the others, `missing` when one is not sealed or not there, `corrupt` when one is damaged.
Result<format::Manifest> gather(sys::Store& store, const std::string& directory, const Wanted& wanted);

}  // namespace forebay::drain
