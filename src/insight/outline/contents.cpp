// gather() reads the manifest, then the heads of the node files, some at a time with several threads. The Gatherer
// joins them in the manifest's order: the part of each variable in each file. Replicated values come from the first
// existing node file. Files and boxes of views are limited, because a reader keeps each file open. gather_to_copy(),
// for exports, has no such limits.

#include "insight/outline/contents.hpp"

#include <fmt/format.h>

#include <atomic>
#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "core/base/path.hpp"
#include "core/base/try.hpp"
#include "core/describe/geometry.hpp"
#include "core/sys/thread.hpp"
#include "insight/outline/limits.hpp"
#include "path/catalog/block_reader.hpp"
#include "path/catalog/forms/file_form.hpp"
#include "path/catalog/node_reader.hpp"

namespace forebay::outline {

namespace {

Result<> check_limits(const Contents& contents, const catalog::Snapshot& snapshot) {
    const auto refuse = [&](const std::string& what) {
        return Error{
            ErrorKind::unsupported, fmt::format("no view of {} was made: {}", snapshot.directory, what),
            "the snapshot is committed, and restarts work",
            fmt::format(
                "open its node files themselves, a few hundred at a time: each file is HDF5, and {}/{} lists them",
                snapshot.directory, catalog::manifest_name)};
    };
    if (contents.files > views_sources_max)
        return refuse(
            fmt::format("it has {} files, but a view may have {}: a reader keeps each file open, and gets fill values "
                        "without an error if it runs out of file descriptors.",
                        contents.files, views_sources_max));
    if (contents.mapping_count > views_mappings_max)
        return refuse(fmt::format("its variables have more than {} boxes, which would keep a reader busy for minutes.",
                                  views_mappings_max));
    return {};
}

bool is_copied(const Variable& variable) {
    return variable.kind == Kind::replicated &&
           variable.elements() * variable.type.size_bytes <= views_copied_bytes_max;
}

class Gatherer {
public:
    Gatherer(sys::Store& store, const catalog::Snapshot& snapshot, bool is_limited, Contents& contents)
        : store_(store),
          snapshot_(snapshot),
          is_limited_(is_limited),
          contents_(contents),
          manifest_(contents.manifest) {
        contents.table_rows.assign(manifest_.schema.tables.size(), 0);
        contents.mappings.resize(manifest_.schema.variables.size());
        contents.values.resize(manifest_.schema.variables.size());
    }

    /// Adds the head of one node; nullopt if its file is missing.
    Result<> add(const format::NodeLine& line, std::optional<format::NodeFile> head, const std::string& step_name) {
        contents_.sources.push_back(step_name + "/" + line.path);
        contents_.groups.push_back(format::is_region(line) ? format::region_name(line.node) + "/" : "");
        if (!head) contents_.missing.push_back(catalog::name_of(step_name, line));
        else FB_TRY(place_all(line, std::move(*head)));
        // After place_all(), which needs the rows before this node. Rows of a missing node count, and read as fill
        // values.
        for (std::uint32_t table = 0; table < contents_.table_rows.size(); ++table)
            contents_.table_rows[table] += line.rows[table];
        return is_limited_ ? check_limits(contents_, snapshot_) : Result<>();
    }

private:
    Result<> place_all(const format::NodeLine& line, format::NodeFile head) {
        const auto path = catalog::name_of(snapshot_.directory, line);
        if (head.record_crc32c != line.record_crc32c || head.schema != manifest_.schema || !same_rows(head, line))
            return Error{ErrorKind::corrupt, fmt::format("{} is not the committed file: it changed during the read, or "
                                                         "its variables differ from the manifest.",
                                                         path)};
        for (std::size_t v = 0; v < manifest_.schema.variables.size(); ++v) {
            const auto& variable = manifest_.schema.variables[v];
            if (variable.kind == Kind::array) place(head, v, array_mappings(head, v));
            if (variable.kind == Kind::particles)
                place(head, v, column_mappings(head, v, contents_.table_rows[variable.table]));
        }
        if (contents_.datasets.empty()) contents_.datasets = catalog::form_of(line.form).datasets(head);
        // Every node file has the replicated values, so the first is enough.
        if (has_replicated_) return {};
        has_replicated_ = true;
        FB_TRY_ASSIGN(reader, catalog::BlockReader::open(store_, snapshot_.directory, line, std::move(head)));
        return add_replicated(reader);
    }

    static bool same_rows(const format::NodeFile& head, const format::NodeLine& line) {
        if (line.rows.size() != head.schema.tables.size()) return false;
        for (std::uint32_t table = 0; table < line.rows.size(); ++table)
            if (head.rows(table) != line.rows[table]) return false;
        return true;
    }

    void place(const format::NodeFile& head, std::size_t v, const std::vector<SourceMapping>& mappings) {
        const auto source = static_cast<std::uint32_t>(contents_.sources.size() - 1);
        for (const auto& mapping : mappings) contents_.mappings[v].push_back({source, flat_elements(head, v), mapping});
        contents_.mapping_count += mappings.size();
    }

    Result<> add_replicated(const catalog::BlockReader& reader) {
        const auto& head = reader.head();
        for (std::size_t v = 0; v < manifest_.schema.variables.size(); ++v) {
            const auto& variable = manifest_.schema.variables[v];
            if (variable.kind != Kind::replicated || head.first_block[v] == head.first_block[v + 1]) continue;
            if (is_copied(variable)) {
                FB_TRY_ASSIGN(value, reader.value(v));
                contents_.values[v] = std::move(value);
            } else {
                place(head, v, {{0, head.blocks[head.first_block[v]].box}});
            }
        }
        return {};
    }

