// Goal: files of every released version stay readable. Files that must be refused are refused, with the error kind at
// the begin of their name. The second reader, tools/readers, made the listings beside the golden files.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/base/bytes.hpp"
#include "core/base/crc32c.hpp"
#include "core/base/limits.hpp"
#include "core/base/try.hpp"
#include "core/format/combined.hpp"
#include "core/format/json_text.hpp"
#include "core/format/manifest.hpp"
#include "core/format/segments.hpp"
#include "core/format/shared.hpp"

using namespace forebay;
using namespace forebay::format;
namespace fs = std::filesystem;

namespace {

fs::path golden() {
    const char* source = std::getenv("FOREBAY_SOURCE_DIR");
    REQUIRE_MESSAGE(source != nullptr, "run by ctest, or set FOREBAY_SOURCE_DIR");
    return fs::path(source) / "tests" / "golden";
}

std::string content(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    REQUIRE(in);
    return {std::istreambuf_iterator<char>(in), {}};
}

std::string quoted(const std::string& text) {
    std::string out;
    json::put_text(out, text);
    return out;
}

std::string listed(const Extents& extents) {
    std::string out;
    json::put_extents(out, extents);
    return out;
}

template <class Values, class Show>
std::string listed(const Values& values, Show show) {
    std::string out;
    for (const auto& value : values) out += (out.empty() ? "" : ",") + show(value);
    return "[" + out + "]";
}

std::string number(std::uint64_t value) { return std::to_string(value); }

std::string listing(const NodeFile& file) {
    auto out = fmt::format(
        "node file: stream {} snapshot {:016x} step {} node {} of {} ranks {} of {} bytes {} record {:08x}\n",
        quoted(file.schema.stream), file.record.snapshot_id, file.record.step, file.record.node, file.record.nodes,
        listed(file.ranks, number), file.record.world_ranks, file.file_bytes, file.record_crc32c);
    for (std::size_t v = 0; v < file.schema.variables.size(); ++v) {
        const auto& variable = file.schema.variables[v];
        const auto where = variable.kind == Kind::particles ? fmt::format("table {}", variable.table)
                                                            : fmt::format("shape {}", listed(variable.shape));
        out += fmt::format("variable {} {} {} {} {} bytes {} of {} at {}\n", v, quoted(variable.name),
                           name_of(variable.type), name_of(variable.kind), where, file.extents[v].used_bytes,
                           file.extents[v].capacity_bytes, file.extents[v].offset_bytes);
        if (file.storage == Storage::spread) {
            out.pop_back();
            out += fmt::format(" shared at {}\n", file.extents[v].shared_offset_bytes);
        }
        for (auto b = file.first_block[v]; b < file.first_block[v + 1]; ++b) {
            const auto& block = file.blocks[b];
            out +=
                fmt::format("  block rank {} box {} {} bytes {} at {} segment {}\n", block.rank, listed(block.box.lo),
                            listed(block.box.size), block.size_bytes, block.offset_bytes, block.first_segment);
        }
        for (const auto& chunk : file.chunk_table.chunks)
            if (chunk.variable == v)
                out +=
                    fmt::format("  chunk at {} bytes {} filter {} stored {} at {} crc32c {:08x}\n", chunk.plain_offset,
                                chunk.plain_bytes, chunk.filtered ? file.chunk_table.variables[v].filter : 0,
                                chunk.stored_bytes, chunk.stored_offset, chunk.crc32c);
    }
    return out;
}

std::string listing(const Manifest& manifest) {
    auto out = fmt::format("manifest: stream {} snapshot {:016x} step {} ranks {}\n", quoted(manifest.schema.stream),
                           manifest.snapshot_id, manifest.step, manifest.world_ranks);
    if (const auto& lineage = manifest.lineage; lineage.run_id != 0 || !lineage.lines.empty())
        out += fmt::format("run {:016x} save {} lines {}\n", lineage.run_id, lineage.save,
                           listed(lineage.lines, [](const LineStart& start) {
                               return fmt::format("[{},{},{}]", start.line.session, start.line.turn, start.from);
                           }));
    for (const auto& mark : manifest.marks) {
        std::string value;
        json::put_f64(value, mark.value);
        out += fmt::format("mark [{},{},{},{}]\n", quoted(mark.analysis), quoted(mark.condition), quoted(mark.result),
                           value);
    }
    for (const auto& line : manifest.nodes) {
        const auto ranks =
            listed(line.ranks, [](const RankRange& range) { return fmt::format("[{},{}]", range.first, range.count); });
        const auto bounds = listed(line.bounds, [](const std::optional<Box>& box) {
            return box ? fmt::format("[{},{}]", listed(box->lo), listed(box->size)) : std::string("null");
        });
        const auto at = line.offset_bytes == 0 ? "" : fmt::format(" at {}", line.offset_bytes);
        out += fmt::format("node {} {}{} bytes {} data {} record {:08x} ranks {} rows {} bounds {}\n", line.node,
                           quoted(line.path), at, line.file_bytes, line.data_bytes, line.record_crc32c, ranks,
                           listed(line.rows, number), bounds);
    }
    return out;
}

// Chunks are decoded in a higher layer, and by the second reader.
Result<> check_data(const NodeFile& file, std::string_view bytes) {
    for (const auto& chunk : file.chunk_table.chunks) {
        if (chunk.stored_offset + chunk.stored_bytes > bytes.size()) return Error{ErrorKind::corrupt, "cut off"};
        const auto stored = bytes.substr(chunk.stored_offset, chunk.stored_bytes);
        if (chunk.filtered && crc32c(bytes_of(stored)) != chunk.crc32c) return Error{ErrorKind::corrupt, "chunk"};
    }
    if (file.storage == Storage::compressed) return {};
    for (const auto& block : file.blocks) {
        if (block.offset_bytes + block.size_bytes > bytes.size()) return Error{ErrorKind::corrupt, "cut off"};
        auto rest = bytes.substr(block.offset_bytes, block.size_bytes);
        for (auto segment = block.first_segment; !rest.empty(); ++segment) {
            const auto now = rest.substr(0, limits::segment_bytes);
            if (crc32c(bytes_of(now)) != file.crc32c[segment]) return Error{ErrorKind::corrupt, "segment"};
            rest.remove_prefix(now.size());
        }
    }
    return {};
}

// Reads the bytes of a node from the datasets, in its plain form.
Result<> check_stretches(const NodeFile& file, std::string_view bytes) {
    std::string plain(file.plain_bytes, 0);
    for_each_stretch(file, 0, file.plain_bytes, [&](const Stretch& stretch) {
        plain.replace(stretch.plain_offset, stretch.bytes, bytes.substr(stretch.offset, stretch.bytes));
        return true;
    });
    for (const auto& segment : segments_by_offset(file))
        FB_TRY(check_segment(file, segment, bytes_of(plain).subspan(segment.offset, segment.bytes), "golden"));
    return {};
}

// Checks each region, and that the head follows from the rows of all nodes.
Result<std::string> read_shared(std::string_view bytes, const CombinedPage& page, const std::string& name) {
    const auto& places = std::get<SharedFile>(page.form);
    auto out = fmt::format(
        "shared file: snapshot {:016x} step {} nodes {}, naming {}, regions of {} from {} on, alignment {}, bytes {}\n",
        page.snapshot_id, page.step, page.nodes, places.naming, places.region_bytes, places.heads_offset,
        places.alignment_bytes, places.file_bytes);
    std::vector<std::uint64_t> rows;
    Schema schema;
    for (std::uint32_t node = 0; node < page.nodes; ++node) {
        FB_TRY_ASSIGN(file, open_head(bytes_of(bytes.substr(region_offset(page.form, node))), name));
        FB_TRY(check_stretches(file, bytes));
        const auto arrival = bytes.substr(arrival_offset(page.form, node), limits::page_bytes);
        FB_TRY_ASSIGN(arrived, open_arrival(bytes_of(arrival), page.snapshot_id, node, name));
        CHECK(arrived == file.record_crc32c);
        CHECK(page_of(file.record) == page);
        schema = file.schema;
        rows.resize(schema.tables.size());
        for (std::uint32_t table = 0; table < rows.size(); ++table) rows[table] += file.rows(table);
        out += listing(file);
    }
    const auto head = encode_shared_head(page, schema, rows);
    CHECK(bytes.substr(0, head.size()) == text_of(head));
    CHECK(bytes.size() == places.file_bytes);
    return out;
}

// Checks each region, and that the head follows from the regions.
Result<std::string> read_combined(std::string_view bytes, const std::string& name) {
    FB_TRY_ASSIGN(page, open_page(bytes_of(bytes), name));
    if (kind_of(page.form) == FormKind::shared) return read_shared(bytes, page, name);
    const auto& own = std::get<CombinedFile>(page.form);
    auto out = fmt::format("combined file: snapshot {:016x} step {} nodes {}-{} of {}, {} a file, offsets {}\n",
                           page.snapshot_id, page.step, own.first_node, own.first_node + own.nodes() - 1, page.nodes,
                           own.nodes_per_file, listed(own.offsets, number));
    std::vector<Region> regions;
    Schema schema;
    for (auto node = own.first_node; node < own.first_node + own.nodes(); ++node) {
        const auto region = bytes.substr(region_offset(page.form, node));
        FB_TRY_ASSIGN(file, open_head(bytes_of(region), name));
        FB_TRY(check_data(file, region));
        FB_TRY_ASSIGN(arrived, open_arrival(bytes_of(bytes.substr(arrival_offset(page.form, node), limits::page_bytes)),
                                            page.snapshot_id, node, name));
        CHECK(arrived == file.record_crc32c);
        CHECK(page_of(file.record) == page);
        regions.push_back(region_of(file));
        schema = file.schema;
        out += listing(file);
    }
    const auto head = encode_combined_head(page, schema, regions);
    CHECK(bytes.substr(0, head.size()) == text_of(head));
    return out;
}

Result<std::string> read(const fs::path& path) {
    const auto bytes = content(path);
    if (path.extension() == ".json") {
        FB_TRY_ASSIGN(manifest, decode_manifest(bytes, path.filename()));
        return listing(manifest);
    }
    if (has_page(bytes_of(bytes))) return read_combined(bytes, path.filename());
    FB_TRY_ASSIGN(file, open_head(bytes_of(bytes), path.filename()));
    FB_TRY(check_data(file, bytes));
    return listing(file);
}

bool is_ours(const fs::path& path) { return path.extension() == ".h5" || path.extension() == ".json"; }

}  // namespace

