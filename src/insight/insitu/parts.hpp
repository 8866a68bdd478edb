// Joins the parts of several nodes without MPI and without the application: as files in the run's own directory. The
// node that completes the set renames the directory, reads all parts and joins them.
//
//   RUN/forebay/insitu/STREAM/SAVE/node-00003      one a node, by a rename
//   RUN/forebay/insitu/STREAM/SAVE.of-00001        all of them, taken by node 1
//
// SAVE is catalog::analysed_name(), so parts of a repeated step never meet older parts. A node without a part leaves no
// file. Then the step has no results, and its directory is removed with the results of a later step. Only programs of
// the same version read parts, so docs/formats has no page for them.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/format/lineage.hpp"
#include "core/format/node_file.hpp"
#include "core/sys/store.hpp"
#include "insight/insitu/work.hpp"
#include "path/catalog/names.hpp"

namespace forebay::insitu {

/// The snapshot that is analysed.
struct SeenSnapshot {
    std::string stream;
    Moment moment;
    std::uint64_t snapshot_id = 0;
    std::uint32_t nodes = 1;
    format::Lineage lineage = {};
    std::int64_t sealed_unix_ns = 0;

    format::Save save() const { return {snapshot_id, sealed_unix_ns, lineage.line(), lineage.save}; }
};

struct NodePart {
    catalog::AnalysedSave save = {};
    std::uint32_t node = 0, nodes = 1;
    std::uint32_t rules_crc32c = 0;  // of the options of the analyses: parts of other options are refused
    std::vector<TaskPart> tasks;
    friend bool operator==(const NodePart&, const NodePart&) = default;
};

std::vector<std::byte> encode_part(const NodePart& part);
/// `corrupt` if bytes are damaged or cut short, `unsupported` for a newer version. Error texts begin with `name`.
Result<NodePart> decode_part(std::span<const std::byte> bytes, const std::string& name);

/// When it returns, other nodes see the whole part. `missing` if the run is gone.
Result<> write_part(sys::Store& store, const std::string& run, const std::string& stream, const NodePart& part);

/// Takes the parts of all nodes, sorted by node. Returns nothing if a part is missing or another node took them. The
/// node that took them gets them again until remove_parts(): its worker may have been killed before it finished.
Result<std::optional<std::vector<NodePart>>> take_parts(sys::Store& store, const std::string& run,
                                                        const std::string& stream, const NodePart& own);

/// Removes the parts of this save and of earlier saves. Earlier sets can never be completed, because every node writes
/// its parts in the order of saves.
Result<> remove_parts(sys::Store& store, const std::string& run, const std::string& stream,
                      const catalog::AnalysedSave& save);

/// The save of a node file.
catalog::AnalysedSave analysed_save(const format::Record& record);

}  // namespace forebay::insitu
