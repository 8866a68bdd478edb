// What the first process of a team tells each member to do: the verb, the trees, all options. One message.

#pragma once

#include <algorithm>

#include "transfer/copy/copy.hpp"
#include "transfer/team/team_message.hpp"

namespace forebay::tree {

enum class TeamVerb : std::uint64_t { walk, copy, compare, remove };

/// By what a member sees whether it has the same directory before it.
struct TeamRoot {
    TeamRoot() = default;
    TeamRoot(std::uint64_t inode, sys::FileTime time, std::string below)
        : number(inode), modified(time), mounts(std::move(below)) {}
    std::uint64_t number = 0;  // of its inode
    sys::FileTime modified;
    std::string mounts;  // below it, with the inodes that are seen there: mounts_from() reads them
};

struct TeamOrder {
    TeamVerb verb = TeamVerb::walk;
    std::uint64_t process = 0;    // of the member
    std::uint64_t processes = 1;  // the first one among them
    std::uint64_t threads = 0;    // 0: as many as its host has cores
    std::uint64_t timeout_seconds = 0;
    std::uint64_t user = 0, group = 0, umask = 0;
    std::string source, target;  // absolute; for walk and remove the source alone
    TeamRoot source_root, target_root;
    std::string probe;  // a name that lies in the target, or ""
    std::string temporary_prefix;
    std::string settings;  // of sys::told_settings()

    /// What the verb is to do, of other verbs the options that these have too. What of it is a process's own, such as
    /// its threads and its list of paths, is not told.
    TreeCopyOptions options{};
    bool has_list = false;  // of paths: a member asks for it, see ask_for_list()
    bool reads_bytes = false, lists = false, sums = false, lacks_target = false;
    bool tells_births = false;  // the source: when inodes were made
    Recorded recorded = Recorded::nothing;

    /// A member's part of the limit, until it is told another one. 0: no limit.
    std::uint64_t first_rate() const {
        const auto all = options.rate_bytes_per_second;
        return all == 0 || processes == 0 ? all : std::max<std::uint64_t>(all / processes, 1);
    }
};

TeamMessage message_of(const TeamOrder& order);
/// `corrupt` for a message that is no order.
Result<TeamOrder> order_from(const TeamMessage& message);

/// A path or an address as it means the same to all members.
std::string team_place(const std::string& place);
/// The root that a folder is, which lies at `place`. Of a bucket: which one of which server; a folder there need not
/// have a time.
Result<TeamRoot> team_root(sys::Folder& folder, const std::string& place);
/// "12 fields" and a zero byte for each mount, by its inode: devices have other numbers on other hosts.
std::string mounts_text(const std::vector<sys::MountBelow>& mounts);
std::vector<sys::MountBelow> mounts_from(std::string_view text);
/// Where requests wait for a server all processes have as many threads as the first one; 0: as many as each has cores.
std::uint64_t team_threads(std::initializer_list<std::string_view> places, std::uint64_t threads);

}  // namespace forebay::tree
