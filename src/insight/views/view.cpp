#include "insight/views/view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/base/path.hpp"
#include "core/base/try.hpp"
#include "core/sys/store.hpp"
#include "insight/outline/description.hpp"
#include "insight/outline/limits.hpp"
#include "insight/views/limits.hpp"
#include "insight/views/virtual_file.hpp"
#include "path/catalog/names.hpp"
#include "path/catalog/output.hpp"
#include "path/catalog/views.hpp"

namespace forebay::views {

namespace {

bool is_aside(const catalog::Snapshot& snapshot) { return catalog::aside_of(leaf_of(snapshot.directory)).has_value(); }

/// The path from the view's directory to the stream's, because HDF5 resolves sources from the view's place.
Result<std::string> prefix_of(const std::string& path, const std::string& stream_directory) {
    std::error_code error;
    const auto from = std::filesystem::weakly_canonical(std::filesystem::absolute(path).parent_path(), error);
    const auto to = error ? std::filesystem::path{} : std::filesystem::weakly_canonical(stream_directory, error);
    if (error)
        return Error{ErrorKind::missing, fmt::format("no view {} was made: the path from it to {} cannot be found: {}.",
                                                     path, stream_directory, error.message())};
    const auto way = to.lexically_relative(from).string();
    return way == "." ? std::string() : way + "/";
}

Result<> check_sources(std::span<const outline::Contents> contents, const std::string& path) {
    std::uint64_t files = 0, mappings = 0;
    for (const auto& content : contents) {
        files += content.files;
        mappings += content.mapping_count;
    }
    if (files <= outline::views_sources_max && mappings <= outline::views_mappings_max) return {};
    return Error{
        ErrorKind::unsupported,
        fmt::format("no view {} was made: its {} snapshots have {} files with {} boxes, but a view may have {} files "
                    "and {} boxes. A reader keeps each file open, and gets fill values without an error if it runs out "
                    "of file descriptors",
                    path, contents.size(), files, mappings, outline::views_sources_max, outline::views_mappings_max),
        "the snapshots",
        "make a view of each step, or set file = \"combined:16\" in the stream's configuration, so that nodes share "
        "files"};
}

/// For a view with a user-given name.
Result<> check_outside(sys::Store& store, std::span<const catalog::Snapshot> snapshots, const ViewOptions& options) {
    const auto description = outline::description_path(directory_of(snapshots.front().directory), options.description);
    return catalog::check_output(store, options.to, {&description, 1});
}

Result<> check_standing(sys::Store& store, const std::string& path, bool replace) {
    FB_TRY_ASSIGN(standing, catalog::what_stands(store, path));
    if (standing != catalog::Standing::other || replace) return {};
    return Error{
        ErrorKind::refused,
        fmt::format(
            "no view {} was made: the existing file is not marked as a Forebay view, so it may hold its own data",
            path),
        "the existing file, and the snapshots",
        "choose another name, or replace it with --force. Views by earlier versions have no mark"};
}

Error removed_meanwhile(const catalog::Snapshot& snapshot) {
    return {ErrorKind::missing, fmt::format("{} was removed meanwhile, by retention or prune", snapshot.directory),
            "all committed snapshots", "forebay ls, then the same command again"};
}

}  // namespace

Result<std::vector<outline::Contents>> gather_all(sys::Store& store, std::span<const catalog::Snapshot> snapshots,
                                                  const ViewOptions& options) {
    if (snapshots.empty()) return Error{ErrorKind::missing, "there is no committed snapshot to show."};
    FB_TRY_ASSIGN(description,
                  outline::load_description(store, directory_of(snapshots.front().directory), options.description));
    std::vector<outline::Contents> all;
    for (const auto& snapshot : snapshots) {
        auto contents = outline::gather(store, snapshot, options.missing);
        if (!contents) {
            // Retention may remove a snapshot while it is read: that is not damage.
            FB_TRY_ASSIGN(removed, catalog::is_removed(store, snapshot.directory, 0));
            return removed ? removed_meanwhile(snapshot) : contents.error();
        }
        FB_TRY(outline::describe(*contents, description));
        all.push_back(std::move(*contents));
    }
    std::ranges::sort(all, {}, [](const outline::Contents& contents) { return contents.manifest.step; });
    return all;
}

Result<View> make_view(sys::Store& store, std::span<const catalog::Snapshot> snapshots, const ViewOptions& options) {
    FB_TRY_ASSIGN(contents, gather_all(store, snapshots, options));
    const auto directory = directory_of(snapshots.front().directory);
    View view;
    // The name beside the snapshots belongs to the current line.
    if (options.to.empty() && !options.is_series && is_aside(snapshots.front()))
        return Error{
            ErrorKind::refused,
            fmt::format("{} is in an abandoned line, and its view has no name of its own", snapshots.front().directory),
            "", fmt::format("forebay view {} --to FILE", snapshots.front().directory)};
    view.path = !options.to.empty() ? options.to
                : options.is_series ? directory + "/" + catalog::series_name(options.convention)
                                    : directory + "/" + catalog::view_name(snapshots.front().step, options.convention);
    FB_TRY(check_sources(contents, view.path));
    const outline::Wish wish{.convention = options.convention,
                             .is_series = options.is_series,
                             .table = options.table,
                             .file_name = std::filesystem::path(view.path).filename().string()};
    FB_TRY_ASSIGN(outline, outline::outline_of(contents, wish));
    std::string prefix;
    if (!options.to.empty()) {
        FB_TRY(check_outside(store, snapshots, options));
        FB_TRY_ASSIGN(way, prefix_of(options.to, directory));
        prefix = way;
    }
    FB_TRY_ASSIGN(bytes, write_virtual(outline, contents, prefix, options.convention == Convention::plain));
    for (const auto& content : contents) {
        view.mappings += content.mapping_count;
        view.sources += content.files;
        view.missing.insert(view.missing.end(), content.missing.begin(), content.missing.end());
    }
    view.omitted = std::move(outline.omitted);
    FB_TRY(check_standing(store, view.path, options.replace));
    // Atomic: readers see the old view or the new view.
    FB_TRY(sys::write_text_durable(store, view.path, bytes));
    // Retention removes a snapshot and its views. A view named after that would show fill values for ever.
    for (const auto& snapshot : snapshots) {
        FB_TRY_ASSIGN(is_there, store.exists(snapshot.directory + "/" + catalog::manifest_name));
        if (is_there) continue;
        FB_TRY(store.remove(view.path));
        return removed_meanwhile(snapshot);
    }
    return view;
}

}  // namespace forebay::views
