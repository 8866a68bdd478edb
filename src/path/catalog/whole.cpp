#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "core/base/limits.hpp"
#include "core/base/path.hpp"
#include "core/base/try.hpp"
#include "path/catalog/catalog.hpp"
#include "path/catalog/names.hpp"
#include "path/catalog/node_reader.hpp"

namespace forebay::catalog {

Result<format::Manifest> load_manifest(sys::Store& store, const std::string& directory) {
    const auto path = directory + "/" + manifest_name;
    FB_TRY_ASSIGN(text, sys::read_text(store, path, limits::manifest_bytes_max));
    return format::decode_manifest(text, path);
}

Result<> check_place(const format::Manifest& manifest, const Snapshot& snapshot) {
    if (manifest.step == snapshot.step && manifest.schema.stream == snapshot.stream) return {};
    return Error{ErrorKind::corrupt,
                 fmt::format("{} is misplaced: it holds the manifest of step {} of stream '{}', not of step {} of '{}'",
                             snapshot.directory, manifest.step, manifest.schema.stream, snapshot.step, snapshot.stream),
                 "", fmt::format("give {} its own name back. If it is a copy, remove it", snapshot.directory)};
}

Result<> check_listed(const format::Peek& peek, const format::Manifest& manifest, const format::NodeLine& line,
                      const std::string& path) {
    if (peek.record.snapshot_id != manifest.snapshot_id || peek.record.step != manifest.step ||
        peek.record.node != line.node)
        return Error{ErrorKind::corrupt,
                     fmt::format("{} is node {} of step {} (snapshot {}), but the manifest says node {} of step {} "
                                 "(snapshot {}).",
                                 path, peek.record.node, peek.record.step, id_text(peek.record.snapshot_id), line.node,
                                 manifest.step, id_text(manifest.snapshot_id))};
    if (peek.record_crc32c != line.record_crc32c || peek.file_bytes != line.file_bytes)
        return Error{ErrorKind::corrupt,
                     fmt::format("{} is not the committed file: record checksum {:08x} and {} bytes, the manifest has "
                                 "{:08x} and {} bytes.",
                                 path, peek.record_crc32c, peek.file_bytes, line.record_crc32c, line.file_bytes)};
    return {};
}

Result<> check_whole(sys::Store& store, const std::string& directory, const format::Manifest& manifest) {
    for (const auto& line : manifest.nodes)
        FB_TRY(read_healing([&](sys::Access access) -> Result<> {
            FB_TRY_ASSIGN(reader, NodeReader::open(store, directory, line, access));
            return check_listed(reader.peek(), manifest, line, name_of(directory, line));
        }));
    return {};
}

namespace {

/// Each path once: several nodes may share a file.
std::set<std::string> paths_of(const format::Manifest& manifest) {
    std::set<std::string> paths;
    for (const auto& line : manifest.nodes) paths.insert(line.path);
    return paths;
}

/// True if both are the same moment. A copy or a server may have cut off the last digits of a time.
bool is_same_time(std::int64_t noted_ns, std::int64_t now_ns) {
    for (const std::int64_t unit : {1, 100, 1'000, 1'000'000, 1'000'000'000})
        if (now_ns % unit == 0 && noted_ns / unit == now_ns / unit) return true;
    return false;
}

/// The names in a directory of a snapshot; false: the name is a broken link.
Result<std::map<std::string, bool>> names_in_folder(sys::Store& store, const std::string& folder) {
    std::map<std::string, bool> names;
    const auto entries = store.list(folder);
    if (!entries && entries.error().kind == ErrorKind::missing) return names;
    FB_TRY(entries);
    for (const auto& entry : *entries) names.emplace(entry.name, !entry.is_link);
    return names;
}

}  // namespace

Result<> check_files(sys::Store& store, const std::string& directory, const format::Manifest& manifest) {
    std::map<std::string, std::map<std::string, bool>> folders;
    const auto paths = paths_of(manifest);
    for (const auto& name : paths) {
        const auto path = directory + "/" + name, folder = directory_of(path);
        if (!folders.contains(folder)) {
            FB_TRY_ASSIGN(names, names_in_folder(store, folder));
            folders.emplace(folder, std::move(names));
        }
        const auto match = folders.at(folder).find(leaf_of(path));
        if (match != folders.at(folder).end() && match->second) continue;
        const bool is_link = match != folders.at(folder).end();
        // For a while, a client of a network file system may return a list from before the file came.
        FB_TRY_ASSIGN(is_there, is_link ? Result<bool>(false) : store.exists(path));
        if (is_there) continue;
        return Error{ErrorKind::missing,
                     fmt::format("{} is {}", path, is_link ? "a link to a path that does not exist" : "missing"), "",
                     fmt::format("bring the file back. forebay verify {} lists further damage", directory)};
    }
    if (!paths.empty()) FB_TRY(store.open(directory + "/" + *paths.begin(), sys::Access::read));
    return {};
}

Result<> note_changes(sys::Store& store, const std::string& directory, format::Manifest& manifest) {
    std::map<std::string, std::optional<std::int64_t>> times;
    for (const auto& path : paths_of(manifest)) {
        FB_TRY_ASSIGN(time, store.changed_unix_ns(directory + "/" + path));
        times.emplace(path, time);
    }
    for (auto& line : manifest.nodes) line.changed_unix_ns = times.at(line.path);
    return {};
}

Result<> check_unchanged(sys::Store& store, const std::string& directory, const format::Manifest& manifest) {
    FB_TRY(check_whole(store, directory, manifest));
    std::set<std::string> seen;
    for (const auto& line : manifest.nodes) {
        if (!seen.insert(line.path).second) continue;
        const auto path = directory + "/" + line.path;
        FB_TRY_ASSIGN(now, store.changed_unix_ns(path));
        // Buckets and forwarders report no times; there sizes and records decide.
        if (!now || (line.changed_unix_ns && is_same_time(*line.changed_unix_ns, *now))) continue;
        return Error{ErrorKind::corrupt,
                     line.changed_unix_ns ? fmt::format("{} has changed since its commit, or is a copy", path)
                                          : fmt::format("the manifest does not record when {} was last changed", path),
                     "the snapshot and all older snapshots", fmt::format("forebay verify {}", directory)};
    }
    return {};
}

namespace {

/// True if a file in the directory can be opened. A listed file may be gone: sshfs lists removed files for 20 s.
Result<bool> holds_a_file(sys::Store& store, const std::string& directory) {
    FB_TRY_ASSIGN(entries, store.list(directory));
    for (const auto& entry : entries) {
        const auto path = directory + "/" + entry.name;
        if (entry.is_link) return true;  // its target may come back
        const auto inside = [&]() -> Result<bool> {
            if (entry.is_directory) return holds_a_file(store, path);
            FB_TRY(store.open(path, sys::Access::read));
            return true;
        }();
        const bool is_there =
            inside ? *inside : inside.error().kind == ErrorKind::refused;  // a link, or no permission to read
        if (is_there) return true;
        if (!inside && inside.error().kind != ErrorKind::missing) return inside;
    }
    return entries.empty();  // a person emptied it: retention renames a directory first
}

}  // namespace

Result<bool> is_removed(sys::Store& store, const std::string& directory, std::uint64_t snapshot_id) {
    // The list opens the directory anew. A look at the name may be answered from the client's cache.
    const auto entries = store.list(directory_of(directory));
    if (!entries && entries.error().kind == ErrorKind::missing) return true;
    if (!entries) return entries.error();
    const auto entry = std::ranges::find(*entries, leaf_of(directory), &sys::Entry::name);
    if (entry == entries->end()) return true;
    if (entry->is_link) return false;
    // discard() removes the manifest first, so a file that is missing beside a manifest is damage.
    const auto manifest = load_manifest(store, directory);
    if (manifest) return snapshot_id != 0 && manifest->snapshot_id != snapshot_id;
    if (manifest.error().kind != ErrorKind::missing) return false;
    const auto holds = holds_a_file(store, directory);
    if (!holds && holds.error().kind == ErrorKind::missing) return true;
    if (!holds) return holds.error();
    return !*holds;
}

}  // namespace forebay::catalog
