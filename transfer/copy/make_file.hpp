// Writes target entries with bytes and attributes under temporary names and passes them on to get their final names.
// Shared by copies of small and large files, and by restores.
//
// Threads: any.

#pragma once

#include <memory>
#include <string>

#include "transfer/copy/data_flow.hpp"
#include "transfer/copy/decide.hpp"
#include "transfer/copy/layouts.hpp"
#include "transfer/copy/losses.hpp"
#include "transfer/copy/naming.hpp"
#include "transfer/copy/new_entries.hpp"
#include "transfer/copy/settled.hpp"
#include "transfer/tables/hard_links.hpp"

namespace forebay::tree {

/// The parts used to make entries.
struct MakerUses {
    const TreeCopyOptions& options;
    EntryLog& entry_log;
    CopyCounts& counts;
    const NewEntries& new_entries;
    Layouts& layouts;
    Losses& losses;
    const TemporaryNames& names;
    DataFlow& flow;
    Naming& naming;
    const HardLinks& links;
};

/// A new target entry under its temporary name. `entry` must outlive it.
class NewEntry {
public:
    /// `status` is the source's.
    NewEntry(const MakerUses& uses, const CopyEntry& entry, const sys::EntryStatus& status)
        : use_(uses), entry_(entry), status_(status), name_(uses.names.name_for(entry.name)), held_(held_by_new()) {}

    const std::string& name() const { return name_; }
    const sys::EntryStatus& status() const { return status_; }
    sys::OpenFile& file() const { return *file_; }
    /// Holes are left out instead of written.
    bool is_sparse() const { return has_holes(status_) && !has_attributes_; }

    /// Makes a file and replaces a file of an earlier run. If its final permissions admit no extra user during the
    /// copy, the file gets them at once, which saves a call.
    Result<> make_file();
    /// Makes a file that only this user can open. There must be no file yet.
    Result<> make_closed_file();
    /// Continues a file of an earlier run.
    void take_file(std::unique_ptr<sys::OpenFile> file, const sys::EntryStatus& now);
    /// If the policy refuses incomplete entries, and the owner probably cannot be set, tries to set it now, before the
    /// bytes.
    Result<> give_owner_first();
    /// Begins the bytes. Sets the attributes first if the target needs that. Returns the number of bytes present from
    /// an earlier run.
    Result<std::uint64_t> begin_copy(sys::OpenFile& source);
    /// Call it when all bytes are written: verifies them if requested, sets the attributes and passes it on to be
    /// named.
    Result<CopyStep> complete_file(TreeWorker& worker, sys::OpenFile& source, TemporaryName& temporary);
    /// The same for a file with bytes from another source.
    Result<CopyStep> name_file(TreeWorker& worker, const AttributeSource& attributes, TemporaryName& temporary);
    /// Makes a symbolic link with its text, a fifo, a socket or a device.
    Result<CopyStep> make_other(TreeWorker& worker, const std::string& link_text,
                                const std::function<Result<AttributeSource>()>& attributes);
    /// Its attributes with permissions 0600.
    Held held_by_new() const;

private:
    Settle settle() { return use_.losses.settle_of(entry_, status_); }
    /// Makes a file with only its layout set.
    Result<std::unique_ptr<sys::OpenFile>> make_laid_file(std::uint32_t permissions);
    std::uint32_t first_permissions() const;
    Result<AttributeSource> attributes_from(sys::OpenFile& source) const;
    Result<> give_all(const AttributeSource& attributes);
    void take_over_upload();

    const MakerUses& use_;
    const CopyEntry& entry_;
    const sys::EntryStatus status_;
    const std::string name_;
    std::unique_ptr<sys::OpenFile> file_;
    Held held_;                    // before anything is set
    bool has_attributes_ = false;  // set before the bytes: see OpenFile::begins_with_attributes()
};

class EntryMaker {
public:
    explicit EntryMaker(const MakerUses& uses) : use_(uses) {}

    /// Copies a source entry that had `status`. `file` is its open file, or null.
    Result<CopyStep> make_copy(TreeWorker& worker, const CopyEntry& entry, const sys::EntryStatus& status,
                               std::unique_ptr<sys::OpenFile> file);
    /// Sets the attributes of an entry that is otherwise equal.
    Result<CopyStep> adjust_copy(const CopyEntry& entry, const EntrySight& sight);
    /// For a caller that brings the bytes itself.
    NewEntry new_entry(const CopyEntry& entry, const sys::EntryStatus& status) const { return {use_, entry, status}; }

private:
    /// Copies again if the file was written to meanwhile.
    Result<CopyStep> write_file(TreeWorker& worker, const CopyEntry& entry, sys::OpenFile& file,
                                sys::EntryStatus before);

    const MakerUses use_;
};

/// True if it is still the inode of `entry`, for an inode with several names.
inline bool is_known(const HardLinks& links, const CopyEntry& entry, const sys::EntryStatus& status) {
    return entry.inode == sys::EntryId{} || links.id_of(status) == entry.inode;
}

/// "fifo", "symbolic link", ...
const char* word_of(sys::EntryKind kind);

/// Call it if an entry or a hard link could not be made as `temporary`. Returns an error if a file cannot be made there
/// either: then the failure does not show what the target can store.
Result<> check_takes_files(const CopyEntry& entry, const std::string& temporary);

}  // namespace forebay::tree
