// One process of a group of workers that share one tree, on one or more hosts. Each process walks its part with its own
// threads. An idle process asks the coordinator for work and gets queued work of another process: whole directories,
// names of a large directory, pieces of a large file. The sender's node waits until the item is done, so the process
// that entered a directory also finishes it.
//
// Life: made -> start() holds the share open -> hear() for each message -> over() -> the share's run() returns
// Threads: hear() is called by one thread, the rest by any.

#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "transfer/team/team_message.hpp"
#include "transfer/walk/dir_node.hpp"
#include "transfer/walk/name_batch.hpp"
#include "transfer/walk/work_share.hpp"

namespace forebay::tree {

/// A file that other processes may copy in pieces.
class PiecewiseFile {
public:
    PiecewiseFile() = default;
    PiecewiseFile(const PiecewiseFile&) = delete;
    PiecewiseFile& operator=(const PiecewiseFile&) = delete;
    virtual ~PiecewiseFile() = default;
    /// Adds what another process needs to copy these bytes.
    virtual void describe(TeamMessage& work_item, sys::ByteStretch bytes) const = 0;
    /// Another process copied these bytes. `parts` is the result of its OpenFile::written_parts().
    virtual void done_by_other(TreeWorker& worker, sys::ByteStretch bytes, const std::string& parts) = 0;
};

/// The verb's handlers for work from other processes. Unused handlers are empty.
struct TeamWork {
    WorkShare& share;
    OpenFolders& folders;
    DirNodeRef root;
    bool on_source = true, on_target = true;
    bool may_lack_target = false;  // true in a dry run
    bool makes_target = false;     // a target directory exists as soon as a process has entered it
    /// `enter`: a directory listed by another process, with all below it. `batch`: names of a directory. Both end with
    /// done().
    std::function<void(TreeWorker&, const DirNodeRef&)> enter{};
    std::function<void(TreeWorker&, const DirNodeRef&, const NameBatch&)> batch{};
    /// Copies a piece of a file. The result goes to done_by_other().
    std::function<Result<std::string>(TreeWorker&, const DirNodeRef&, const TeamMessage&)> file{};
    std::function<void(const DirNodeRef&)> done{};
    /// Adds the results of a received item to its report; takes them from the report of a sent item.
    std::function<void(const DirNodeRef&, TeamMessage&)> tell_found{};
    std::function<void(const DirNodeRef&, const TeamMessage&)> take_found{};
    /// Counts of this process so far: entries and bytes first.
    std::function<std::vector<std::uint64_t>()> counts{};
    /// Called when threads are idle, for work that waits for such a moment.
    std::function<void()> idle{};
    /// Gets messages that only the verb understands.
    std::function<void(const TeamMessage&)> hear{};
};

class Team {
public:
    /// `say` sends messages to the coordinator, in order. Threads: any.
    Team(std::uint64_t process, std::function<void(TeamMessage)> say) : process_(process), say_(std::move(say)) {}

    void start(TeamWork work);
    void hear(const TeamMessage& message);
    void say(TeamMessage message) { say_(std::move(message)); }
    /// All work is done, or `stops` ends it early. Only the first call counts.
    void over(bool stops);
    /// Call it when done() has finished the root of this process.
    void root_done();
    /// Includes the time. Beats of the coordinator send it back.
    void say_counts(TeamKind kind);

    /// The coordinator is 0.
    std::uint64_t process() const { return process_; }
    /// A directory by its path, "" for the root. Some process must have entered it. It is never finished here.
    Result<DirNodeRef> folder_at(const std::string& path);

private:
    void give(const TeamMessage& steal_request);
    TeamMessage work_item_of(const Offer& offer) const;
    void take(const TeamMessage& work_item);
    void do_work_item(TreeWorker& worker, const TeamMessage& work_item);
    Result<> try_work_item(TreeWorker& worker, const TeamMessage& work_item);
    Result<DirNodeRef> part_of(const TeamMessage& work_item);
    Result<DirNodeRef> open_below(const DirNodeRef& above, const std::string& name);
    void say_done(const TeamMessage& work_item, const DirNodeRef& part, bool failed, const std::string& parts = {});
    void end_given(const TeamMessage& done);

    const std::uint64_t process_;
    const std::function<void(TeamMessage)> say_;
    std::unique_ptr<TeamWork> work_;
    std::atomic<bool> has_asked_{false}, is_over_{false};
    std::mutex mutex_;  // guards the members below
    std::map<std::uint64_t, WorkShare::Offered> given_;
    std::uint64_t next_number_ = 1;
    std::mutex chain_mutex_;
    std::vector<DirNodeRef> chain_;  // directories from the root to the last requested directory
};

/// Path of the directory in messages.
std::string team_path(const DirNode& dir_node);

/// The id of an inode on all hosts: device numbers differ by host. A mounted file system is identified by its mount
/// point. `dir_node` is the directory of the entry.
sys::EntryId team_id(const DirNode& dir_node, TreeSide side, const sys::EntryId& id);

}  // namespace forebay::tree
