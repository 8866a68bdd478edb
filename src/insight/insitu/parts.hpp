// Where the parts of several nodes meet, without MPI and without the application: files in the run's own directory.
// Whoever writes the last one takes all, and brings them together.
//
//   RUN/forebay/insitu/STREAM/SAVE/node-00003      one a node, by a rename
//   RUN/forebay/insitu/STREAM/SAVE.of-00001        all of them, taken by node 1
//
// SAVE is catalog::analysed_name(): parts of a step that is saved again never meet those of before. A node
// that could not do its part leaves none; then the step has no results, and its directory goes with the results of a
// later one. Programs of one version alone read them, so they have no page in docs/formats.

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
    std::uint32_t rules_crc32c = 0;  // of the options of the analyses: parts of other options never meet
    std::vector<TaskPart> tasks;
    friend bool operator==(const NodePart&, const NodePart&) = default;
};

std::vector<std::byte> encode_part(const NodePart& part);
/// `corrupt` for damage and for what is cut short, `unsupported` for a newer version; `name` is for texts.
Result<NodePart> decode_part(std::span<const std::byte> bytes, const std::string& name);

/// All of it is there when it returns, for other nodes. `missing` where the run is gone.
Result<> write_part(sys::Store& store, const std::string& run, const std::string& stream, const NodePart& part);

/// Takes the parts of all nodes, by node; nothing while one is not there, or where another node has taken them. Whoever
/// has taken them gets them again, until remove_parts(): its worker may have been killed over them.
Result<std::optional<std::vector<NodePart>>> take_parts(sys::Store& store, const std::string& run,
                                                        const std::string& stream, const NodePart& own);

/// Removes the parts of this save, and of saves before it, which nobody completes any more: every node writes its parts
/// in the order of saves.
Result<> remove_parts(sys::Store& store, const std::string& run, const std::string& stream,
                      const catalog::AnalysedSave& save);

/// Which save a node file is of.
catalog::AnalysedSave analysed_save(const format::Record& record);

}  // namespace forebay::insitu
