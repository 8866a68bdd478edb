// On which storage targets new files of a copy lie, where the target's file system lets one choose (Lustre): a file
// gets its layout before its first byte, and nothing is migrated afterwards.
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

/// `unsupported` where the wish needs a choice and the file system of `target`, which people call `shown`, has none.
Result<> check_layout(const RequestedLayout& wish, sys::Folder& target, const std::string& shown);

class Layouts {
public:
    /// `prefix` begins the names of entries that are not whole. All that is given outlives it.
    Layouts(const TreeCopyOptions& options, CopyCounts& counts, std::string prefix);

    /// How a new file of the target is to lie, whose source has `status`; nothing: as its directory says.
    Result<std::optional<sys::StripeLayout>> layout_for(const CopyEntry& entry, const sys::EntryStatus& status);
    /// Gives it to a file that lies nowhere. `unsupported` or `refused` where the file is then to be made anew.
    Result<> give(sys::OpenFile& file, const sys::StripeLayout& layout);
    /// New files of `target` are to lie as those of `source`, both of `dir_node`; where that is wished.
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
    std::mutex mutex_;  // guards what follows
    std::map<sys::EntryId, sys::StripeLayout> usual_;
    std::map<std::pair<std::uint64_t, std::string>, Targets> targets_;  // by device and pool, without the excluded ones
};

}  // namespace forebay::tree
