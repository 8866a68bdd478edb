// The manifest: a snapshot is committed when this file exists at the target under its final name. Text: JSON, one line
// for each node, and a CRC32C in the last line. Bytes: docs/formats/manifest.md, versions 1 to 4.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/format/mark.hpp"
#include "core/format/node_file.hpp"

namespace forebay::format {

struct RankRange {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
    friend bool operator==(const RankRange&, const RankRange&) = default;
};

/// The line of one node file, so that a restart can choose files without opening them.
struct NodeLine {
    std::uint32_t node = 0;
    std::string path;                // relative to the snapshot's directory: "node-00003.h5", "nodes-00000-00015.h5"
    FormKind form = FormKind::own;   // of that file; in a shared file the node file is only the head
    std::uint64_t offset_bytes = 0;  // of the node file in its file; 0 in a file of its own
    std::uint64_t file_bytes = 0;
    std::uint64_t data_bytes = 0;  // bytes from the application
    std::uint32_t record_crc32c = 0;
    // checksum of the staged file's record; only for compressed and shared files
    std::optional<std::uint32_t> staged_crc32c;
    std::optional<std::int64_t> changed_unix_ns;  // change time of that file at the commit; nothing: not known
    std::vector<RankRange> ranks;
    std::vector<std::uint64_t> rows;  // one for each table
    std::vector<std::optional<Box>>
        bounds;  // one for each distinct global shape (Manifest::shapes); none: no box of that shape
    friend bool operator==(const NodeLine&, const NodeLine&) = default;
};

/// The first two lines of a manifest. They are enough to order the snapshots of a stream.
struct ManifestHead {
    std::uint64_t snapshot_id = 0;
    std::int64_t step = 0;
    double time = 0;
    std::int64_t sealed_unix_ns = 0;  // the latest seal of the node files
    std::uint32_t world_ranks = 0;
    Lineage lineage;

    Save which_save() const { return {snapshot_id, sealed_unix_ns, lineage.line(), lineage.save}; }
};

struct Manifest {
    std::uint64_t snapshot_id = 0;
    std::int64_t step = 0;
    double time = 0;
    std::int64_t sealed_unix_ns = 0;  // the latest seal of the node files
    std::uint32_t world_ranks = 0;
    Lineage lineage = {};
    Schema schema;                 // with the stream's name
    std::vector<Extents> shapes;   // distinct global shapes of the schema's arrays, in order of appearance
    std::vector<NodeLine> nodes;   // by node
    std::vector<Mark> marks = {};  // at most marks_max; their order has no meaning

    ManifestHead head() const { return {snapshot_id, step, time, sealed_unix_ns, world_ranks, lineage}; }
};

/// Distinct global shapes of the schema's arrays, in order of appearance.
std::vector<Extents> distinct_shapes(const Schema& schema);

/// Returns true if the node file is a region of its file. region_name() names the region.
inline bool is_region(const NodeLine& line) { return line.form != FormKind::own; }

/// Returns true if the node's part has replicated variables: in a shared file only node 0 has them.
inline bool holds_replicated(const NodeLine& line) { return line.form != FormKind::shared || line.node == 0; }

/// Returns the line of one node file. Its place in `path` comes from its record. `path` as in NodeLine.
NodeLine line_of(const NodeFile& file, const std::string& path);

/// Returns the checksum of the staged file's record.
inline std::uint32_t staged_crc32c(const NodeLine& line) { return line.staged_crc32c.value_or(line.record_crc32c); }

std::string encode_manifest(const Manifest& manifest);
/// `corrupt` for damage, `unsupported` for a newer version. `name` goes into the error.
Result<Manifest> decode_manifest(std::string_view text, const std::string& name);

/// Decodes only the head, from the first manifest_head_bytes_max bytes or a whole shorter manifest. Errors as
/// decode_manifest(). From version 4 on the head has its own checksum.
inline constexpr std::size_t manifest_head_bytes_max = 4096;
Result<ManifestHead> decode_manifest_head(std::string_view text, const std::string& name);

}  // namespace forebay::format
