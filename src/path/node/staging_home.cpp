// Finds staging directories by place and name: this user's home, a run's directory in it, and all directories.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/base/bytes.hpp"
#include "core/base/crc32c.hpp"
#include "core/base/limits.hpp"
#include "core/base/path.hpp"
#include "core/base/try.hpp"
#include "core/sys/machine.hpp"
#include "core/sys/private_file.hpp"
#include "core/sys/store.hpp"
#include "path/node/staging.hpp"

namespace forebay::node {

namespace {

std::string base_of(const std::string& base) { return base.empty() ? "/dev/shm" : base; }

std::string home_name() { return fmt::format("forebay-{}", sys::user_id()); }

// Private directories of this user below `base`: forebay-UID, and forebay-UID.NUMBER if somebody else took the first
// name.
Result<std::vector<std::string>> homes(const std::string& base) {
    std::vector<std::string> homes;
    auto entries = sys::posix_store().list(base);
    if (!entries && entries.error().kind == ErrorKind::missing) return homes;
    if (!entries) return entries.error();
    for (const auto& entry : *entries) {
        const bool named = entry.name == home_name() || entry.name.starts_with(home_name() + ".");
        // make_private_directory() accepts an existing directory only if it is this user's and closed to others.
        if (named && entry.is_directory && sys::make_private_directory(base + "/" + entry.name))
            homes.push_back(base + "/" + entry.name);
    }
    return homes;
}

// The second name is random, so nobody can take it before.
Result<std::string> make_home(const std::string& base) {
    FB_TRY_ASSIGN(there, homes(base));
    if (!there.empty()) return there.front();
    auto home = base + "/" + home_name();
    auto directory = sys::make_private_directory(home);
    if (!directory && directory.error().kind == ErrorKind::refused) {
        home += fmt::format(".{:016x}", sys::random_u64());
        directory = sys::make_private_directory(home);
    }
    if (directory) return home;
    if (directory.error().kind != ErrorKind::missing) return directory.error();
    return Error{ErrorKind::missing, fmt::format("nothing can be staged: {} does not exist", base), "",
                 "create it, or set staging to another node-local directory"};
}

// The begin of the names of a run's staging directories, up to the run's identity.
std::string directory_prefix(const std::string& run) {
    const auto slash = run.find_last_of('/');
    const auto name = run.substr(slash == std::string::npos ? 0 : slash + 1).substr(0, 64);
    return fmt::format("{}-{:08x}-", name.empty() ? "run" : name, crc32c(bytes_of(run)));
}

bool belongs_to(const std::string& directory, const std::string& run) {
    const auto path = session_path(directory);
    const auto text = sys::read_text(sys::posix_store(), path, limits::session_bytes_max);
    const auto session = text ? decode_session(*text, path) : Result<SessionFile>(text.error());
    // A session killed at its begin leaves no session.json; the name decides.
    if (!session) return leaf_of(directory).starts_with(directory_prefix(run));
    std::error_code unequal;  // one of the two does not exist
    return session->run == run || std::filesystem::equivalent(session->run, run, unequal);
}

}  // namespace

std::string virtual_index_of(const std::string& directory) {
    const auto name = directory.substr(directory.rfind('/') + 1);
    const auto dash = name.rfind('-');
    return dash == std::string::npos ? "0" : name.substr(dash + 1);
}

Result<std::string> staging_home(const std::string& base) { return make_home(base_of(base)); }

Result<std::string> staging_directory(const std::string& base, const std::string& run, std::uint64_t run_id,
                                      std::uint32_t virtual_index) {
    FB_TRY_ASSIGN(home, make_home(base_of(base)));
    return fmt::format("{}/{}{:016x}-{}", home, directory_prefix(run), run_id, virtual_index);
}

Result<std::vector<std::string>> staging_directories(const std::string& base) {
    std::vector<std::string> directories;
    FB_TRY_ASSIGN(there, homes(base_of(base)));
    for (const auto& home : there) {
        const auto entries = sys::posix_store().list(home);
        if (!entries) return not_usable(home, entries.error());
        for (const auto& entry : *entries)
            if (entry.is_directory) directories.push_back(home + "/" + entry.name);
    }
    return directories;
}

Result<std::vector<std::string>> staging_directories_of(const std::string& base, const std::string& run) {
    FB_TRY_ASSIGN(directories, staging_directories(base));
    std::erase_if(directories, [&](const std::string& directory) { return !belongs_to(directory, run); });
    std::ranges::sort(directories);
    return directories;
}

}  // namespace forebay::node
