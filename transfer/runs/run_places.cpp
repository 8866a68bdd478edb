#include "transfer/runs/run_places.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "core/sys/store.hpp"
#include "core/sys/target_store.hpp"
#include "core/sys/tree.hpp"
#include "core/sys/tree_place.hpp"
#include "path/catalog/history.hpp"
#include "path/catalog/names.hpp"
#include "path/catalog/run.hpp"

namespace forebay::cli {

namespace {

// Places of one run are checked in the other run, too: a link there may lead to an unmounted disk.
Result<std::set<std::string>> places_of(const std::string& source, const std::string& target) {
    auto& store = sys::target_store();
    std::set<std::string> places{catalog::own_directory};
    for (const auto& run : {source, target}) {
        const auto streams = catalog::streams(store, run);
        if (!streams && streams.error().kind == ErrorKind::missing) continue;
        FB_TRY(streams);
        for (const auto& stream : *streams) {
            places.insert(stream);
            FB_TRY_ASSIGN(entries, catalog::list_stream(store, run, stream));
            for (const auto& entry : entries)
                if (entry.is_directory && (catalog::step_of(entry.name) || catalog::aside_of(entry.name)))
                    places.insert(stream + "/" + entry.name);
        }
    }
    return places;
}

// The mount may hold another run: nothing in it may be removed, and no file of this run may go there.
Result<> check_no_mounts(const std::string& target, const std::set<std::string>& places) {
    if (sys::is_far(target)) return {};
    const auto folder = sys::open_tree(target);
    if (!folder && folder.error().kind == ErrorKind::missing) return {};
    FB_TRY(folder);
    FB_TRY_ASSIGN(mounts, (*folder)->mounts_below());
    for (const auto& mount : mounts)
        if (places.contains(mount.path.substr(0, mount.path.find('/'))))
            return Error{ErrorKind::refused,
                         fmt::format("{} is a mount point, and a copy of a run changes no mounted file system",
                                     show_text(target + "/" + mount.path)),
                         "nothing was changed", "unmount it. Or give --as-files, which also copies into mounts"};
    return {};
}

}  // namespace

Result<> check_run_places(const std::string& source, const std::string& target) {
    FB_TRY_ASSIGN(places, places_of(source, target));
    std::error_code none;
    for (const auto& run : {source, target})
        for (const auto& place : places)
            if (const auto path = run + "/" + place; !sys::is_far(run) && std::filesystem::is_symlink(path, none))
                return Error{
                    ErrorKind::refused,
                    fmt::format("{} is a symbolic link, and a copy of a run follows no links", show_text(path)),
                    "nothing was changed",
                    "move the linked data to its place. Or give --as-files, which copies links as links"};
    return check_no_mounts(target, places);
}

}  // namespace forebay::cli