TEST_CASE("golden files: read as when they were made") {
    int files = 0;
    for (const auto& entry : fs::recursive_directory_iterator(golden())) {
        if (!is_ours(entry.path()) || entry.path().parent_path().filename() == "refuse") continue;
        CAPTURE(entry.path().filename().string());
        ++files;
        const auto text = read(entry.path());
        REQUIRE_MESSAGE(text.has_value(), (text ? "" : text.error().text()));
        CHECK(*text == content(fs::path(entry.path()).replace_extension(".txt")));
    }
    CHECK(files >= 11);
}

TEST_CASE("golden files: the manifests name their node files as they are") {
    for (const auto& directory : {golden() / "v1" / "snapshot", golden() / "v2" / "snapshot"}) {
        const auto manifest = decode_manifest(content(directory / "manifest.json"), "manifest.json");
        REQUIRE(manifest);
        for (const auto& line : manifest->nodes) {
            const auto file = open_head(bytes_of(content(directory / line.path)), line.path);
            REQUIRE(file);
            CHECK(line_of(*file, line.path) == line);
        }
    }
}

TEST_CASE("golden files: what must be refused is refused for the reason in its name") {
    int files = 0;
    for (const auto& entry : fs::directory_iterator(golden() / "refuse")) {
        const auto name = entry.path().filename().string();
        CAPTURE(name);
        ++files;
        const auto text = read(entry.path());
        REQUIRE_FALSE(text.has_value());
        CHECK(name.substr(0, name.find('-')) == name_of(text.error().kind));
    }
    CHECK(files >= 44);
}
