// Looks at the node files of a part directory: are all there, and do they make one snapshot? The same files give the
// same manifest, and the same heads of combined files, in whichever agent gathers them.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "format/manifest.hpp"
#include "sys/store.hpp"

namespace forebay::commit {

struct Wanted {
    std::uint64_t snapshot_id = 0;
    std::int64_t step = 0;
    std::uint32_t nodes = 0;
    std::uint32_t nodes_per_file = 1;  // or format::in_shared_file
    std::uint64_t run_id = 0;          // of the run; 0: it has no identity
    std::uint32_t look_first_at = 0;   // the node whose arrival is checked first in files of several nodes
};

/// A node whose file is not in `directory` under its final name, or has not arrived in its combined file; nothing when
/// all are there. Lists one directory for each folder up to the first incomplete one and opens nothing; of combined
/// files it reads a page a node, up to the first that is absent.
Result<std::optional<std::uint32_t>> absent_node(sys::Store& store, const std::string& directory, const Wanted& wanted);

/// What has arrived in a part directory.
struct Arrived {
    std::uint32_t files = 0;                    // node files: under their final names, or arrived in combined files
    std::optional<std::uint32_t> nodes;         // how many there are to be, as one of them says; nothing without any
    std::optional<format::Record> record = {};  // of one that has arrived
};
/// Lists the directory and its folders, reads 8 KiB of one node file, and the pages of combined files.
Result<Arrived> look_at_part(sys::Store& store, const std::string& directory);

/// Reads every node file's head and makes the manifest. `refused` when a file is of another snapshot or disagrees
/// with the others, `missing` when one is not sealed or not there, `corrupt` when one is damaged. Writes the heads of
/// combined files, durably: the same bytes whoever gathers.
Result<format::Manifest> gather(sys::Store& store, const std::string& directory, const Wanted& wanted);

}  // namespace forebay::commit