    sys::Store& store_;
    const catalog::Snapshot& snapshot_;
    const bool is_limited_;
    Contents& contents_;
    const format::Manifest& manifest_;
    bool has_replicated_ = false;  // from the first existing node file
};

/// Reads the heads of some node files with several threads; `missing` for absent files.
std::vector<Result<format::NodeFile>> read_heads(sys::Store& store, const std::string& directory,
                                                 const format::Manifest& manifest,
                                                 std::span<const format::NodeLine> lines) {
    const auto read = [&](const format::NodeLine& line) {
        return catalog::read_healing([&](sys::Access access) -> Result<format::NodeFile> {
            FB_TRY_ASSIGN(reader, catalog::NodeReader::open(store, directory, line, access));
            FB_TRY(catalog::check_listed(reader.peek(), manifest, line, catalog::name_of(directory, line)));
            return reader.head();
        });
    };
    std::vector<std::optional<Result<format::NodeFile>>> files(lines.size());
    std::atomic<std::size_t> next{0};
    sys::work_together(std::min<std::size_t>(head_readers, lines.size()), [&] {
        for (auto i = next++; i < lines.size(); i = next++) files[i].emplace(read(lines[i]));
    });
    std::vector<Result<format::NodeFile>> heads;
    heads.reserve(lines.size());
    for (auto& head : files) heads.push_back(std::move(*head));
    return heads;
}

/// Lists the missing node files, up to a limit.
Error missing_error(sys::Store& store, const std::string& directory, const format::Manifest& manifest, Error first) {
    std::vector<std::string> names;
    std::set<std::string> asked;
    for (const auto& line : manifest.nodes) {
        // Nodes may share a file.
        if (!asked.insert(line.path).second) continue;
        const auto exists = store.exists(directory + "/" + line.path);
        if (exists && !*exists) names.push_back(line.path);
    }
    if (names.empty()) return first;  // it came back, or a part of a file is missing
    std::string text;
    for (std::size_t i = 0; i < std::min(names.size(), missing_named_max); ++i) text += (i > 0 ? ", " : "") + names[i];
    if (names.size() > missing_named_max) text += fmt::format(" and {} more", names.size() - missing_named_max);
    return {ErrorKind::missing,
            fmt::format("{} of its {} files are missing from {}: {}.", names.size(), asked.size(), directory, text)};
}

Result<Contents> gather_checked(sys::Store& store, const catalog::Snapshot& snapshot, format::Manifest manifest,
                                Missing missing, bool is_limited) {
    const auto directory = std::filesystem::absolute(snapshot.directory).lexically_normal();
    Contents contents;
    contents.manifest = std::move(manifest);
    contents.run = directory.parent_path().parent_path().filename().string();
    std::set<std::string> files;
    for (const auto& line : contents.manifest.nodes) files.insert(line.path);
    contents.files = static_cast<std::uint32_t>(files.size());
    if (is_limited) FB_TRY(check_limits(contents, snapshot));
    Gatherer gatherer(store, snapshot, is_limited, contents);
    const std::span<const format::NodeLine> lines(contents.manifest.nodes);
    for (std::size_t first = 0; first < lines.size(); first += heads_at_once) {
        const auto some = lines.subspan(first, std::min<std::size_t>(heads_at_once, lines.size() - first));
        auto heads = read_heads(store, snapshot.directory, contents.manifest, some);
        for (std::size_t i = 0; i < some.size(); ++i) {
            const bool absent = !heads[i] && heads[i].error().kind == ErrorKind::missing;
            if (absent && missing == Missing::refuse)
                return missing_error(store, snapshot.directory, contents.manifest, heads[i].error());
            if (!heads[i] && !absent) return heads[i].error();
            auto head = absent ? std::nullopt : std::optional(std::move(*heads[i]));
            FB_TRY(gatherer.add(some[i], std::move(head), directory.filename().string()));
        }
    }
    if (contents.missing.size() == lines.size())
        return missing_error(store, snapshot.directory, contents.manifest,
                             {ErrorKind::missing, "all of its node files are missing."});
    return contents;
}

}  // namespace

Result<Contents> gather(sys::Store& store, const catalog::Snapshot& snapshot, Missing missing) {
    FB_TRY_ASSIGN(manifest, catalog::load_manifest(store, snapshot.directory));
    auto contents = gather_checked(store, snapshot, std::move(manifest), missing, true);
    if (contents || contents.error().kind == ErrorKind::unsupported) return contents;
    // The catalog describes a wrong source; this text adds that no view hides it.
    const auto stream = directory_of(snapshot.directory);
    const bool absent = contents.error().kind == ErrorKind::missing && missing == Missing::refuse;
    return with_context(
        contents.error(),
        fmt::format("no view of {} was made, because {}: {}", snapshot.directory,
                    absent ? "readers would take missing data for values" : "one of its node files cannot be shown",
                    contents.error().what),
        "nothing was changed",
        fmt::format("forebay verify {}@{}{}", stream, snapshot.step,
                    absent ? ". To see the rest, use forebay view with --partial" : ""));
}

Result<Contents> gather_to_copy(sys::Store& store, const catalog::Snapshot& snapshot) {
    FB_TRY_ASSIGN(manifest, catalog::load_manifest(store, snapshot.directory));
    return gather_checked(store, snapshot, std::move(manifest), Missing::refuse, false);
}

}  // namespace forebay::outline
