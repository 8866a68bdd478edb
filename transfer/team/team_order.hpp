// The order of the coordinator to a worker: the verb, the trees, all options. One message.

#pragma once

#include <algorithm>

#include "transfer/copy/copy.hpp"
#include "transfer/team/team_message.hpp"

namespace forebay::tree {

enum class TeamVerb : std::uint64_t { walk, copy, compare, remove };

/// Identifies a root, so that a worker can check that it sees the same directory.
struct TeamRoot {
    TeamRoot() = default;
    TeamRoot(std::uint64_t inode, sys::FileTime time, std::string below)
        : number(inode), modified(time), mounts(std::move(below)) {}
    std::uint64_t number = 0;  // of its inode
    sys::FileTime modified;
    std::string mounts;  // mounts below it with the inodes seen there; mounts_from() reads them
};

struct TeamOrder {
    TeamVerb verb = TeamVerb::walk;
    std::uint64_t process = 0;    // number of the worker
    std::uint64_t processes = 1;  // with the coordinator
    std::uint64_t threads = 0;    // 0: one for each core of its host
    std::uint64_t timeout_seconds = 0;
    std::uint64_t user = 0, group = 0, umask = 0;
    std::string source, target;  // absolute; walk and remove use only the source
    TeamRoot source_root, target_root;
    std::string probe;  // a name in the target, or ""
    std::string temporary_prefix;
    std::string settings;  // of sys::told_settings()

    /// Options of the verb. Options of one process, such as its threads and its list of paths, are not sent.
    TreeCopyOptions options{};
    bool has_list = false;  // has a list of paths, read with ask_for_list()
    bool reads_bytes = false, lists = false, sums = false, lacks_target = false;
    bool tells_births = false;  // the source has creation times of inodes
    Recorded recorded = Recorded::nothing;

    /// A worker's share of the limit until the first beat, in bytes/s. 0: no limit.
    std::uint64_t first_rate() const {
        const auto all = options.rate_bytes_per_second;
        return all == 0 || processes == 0 ? all : std::max<std::uint64_t>(all / processes, 1);
    }
};

TeamMessage message_of(const TeamOrder& order);
/// Returns `corrupt` for an invalid message.
Result<TeamOrder> order_from(const TeamMessage& message);

/// A path or an address with the same meaning in all processes.
std::string team_place(const std::string& place);
/// The root of a directory at `place`. For a bucket: its server and name, without a time, since a directory there may
/// have none.
Result<TeamRoot> team_root(sys::Folder& folder, const std::string& place);
/// For each mount "12 fields" and a zero byte: its inode and path. Device numbers differ by host.
std::string mounts_text(const std::vector<sys::MountBelow>& mounts);
std::vector<sys::MountBelow> mounts_from(std::string_view text);
/// If requests wait for a server, all processes use `threads`. Otherwise 0: one for each core.
std::uint64_t team_threads(std::initializer_list<std::string_view> places, std::uint64_t threads);

}  // namespace forebay::tree
