// Strict decoding of a manifest: first its checksum, then every field.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/base/bytes.hpp"
#include "core/base/crc32c.hpp"
#include "core/base/limits.hpp"
#include "core/base/try.hpp"
#include "core/describe/geometry.hpp"
#include "core/format/manifest.hpp"
#include "core/format/manifest_text.hpp"
#include "core/format/schema_json.hpp"

namespace forebay::format {
namespace {

std::optional<std::uint64_t> as_hex(json::Value value, std::size_t digits) {
    const auto text = value.text();
    return text ? hex_from(*text, digits) : std::nullopt;
}

/// Returns true if the path stays below the snapshot's directory: no root, no "..", no hidden part.
bool is_inner_path(std::string_view path) {
    if (path.empty() || path.size() > limits::name_bytes_max || path.find('\0') != path.npos) return false;
    while (true) {
        const auto part = path.substr(0, path.find('/'));
        if (part.empty() || part.front() == '.') return false;
        if (part.size() == path.size()) return true;
        path.remove_prefix(part.size() + 1);
    }
}

class ManifestReader {
public:
    ManifestReader(std::string_view text, const std::string& name) : text_(text), name_(name) {}

    Result<Manifest> read() {
        FB_TRY(check_crc());
        const auto document = json::Document::parse(text_);
        if (!document) return bad("it is not JSON.");
        FB_TRY(check_version(document->root()));
        if (version_ >= lineage_version) {
            FB_TRY_ASSIGN(first_lines, head_text());
            FB_TRY(check_head_crc(first_lines));
        }
        FB_TRY_ASSIGN(head, head_from(document->root()));
        manifest_ = {.snapshot_id = head.snapshot_id,
                     .step = head.step,
                     .time = head.time,
                     .sealed_unix_ns = head.sealed_unix_ns,
                     .world_ranks = head.world_ranks,
                     .lineage = std::move(head.lineage),
                     .schema = {},
                     .shapes = {},
                     .nodes = {}};
        FB_TRY(read_marks(document->root().member("marks")));
        FB_TRY(read_rest(document->root()));
        FB_TRY(read_nodes(document->root()));
        return std::move(manifest_);
    }

    /// Reads only the first two lines. With a brace instead of the final comma they are complete JSON.
    Result<ManifestHead> read_head() {
        FB_TRY_ASSIGN(first_lines, head_text());
        const auto document = json::Document::parse(std::string(first_lines) + "}");
        if (!document) return bad("its first two lines are not JSON.");
        FB_TRY(check_version(document->root()));
        if (version_ >= lineage_version) FB_TRY(check_head_crc(first_lines));
        return head_from(document->root());
    }

private:
    Error bad(const std::string& why) const {
        return {ErrorKind::corrupt, fmt::format("manifest {} is damaged: {}", name_, why),
                "the node files beside it, which state their snapshot themselves",
                "forebay recover RUN makes the manifest again if all node files are there"};
    }

    Result<> check_crc() const {
        if (text_.size() > limits::manifest_bytes_max)
            return bad(
                fmt::format("it has {} bytes, at most {} are allowed.", text_.size(), limits::manifest_bytes_max));
        if (const auto wrong = wrong_with_crc_line(text_); !wrong.empty()) return bad(wrong);
        return {};
    }

    /// Returns lines 1 and 2 without the final comma.
    Result<std::string_view> head_text() const {
        if (text_.empty()) return bad(wrong_with_crc_line(text_));
        const auto first = text_.find('\n');
        const auto second = first == text_.npos ? first : text_.find('\n', first + 1);
        if (second == text_.npos || second == 0 || text_[second - 1] != ',') return bad("it has no first two lines.");
        return text_.substr(0, second - 1);
    }

    Result<> check_head_crc(std::string_view head) const {
        const auto at = head.rfind(head_crc_begin);
        const auto digits = at == head.npos ? std::string_view{} : head.substr(at + head_crc_begin.size());
        const auto written = digits.size() == 9 ? hex_from(digits.substr(0, 8), 8) : std::nullopt;
        if (!written) return bad("its first two lines do not end with their checksum.");
        const auto sum = crc32c(bytes_of(head.substr(0, at)));
        if (sum == *written) return {};
        return bad(fmt::format("the checksum of its first two lines is {:08x}, but {:08x} is stored.", sum, *written));
    }

