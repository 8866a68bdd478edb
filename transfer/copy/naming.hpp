// Gives complete entries their final names. If a power cut could leave names without bytes, a batch is synced first
// with one sync of the target's file system.
//
// Threads: any. The thread that fills a batch syncs and names it while other threads fill the next batch.

#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include "core/sys/clock.hpp"
#include "transfer/copy/copied_entry.hpp"
#include "transfer/copy/data_flow.hpp"
#include "transfer/copy/ends.hpp"
#include "transfer/copy/publisher.hpp"

namespace forebay::tree {

class Naming {
public:
    struct Uses {
        const TreeCopyOptions& options;
        WorkShare& share;
        OpenFolders& folders;
        const TemporaryNames& names;
        NamePublisher& publisher;
        Failures& failures;
        DataFlow& flow;
        DirNodeEnds& dir_node_ends;
        const InodeEnds& inode_ends;
    };
    explicit Naming(const Uses& uses) : use_(uses) {}

    /// From now on names wait for a sync of the file system of `root`, a target directory, if it outlives a power cut
    /// and the copy syncs.
    Result<> begin(FolderRef root);
    bool waits_for_syncs() const { return root_ != nullptr; }
    /// Gives `entry` the final name of `temporary`. Or takes it over and returns `later`: `entry` gets its name with
    /// its batch, then names that wait for its inode are linked. Until then its directory node waits.
    Result<CopyStep> name(TreeWorker& worker, const CopyEntry& entry, const sys::EntryStatus& status,
                          TemporaryName& temporary);
    /// Does `first` and all work added meanwhile, then names all waiting entries, also after a stop.
    Result<> run(const std::function<void(TreeWorker&)>& first);
    /// Names all waiting entries.
    void flush(TreeWorker& worker);
    bool has_waiting() const;
    /// Call it while threads are idle and other processes share the work: a batch that gets no more entries must not
    /// hold up other processes. A batch that has just begun stays.
    void flush_idle();

private:
    struct Whole {
        EntryPlace place;
        sys::EntryId id;  // of the source
        bool has_other_names = false, is_large = false;
    };
    struct Batch {
        std::vector<Whole> entries;
        std::uint64_t bytes = 0, dir_nodes = 0;
        sys::Clock::time_point oldest{};
    };

    Batch add(const CopyEntry& entry, const sys::EntryStatus& status);
    void name_all(TreeWorker& worker, const Batch& batch);
    void name_whole(TreeWorker& worker, const Whole& whole, const Result<>& synced);

    const Uses use_;
    FolderRef root_;
    mutable std::mutex mutex_;  // guards the members below
    Batch waiting_;
};

}  // namespace forebay::tree
