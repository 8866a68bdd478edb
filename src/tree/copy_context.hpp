// What all parts of one copy share.

#pragma once

#include <atomic>
#include <mutex>
#include <string>

#include "move/pace.hpp"
#include "sys/clock.hpp"
#include "tree/branch.hpp"
#include "tree/copy.hpp"
#include "tree/file_data.hpp"
#include "tree/hard_links.hpp"
#include "tree/work_share.hpp"

namespace forebay::tree {

/// An entry of the source with both folders that it is in. In a dry run the target's may be missing.
struct CopyEntry {
    BranchRef branch;
    FolderRef source, target;
    std::string name;

    std::string path() const { return path_of(*branch, name); }
};

class CopyContext {
public:
    CopyContext(const CopyOptions& given_options, Remarks& given_remarks, CopyCounts& given_counts,
                std::string prefix_of_temporary)
        : options(given_options),
          remarks(given_remarks),
          counts(given_counts),
          share(given_options.threads),
          temporary_prefix_(std::move(prefix_of_temporary)),
          pace_(given_options.rate_bytes_per_second) {}

    /// The name, of constant length, under which an entry is made; known again by a later run between the same places.
    std::string temporary_name(const std::string& name) const;
    bool is_temporary(std::string_view name) const { return name.starts_with(temporary_prefix_); }

    /// Says what became of a part of an entry, as CannotKeep wants it. An error: the entry is not to be copied.
    Result<> settle(const std::string& path, const sys::EntryStatus& status, const std::string& part,
                    const std::string& value, Result<> done);
    /// An entry could not be copied. Without room nothing else can be either: the copy ends.
    void report(const std::string& path, const Error& error);
    Result<> fatal() const;

    DataWay way();
    void tick();
    /// One thing of a branch is done; where it was the last, `finish_branch` is called, and so upwards.
    void done_in(BranchRef branch);

    const CopyOptions& options;
    Remarks& remarks;
    CopyCounts& counts;
    OpenFolders folders;
    HardLinks links;
    WorkShare share;
    const sys::NewEntryOwner owner = sys::new_entry_owner();
    /// Whether new entries are seen not to get that owner: a mount may give each the owner of its folder, or another.
    std::atomic<bool> owner_is_unknown{false};
    std::function<void(const BranchRef&)> finish_branch;

private:
    const std::string temporary_prefix_;
    move::Pace pace_;
    std::atomic<bool> by_kernel_{true};
    mutable std::mutex mutex_;  // guards what follows, and the manifest
    Result<> fatal_;
    sys::Clock::time_point last_watch_{};
};

}  // namespace forebay::tree
