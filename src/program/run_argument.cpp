#include "program/run_argument.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <vector>

#include "core/base/path.hpp"
#include "core/base/try.hpp"
#include "core/sys/far_module.hpp"
#include "core/sys/lock.hpp"
#include "path/catalog/catalog.hpp"
#include "path/catalog/names.hpp"
#include "path/catalog/run.hpp"
#include "path/node/staging.hpp"
#include "path/node/watch.hpp"

namespace forebay::cli {

namespace {

namespace fs = std::filesystem;

// RUN/STREAM/step-000120/FILE is the deepest place that a user names.
constexpr int levels_above_max = 4;
constexpr std::size_t below_named_max = 4, below_looked_at_max = 256, streams_looked_at_max = 64;

std::string without_end_slash(std::string path) {
    while (path.size() > 1 && path.ends_with('/')) path.pop_back();
    return path;
}

Error no_run(const std::string& path, const std::string& why, const std::string& next) {
    return {ErrorKind::missing, fmt::format("there is no run {}: {}", path, why), "", next};
}

// Only for advice: a directory that cannot be opened counts as no run.
bool has_own_directory(sys::Store& store, const std::string& path) {
    const auto has_own = catalog::has_own_directory(store, path);
    return has_own && *has_own;
}

// The same for a run without the directory `forebay`. A directory with many entries is not searched.
bool has_stream(sys::Store& store, const std::string& path) {
    const auto entries = store.list(path);
    if (!entries || entries->size() > streams_looked_at_max) return false;
    return std::ranges::any_of(*entries, [&](const sys::Entry& entry) {
        if (!entry.is_directory) return false;
        const auto inside = store.list(path + "/" + entry.name);
        return inside && is_stream(*inside);
    });
}

bool is_known_run(sys::Store& store, const std::string& path) {
    return has_own_directory(store, path) || has_stream(store, path);
}

// The parent of `path`, in the user's spelling if possible.
std::optional<std::string> directory_above(const std::string& path) {
    if (sys::is_far(path)) {
        const auto directory = directory_of(path);
        if (sys::is_whole_store(path) || !sys::is_far(directory)) return std::nullopt;
        return directory;
    }
    const fs::path given(path);
    if (path == "/") return std::nullopt;
    if (given.has_parent_path() && given.filename() != "." && given.filename() != "..") return directory_of(path);
    const auto whole = sys::whole_place(path);
    if (!whole || *whole == "/") return std::nullopt;
    return directory_of(*whole);
}

std::optional<std::string> run_above(sys::Store& store, const std::string& path) {
    // For RUN@STEP, given to a verb that takes a whole run.
    const auto at = path.rfind('@');
    if (at != std::string::npos && is_known_run(store, path.substr(0, at))) return path.substr(0, at);
    auto directory = directory_above(path);
    for (int i = 0; directory && i < levels_above_max; ++i) {
        if (is_known_run(store, *directory)) return directory;
        directory = directory_above(*directory);
    }
    return std::nullopt;
}

std::vector<std::string> runs_in(sys::Store& store, const std::string& path, const std::vector<sys::Entry>& entries) {
    std::vector<std::string> runs;
    std::size_t looked_at = 0;
    for (const auto& entry : entries) {
        if (!entry.is_directory) continue;
        if (looked_at++ == below_looked_at_max || runs.size() == below_named_max) break;
        auto below = path.ends_with('/') ? path + entry.name : path + "/" + entry.name;
        if (has_own_directory(store, below)) runs.push_back(std::move(below));
    }
    return runs;
}

std::string next_for(const std::string& run) { return fmt::format("give the run {}", run); }

constexpr const char* any_run = "give the directory of a run, which holds the directory forebay";
// If the file system is not mounted, a run's place is empty or missing.
constexpr const char* any_run_or_mount =
    "give the directory of a run, which holds the directory forebay. Or mount the file system of this run";

Error nothing_is_there(sys::Store& store, const std::string& path) {
    const auto run = run_above(store, path);
    if (run && *run == directory_above(path))
        return no_run(path, "no such directory.",
                      fmt::format("forebay ls {} shows the streams of the run {}", *run, *run));
    return no_run(path, "no such directory.", run ? next_for(*run) : any_run_or_mount);
}

/// `closed` is the error of a directory in it that could not be read.
Error directory_is_no_run(sys::Store& store, const std::string& path, const std::string& closed) {
    const auto entries = store.list(path);
    if (!entries) return entries.error();
    const auto run = is_stream(*entries) ? directory_above(path) : run_above(store, path);
    if (run) return no_run(path, fmt::format("the directory lies in the run {}.", *run), next_for(*run));
    if (entries->empty()) return no_run(path, "the directory is empty.", any_run_or_mount);
    const auto runs = runs_in(store, path, *entries);
    if (!runs.empty())
        return no_run(
            path, "the directory holds runs, but is not a run.",
            runs.size() == 1 ? next_for(runs.front()) : fmt::format("give one of its runs: {}", fmt::join(runs, ", ")));
    if (!closed.empty())
        return {ErrorKind::refused,
                fmt::format("{} has no directory forebay of a run, and some of its directories cannot be read: {}",
                            path, closed),
                "", "give the directory of a run, or repair the permissions here (ls -l)"};
    return no_run(path, "the directory has no stream, and no directory forebay of a run.", any_run);
}

// Nothing if `path` is no file and lies in no file.
std::optional<Error> about_file(sys::Store& store, const std::string& path) {
    if (sys::is_far(path)) return std::nullopt;  // find_run() asks the store
    std::error_code error;
    const auto status = fs::status(path, error);
    if (fs::exists(status) && !fs::is_directory(status)) return file_is_no_run(store, path);
    if (status.type() != fs::file_type::not_found || error != std::errc::not_a_directory) return std::nullopt;
    return nothing_is_there(store, path);
}

}  // namespace

Result<std::string> RunArgument::whole() const { return sys::whole_place(path); }

bool is_stream(const std::vector<sys::Entry>& entries) {
    return std::ranges::any_of(entries, [](const sys::Entry& entry) {
        return (entry.is_directory &&
                (catalog::step_of(entry.name) || catalog::aside_of(entry.name) || catalog::leftover_of(entry.name))) ||
               catalog::start_of(entry.name) || catalog::dropped_of(entry.name);
    });
}

Error file_is_no_run(sys::Store& store, const std::string& path) {
    const auto run = run_above(store, path);
    return no_run(path, "it is a file.", run ? next_for(*run) : any_run);
}

Result<RunArgument> find_run(sys::Store& store, const std::string& text) {
    const auto path = without_end_slash(text);
    FB_TRY(sys::whole_place(path));  // refuses "gs://bucket/x"
    if (const auto file = about_file(store, path)) return *file;
    FB_TRY_ASSIGN(has_own, catalog::has_own_directory(store, path));
    if (has_own) return RunArgument{path};
    const auto streams = catalog::streams(store, path);
    if (streams && !streams->empty()) return RunArgument{path};
    if (streams) return directory_is_no_run(store, path, "");
    const auto& error = streams.error();
    if (error.kind == ErrorKind::missing) {
        if (!error.next.empty()) return error;  // for a missing bucket
        FB_TRY_ASSIGN(is_named, store.exists(path));
        if (!is_named) return nothing_is_there(store, path);
        if (store.list(path)) return find_run(store, text);  // a session made it between the two calls
        return sys::is_far(path) ? file_is_no_run(store, path) : catalog::leads_nowhere(path);
    }
    // It may be a stream, or another user's directory.
    if (error.kind == ErrorKind::refused && store.list(path)) return directory_is_no_run(store, path, error.what);
    return error;
}

Result<RunArgument> find_run_of_stream(sys::Store& store, const std::string& text) {
    auto run = find_run(store, text);
    if (run || run.error().kind != ErrorKind::missing) return run;
    const auto path = without_end_slash(text);
    FB_TRY_ASSIGN(is_named, store.exists(path));
    const auto directory = directory_above(path);
    if (is_named || !directory) return run;
    FB_TRY_ASSIGN(match, find_run(store, *directory));
    FB_TRY(catalog::list_stream(store, match.path, leaf_of(path)));  // reports that the stream is missing
    return match;
}

Result<RunArgument> run_to_make(sys::Store& store, const std::string& text) {
    const auto path = without_end_slash(text);
    if (const auto file = about_file(store, path)) return *file;
    return RunArgument{path};
}

Error with_staged(Error error, const std::string& staging, const std::string& text) {
    const auto whole = sys::whole_place(without_end_slash(text));
    if (error.kind != ErrorKind::missing || !whole) return error;
    auto directories = node::staging_directories_of(staging, *whole);
    if (!directories) return error;
    std::erase_if(*directories, [](const std::string& directory) {
        return sys::lock_is_held(node::application_lock_path(directory)) ||
               sys::lock_is_held(node::agent_lock_path(directory)) || !node::may_hold_uncommitted(directory);
    });
    if (directories->empty()) return error;
    error.safe =
        fmt::format("the staged copies on this node for a run of that path, in {}", fmt::join(*directories, ", "));
    error.next = fmt::format("forebay drain {} --into NEW-RUN keeps it, --drop removes it", directories->front());
    return error;
}

}  // namespace forebay::cli
