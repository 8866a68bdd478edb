// Whole entries get their final names: each at once, or, where a power cut could leave names without bytes, many
// together after one sync of the target's file system.
//
// Threads: any. Who fills a batch syncs it and gives the names, while the others fill the next one.

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

    /// From now on names wait for a sync of the file system of `root`, a folder of the target, where that outlives a
    /// power cut and the copy is to sync.
    Result<> begin(FolderRef root);
    bool waits_for_syncs() const { return root_ != nullptr; }
    /// Gives `entry` its name, which `temporary` stands for, or takes that over: then `later`, `entry` gets its name
    /// with others and wakes those that wait for its inode, and its branch waits until then.
    Result<CopyStep> name(TreeWorker& worker, const CopyEntry& entry, const sys::EntryStatus& status,
                          TemporaryName& temporary);
    /// Does `first` and all that is added meanwhile, and gives what waits its name, after a stop too.
    Result<> run(const std::function<void(TreeWorker&)>& first);
    /// All that waits gets its name.
    void flush(TreeWorker& worker);
    bool has_waiting() const;
    /// To be called while others share the work and threads have none: what others wait for is not held up by a batch
    /// that nothing more comes into. A batch that has just begun is left alone.
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
    mutable std::mutex mutex_;  // guards what follows
    Batch waiting_;
};

}  // namespace forebay::tree
