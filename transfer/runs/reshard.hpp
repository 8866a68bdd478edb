// Snapshots of a run that are copied with another number of node files than they have (commit/reshard.hpp).

#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "path/catalog/history.hpp"
#include "transfer/runs/run.hpp"

namespace forebay::cli {

/// By "STREAM/step-000120".
using RunSnapshots = std::map<std::string, catalog::Version>;
/// How many node files snapshots get, by their places.
using NodeFilesWished = std::map<std::string, std::uint32_t>;

/// Of those that have another number of them, but not of those that are `kept` as they are at the target.
Result<NodeFilesWished> to_reshard(const RunCopy& wish, const RunSnapshots& source, const std::set<std::string>& kept);

/// Has a copy of files leave out the node files of a snapshot at `place`, and its manifest.
void leave_out_node_files(const std::string& place, tree::EntryFilter& filter);

/// Makes them at the target, where their directories are already and no other copy is at work; each gets its manifest
/// when it is whole. What cannot be made is in `remarks`. An error ends it all: the target is full.
Result<> reshard(const RunCopy& wish, const RunSnapshots& source, const NodeFilesWished& places, tree::Remarks& remarks,
                 tree::CopyCounts& counts);

}  // namespace forebay::cli
