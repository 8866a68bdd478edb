#include "path/catalog/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "core/base/try.hpp"
#include "core/format/json_text.hpp"
#include "core/format/packed.hpp"
#include "core/format/run_identity.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/machine.hpp"
#include "path/catalog/catalog.hpp"
#include "path/catalog/history.hpp"
#include "path/catalog/names.hpp"

namespace forebay::catalog {

namespace {

constexpr std::string_view new_end = ".new";

std::string text_of_identity(std::uint64_t id) {
    auto text = fmt::format(R"({{"forebay":"run","version":1,"id":"{}","made_unix_ns":{},"host":)", id_text(id),
                            sys::unix_ns());
    format::json::put_text(text, sys::host_name());
    return text + "}\n";
}

// Packers make the directory of a batch first and its manifest last, so a missing manifest is normal.
bool is_being_packed(const std::string& stream, const Version& version) {
    return format::is_packed_stream(stream) && version.readable.error().kind == ErrorKind::missing;
}

// The identity that most snapshots have; 0 if none. For a run without its identity file.
Result<std::uint64_t> identity_in_snapshots(sys::Store& store, const std::string& run) {
    FB_TRY_ASSIGN(names, streams(store, run));
    std::map<std::uint64_t, int> counts;  // somebody may have put a snapshot of another run here
    Result<> unread;
    for (const auto& stream : names) {
        FB_TRY_ASSIGN(heads, heads_of(store, run, stream));
        for (const auto& version : heads) {
            if (const auto id = version.head.lineage.run_id; id != 0) ++counts[id];
            // With a new identity, a snapshot that cannot be read now would count as a snapshot of another run. Damaged
            // manifests stay damaged.
            else if (!version.readable && version.readable.error().kind != ErrorKind::corrupt &&
                     !is_being_packed(stream, version))
                unread = version.readable;
        }
    }
    const auto most = std::ranges::max_element(counts, {}, [](const auto& entry) { return entry.second; });
    if (counts.empty()) FB_TRY(unread);
    return most == counts.end() ? 0 : most->first;
}

std::uint64_t new_identity() {
    for (;;)
        if (const auto id = sys::random_u64(); id != 0) return id;
}

// If a cut rename gave the directory its name already, both names stay. Returns true then.
Result<bool> is_renamed(sys::Store& store, const std::string& new_name) {
    FB_TRY_ASSIGN(name, sys::second_name(store, new_name, [](const sys::Entry& entry) { return entry.is_directory; }));
    return name.has_value();
}

Result<> remove_new_at(sys::Store& store, const std::string& new_name) {
    FB_TRY_ASSIGN(renamed, is_renamed(store, new_name));
    return renamed ? Result<>() : store.remove_tree(new_name);
}

}  // namespace

std::string name_of_new(std::uint64_t key) { return fmt::format(".{}{}", id_text(key), new_end); }

Result<> remove_new(sys::Store& store, const std::string& run) {
    for (const auto& directory : {run, fmt::format("{}/{}/sessions", run, own_directory)}) {
        const auto entries = store.list(directory);
        if (!entries && entries.error().kind == ErrorKind::missing) continue;
        if (!entries) return entries.error();
        for (const auto& entry : *entries)
            if (entry.is_directory && entry.name.size() == name_of_new(0).size() && entry.name.starts_with('.') &&
                entry.name.ends_with(new_end))
                FB_TRY(remove_new_at(store, directory + "/" + entry.name));
    }
    return {};
}

Result<std::uint64_t> identity_of(sys::Store& store, const std::string& run) {
    const auto directory = run + "/" + own_directory;
    const auto entries = store.list(directory);
    if (!entries && entries.error().kind == ErrorKind::missing) return std::uint64_t{0};
    if (!entries) return entries.error();
    std::uint64_t identity = 0;
    for (const auto& entry : *entries) {
        const auto id = format::identity_in(entry.name);
        if (!id) continue;
        if (identity != 0)
            return Error{ErrorKind::corrupt,
                         fmt::format("{} has two identities, {} and {}: two runs were put into one directory",
                                     directory, id_text(identity), id_text(*id)),
                         "all of their snapshots", "remove the run-*.json of one run"};
        identity = *id;
    }
    return identity;
}

Result<bool> has_own_directory(sys::Store& store, const std::string& run) {
    const auto entries = store.list(run + "/" + own_directory);
    if (!entries && entries.error().kind == ErrorKind::missing) return false;
    if (!entries) return entries.error();
    return std::ranges::any_of(*entries, [](const sys::Entry& entry) {
        if (entry.is_directory) return entry.name == "sessions";
        return format::identity_in(entry.name) || entry.name.starts_with("status-") ||
               entry.name.starts_with("timings-") || entry.name.starts_with("events-");
    });
}

// One rename gives the directory its name, with the identity in it. If two processes do this at once, one is too late.
Result<std::uint64_t> make_identity(sys::Store& store, const std::string& run) {
    FB_TRY(sys::make_directories_durable(store, run));
    FB_TRY_ASSIGN(there, identity_of(store, run));
    if (there != 0) return there;
    FB_TRY_ASSIGN(before, identity_in_snapshots(store, run));
    const auto id = before != 0 ? before : new_identity();
    const auto directory = run + "/" + own_directory;
    const auto new_name = run + "/" + name_of_new(sys::random_u64());
    const auto named = [&]() -> Result<> {
        FB_TRY(store.make_directory(new_name));
        FB_TRY(sys::write_text_durable(store, new_name + "/" + format::name_of_identity(id), text_of_identity(id)));
        return store.rename(new_name, directory);
    }();
    FB_TRY_ASSIGN(renamed, named ? Result<bool>(true) : is_renamed(store, new_name));
    if (!renamed) {
        // Return the first error. If the removal fails, recover removes the directory later.
        static_cast<void>(store.remove_tree(new_name));
        // `refused`: another process made the directory first, so its identity counts.
        if (named.error().kind != ErrorKind::refused) return named.error();
        FB_TRY_ASSIGN(theirs, identity_of(store, run));
        if (theirs != 0) return theirs;
        // Somebody removed only the identity.
        FB_TRY(sys::write_text_durable(store, directory + "/" + format::name_of_identity(id), text_of_identity(id)));
    }
    FB_TRY(store.sync_directory(run));
    return id;
}

Result<> check_identity(sys::Store& store, const std::string& run, std::uint64_t run_id) {
    if (run_id == 0) return {};
    FB_TRY_ASSIGN(is_it, store.exists(fmt::format("{}/{}/{}", run, own_directory, format::name_of_identity(run_id))));
    if (is_it) return {};
    FB_TRY_ASSIGN(exists, store.exists(run));
    if (!exists)
        return Error{
            ErrorKind::missing,
            fmt::format(
                "the run's directory {} does not exist: it was moved or removed, or its file system is not mounted.",
                run)};
    FB_TRY_ASSIGN(other, identity_of(store, run));
    // NFS may remember an absent name from before another client made it, so list the directory.
    if (other == run_id) return {};
    if (other == 0)
        return Error{ErrorKind::missing, fmt::format("{} is not the run {}: it has no identity. The run was moved or "
                                                     "removed, or its file system is not mounted.",
                                                     run, id_text(run_id))};
    return Error{ErrorKind::refused, fmt::format("{} holds another run now: its identity is {}, but {} is expected.",
                                                 run, id_text(other), id_text(run_id))};
}

}  // namespace forebay::catalog
