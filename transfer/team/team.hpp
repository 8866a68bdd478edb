// One process of a team: several processes, on this host or others, that share the work on one tree. Each goes down its
// part with its own threads; one that has nothing asks the first process, and gets what another one has waiting: whole
// folders, names of a large folder, pieces of a large file. Who gives something away keeps its branch waiting until the
// other says that all of it is done, so that a folder is finished by the process that has entered it.
//
// Life:    made -> start(), which holds the share open -> hear() what comes -> over() -> the share's run() returns
// Threads: hear() is called by one thread, all else by any.

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

/// A file of which other processes may copy pieces.
class PiecewiseFile {
public:
    PiecewiseFile() = default;
    PiecewiseFile(const PiecewiseFile&) = delete;
    PiecewiseFile& operator=(const PiecewiseFile&) = delete;
    virtual ~PiecewiseFile() = default;
    /// What another process must know of it, to copy these bytes.
    virtual void describe(TeamMessage& work_item, sys::ByteStretch bytes) const = 0;
    /// Another process has copied these bytes; `parts` is what its OpenFile::written_parts() said.
    virtual void done_by_other(TreeWorker& worker, sys::ByteStretch bytes, const std::string& parts) = 0;
};

/// What a verb does with what comes from other processes; what it has no use for is empty.
struct TeamWork {
    WorkShare& share;
    OpenFolders& folders;
    DirNodeRef root;
    bool on_source = true, on_target = true;
    bool may_lack_target = false;  // in a dry run
    bool makes_target = false;     // folders of the target are there as soon as a process has entered them
    /// A folder that another process has listed, and what lies in it; ends with done() of it.
    std::function<void(TreeWorker&, const DirNodeRef&)> enter{};
    std::function<void(TreeWorker&, const DirNodeRef&, const NameBatch&)> batch{};
    /// A piece of a file; for done_by_other().
    std::function<Result<std::string>(TreeWorker&, const DirNodeRef&, const TeamMessage&)> file{};
    std::function<void(const DirNodeRef&)> done{};
    /// What was found in a part that was given, for the one that gave it.
    std::function<void(const DirNodeRef&, TeamMessage&)> tell_found{};
    std::function<void(const DirNodeRef&, const TeamMessage&)> take_found{};
    /// Of this process so far: entries and bytes first.
    std::function<std::vector<std::uint64_t>()> counts{};
    /// Work of its own that waits for such a moment: threads have nothing to do.
    std::function<void()> idle{};
    /// Messages that the verb alone understands.
    std::function<void(const TeamMessage&)> hear{};
};

class Team {
public:
    /// `say` brings messages to the first process, in order; any thread may call it.
    Team(std::uint64_t process, std::function<void(TeamMessage)> say) : process_(process), say_(std::move(say)) {}

    void start(TeamWork work);
    void hear(const TeamMessage& message);
    void say(TeamMessage message) { say_(std::move(message)); }
    /// All is done, or nothing more is to be done. Once.
    void over(bool stops);
    /// To be called where done() has finished the root of this process.
    void root_done();
    /// With this moment, as beats of the first process tell it back.
    void say_counts(TeamKind kind);

    /// 0 is the first process.
    std::uint64_t process() const { return process_; }
    /// A folder by its path, "" for the root, that some process has entered. It is never finished here.
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
    std::mutex mutex_;  // guards what follows
    std::map<std::uint64_t, WorkShare::Offered> given_;
    std::uint64_t next_number_ = 1;
    std::mutex chain_mutex_;
    std::vector<DirNodeRef> chain_;  // folders from the root to the one that was asked for last
};

/// Of a path as messages have it.
std::string team_path(const DirNode& dir_node);

/// Which inode it is, on all hosts: numbers of devices are each host's own. Mounted file systems are told apart by the
/// place of the mount. `dir_node` is the folder that the entry lies in.
sys::EntryId team_id(const DirNode& dir_node, TreeSide side, const sys::EntryId& id);

}  // namespace forebay::tree
