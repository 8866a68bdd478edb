// Bytes: docs/formats/manifest.md, versions 1 to 4.

#include "core/format/manifest.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/bytes.hpp"
#include "core/base/crc32c.hpp"
#include "core/base/limits.hpp"
#include "core/describe/geometry.hpp"
#include "core/format/json_text.hpp"
#include "core/format/manifest_text.hpp"

namespace forebay::format {
namespace {

void put_range(std::string& out, const RankRange& range) {
    out += '[';
    json::put_u64(out, range.first);
    out += ',';
    json::put_u64(out, range.count);
    out += ']';
}

void put_bounds(std::string& out, const std::optional<Box>& bounds) {
    if (!bounds) {
        out += "null";
        return;
    }
    out += '[';
    json::put_extents(out, bounds->lo);
    out += ',';
    json::put_extents(out, bounds->size);
    out += ']';
}

template <class Values, class Put>
void put_list(std::string& out, const char* key, const Values& values, Put put) {
    out += key;
    bool first = true;
    for (const auto& value : values) {
        if (!first) out += ',';
        first = false;
        put(out, value);
    }
    out += ']';
}

void put_node(std::string& out, const NodeLine& line) {
    out += R"({"node":)";
    json::put_u64(out, line.node);
    out += R"(,"path":)";
    json::put_text(out, line.path);
    if (line.offset_bytes != 0) {
        out += R"(,"offset":)";
        json::put_u64(out, line.offset_bytes);
    }
    out += R"(,"bytes":)";
    json::put_u64(out, line.file_bytes);
    out += R"(,"data":)";
    json::put_u64(out, line.data_bytes);
    out += fmt::format(R"(,"record":"{:08x}")", line.record_crc32c);
    if (line.staged_crc32c) out += fmt::format(R"(,"staged":"{:08x}")", *line.staged_crc32c);
    if (line.changed_unix_ns) out += fmt::format(R"(,"changed":{})", *line.changed_unix_ns);
    put_list(out, R"(,"ranks":[)", line.ranks, put_range);
    put_list(out, R"(,"rows":[)", line.rows, json::put_u64);
    put_list(out, R"(,"bounds":[)", line.bounds, put_bounds);
    out += '}';
}

void put_start(std::string& out, const LineStart& start) {
    out += fmt::format("[{},{},{}]", start.line.session, start.line.turn, start.from);
}

void put_lineage(std::string& out, const Lineage& lineage) {
    out += fmt::format(R"("run":"{:016x}","save":{},)", lineage.run_id, lineage.save);
    put_list(out, R"("lines":[)", lineage.lines, put_start);
    out += ',';
    const auto crc = crc32c(bytes_of(out));
    out += fmt::format(R"({}{:08x}",)", head_crc_begin, crc);
}

/// Returns the first version that supports the line.
int version_of(const NodeLine& line) {
    switch (line.form) {
        case FormKind::own: return line.staged_crc32c ? 2 : 1;
        case FormKind::combined: return 2;
        case FormKind::shared: return 3;
    }
    return 1;
}

/// Returns the bounding box of all boxes of variables with this shape.
std::optional<Box> bounds_of(const NodeFile& file, const Extents& shape) {
    std::optional<Box> bounds;
    for (const auto& block : file.blocks) {
        const auto& variable = file.schema.variables[block.variable];
        if (variable.kind != Kind::array || variable.shape != shape || block.size_bytes == 0) continue;
        bounds = bounds ? bounding(*bounds, block.box) : block.box;
    }
    return bounds;
}

}  // namespace

std::vector<Extents> distinct_shapes(const Schema& schema) {
    std::vector<Extents> shapes;
    for (const auto& variable : schema.variables) {
        if (variable.kind != Kind::array || std::ranges::find(shapes, variable.shape) != shapes.end()) continue;
        shapes.push_back(variable.shape);
    }
    return shapes;
}

NodeLine line_of(const NodeFile& file, const std::string& path) {
    NodeLine line;
    line.node = file.record.node;
    line.path = path;
    line.form = kind_of_file(file.record.form);
    line.offset_bytes = region_offset(file.record.form, file.record.node);
    line.file_bytes = file.file_bytes;
    line.record_crc32c = file.record_crc32c;
    if (file.storage != Storage::plain) line.staged_crc32c = file.staged_crc32c;
    for (const auto& extent : file.extents) line.data_bytes += extent.used_bytes;
    for (const auto rank : file.ranks) {
        if (!line.ranks.empty() && line.ranks.back().first + line.ranks.back().count == rank) {
            ++line.ranks.back().count;
        } else {
            line.ranks.push_back({rank, 1});
        }
    }
    for (std::uint32_t table = 0; table < file.schema.tables.size(); ++table) line.rows.push_back(file.rows(table));
    for (const auto& shape : distinct_shapes(file.schema)) line.bounds.push_back(bounds_of(file, shape));
    return line;
}

void put_crc_line(std::string& out) {
    const auto crc = crc32c(bytes_of(out));
    out += fmt::format("{}{:08x}{}", crc_line_begin, crc, crc_line_end);
}

std::string encode_manifest(const Manifest& manifest) {
    std::string out;
    out.reserve(4096 + manifest.schema.variables.size() * 128 + manifest.nodes.size() * 256);
    const bool has_lineage = manifest.lineage != Lineage{};
    // The lowest version that fits, so that older programs can read the manifest.
    int version = has_lineage ? static_cast<int>(lineage_version) : 1;
    for (const auto& line : manifest.nodes) version = std::max(version, version_of(line));
    out += fmt::format(R"({{"format":"{}","version":{},)", manifest_format, version);
    out += fmt::format("\n\"snapshot_id\":\"{:016x}\",\"step\":{},\"time\":", manifest.snapshot_id, manifest.step);
    json::put_f64(out, manifest.time);
    out += fmt::format(R"(,"sealed_unix_ns":{},"world_ranks":{},)", manifest.sealed_unix_ns, manifest.world_ranks);
    if (has_lineage) put_lineage(out, manifest.lineage);
    if (!manifest.marks.empty()) {
        put_list(out, "\n\"marks\":[", manifest.marks, [](std::string& to, const Mark& mark) {
            to += '{';
            put_mark(to, mark);
            to += '}';
        });
        out += ',';
    }
    out += "\n\"schema\":";
    out += schema_json(manifest.schema);
    put_list(out, ",\n\"shapes\":[", manifest.shapes, json::put_extents);
    out += ",\n\"nodes\":[";
    for (std::size_t i = 0; i < manifest.nodes.size(); ++i) {
        out += i == 0 ? "\n" : ",\n";
        put_node(out, manifest.nodes[i]);
    }
    out += "\n],\n";
    put_crc_line(out);
    return out;
}

}  // namespace forebay::format
