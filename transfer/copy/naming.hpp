// Whole entries get their final names: each at once, or, where a power cut could leave names without bytes, many
// together after one sync of the target's file system.
//
// Threads: any. Who fills a batch syncs it and gives the names, while the others fill the next one.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include "core/sys/clock.hpp"
#include "transfer/copy/hard_links.hpp"

namespace forebay::tree {

class CopyContext;
class TemporaryName;
struct CopyEntry;
struct TreeWorker;

/// The sync before names: after so many entries, bytes or seconds, whichever comes first. A kill costs no more than
/// that, as whole entries without a name are copied again.
struct NamingLimits {
    std::size_t entries = 4096;
    std::uint64_t branches = 1u << 17;  // above them, 100 MB where no two have one
    std::uint64_t bytes = 1u << 30;
    std::chrono::seconds age{5};
};

class Naming {
public:
    Naming(CopyContext& context, NamingLimits limits) : context_(context), limits_(limits) {}

    /// From now on names wait for a sync of the file system of `root`, a folder of the target, where that outlives a
    /// power cut and the copy is to sync.
    Result<> begin(FolderRef root);
    bool waits_for_syncs() const { return root_ != nullptr; }
    /// Gives `entry` its name, which `temporary` stands for, or takes that over: then false, `entry` gets its name with
    /// others and wakes those that wait for its inode, and its branch waits until then.
    Result<bool> name(TreeWorker& worker, const CopyEntry& entry, const sys::EntryStatus& status,
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
    using Batch = std::vector<Whole>;

    Batch add(const CopyEntry& entry, const sys::EntryStatus& status);
    Batch take_waiting();
    void name_all(TreeWorker& worker, const Batch& batch);
    void name_whole(TreeWorker& worker, const Whole& whole, const Result<>& synced);

    CopyContext& context_;
    const NamingLimits limits_;
    FolderRef root_;
    mutable std::mutex mutex_;  // guards what follows
    Batch waiting_;
    std::uint64_t waiting_bytes_ = 0, waiting_branches_ = 0;
    sys::Clock::time_point oldest_;
};

}  // namespace forebay::tree