    Result<> check_version(json::Value document) {
        if (document.member("format").text() != manifest_format)
            return bad("it does not identify itself as a manifest.");
        const auto version = document.member("version").u64();
        if (!version) return bad("it has no version.");
        version_ = *version;
        if (version_ >= 1 && version_ <= manifest_version) return {};
        return Error{ErrorKind::unsupported,
                     fmt::format("manifest {} has format version {}, this Forebay reads versions up to {}", name_,
                                 *version, manifest_version),
                     "", "use the Forebay that wrote it, or a later version"};
    }

    Result<ManifestHead> head_from(json::Value document) const {
        const auto snapshot_id = as_hex(document.member("snapshot_id"), 16);
        const auto step = document.member("step").i64();
        const auto time = document.member("time").f64();
        const auto sealed = document.member("sealed_unix_ns").i64();
        const auto world_ranks = document.member("world_ranks").u64(UINT32_MAX);
        if (!snapshot_id || !step || !time || !sealed || !world_ranks)
            return bad("snapshot_id, step, time, sealed_unix_ns or world_ranks is absent.");
        ManifestHead head{*snapshot_id, *step, *time, *sealed, static_cast<std::uint32_t>(*world_ranks), {}};
        if (version_ < lineage_version) return head;
        const auto run = as_hex(document.member("run"), 16);
        const auto save = document.member("save").u64();
        if (!run || !save || !read_lines(document.member("lines"), head.lineage))
            return bad("its run, save or lines are absent or invalid.");
        head.lineage.run_id = *run;
        head.lineage.save = *save;
        return head;
    }

    static bool read_lines(json::Value list, Lineage& lineage) {
        const auto count = list.list();
        if (!count || *count > line_starts_max) return false;
        for (std::size_t i = 0; i < *count; ++i) {
            const auto entry = list.entry(i);
            const auto session = entry.entry(0).u64(UINT32_MAX), turn = entry.entry(1).u64(UINT32_MAX);
            const auto from = entry.entry(2).i64();
            if (entry.list() != 3u || !session || !turn || !from) return false;
            lineage.lines.push_back({{static_cast<std::uint32_t>(*session), static_cast<std::uint32_t>(*turn)}, *from});
        }
        return is_ascending(lineage.lines);
    }

    Result<> read_marks(json::Value list) {
        if (!list.exists()) return {};
        const auto count = list.list();
        if (!count || *count > marks_max) return bad(fmt::format("its marks are not a list of at most {}.", marks_max));
        for (std::size_t i = 0; i < *count; ++i) {
            auto mark = mark_from(list.entry(i));
            if (!mark) return bad(fmt::format("mark {} is invalid.", i));
            manifest_.marks.push_back(std::move(*mark));
        }
        return {};
    }

    Result<> read_rest(json::Value document) {
        auto schema = schema_from_value(document.member("schema"));
        if (!schema) return bad(schema.error().what);
        manifest_.schema = std::move(*schema);

        const auto shapes = document.member("shapes");
        const auto count = shapes.list();
        if (!count) return bad("it has no list of shapes.");
        for (std::size_t i = 0; i < *count; ++i) {
            const auto shape = shapes.entry(i).extents();
            if (!shape) return bad("a shape is not a list of at most 8 numbers.");
            manifest_.shapes.push_back(*shape);
        }
        if (manifest_.shapes != distinct_shapes(manifest_.schema)) return bad("its shapes do not match its schema.");
        return {};
    }

    Result<> read_nodes(json::Value document) {
        const auto nodes = document.member("nodes");
        const auto count = nodes.list().value_or(0);
        if (count == 0) return bad("it lists no node file.");
        if (count > limits::nodes_max)
            return bad(fmt::format("it lists {} node files, at most {} are allowed.", count, limits::nodes_max));
        manifest_.nodes.reserve(count);
        for (std::size_t i = 0; i < count; ++i) {
            FB_TRY_ASSIGN(line, line_from(nodes.entry(i)));
            if (!manifest_.nodes.empty() && line.node <= manifest_.nodes.back().node)
                return bad(fmt::format("node {} is out of order.", line.node));
            manifest_.nodes.push_back(std::move(line));
        }
        return {};
    }

