#include "views/contents.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <span>

#include "base/crc32c.hpp"
#include "base/limits.hpp"
#include "catalog/node_reader.hpp"
#include "catalog/plain_bytes.hpp"
#include "describe/geometry.hpp"
#include "format/shared.hpp"
#include "views/limits.hpp"

namespace forebay::views {

namespace {

Result<> check_limits(const Contents& contents, const catalog::Snapshot& snapshot) {
    const auto refuse = [&](const std::string& what) {
        return Error{
            ErrorKind::unsupported,
            fmt::format("forebay: no view of {} was made: {} Safe: the snapshot is committed and restarts as ever. "
                        "Next: open its node files themselves, a few hundred at a time; each is HDF5 and "
                        "{}/{} lists them.",
                        snapshot.directory, what, snapshot.directory, catalog::manifest_name)};
    };
    if (contents.files > views_sources_max)
        return refuse(
            fmt::format("it has {} files and a view may have {}, because a reader keeps each one open and gets "
                        "fill values instead of an error when it runs out of file descriptors.",
                        contents.files, views_sources_max));
    if (contents.mapping_count > views_mappings_max)
        return refuse(
            fmt::format("its variables lie in more than {} boxes, and a reader would be busy with them for minutes.",
                        views_mappings_max));
    return {};
}

/// The value of a replicated variable, checked against its checksums.
Result<std::vector<std::byte>> read_value(sys::File& file, const std::string& path, const format::NodeFile& head,
                                          std::size_t v) {
    const auto& block = head.blocks[head.first_block[v]];
    std::vector<std::byte> value(block.size_bytes);
    catalog::PlainBytes::Scratch scratch;
    FB_TRY(catalog::PlainBytes(file, head, path).read(block.offset_bytes, value, scratch));
    const auto bytes = std::span<const std::byte>(value);
    for (std::uint64_t segment = 0; segment < format::segments_of(bytes.size()); ++segment) {
        const auto first = segment * limits::segment_bytes;
        const auto part = bytes.subspan(first, std::min(limits::segment_bytes, bytes.size() - first));
        const auto expected = head.crc32c[block.first_segment + segment];
        const auto found = crc32c(part);
        if (found == expected) continue;
        return Error{
            ErrorKind::corrupt,
            fmt::format(
                "'{}' in {} differs from what rank {} staged: crc32c {:08x} found, {:08x} expected, bytes {}-{}.",
                head.schema.variables[v].name, path, block.rank, found, expected, block.offset_bytes + first,
                block.offset_bytes + first + part.size() - 1)};
    }
    return value;
}

bool is_copied(const Variable& variable) {
    return variable.kind == Kind::replicated &&
           variable.elements() * variable.type.size_bytes <= views_copied_bytes_max;
}

class Gatherer {
public:
    Gatherer(sys::Store& store, const catalog::Snapshot& snapshot, Contents& contents)
        : store_(store), snapshot_(snapshot), contents_(contents), manifest_(contents.manifest) {
        contents.table_rows.assign(manifest_.schema.tables.size(), 0);
        contents.mappings.resize(manifest_.schema.variables.size());
        contents.values.resize(manifest_.schema.variables.size());
    }

    /// A shared file is one source for all nodes. Where the boxes fill an array it is mapped whole; else box by box, so
    /// that what nobody owns has the fill value.
    Result<> add_shared(const std::string& step_name) {
        const auto& schema = manifest_.schema;
        const auto& lines = manifest_.nodes;
        for (const auto& line : lines)
            for (std::uint32_t table = 0; table < contents_.table_rows.size(); ++table)
                contents_.table_rows[table] += line.rows[table];
        contents_.is_shared = true;
        contents_.sources.push_back(step_name + "/" + lines.front().path);
        contents_.groups.emplace_back();
        const bool partial = std::ranges::any_of(schema.variables, [](const Variable& variable) {
            return variable.kind == Kind::array && variable.coverage == Coverage::partial;
        });
        for (const auto& line : lines) {
            const auto path = catalog::name_of(snapshot_.directory, line);
            FB_TRY_ASSIGN(reader, catalog::NodeReader::open(store_, snapshot_.directory, line));
            FB_TRY_ASSIGN(head, reader.head());
            if (head.record_crc32c != line.record_crc32c || head.schema != schema) return changed(path);
            if (line.node == 0) {
                contents_.datasets = format::shared_datasets(head.record, schema);
                FB_TRY(add_replicated(reader.file(), head, path));
            }
            for (std::size_t v = 0; v < schema.variables.size(); ++v) {
                const auto& variable = schema.variables[v];
                if (variable.kind == Kind::array && variable.coverage == Coverage::partial)
                    place(head, v, array_mappings(head, v));
                else if (line.node == 0 && variable.kind != Kind::replicated) place_whole(v);
            }
            FB_TRY(check_limits(contents_, snapshot_));
            if (!partial) break;  // check_whole() has looked at the others
        }
        return {};
    }

