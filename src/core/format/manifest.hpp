// The manifest: the record whose existence at the target, under its final name, means "committed".
// Text (JSON, one line a node, last line its own CRC32C). Bytes: docs/formats/manifest.md, versions 1 to 4.

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

/// One node file as the manifest lists it: what a restart needs to choose files without opening them.
struct NodeLine {
    std::uint32_t node = 0;
    std::string path;                // relative to the snapshot's directory: "node-00003.h5", "nodes-00000-00015.h5"
    FormKind form = FormKind::own;   // of that file; in a shared one the node file is its head alone
    std::uint64_t offset_bytes = 0;  // of the node file in its file; 0 in one of its own
    std::uint64_t file_bytes = 0;
    std::uint64_t data_bytes = 0;  // what the application gave
    std::uint32_t record_crc32c = 0;
    std::optional<std::uint32_t> staged_crc32c;   // the record's of the staged file; only of compressed and shared ones
    std::optional<std::int64_t> changed_unix_ns;  // of that file, when it was committed; nothing: not known
    std::vector<RankRange> ranks;
    std::vector<std::uint64_t> rows;  // one a table
    std::vector<std::optional<Box>>
        bounds;  // one a distinct global shape (Manifest::shapes); none: no box of that shape
    friend bool operator==(const NodeLine&, const NodeLine&) = default;
};

/// What the first two lines of a manifest say: enough to put the snapshots of a stream in order.
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
    Schema schema;                 // stream name inside
    std::vector<Extents> shapes;   // distinct global shapes of the schema's arrays, in order of appearance
    std::vector<NodeLine> nodes;   // by node
    std::vector<Mark> marks = {};  // at most marks_max, in no order that means anything

    ManifestHead head() const { return {snapshot_id, step, time, sealed_unix_ns, world_ranks, lineage}; }
};

/// Distinct global shapes of the schema's arrays, in order of appearance.
std::vector<Extents> distinct_shapes(const Schema& schema);

/// Whether the node file is a region of its file, which region_name() names.
inline bool is_region(const NodeLine& line) { return line.form != FormKind::own; }

/// Whether the node's file holds bytes of replicated variables: of a shared one that is said of node 0 alone.
inline bool holds_replicated(const NodeLine& line) { return line.form != FormKind::shared || line.node == 0; }

/// The line of one node file; where in `path`, its record says. `path` is as in NodeLine.
NodeLine line_of(const NodeFile& file, const std::string& path);

/// The checksum of the record of the staged file that a node file was drained from.
inline std::uint32_t staged_crc32c(const NodeLine& line) { return line.staged_crc32c.value_or(line.record_crc32c); }

std::string encode_manifest(const Manifest& manifest);
/// `corrupt` for damage, `unsupported` for a newer version. `name` is used in error texts.
Result<Manifest> decode_manifest(std::string_view text, const std::string& name);

/// The head alone, of the first manifest_head_bytes_max bytes of a manifest, or all of a shorter one; errors as
/// decode_manifest(). From version 4 on the head has a checksum of its own.
inline constexpr std::size_t manifest_head_bytes_max = 4096;
Result<ManifestHead> decode_manifest_head(std::string_view text, const std::string& name);

}  // namespace forebay::format