    Result<NodeLine> line_from(json::Value object) const {
        const auto node = object.member("node").u64(limits::nodes_max - 1);
        if (!node) return bad(fmt::format("line {} has no node number.", manifest_.nodes.size()));
        const auto fail = [&](const char* why) { return bad(fmt::format("node {} {}.", *node, why)); };
        const auto path = object.member("path").text();
        const auto place = object.member("offset");
        const auto offset = version_ > 1 && place.exists() ? place.u64(std::uint64_t{1} << 62) : 0;
        const auto file_bytes = object.member("bytes").u64();
        const auto data_bytes = object.member("data").u64();
        const auto record = as_hex(object.member("record"), 8);
        if (!path || !file_bytes || !data_bytes || !record) return fail("has no path, bytes, data or record");
        if (!offset || *offset % limits::page_bytes != 0) return fail("has an offset that is not a multiple of 4096");
        const bool derived = version_ > 1 && object.member("staged").exists();
        const auto staged = derived ? as_hex(object.member("staged"), 8) : std::nullopt;
        if (derived && !staged) return fail("has no checksum of its staged record");
        if (derived && *offset != 0 && version_ < 3)
            return fail("is in a shared file, which this version does not have");
        if (!is_inner_path(*path)) return fail("has a path that leaves the snapshot's directory");
        // A compressed or shared node file may have fewer bytes than its data.
        if (*data_bytes > *file_bytes && !derived) return fail("has more data than its file has bytes");

        NodeLine line{.node = static_cast<std::uint32_t>(*node),
                      .path = *path,
                      .form = form_of(*offset, derived),
                      .offset_bytes = *offset,
                      .file_bytes = *file_bytes,
                      .data_bytes = *data_bytes,
                      .record_crc32c = static_cast<std::uint32_t>(*record),
                      .staged_crc32c = derived ? std::optional(static_cast<std::uint32_t>(*staged)) : std::nullopt,
                      .changed_unix_ns = object.member("changed").i64(),
                      .ranks = {},
                      .rows = {},
                      .bounds = {}};
        if (!read_ranks(object.member("ranks"), line)) return fail("has no ascending ranks of this world");
        if (!read_rows(object.member("rows"), line)) return fail("has no row count for each table");
        if (!read_bounds(object.member("bounds"), line)) return fail("has no bounds inside each shape");
        return line;
    }

    /// A node file at an offset lies in a combined or a shared file. Only in a shared file its record differs from the
    /// staged file's.
    static FormKind form_of(std::uint64_t offset, bool derived) {
        if (offset == 0) return FormKind::own;
        return derived ? FormKind::shared : FormKind::combined;
    }

    bool read_ranks(json::Value list, NodeLine& line) const {
        const auto count = list.list().value_or(0);
        std::uint64_t end = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const auto pair = list.entry(i);
            const auto first = pair.entry(0).u64(UINT32_MAX);
            const auto ranks = pair.entry(1).u64(UINT32_MAX);
            if (pair.list() != 2u || !first || !ranks || *ranks == 0) return false;
            if (*first < end || *first + *ranks > manifest_.world_ranks) return false;
            end = *first + *ranks;
            line.ranks.push_back({static_cast<std::uint32_t>(*first), static_cast<std::uint32_t>(*ranks)});
        }
        return count > 0;
    }

    bool read_rows(json::Value list, NodeLine& line) const {
        if (list.list() != manifest_.schema.tables.size()) return false;
        for (std::size_t i = 0; i < manifest_.schema.tables.size(); ++i) {
            const auto rows = list.entry(i).u64(std::uint64_t{1} << 62);
            if (!rows) return false;
            line.rows.push_back(*rows);
        }
        return true;
    }

    bool read_bounds(json::Value list, NodeLine& line) const {
        if (list.list() != manifest_.shapes.size()) return false;
        for (std::size_t i = 0; i < manifest_.shapes.size(); ++i) {
            const auto pair = list.entry(i);
            line.bounds.emplace_back();
            if (pair.is_null()) continue;
            const auto lo = pair.entry(0).extents();
            const auto size = pair.entry(1).extents();
            if (pair.list() != 2u || !lo || !size || !inside({*lo, *size}, manifest_.shapes[i])) return false;
            line.bounds.back() = Box{*lo, *size};
        }
        return true;
    }

    std::string_view text_;
    const std::string& name_;
    std::uint64_t version_ = 0;  // 2 adds offsets and compression, 3 shared files, 4 the lineage in the head
    Manifest manifest_;
};

}  // namespace

Result<Manifest> decode_manifest(std::string_view text, const std::string& name) {
    return ManifestReader(text, name).read();
}

Result<ManifestHead> decode_manifest_head(std::string_view text, const std::string& name) {
    return ManifestReader(text.substr(0, manifest_head_bytes_max), name).read_head();
}

}  // namespace forebay::format