    Result<> add(const format::NodeLine& line, const std::string& step_name) {
        const auto path = catalog::name_of(snapshot_.directory, line);
        FB_TRY_ASSIGN(reader, catalog::NodeReader::open(store_, snapshot_.directory, line));
        FB_TRY_ASSIGN(head, reader.head());
        if (head.record_crc32c != line.record_crc32c || head.schema != manifest_.schema || !same_rows(head, line))
            return changed(path);
        const bool is_first = contents_.sources.empty();
        contents_.sources.push_back(step_name + "/" + line.path);
        contents_.groups.push_back(line.offset_bytes == 0 ? "" : format::region_name(line.node) + "/");
        for (std::size_t v = 0; v < manifest_.schema.variables.size(); ++v) {
            const auto& variable = manifest_.schema.variables[v];
            if (variable.kind == Kind::array) place(head, v, array_mappings(head, v));
            if (variable.kind == Kind::particles)
                place(head, v, column_mappings(head, v, contents_.table_rows[variable.table]));
        }
        if (is_first) FB_TRY(add_replicated(reader.file(), head, path));
        for (std::uint32_t table = 0; table < contents_.table_rows.size(); ++table)
            contents_.table_rows[table] += line.rows[table];
        return check_limits(contents_, snapshot_);
    }

private:
    static Error changed(const std::string& path) {
        return {ErrorKind::corrupt, fmt::format("{} is not the file that was committed: it changed while it was read, "
                                                "or describes other variables than the manifest.",
                                                path)};
    }

    void place_whole(std::size_t v) {
        const auto& variable = manifest_.schema.variables[v];
        const auto shape =
            variable.kind == Kind::particles ? Extents{contents_.table_rows[variable.table]} : variable.shape;
        if (volume(shape) == 0) return;
        Box box{.size = shape};
        for (int dim = 0; dim < shape.dims(); ++dim) box.lo.push_back(0);
        contents_.mappings[v].push_back({0, volume(shape), {0, box}});
        ++contents_.mapping_count;
    }

    static bool same_rows(const format::NodeFile& head, const format::NodeLine& line) {
        if (line.rows.size() != head.schema.tables.size()) return false;
        for (std::uint32_t table = 0; table < line.rows.size(); ++table)
            if (head.rows(table) != line.rows[table]) return false;
        return true;
    }

    void place(const format::NodeFile& head, std::size_t v, const std::vector<Mapping>& mappings) {
        const auto source = static_cast<std::uint32_t>(contents_.sources.size() - 1);
        for (const auto& mapping : mappings) contents_.mappings[v].push_back({source, flat_elements(head, v), mapping});
        contents_.mapping_count += mappings.size();
    }

    Result<> add_replicated(sys::File& file, const format::NodeFile& head, const std::string& path) {
        for (std::size_t v = 0; v < manifest_.schema.variables.size(); ++v) {
            const auto& variable = manifest_.schema.variables[v];
            if (variable.kind != Kind::replicated || head.first_block[v] == head.first_block[v + 1]) continue;
            if (is_copied(variable)) {
                FB_TRY_ASSIGN(value, read_value(file, path, head, v));
                contents_.values[v] = std::move(value);
            } else {
                place(head, v, {{0, head.blocks[head.first_block[v]].box}});
            }
        }
        return {};
    }

    sys::Store& store_;
    const catalog::Snapshot& snapshot_;
    Contents& contents_;
    const format::Manifest& manifest_;
};

Result<Contents> gather_checked(sys::Store& store, const catalog::Snapshot& snapshot, format::Manifest manifest) {
    const auto directory = std::filesystem::absolute(snapshot.directory).lexically_normal();
    Contents contents;
    contents.manifest = std::move(manifest);
    contents.run = directory.parent_path().parent_path().filename().string();
    std::set<std::string> files;
    for (const auto& line : contents.manifest.nodes) files.insert(line.path);
    contents.files = static_cast<std::uint32_t>(files.size());
    FB_TRY(check_limits(contents, snapshot));
    FB_TRY(catalog::check_whole(store, snapshot.directory, contents.manifest));
    Gatherer gatherer(store, snapshot, contents);
    if (format::is_shared(contents.manifest.nodes.front())) {
        FB_TRY(gatherer.add_shared(directory.filename().string()));
        return contents;
    }
    for (const auto& line : contents.manifest.nodes) FB_TRY(gatherer.add(line, directory.filename().string()));
    return contents;
}

}  // namespace

Result<Contents> gather(sys::Store& store, const catalog::Snapshot& snapshot) {
    FB_TRY_ASSIGN(manifest, catalog::load_manifest(store, snapshot.directory));
    auto contents = gather_checked(store, snapshot, std::move(manifest));
    if (contents || contents.error().kind == ErrorKind::unsupported) return contents;
    // What is wrong with a source is the catalog's to say; that no view hides it is ours.
    const auto stream = snapshot.directory.substr(0, snapshot.directory.rfind('/'));
    return Error{contents.error().kind,
                 fmt::format("forebay: no view of {} was made, because one of its node files cannot be shown: {} Safe: "
                             "nothing was changed. Next: forebay verify {}@{}",
                             snapshot.directory, contents.error().text, stream, snapshot.step)};
}

}  // namespace forebay::views
