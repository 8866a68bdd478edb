// Places new files of a copy on storage targets, if the target's file system allows a choice (Lustre). A file gets its
// layout before its first byte. Nothing is migrated afterwards.
//
// Threads: any.

#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "transfer/copy/requested_layout.hpp"
#include "transfer/copy/stored_layouts.hpp"

namespace forebay::tree {

struct DirNode;
struct CopyCounts;
struct CopyEntry;
struct TreeCopyOptions;

/// Returns `unsupported` if the request needs a choice and the file system of `target` has none. `shown` is its name
/// for the user.
Result<> check_layout(const RequestedLayout& wish, sys::Folder& target, const std::string& shown);

class Layouts {
public:
    /// `prefix` begins temporary names. All arguments must outlive it.
    Layouts(const TreeCopyOptions& options, CopyCounts& counts, std::string prefix);

    /// The layout of a new target file for a source with `status`; nothing: the directory's layout.
    Result<std::optional<sys::StripeLayout>> layout_for(const CopyEntry& entry, const sys::EntryStatus& status);
    /// Gives the layout to a file without one. After `unsupported` or `refused` the file must be made anew.
    Result<> give(sys::OpenFile& file, const sys::StripeLayout& layout);
    /// Gives new files in `target` the layout of `source`, both directories of `dir_node`, if requested.
    Result<> give_folder(const DirNode& dir_node, sys::Folder& source, sys::Folder& target);

    StoredLayouts stored;

private:
    using Targets = std::vector<std::uint32_t>;

    Result<sys::StripeLayout> wished_for(const CopyEntry& entry, const sys::EntryStatus& status);
    Result<sys::StripeLayout> usual_of(const CopyEntry& entry);
    Result<> leave_excluded_out(const CopyEntry& entry, sys::StripeLayout& layout);
    Result<Targets> targets_for(const CopyEntry& entry, const std::string& pool);

    const RequestedLayout& wish_;
    CopyCounts& counts_;
    const std::string prefix_;
    std::atomic<std::uint64_t> turn_;
    std::mutex mutex_;  // guards the members below
    std::map<sys::EntryId, sys::StripeLayout> usual_;
    std::map<std::pair<std::uint64_t, std::string>, Targets> targets_;  // by device and pool, without excluded targets
};

}  // namespace forebay::tree
