#include <fmt/format.h>

#include <algorithm>

#include "core/base/try.hpp"
#include "core/describe/schema.hpp"
#include "core/format/json_text.hpp"
#include "path/catalog/catalog.hpp"
#include "path/catalog/names.hpp"

namespace forebay::catalog {

namespace {

bool is_ours(const sys::Entry& entry) {
    return step_of(entry.name) || aside_of(entry.name) || (entry.is_directory && leftover_of(entry.name));
}

}  // namespace

Error leads_nowhere(const std::string& path) {
    return {ErrorKind::retry, fmt::format("{} is a link to a path that does not exist", path), "",
            "mount the file system of the link"};
}

// Uses the rules for stream names. A directory with any other name is not ours; its name may even hold line ends or
// terminal commands.
bool can_be_a_stream(const std::string& name) {
    return format::json::is_text(name) && check(Schema{.stream = name, .tables = {}, .variables = {}});
}

Result<std::vector<sys::Entry>> list_stream(sys::Store& store, const std::string& run, const std::string& stream) {
    const auto directory = run + "/" + stream;
    auto entries = store.list(directory);
    if (entries || entries.error().kind != ErrorKind::missing) return entries;
    FB_TRY_ASSIGN(is_named, store.exists(directory));
    if (is_named) {
        entries = store.list(directory);  // an agent may have made it between the two calls
        return entries || entries.error().kind != ErrorKind::missing ? entries : leads_nowhere(directory);
    }
    return Error{ErrorKind::missing,
                 fmt::format("run {} has no stream \"{}\": there is no directory {}", run, stream, directory), "",
                 fmt::format("forebay ls {}", run)};
}

Result<std::vector<std::string>> streams(sys::Store& store, const std::string& run) {
    auto entries = store.list(run);
    if (!entries && entries.error().kind == ErrorKind::missing) {
        // The error of a missing bucket has a next step, the error of a missing directory has none.
        const auto& error = entries.error();
        const auto why = error.next.empty() ? std::string("no such directory.") : error.what;
        return Error{ErrorKind::missing, fmt::format("there is no run {}: {}", run, why), "", error.next};
    }
    if (!entries) return entries.error();
    std::vector<std::string> names;
    for (const auto& entry : *entries) {
        if (!entry.is_directory || !can_be_a_stream(entry.name)) continue;
        FB_TRY_ASSIGN(inside, store.list(run + "/" + entry.name));
        if (std::ranges::any_of(inside, is_ours)) names.push_back(entry.name);
    }
    std::ranges::sort(names);
    return names;
}

Result<std::vector<Snapshot>> snapshots(sys::Store& store, const std::string& run, const std::string& stream) {
    FB_TRY_ASSIGN(entries, list_stream(store, run, stream));
    std::vector<Snapshot> snapshots;
    for (const auto& entry : entries) {
        const auto step = step_of(entry.name);
        if (!entry.is_directory || !step) continue;
        snapshots.push_back({stream, *step, fmt::format("{}/{}/{}", run, stream, entry.name)});
    }
    std::ranges::sort(snapshots, std::ranges::greater{}, &Snapshot::step);
    return snapshots;
}

Result<std::vector<Leftover>> leftovers(sys::Store& store, const std::string& run, const std::string& stream) {
    FB_TRY_ASSIGN(entries, list_stream(store, run, stream));
    std::vector<Leftover> leftovers;
    for (const auto& entry : entries) {
        const auto name = leftover_of(entry.name);
        if (!entry.is_directory || !name) continue;
        leftovers.push_back(
            {stream, name->step, name->snapshot_id, name->kind, fmt::format("{}/{}/{}", run, stream, entry.name)});
    }
    std::ranges::sort(leftovers, [](const Leftover& a, const Leftover& b) {
        return a.step != b.step ? a.step > b.step : a.directory < b.directory;
    });
    return leftovers;
}

}  // namespace forebay::catalog
