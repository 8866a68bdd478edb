// Finds the DAOS containers of paths and addresses. Source: the documents of DAOS (docs/user/filesystem.md) and
// daos_uns.h. A mount of dfuse has the kind fuse.daos, and the root of a container has the attribute user.daos.

#include <fmt/format.h>
#include <mntent.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "core/base/path.hpp"
#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "core/sys/daos_address.hpp"
#include "core/sys/environment.hpp"
#include "core/sys/process.hpp"
#include "core/sys/tree_place.hpp"

namespace forebay::sys {

namespace {

constexpr const char* preloaded_library = "libpil4dfs.so";
constexpr std::size_t link_bytes_max = 256;    // DUNS_MAX_XATTR_LEN is 170
constexpr std::chrono::seconds query_max{60};  // DAOS itself waits for servers that are away

std::optional<std::string> link_at(const std::string& path) {
    std::array<char, link_bytes_max> value;
    const auto bytes = ::getxattr(path.c_str(), daos_link_attribute, value.data(), value.size());
    if (bytes < 0) return {};
    return std::string(value.data(), static_cast<std::size_t>(bytes));
}

// The last mount first: it lies on top of earlier mounts.
std::vector<std::string> dfuse_mounts() {
    std::vector<std::string> places;
    FILE* const table = ::setmntent("/proc/self/mounts", "r");
    if (table == nullptr) return places;
    std::array<char, std::size_t{3} * PATH_MAX> text;
    struct mntent mount {};
    while (::getmntent_r(table, &mount, text.data(), static_cast<int>(text.size())) != nullptr)
        if (mount.mnt_type == dfuse_kind) places.insert(places.begin(), mount.mnt_dir);
    ::endmntent(table);
    return places;
}

// By its path, not by its file system: a preloaded library may answer in the kernel's place.
bool lies_below(const std::string& path, const std::vector<std::string>& mounts) {
    std::error_code failed;
    const auto full = std::filesystem::weakly_canonical(std::filesystem::absolute(path, failed), failed).string();
    return std::ranges::any_of(mounts,
                               [&](const auto& mount) { return full == mount || full.starts_with(mount + "/"); });
}

// The kernel does not know the descriptors of libpil4dfs, unless the library is set to be compatible.
Result<> check_preloaded(const std::string& path) {
    if (environment_value("LD_PRELOAD").find(preloaded_library) == std::string::npos) return {};
    const auto compatible = environment_value("D_IL_COMPATIBLE");
    if (compatible == "1" || compatible == "true" || !lies_below(path, dfuse_mounts())) return {};
    return Error{
        ErrorKind::unsupported,
        fmt::format(
            "the preloaded {} hides open files of {} from the kernel, so their names, attributes and holes are unknown",
            preloaded_library, show_text(path)),
        "nothing was changed",
        "unset LD_PRELOAD. If dfuse was started with --disable-caching, you can set D_IL_COMPATIBLE=1 instead"};
}

std::string lower(std::string text) {
    std::ranges::transform(text, text.begin(), [](char character) {
        return character >= 'A' && character <= 'Z' ? character - 'A' + 'a' : character;
    });
    return text;
}

// The text behind `"key":` in the output of the DAOS tools; empty if there is none.
std::string text_in(const std::string& json, const std::string& key) {
    auto at = json.find('"' + key + '"');
    if (at == json.npos) return {};
    at = json.find('"', json.find(':', at));
    return at == json.npos ? "" : json.substr(at + 1, json.find('"', at + 1) - at - 1);
}

// dfuse shows only UUIDs. To find the UUIDs of labels, the program of DAOS asks the servers.
Result<DaosPlace> with_uuids(const DaosPlace& place) {
    DaosPlace resolved = place;
    if (!is_uuid(place.pool) || !is_uuid(place.container)) {
        const auto output = output_of({"daos", "--json", "container", "query", place.pool, place.container}, query_max);
        if (output) {
            resolved.pool = text_in(*output, "pool_uuid");
            resolved.container = text_in(*output, "container_uuid");
        }
        if (!output || !is_uuid(resolved.pool) || !is_uuid(resolved.container))
            return Error{output || output.error().kind != ErrorKind::retry ? ErrorKind::unsupported : ErrorKind::retry,
                         fmt::format("{}: the UUIDs of these labels are unknown: {}", show_text(place.address()),
                                     output ? "daos container query does not print them" : output.error().what),
                         "", "give the path of its mount, or pool and container by their UUIDs"};
    }
    // UUIDs are compared as texts, and users may write them in capital letters.
    resolved.pool = lower(resolved.pool);
    resolved.container = lower(resolved.container);
    return resolved;
}

bool shows(const std::string& path, const DaosPlace& wanted) {
    const auto value = link_at(path);
    if (!value) return false;
    const auto place = daos_place_of_link(*value);
    return place && lower(place->pool) == wanted.pool && lower(place->container) == wanted.container;
}

// A mount shows one container, the containers of a pool below their UUIDs, or the containers of all pools below both
// UUIDs.
Result<std::optional<std::string>> shown_at(const DaosPlace& place) {
    const auto mounts = dfuse_mounts();
    if (mounts.empty()) return std::optional<std::string>();
    FB_TRY_ASSIGN(wanted, with_uuids(place));
    for (const auto& mount : mounts)
        for (const auto& path :
             {mount, mount + "/" + wanted.container, mount + "/" + wanted.pool + "/" + wanted.container})
            if (shows(path, wanted)) return std::optional(path);
    return std::optional<std::string>();
}

// Searches this process's library paths, then the places of a DAOS installation.
std::string preloadable() {
    auto places =
        environment_value("LD_LIBRARY_PATH") + ":/usr/lib64:/usr/lib/x86_64-linux-gnu:/usr/lib:/opt/daos/lib64";
    while (!places.empty()) {
        const auto end = places.find(':');
        const auto file = places.substr(0, end) + "/" + preloaded_library;
        if (end != 0 && std::filesystem::exists(file)) return file;
        places.erase(0, end == places.npos ? end : end + 1);
    }
    return {};
}

Result<FoundTree> reach(const DaosPlace& place) {
    if (has_module_for(daos_scheme)) return FoundTree{.place = place.address(), .note = ""};
    FB_TRY_ASSIGN(shown, shown_at(place));
    if (!shown)
        return Error{
            ErrorKind::unsupported,
            fmt::format("{}: dfuse does not show this container here, and this forebay was built without libdfs",
                        show_text(place.address())),
            "nothing was changed",
            fmt::format("mkdir DIR && dfuse --mountpoint DIR --pool {} --container {}; afterwards "
                        "fusermount3 -u DIR",
                        place.pool, place.container)};
    FoundTree tree{.place = *shown + place.path, .note = ""};
    FB_TRY(check_preloaded(tree.place));
    tree.note = fmt::format("{} is {} here, by dfuse", place.address(), tree.place);
    const auto library = preloadable();
    if (!library.empty() && environment_value("LD_PRELOAD").find(preloaded_library) == std::string::npos)
        tree.note += fmt::format(
            "; to bypass it for data, set D_IL_COMPATIBLE=1 LD_PRELOAD={}, if dfuse runs with --disable-caching",
            library);
    return tree;
}

}  // namespace

Result<FoundTree> find_tree(const std::string& named) {
    if (named.starts_with(daos_scheme)) {
        FB_TRY_ASSIGN(place, daos_place_from(named));
        return reach(place);
    }
    const FoundTree as_named{.place = named, .note = ""};
    if (is_far(named)) return as_named;
    FB_TRY(check_preloaded(named));
    auto at = named.substr(0, named.find_last_not_of('/') + 1);
    std::string below;
    // Goes up to the nearest path that exists. The missing parts lie in its container.
    for (struct stat about{}; ::stat(at.c_str(), &about) != 0; at = directory_of(at)) {
        const auto name = leaf_of(at);
        if (errno != ENOENT || name.empty() || name == "." || name == "..") return as_named;
        below = "/" + name + below;
    }
    const auto value = link_at(at);
    if (!value || lies_below(at, dfuse_mounts())) return as_named;
    auto place = daos_place_of_link(*value);
    if (!place) return with_context(place.error(), show_text(at) + ": " + place.error().what);
    place->path = below;
    return reach(*place);
}

}  // namespace forebay::sys
