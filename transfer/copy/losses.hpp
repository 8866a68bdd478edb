// Applies --cannot-keep to parts of entries that the target cannot store.
//
// Threads: any; the manifest gets one part at a time.

#pragma once

#include <mutex>
#include <string>

#include "transfer/copy/copied_entry.hpp"
#include "transfer/copy/copy_options.hpp"
#include "transfer/copy/entry_log.hpp"

namespace forebay::tree {

class Losses {
public:
    Losses(const TreeCopyOptions& options, EntryLog& entry_log) : options_(options), entry_log_(entry_log) {}

    bool are_refused() const { return options_.cannot_keep == CannotKeep::refuse; }
    /// `done` is the result of setting the part at the target. Returns an error if the entry must not be copied.
    Result<> settle(const std::string& path, const sys::EntryStatus& status, const std::string& part,
                    const std::string& value, Result<> done);
    /// For the parts of one entry. `entry` and `status` must outlive the result.
    Settle settle_of(const CopyEntry& entry, const sys::EntryStatus& status);
    /// Writes it to the manifest.
    Result<> take_unkept(const Unkept& unkept);

private:
    const TreeCopyOptions& options_;
    EntryLog& entry_log_;
    std::mutex mutex_;  // guards the manifest
};

}  // namespace forebay::tree
